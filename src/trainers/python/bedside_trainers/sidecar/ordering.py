"""Ordered queue of one model's requests: by `seq_id` from 1, each served once, in any order of arrival."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from .settings import Limits
from .wire.answers import Answer
from .wire.refusal import Refused, invalid

# Requests remembered, to recognise resent ones.
_REMEMBERED = 100_000
# Digest of requests that were refused and used up their number; no request has it.
USED_UP = b""


def _do_nothing(_: int) -> None:
    return


@dataclass(frozen=True)
class Job:
    """Work for the engine's thread, and the request it answers."""

    request_id: str
    run: Callable[[], Answer | None]
    size: int = 0
    # Called in place of `run` with the number of an earlier request that never arrived.
    give_up: Callable[[int], None] = _do_nothing


class OrderedQueue:
    """Requests by `seq_id`; a missing number blocks later requests until it arrives or is given up. Not thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._next = 1
        self._bytes = 0
        self._heard = time.monotonic()
        self._waiting: dict[int, Job] = {}
        self._seen: OrderedDict[int, tuple[bytes, str]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def repeated(self, seq_id: int, digest: bytes) -> str | None:
        """Request id of the same request sent before, or None. @raises Refused for another with this number"""
        self._heard = time.monotonic()
        seen = self._seen.get(seq_id)
        if seen is None:
            if seq_id < self._next:
                expected = f"at least {self._next}: requests after it were served or given up"
                raise invalid("seq_id", seq_id, expected)
            return None
        if seen[0] == USED_UP != digest:
            raise Refused(409, f"seq_id: {seq_id} was used up by a refused request of this model")
        if seen[0] != digest:
            raise Refused(409, f"seq_id: {seq_id} was taken by another request of this model")
        return seen[1]

    def put(self, seq_id: int, digest: bytes, job: Job) -> None:
        """Adds a request. @raises Refused for a full queue, which still accepts the next request in order"""
        full = self._bytes + job.size > self._limits.queued_bytes
        if seq_id != self._next and (full or len(self._waiting) >= self._limits.queued):
            raise Refused(429, f"{len(self._waiting)} requests wait for seq_id {self._next}")
        self._waiting[seq_id] = job
        self._bytes += job.size
        self._seen[seq_id] = (digest, job.request_id)
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)

    @property
    def ready(self) -> bool:
        return self._next in self._waiting

    @property
    def overdue_at(self) -> float:
        """Time at which the missing number is given up, by `time.monotonic`; infinite if none is missing."""
        if not self._waiting or self.ready:
            return math.inf
        return self._heard + self._limits.missing_seconds

    def give_up(self) -> tuple[int, list[Job]]:
        """Gives up the missing number: returns it, and removes all waiting jobs, in order."""
        missing, numbers = self._next, sorted(self._waiting)
        jobs = [self._waiting[number] for number in numbers]
        self.drain()
        self._next = numbers[-1] + 1
        return missing, jobs

    def pop(self) -> Job:
        """Removes and returns the next job in order."""
        job = self._waiting.pop(self._next)
        self._next += 1
        self._bytes -= job.size
        return job

    def drain(self) -> list[Job]:
        """Removes and returns all waiting jobs."""
        jobs = list(self._waiting.values())
        self._waiting.clear()
        self._bytes = 0
        return jobs
