"""Futures: answers of requests, kept for repeated reading within limits of time and size."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import OrderedDict
from dataclasses import dataclass, field

from .settings import Limits
from .wire.answers import Answer, Failure, estimate_size
from .wire.refusal import unknown

# Ids remembered after their answers were dropped.
_TOMBSTONES = 100_000


@dataclass
class _Future:
    answer: Answer | None = None
    size: int = 0
    done_at: float = 0.0
    read: bool = False
    dropped: bool = False
    waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = field(default_factory=list)


class Futures:
    """All futures by request id. Opened and read on the event loop, resolved from any thread."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._futures: dict[str, _Future] = {}
        # In order of completion.
        self._done: OrderedDict[str, None] = OrderedDict()
        self._dropped: OrderedDict[str, None] = OrderedDict()
        self._bytes = 0
        self._closed = False

    def open(self) -> str:
        """Opens a future and returns its request id, which cannot be guessed from others."""
        request_id = uuid.uuid4().hex
        with self._lock:
            self._futures[request_id] = _Future()
        return request_id

    def is_open(self, request_id: str) -> bool:
        """Whether a request has no answer yet. @raises Refused for an unknown id"""
        with self._lock:
            return self._find(request_id).answer is None and request_id not in self._dropped

    def resolve(self, request_id: str, answer: Answer) -> None:
        """Sets a request's answer; only the first counts."""
        with self._lock:
            future = self._futures[request_id]
            if future.answer is not None or future.dropped:
                return
            future.answer, future.size = answer, estimate_size(answer)
            future.done_at = time.monotonic()
            self._done[request_id] = None
            self._bytes += future.size
            waiting, future.waiting = future.waiting, []
            self._shrink(keep=request_id)
        for loop, event in waiting:
            loop.call_soon_threadsafe(event.set)

    async def wait(self, request_id: str, seconds: float) -> Answer | None:
        """Waits for the answer; None after `seconds`. @raises Refused for an unknown id"""
        event = asyncio.Event()
        place = (asyncio.get_running_loop(), event)
        with self._lock:
            future = self._find(request_id)
            if future.answer is None and not future.dropped and not self._closed:
                future.waiting.append(place)
            else:
                event.set()
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            return None
        finally:
            with self._lock:
                if place in future.waiting:
                    future.waiting.remove(place)
        with self._lock:
            if self._closed and future.answer is None:
                return None
            future.read = True
            if future.answer is None:
                kept = f"{self._limits.kept_seconds:.0f} s or {self._limits.kept_bytes} bytes"
                return Failure(f"the answer was kept no longer: answers are kept {kept}", "User")
            return future.answer

    def close(self) -> None:
        """Ends all waiting, now and later."""
        with self._lock:
            self._closed = True
            for future in self._futures.values():
                for loop, event in future.waiting:
                    loop.call_soon_threadsafe(event.set)

    def counts(self) -> dict[str, float]:
        """Gauges for the metrics endpoint."""
        with self._lock:
            done = len(self._done)
            waiting = len(self._futures) - done - len(self._dropped)
            return {"futures_open": waiting, "futures_kept": done, "futures_bytes": self._bytes}

    def _find(self, request_id: str) -> _Future:
        future = self._futures.get(request_id)
        if future is None:
            raise unknown("request", request_id)
        return future

    def _shrink(self, keep: str) -> None:
        expired = time.monotonic() - self._limits.kept_seconds
        while self._done:
            oldest = next(iter(self._done))
            if oldest == keep or self._futures[oldest].done_at > expired:
                break
            self._drop(oldest)
        if self._bytes > self._limits.kept_bytes:
            self._evict(keep)

    def _evict(self, keep: str) -> None:
        for read in (True, False):
            excess = self._bytes - self._limits.kept_bytes
            doomed = []
            for id_ in self._done:
                if excess <= 0:
                    break
                if id_ != keep and (self._futures[id_].read or not read):
                    doomed.append(id_)
                    excess -= self._futures[id_].size
            for id_ in doomed:
                self._drop(id_)

    def _drop(self, request_id: str) -> None:
        future = self._futures[request_id]
        self._bytes -= future.size
        future.answer, future.size, future.dropped = None, 0, True
        del self._done[request_id]
        self._dropped[request_id] = None
        if len(self._dropped) > _TOMBSTONES:
            del self._futures[self._dropped.popitem(last=False)[0]]
