"""Continuous batching over snapshots: jobs come in between two tokens and leave when they end."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from .decoder import Decoder
from .engine import EngineError, Sampled, SampleJob
from .options import Options
from .pool import Pool
from .sequences import Decode, Running

# Snapshots that hold keys while they are idle.
_HOLDING = 4


class Sampler:
    """One pool of sequences per snapshot; they take turns."""

    def __init__(
        self,
        decoder: Callable[[str], Decoder],
        decode: Decode,
        context: int,
        vocabulary: int,
        options: Options,
    ) -> None:
        self._decoder = decoder
        self._decode = decode
        self._context = context
        self._vocabulary = vocabulary
        self._options = options
        self._lock = threading.Lock()
        self._incoming: deque[Running] = deque()
        self._pools: dict[str, Pool] = {}
        self._turns: deque[str] = deque()
        self._recent: deque[str] = deque()
        self._failed: list[Sampled] = []
        self._counts: dict[str, float] = {
            "sampled_tokens": 0,
            "prompt_tokens": 0,
            "reused_tokens": 0,
        }

    def open(self, name: str) -> None:
        """Lets jobs draw from a snapshot; one of the same name is closed before."""
        self.close(name)
        self._pools[name] = Pool(self._options, self._decode)

    def close(self, name: str) -> None:
        """Gives up a snapshot; its jobs end with an error at the next round."""
        self._receive()
        pool = self._pools.pop(name, None)
        if pool is None:
            return
        for counted, count in pool.counts.items():
            self._counts[counted] += count
        for one in (*pool.waiting, *pool.running):
            self._failed.append(one.sampled("length", f"snapshot {name!r} was dropped"))

    def submit(self, job: SampleJob) -> None:
        """@raises EngineError for a prompt that does not fit, a setting that is none, or no such snapshot"""
        wrong = self._wrong(job)
        if wrong is not None:
            raise EngineError(wrong)
        room = self._context - len(job.prompt)
        with self._lock:
            self._incoming.append(Running(job, min(job.max_tokens, room)))

    def _wrong(self, job: SampleJob) -> str | None:
        if job.snapshot not in self._pools:
            return f"Expected a snapshot, got {job.snapshot!r}"
        if not 1 <= len(job.prompt) <= self._context:
            return f"Expected a prompt of 1 to {self._context} tokens, got {len(job.prompt)}"
        if min(job.prompt) < 0 or max(job.prompt) >= self._vocabulary:
            return f"Expected tokens from 0 to {self._vocabulary - 1}, got {min(job.prompt)} to {max(job.prompt)}"
        if job.max_tokens < 0 or job.temperature < 0 or not 0 < job.top_p <= 1:
            asked = f"max_tokens {job.max_tokens}, temperature {job.temperature}, top_p {job.top_p}"
            return f"Expected max_tokens and temperature >= 0 and top_p in (0, 1], got {asked}"
        return None

    def cancel(self, key: Any) -> None:
        self._receive()
        any(pool.cancel(key) for pool in self._pools.values())

    @property
    def waiting(self) -> int:
        return (
            len(self._incoming) + len(self._failed) + sum(len(one) for one in self._pools.values())
        )

    def _receive(self) -> None:
        with self._lock:
            incoming, self._incoming = self._incoming, deque()
        for one in incoming:
            pool = self._pools.get(one.job.snapshot)
            if pool is None:
                self._failed.append(
                    one.sampled("length", f"snapshot {one.job.snapshot!r} was dropped")
                )
            else:
                pool.waiting.append(one)

    def advance(self) -> list[Sampled]:
        """One token for every job of the snapshot whose turn it is."""
        self._receive()
        failed, self._failed = self._failed, []
        self._turns = deque(name for name in self._turns if self._pools.get(name))
        self._turns.extend(
            name for name, pool in self._pools.items() if pool and name not in self._turns
        )
        if not self._turns:
            return failed
        name = self._turns[0]
        self._turns.rotate(-1)
        self._remember(name)
        pool = self._pools[name]
        try:
            return failed + pool.advance(self._decoder(name))
        except RuntimeError as error:
            # Out of memory, for one: what was half-way in is lost, what waits may still fit.
            lost = [one.sampled("length", f"could not be drawn: {error}") for one in pool.running]
            pool.rest()
            return failed + lost

    def _remember(self, name: str) -> None:
        """Snapshots long idle give up the keys they hold."""
        if name in self._recent:
            self._recent.remove(name)
        self._recent.append(name)
        while len(self._recent) > _HOLDING:
            idle = self._pools.get(self._recent[0])
            if idle:
                return
            if idle is not None:
                idle.rest()
            self._recent.popleft()

    def metrics(self) -> Mapping[str, float]:
        """Counters and gauges; read only, so that a glance from another thread does no harm."""
        pools = list(self._pools.values())
        counts = {
            name: count + sum(pool.counts[name] for pool in pools)
            for name, count in self._counts.items()
        }
        running = sum(len(pool.running) for pool in pools)
        waiting = len(self._incoming) + sum(len(pool.waiting) for pool in pools)
        return {**counts, "running_sequences": running, "waiting_sequences": waiting}
