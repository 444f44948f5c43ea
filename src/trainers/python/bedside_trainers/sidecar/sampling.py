"""Sampling requests: weights found or loaded, jobs begun, their ends gathered."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field

import numpy as np

from ..engines.engine import EngineError, Sampled, SampleJob
from .answers import Drawn, Failure
from .data import Bounds, check_tokens
from .digest import digest_of
from .ordering import Job
from .parts import Parts
from .refusal import Refused, invalid
from .sessions import SamplingSession, Session
from .wire import Sample, Source

BASE = "base"
# Sampling requests remembered, so that a repeated one is drawn once.
_REMEMBERED = 100_000


def sequence_seed(seed: int, index: int) -> int:
    """The seed of one of a request's sequences, from 0 to 2^63 - 1."""
    digest = hashlib.sha256(f"{seed}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


@dataclass
class _Draw:
    request_id: str
    snapshot: str
    keys: list[tuple[str, int]]
    finished: dict[int, Sampled] = field(default_factory=dict)


class Sampling:
    """The sampling half of a server."""

    def __init__(self, parts: Parts) -> None:
        self._engine = parts.engine
        self._scheduler = parts.scheduler
        self._futures = parts.futures
        self._sessions = parts.sessions
        self._checkpoints = parts.checkpoints
        self._snapshots = parts.snapshots
        self._limits = parts.limits
        self._repeated: dict[tuple[str, int, bytes], str] = {}
        # Sequences asked for and not answered yet.
        self._asked: dict[str, int] = {}
        # In the engine's thread alone.
        self._draws: dict[str, _Draw] = {}

    def open_session(self, session: Session, seq_id: int, source: Source) -> SamplingSession:
        """The sampling session of a number. @raises Refused"""
        snapshot, path = self._find(source)
        return self._sessions.add_sampling(session, seq_id, snapshot, digest_of(source), path)

    def sample(self, sample: Sample, bounds: Bounds) -> str:
        """Queues a request and gives its id, the same for the same one again. @raises Refused"""
        session_id = sample.source.sampling_session_id
        key = (session_id or "", sample.seq_id or 0, digest_of(sample))
        idempotent = session_id is not None and sample.seq_id is not None
        if idempotent and key in self._repeated:
            return self._repeated[key]
        snapshot, path = self._find(sample.source)
        check_tokens(np.array(sample.prompt, np.int64), bounds, "prompt")
        room = bounds.context_length - len(sample.prompt)
        if room < 1 and not sample.prompt_logprobs:
            expected = f"at most {bounds.context_length - 1} tokens, to leave room for one more"
            raise invalid("prompt", f"{len(sample.prompt)} tokens", expected)
        self._admit(sample.num_samples)
        request_id = self._futures.open()
        self._asked[request_id] = sample.num_samples
        if idempotent:
            self._repeated[key] = request_id
            if len(self._repeated) > _REMEMBERED:
                del self._repeated[next(iter(self._repeated))]
        draw = _Draw(request_id, snapshot, [(request_id, i) for i in range(sample.num_samples)])
        self._scheduler.control(Job(request_id, lambda: self._begin(draw, sample, path, room)))
        return request_id

    def cancel(self, request_id: str) -> None:
        """Ends a sampling request; nothing to others. @raises Refused for an unknown id"""
        if self._futures.is_open(request_id) and request_id in self._asked:
            self._asked.pop(request_id, None)
            self._futures.resolve(request_id, Failure("cancelled", "User"))
            self._scheduler.control(Job(request_id, lambda: self._abandon(request_id)))

    def _admit(self, wanted: int) -> None:
        most = self._limits.samples
        if wanted > most:
            raise invalid("num_samples", wanted, f"at most {most}")
        asked = sum(list(self._asked.values()))
        if asked + wanted > most:
            raise Refused(429, f"{asked} sequences are being drawn, at most {most} may: ask again")

    def _find(self, source: Source) -> tuple[str, str | None]:
        """The snapshot's name and the checkpoint behind it, if one is."""
        if source.sampling_session_id is not None:
            found = self._sessions.sampling(source.sampling_session_id)
            return found.snapshot, found.model_path
        if source.model_path is not None:
            return self._checkpoints.identity(source.model_path), source.model_path
        info = self._engine.info
        if source.base_model not in (info.model_name, info.model_path):
            raise invalid("base_model", source.base_model, f"'{info.model_name}'")
        return BASE, None

    # What follows runs in the engine's thread.

    def _begin(self, draw: _Draw, sample: Sample, path: str | None, room: int) -> None:
        if not self._futures.is_open(draw.request_id):
            return
        seed = secrets.randbits(63) if sample.seed is None else sample.seed
        try:
            self._ensure(draw.snapshot, path)
            self._snapshots.use(draw.snapshot)
            self._draws[draw.request_id] = draw
            for key in draw.keys:
                job = self._job(key, sample, draw.snapshot, seed, room)
                self._scheduler.draw(job, lambda sampled: self._end(draw, sampled))
        except Exception:
            self._abandon(draw.request_id)
            raise

    def _job(
        self, key: tuple[str, int], sample: Sample, snapshot: str, seed: int, room: int
    ) -> SampleJob:
        return SampleJob(
            key=key,
            snapshot=snapshot,
            prompt=sample.prompt,
            max_tokens=min(sample.max_tokens or room, room),
            temperature=sample.temperature,
            top_k=sample.top_k,
            top_p=sample.top_p,
            seed=sequence_seed(seed, key[1]),
            stop_tokens=sample.stop_tokens,
            stop_strings=sample.stop_strings,
            # One prompt, scored once.
            prompt_logprobs=sample.prompt_logprobs and key[1] == 0,
        )

    def _ensure(self, snapshot: str, path: str | None) -> None:
        if snapshot == BASE:
            self._snapshots.keep(BASE, lambda: self._engine.snapshot(None, BASE))
        elif path is not None:
            self._snapshots.keep(snapshot, lambda: self._load(snapshot, path))

    def _load(self, snapshot: str, path: str) -> None:
        if self._checkpoints.identity(path) != snapshot:
            raise EngineError(f"{path} was replaced after this sampling session was made")
        self._engine.load_snapshot(self._checkpoints.existing(path), snapshot)

    def _end(self, draw: _Draw, sampled: Sampled) -> None:
        if sampled.error is not None:
            self._abandon(draw.request_id)
            self._futures.resolve(draw.request_id, Failure(sampled.error, "Server"))
            return
        draw.finished[sampled.key[1]] = sampled
        if len(draw.finished) < len(draw.keys):
            return
        self._abandon(draw.request_id)
        sequences = [draw.finished[index] for _, index in draw.keys]
        self._futures.resolve(draw.request_id, Drawn(sequences, sequences[0].prompt_logprobs))

    def _abandon(self, request_id: str) -> None:
        self._asked.pop(request_id, None)
        draw = self._draws.pop(request_id, None)
        if draw is None:
            return
        for key in draw.keys:
            self._scheduler.abandon(key)
        self._snapshots.release(draw.snapshot)
