"""Ordered queue of one model's requests: by `seq_id` from 1, each served once, in any order of arrival."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from .settings import Limits
from .wire.answers import Answer
from .wire.refusal import Refused

# Requests remembered, to recognise resent ones.
_REMEMBERED = 100_000


@dataclass(frozen=True)
class Job:
    """Work for the engine's thread, and the request it answers."""

    request_id: str
    run: Callable[[], Answer | None]
    size: int = 0


class OrderedQueue:
    """Requests by `seq_id`; a gap blocks later requests until it is filled. Not thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._next = 1
        self._bytes = 0
        self._waiting: dict[int, Job] = {}
        self._seen: OrderedDict[int, tuple[bytes, str]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def repeated(self, seq_id: int, digest: bytes) -> str | None:
        """Request id of the same request sent before, or None. @raises Refused for another with this number"""
        seen = self._seen.get(seq_id)
        if seen is None:
            if seq_id < self._next:
                raise Refused(409, f"seq_id: {seq_id} was served long ago, next is {self._next}")
            return None
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
