"""LRU store of snapshots for sampling. Used in the engine's thread only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from ..engines.engine import Engine, EngineError


@dataclass
class _Entry:
    users: int = 0


class Snapshots:
    """Snapshots by name, at most `limit` of them, and what the engine has memory for, unless more are in use."""

    def __init__(self, engine: Engine, limit: int) -> None:
        self._engine = engine
        self._limit = limit
        self._kept: OrderedDict[str, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, name: str, make: Callable[[], None]) -> None:
        """Keeps a snapshot, calling `make` if it does not exist."""
        if name in self._kept:
            self._kept.move_to_end(name)
            return
        self._make_room()
        make()
        self._kept[name] = _Entry()

    def use(self, name: str) -> None:
        """Holds a snapshot until `release`. @raises EngineError if it was dropped"""
        kept = self._kept.get(name)
        if kept is None:
            raise EngineError(
                f"the weights of {name} were dropped for newer ones ({self._limit} are kept): "
                "save them under a path to sample from them later"
            )
        kept.users += 1
        self._kept.move_to_end(name)

    def release(self, name: str) -> None:
        self._kept[name].users -= 1

    def drop_session(self, session_id: str) -> None:
        """Drops the snapshots of a session's models; those in use go when room is needed."""
        for name in self._idle():
            if name.startswith(f"{session_id}:"):
                self._drop(name)

    def _make_room(self) -> None:
        for name in self._idle():
            if len(self._kept) < self._limit and not self._engine.snapshots_full:
                return
            self._drop(name)

    def _idle(self) -> list[str]:
        return [name for name, kept in self._kept.items() if kept.users == 0]

    def _drop(self, name: str) -> None:
        self._engine.drop_snapshot(name)
        del self._kept[name]
