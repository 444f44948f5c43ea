"""Weights kept for sampling, those used longest ago dropped first. In the engine's thread alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from ..engines.engine import Engine, EngineError


@dataclass
class _Kept:
    users: int = 0


class Snapshots:
    """Snapshots by name, at most `limit` of them but for those in use."""

    def __init__(self, engine: Engine, limit: int) -> None:
        self._engine = engine
        self._limit = limit
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, name: str, make: Callable[[], None]) -> None:
        """Makes a snapshot where it is not there."""
        if name in self._kept:
            self._kept.move_to_end(name)
            return
        self._make_room()
        make()
        self._kept[name] = _Kept()

    def use(self, name: str) -> None:
        """Holds a snapshot until `release`. @raises EngineError where it was dropped"""
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

    def _make_room(self) -> None:
        idle = [name for name, kept in self._kept.items() if kept.users == 0]
        for name in idle[: max(0, len(self._kept) + 1 - self._limit)]:
            self._engine.drop_snapshot(name)
            del self._kept[name]
