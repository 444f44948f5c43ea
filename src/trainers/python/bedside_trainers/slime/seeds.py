"""slime's data source without a data set: patients by number, each for all siblings of a group."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .library import Sample, load_function
from .play import first_of
from .settings import argument

_SCHEMA = "bedside-seeds/1"


class SeedSource:
    """slime's --data-source-path: group n meets patient n. What a rollout broke off is given out first."""

    def __init__(self, args: Any) -> None:
        self._args = args
        self._size = int(argument(args, "n_samples_per_prompt", 1))
        self._next = 0
        self._buffer: list[list[Any]] = []
        path = argument(args, "buffer_filter_path")
        self._filter = load_function(path) if path else None

    def _group(self, number: int) -> list[Sample]:
        first = number * self._size
        return [
            Sample(group_index=number, index=first + n, metadata={"seed": number, "index": number})
            for n in range(self._size)
        ]

    def get_samples(self, num_samples: int) -> list[list[Any]]:
        """As many groups."""
        if self._filter:
            groups = self._filter(self._args, None, self._buffer, num_samples)
        else:
            groups, self._buffer = self._buffer[:num_samples], self._buffer[num_samples:]
        fresh = range(self._next, self._next + num_samples - len(groups))
        self._next = fresh.stop
        return groups + [self._group(number) for number in fresh]

    def add_samples(self, samples: list[list[Any]]) -> None:
        """Takes back groups that were not finished. @raises ValueError for one of another size"""
        for group in samples:
            if len(group) != self._size:
                raise ValueError(f"Expected groups of {self._size}, got one of {len(group)}")
        self._buffer += samples

    def _file(self, folder: str, rollout_id: Any) -> Path:
        return Path(folder) / "rollout" / f"bedside_seeds_{rollout_id}.json"

    def save(self, rollout_id: Any) -> None:
        """Saves what comes next, beside the checkpoint of a rollout."""
        folder = argument(self._args, "save")
        if not folder:
            return
        file = self._file(folder, rollout_id)
        file.parent.mkdir(parents=True, exist_ok=True)
        waiting = [first_of(group[0]).group_index for group in self._buffer]
        partial = file.with_suffix(".partial")
        state = {"schema": _SCHEMA, "next": self._next, "waiting": waiting}
        partial.write_text(json.dumps(state), encoding="utf-8")
        os.replace(partial, file)

    def load(self, rollout_id: Any = None) -> None:
        """Goes on after a rollout: no patient twice, and those of unfinished groups again from the start.

        @raises ValueError for a file that is none
        """
        folder = argument(self._args, "load")
        file = folder and self._file(folder, rollout_id)
        if not file or not file.exists():
            return
        state = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(state, dict) or state.get("schema") != _SCHEMA:
            raise ValueError(f"{file}: expected {_SCHEMA}")
        self._next = int(state["next"])
        self._buffer = [self._group(int(number)) for number in state["waiting"] if number is not None]

    def get_buffer_length(self) -> int:
        """Groups that wait to be finished."""
        return len(self._buffer)

    def __len__(self) -> int:
        """Patients of an epoch: there is no end of them, so a run's length is --num-rollout."""
        return 0
