"""State shared by the parts of a server: engine, queues, sessions, checkpoints and snapshots."""

from __future__ import annotations

from dataclasses import dataclass

from ..engines.engine import Engine
from .checkpoints import Checkpoints
from .futures import Futures
from .scheduler import Scheduler
from .sessions import Sessions
from .settings import Limits, Settings
from .snapshots import Snapshots


@dataclass(frozen=True)
class Parts:
    """An engine and the state around it."""

    engine: Engine
    limits: Limits
    futures: Futures
    scheduler: Scheduler
    sessions: Sessions
    checkpoints: Checkpoints
    snapshots: Snapshots


def make_parts(engine: Engine, settings: Settings) -> Parts:
    """Creates empty state; the scheduler is not started."""
    limits = settings.limits
    futures = Futures(limits)
    return Parts(
        engine=engine,
        limits=limits,
        futures=futures,
        scheduler=Scheduler(engine, futures, limits),
        sessions=Sessions(limits),
        checkpoints=Checkpoints(settings.state),
        snapshots=Snapshots(engine, limits.snapshots),
    )
