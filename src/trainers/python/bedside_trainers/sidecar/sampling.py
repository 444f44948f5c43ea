"""Sampling requests: finds or loads the weights, starts a job per sequence, and collects the results."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field

import numpy as np

from ..engines.engine import EngineError, Sampled, SampleJob
from .ordering import Job
from .parts import Parts
from .sessions import SamplingSession, Session
from .wire.answers import Failure, SampleAnswer
from .wire.data import Bounds, check_tokens
from .wire.digest import compute_digest
from .wire.refusal import Refused, invalid
from .wire.requests import Sample, Source

BASE = "base"
# Sampling requests remembered, so that a resent request is sampled only once.
_REMEMBERED = 100_000


def sequence_seed(seed: int, index: int) -> int:
    """Seed of one sequence of a request, from 0 to 2^63 - 1."""
    digest = hashlib.sha256(f"{seed}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


@dataclass
class _SampleRequest:
    request_id: str
    snapshot: str
    keys: list[tuple[str, int]]
    finished: dict[int, Sampled] = field(default_factory=dict)


class Sampling:
    """Handles a server's sampling requests."""

    def __init__(self, parts: Parts) -> None:
        self._engine = parts.engine
        self._scheduler = parts.scheduler
        self._futures = parts.futures
        self._sessions = parts.sessions
        self._checkpoints = parts.checkpoints
        self._snapshots = parts.snapshots
        self._limits = parts.limits
        self._repeated: dict[tuple[str, int, bytes], str] = {}
        # Sequences of requests without an answer yet.
        self._pending: dict[str, int] = {}
        # Used in the engine's thread only.
        self._requests: dict[str, _SampleRequest] = {}

    def open_session(self, session: Session, seq_id: int, source: Source) -> SamplingSession:
        """Opens the sampling session of a number. @raises Refused"""
        snapshot, path = self._find(source)
        return self._sessions.add_sampling(session, seq_id, snapshot, compute_digest(source), path)

    def sample(self, sample: Sample, bounds: Bounds) -> str:
        """Queues a request and returns its id; a resent request gets the same id. @raises Refused"""
        session_id = sample.source.sampling_session_id
        key = (session_id or "", sample.seq_id or 0, compute_digest(sample))
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
        self._pending[request_id] = sample.num_samples
        if idempotent:
            self._repeated[key] = request_id
            if len(self._repeated) > _REMEMBERED:
                del self._repeated[next(iter(self._repeated))]
        request = _SampleRequest(
            request_id, snapshot, [(request_id, i) for i in range(sample.num_samples)]
        )
        self._scheduler.control(Job(request_id, lambda: self._begin(request, sample, path, room)))
        return request_id

    def cancel(self, request_id: str) -> None:
        """Cancels a sampling request; ignores requests of other kinds. @raises Refused for an unknown id"""
        if self._futures.is_open(request_id) and request_id in self._pending:
            self._pending.pop(request_id, None)
            self._futures.resolve(request_id, Failure("cancelled", "User"))
            self._scheduler.control(Job(request_id, lambda: self._abandon(request_id)))

    def _admit(self, wanted: int) -> None:
        limit = self._limits.samples
        if wanted > limit:
            raise invalid("num_samples", wanted, f"at most {limit}")
        drawn = sum(list(self._pending.values()))
        if drawn + wanted > limit:
            raise Refused(429, f"{drawn} sequences are being drawn, at most {limit} may: ask again")

    def _find(self, source: Source) -> tuple[str, str | None]:
        """Name of the snapshot, and the path of its checkpoint, if any."""
        if source.sampling_session_id is not None:
            found = self._sessions.sampling(source.sampling_session_id)
            return found.snapshot, found.model_path
        if source.model_path is not None:
            return self._checkpoints.identity(source.model_path), source.model_path
        info = self._engine.info
        if source.base_model not in (info.model_name, info.model_path):
            raise invalid("base_model", source.base_model, f"'{info.model_name}'")
        return BASE, None

    # The methods below run in the engine's thread.

    def _begin(self, request: _SampleRequest, sample: Sample, path: str | None, room: int) -> None:
        if not self._futures.is_open(request.request_id):
            return
        seed = secrets.randbits(63) if sample.seed is None else sample.seed
        try:
            self._ensure(request.snapshot, path)
            self._snapshots.use(request.snapshot)
            self._requests[request.request_id] = request
            for key in request.keys:
                job = self._job(key, sample, request.snapshot, seed, room)
                self._scheduler.draw(job, lambda sampled: self._end(request, sampled))
        except Exception:
            self._abandon(request.request_id)
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
            # The prompt is the same for all sequences: score it once.
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

    def _end(self, request: _SampleRequest, sampled: Sampled) -> None:
        if sampled.error is not None:
            self._abandon(request.request_id)
            self._futures.resolve(request.request_id, Failure(sampled.error, "Server"))
            return
        request.finished[sampled.key[1]] = sampled
        if len(request.finished) < len(request.keys):
            return
        self._abandon(request.request_id)
        sequences = [request.finished[index] for _, index in request.keys]
        answer = SampleAnswer(sequences, sequences[0].prompt_logprobs)
        self._futures.resolve(request.request_id, answer)

    def _abandon(self, request_id: str) -> None:
        self._pending.pop(request_id, None)
        request = self._requests.pop(request_id, None)
        if request is None:
            return
        for key in request.keys:
            self._scheduler.abandon(key)
        self._snapshots.release(request.snapshot)
