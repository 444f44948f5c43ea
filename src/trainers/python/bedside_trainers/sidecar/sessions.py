"""Client sessions with their models and sampling sessions. Used on the event loop only."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field

from ..engines.engine import ModelInfo
from .settings import Limits
from .wire.refusal import Refused, quote, unknown


@dataclass
class Model:
    """A training model. The fields after `unloading` are written by the engine's thread."""

    model_id: str
    session_id: str
    digest: bytes
    # Id of the request that created it.
    request_id: str
    # Id of the request that unloads it.
    unloading: str | None = None
    info: ModelInfo | None = None
    # Reason why it can no longer be used.
    gone: str | None = None
    # What went wrong since the last step, so that the next one may not be made.
    spoilt: str | None = None


@dataclass(frozen=True)
class SamplingSession:
    """Source of samples: the base model, a checkpoint, or a snapshot of a model's current weights."""

    sampling_session_id: str
    snapshot: str
    digest: bytes
    model_path: str | None = None


@dataclass
class Session:
    """A client session; `seen` is the time of its last request. A finished one has no models."""

    session_id: str
    seen: float
    finished: bool = False
    models: dict[int, Model] = field(default_factory=dict)
    sampling: dict[int, SamplingSession] = field(default_factory=dict)


class Sessions:
    """All sessions by id; ids are globally unique and never reused."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._sessions: dict[str, Session] = {}
        self._models: dict[str, Model] = {}
        self._sampling: dict[str, SamplingSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self) -> Session:
        """Opens a session, dropping an idle one at the limit. @raises Refused if every session has a model"""
        if len(self._sessions) >= self._limits.sessions:
            self._forget_one()
        session = Session(uuid.uuid4().hex, time.monotonic())
        self._sessions[session.session_id] = session
        return session

    def get(self, session_id: str) -> Session:
        """Returns a session and marks it as seen now. @raises Refused also for a finished one"""
        session = self._known(session_id)
        if session.finished:
            # At this status, the official client ends its heartbeats.
            raise Refused(410, f"session {quote(session_id)} was finished by its client")
        session.seen = time.monotonic()
        return session

    def finish(self, session_id: str) -> list[Model]:
        """Finishes a session; returns its living models, which are to be unloaded. @raises Refused"""
        session = self._known(session_id)
        session.finished = True
        return [model for model in session.models.values() if model.gone is None]

    def model(self, model_id: str) -> Model:
        """Returns a usable model. @raises Refused"""
        model = self._models.get(model_id)
        if model is None or model.gone is not None:
            raise unknown("model", model_id, (model and model.gone) or "make one with create_model")
        self.get(model.session_id)
        return model

    def add_model(self, session: Session, seq_id: int, model: Model) -> None:
        session.models[seq_id] = model
        self._models[model.model_id] = model

    def living(self) -> list[Model]:
        """Models that are not unloaded."""
        return [model for model in self._models.values() if model.gone is None]

    def silent(self) -> list[Model]:
        """Living models of sessions without a request for `silent_seconds`."""
        before = time.monotonic() - self._limits.silent_seconds
        return [model for model in self.living() if self._sessions[model.session_id].seen < before]

    def last_seen(self, model: Model) -> float:
        """Time of the last request of a model's session."""
        return self._sessions[model.session_id].seen

    def sampling(self, sampling_session_id: str) -> SamplingSession:
        """Returns a sampling session. @raises Refused"""
        found = self._sampling.get(sampling_session_id)
        if found is None:
            raise unknown("sampling session", sampling_session_id)
        self.get(sampling_session_id.split(":", 1)[0])
        return found

    def add_sampling(
        self, session: Session, seq_id: int, snapshot: str | None, digest: bytes, path: str | None
    ) -> SamplingSession:
        """Adds the sampling session of a number; a repeated request gets the same one.
        @raises Refused for another request with this number"""
        made = session.sampling.get(seq_id)
        if made is not None:
            if made.digest != digest:
                raise Refused(
                    409, f"sampling_session_seq_id: {seq_id} was taken by another request"
                )
            return made
        name = f"{session.session_id}:sample:{seq_id}"
        made = SamplingSession(name, snapshot or name, digest, path)
        session.sampling[seq_id] = self._sampling[name] = made
        return made

    def _known(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            hint = "make one with create_session; a server that was restarted knows no old ones"
            raise unknown("session", session_id, hint)
        return session

    def _forget_one(self) -> None:
        idle = [s for s in self._sessions.values() if all(m.gone for m in s.models.values())]
        if not idle:
            raise Refused(422, f"{len(self._sessions)} sessions have models: unload some")
        session = min(idle, key=lambda session: session.seen)
        del self._sessions[session.session_id]
        for model in session.models.values():
            del self._models[model.model_id]
        for sampling in session.sampling.values():
            del self._sampling[sampling.sampling_session_id]
