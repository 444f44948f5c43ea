"""Sampler: continuous batching over several snapshots. Jobs are admitted and finished between two tokens."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..decoder import Decoder
from ..engine import EngineError, Sampled, SampleJob
from ..options import Options
from .pool import Pool
from .sequences import ActiveSequence, Decode


class Sampler:
    """One pool of sequences per snapshot; pools take turns."""

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
        self._incoming: deque[ActiveSequence] = deque()
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
        """Opens a snapshot for jobs; closes an earlier one of the same name."""
        self.close(name)
        self._pools[name] = Pool(self._options, self._decode)

    def close(self, name: str) -> None:
        """Closes a snapshot; its jobs end with an error at the next round."""
        self._receive()
        pool = self._pools.pop(name, None)
        if pool is None:
            return
        for counted, count in pool.counts.items():
            self._counts[counted] += count
        for one in (*pool.waiting, *pool.running):
            self._failed.append(one.result("length", f"snapshot {name!r} was dropped"))

    def submit(self, job: SampleJob) -> None:
        """Queues a job. @raises EngineError for a prompt too long, an invalid setting, or an unknown snapshot"""
        one = self.sequence(job)
        with self._lock:
            self._incoming.append(one)

    def sequence(self, job: SampleJob) -> ActiveSequence:
        """The sequence of a job, before its first token. @raises EngineError as `submit` does"""
        problem = self._problem(job)
        if problem is not None:
            raise EngineError(problem)
        return ActiveSequence(job, min(job.max_tokens, self._context - len(job.prompt)))

    def _problem(self, job: SampleJob) -> str | None:
        if job.snapshot not in self._pools:
            return f"Expected a snapshot, got {job.snapshot!r}"
        if not 1 <= len(job.prompt) <= self._context:
            return f"Expected a prompt of 1 to {self._context} tokens, got {len(job.prompt)}"
        if not self.has_tokens(job.prompt):
            return f"Expected tokens from 0 to {self._vocabulary - 1}, got {min(job.prompt)} to {max(job.prompt)}"
        if job.max_tokens < 0 or job.temperature < 0 or not 0 < job.top_p <= 1:
            asked = f"max_tokens {job.max_tokens}, temperature {job.temperature}, top_p {job.top_p}"
            return f"Expected max_tokens and temperature >= 0 and top_p in (0, 1], got {asked}"
        return None

    def has_tokens(self, tokens: Sequence[int]) -> bool:
        """Whether all of them are of the vocabulary."""
        return not tokens or (min(tokens) >= 0 and max(tokens) < self._vocabulary)

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
                    one.result("length", f"snapshot {one.job.snapshot!r} was dropped")
                )
            else:
                pool.waiting.append(one)

    def advance(self) -> list[Sampled]:
        """Draws one token for every job of the snapshot whose turn it is."""
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
        pool, room = self._pools[name], self._make_room(name)
        try:
            done = pool.advance(self._decoder(name), room)
            self._forget_old()
            return failed + done
        except RuntimeError as error:
            # For example out of memory: running sequences are lost, waiting ones may still fit.
            lost = [one.result("length", f"could not be drawn: {error}") for one in pool.running]
            pool.clear()
            return failed + lost

    def _make_room(self, name: str) -> int:
        """Bytes of keys that the pool of a snapshot may take: idle pools give theirs back."""
        if name in self._recent:
            self._recent.remove(name)
        self._recent = deque(one for one in self._recent if one in self._pools)
        for other in self._recent:
            if not self._pools[other]:
                self._pools[other].give_back()
        taken = sum(self._pools[other].key_bytes for other in self._recent)
        self._recent.append(name)
        return max(0, self._options.key_bytes - taken)

    def _forget_old(self) -> None:
        """Drops stored keys beyond the budget, of the snapshots used least recently first."""
        left = self._options.stored_bytes
        for name in reversed(self._recent):
            self._pools[name].shrink_stored(left)
            left -= self._pools[name].stored_bytes

    def metrics(self) -> Mapping[str, float]:
        """Counters and gauges; only reads, so it is safe to call from another thread."""
        pools = list(self._pools.values())
        counts = {
            name: count + sum(pool.counts[name] for pool in pools)
            for name, count in self._counts.items()
        }
        running = sum(len(pool.running) for pool in pools)
        waiting = len(self._incoming) + sum(len(pool.waiting) for pool in pools)
        held = {
            "key_bytes": sum(pool.key_bytes for pool in pools),
            "stored_bytes": sum(pool.stored_bytes for pool in pools),
        }
        return {**counts, **held, "running_sequences": running, "waiting_sequences": waiting}
