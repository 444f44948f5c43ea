"""Training models: created from the base or a checkpoint, unloaded on request or to reclaim memory."""

from __future__ import annotations

from ..engines.engine import ModelSpec
from .checkpoints import read_place
from .ordering import Job
from .parts import Parts
from .sessions import Model
from .wire.answers import JsonAnswer
from .wire.digest import compute_digest
from .wire.refusal import Refused, invalid
from .wire.requests import Creation, Load


class Models:
    """Handles creation and unloading of a server's models."""

    def __init__(self, parts: Parts) -> None:
        self._engine = parts.engine
        self._scheduler = parts.scheduler
        self._futures = parts.futures
        self._sessions = parts.sessions
        self._checkpoints = parts.checkpoints
        self._snapshots = parts.snapshots
        self._limits = parts.limits

    def create(self, creation: Creation, *, own: bool) -> tuple[str, str]:
        """Queues the creation of a model; returns its id and the request's. @raises Refused"""
        info = self._engine.info
        if creation.base_model not in (None, info.model_name, info.model_path):
            raise invalid("base_model", creation.base_model, f"'{info.model_name}'")
        if isinstance(creation.source, Load):
            read_place(creation.source.path)
        session = self._sessions.get(creation.session_id)
        digest = compute_digest(creation)
        made = session.models.get(creation.model_seq_id)
        if made is not None:
            if made.digest != digest:
                raise Refused(409, f"model_seq_id: {creation.model_seq_id} was taken by another")
            return made.model_id, made.request_id
        self._make_room()
        model_id = f"{session.session_id}:train:{creation.model_seq_id}"
        model = Model(model_id, session.session_id, digest, self._futures.open())
        self._sessions.add_model(session, creation.model_seq_id, model)
        self._scheduler.add_model(model_id)
        job = Job(model.request_id, lambda: self._create(model, creation.source, own=own))
        self._scheduler.control(job)
        return model_id, model.request_id

    def unload(self, model_id: str) -> str:
        """Queues the unloading of a model; returns the request's id. @raises Refused"""
        return self._queue_unload(self._sessions.model(model_id), "it was unloaded")

    def finish_session(self, session_id: str) -> None:
        """Finishes a session, with its models and snapshots; what waits in a model's sequence fails. @raises Refused"""
        reason = "its session was finished"
        for model in self._sessions.finish(session_id):
            self._give_back(model, reason)
        self._scheduler.call(lambda: self._snapshots.drop_session(session_id))

    def _queue_unload(self, model: Model, reason: str) -> str:
        if model.unloading is None:
            model.unloading = self._futures.open()
            self._scheduler.control(Job(model.unloading, lambda: self._unload(model, reason)))
        return model.unloading

    def _give_back(self, model: Model, reason: str) -> None:
        self._queue_unload(model, reason)
        # Its place is free now: what is made next comes after the unloading.
        model.gone = reason

    def _make_room(self) -> None:
        if len(self._sessions.living()) < self._limits.models:
            return
        silent = self._sessions.silent()
        if not silent:
            raise Refused(
                422,
                f"create_model: this server holds {self._limits.models} models at once, and their clients live: "
                "unload one, finish its session, or start the server with a larger --max-models. "
                f"A client not heard of for {self._limits.silent_seconds:g} s loses its place",
            )
        oldest = min(silent, key=lambda model: self._sessions.last_seen(model))
        self._give_back(oldest, "its session was not heard of for long and its place was needed")

    # The methods below run in the engine's thread.

    def _create(self, model: Model, source: ModelSpec | Load, *, own: bool) -> JsonAnswer:
        try:
            if isinstance(source, ModelSpec):
                model.info = self._engine.create(model.model_id, source)
            else:
                self._load_checkpoint(model, source)
        except Exception as error:
            model.gone = f"it could not be made: {error}"
            self._scheduler.remove_model(model.model_id, model.gone)
            raise
        values = {"model_id": model.model_id}
        if isinstance(source, Load):
            return JsonAnswer({"type": "load_weights", "path": source.path, **values})
        if not own:
            return JsonAnswer({"type": "create_model", **values})
        made = {"trainable_parameters": model.info.trainable_parameters}
        return JsonAnswer(
            {"type": "create_model", **values, **made, "notes": list(model.info.notes)}
        )

    def _load_checkpoint(self, model: Model, load: Load) -> None:
        folder = self._checkpoints.existing(load.path)
        model.info = self._engine.create(model.model_id, self._engine.spec_of(folder))
        try:
            self._engine.load(model.model_id, folder, optimizer=load.optimizer)
        except Exception:
            self._engine.unload(model.model_id)
            raise

    def _unload(self, model: Model, reason: str) -> JsonAnswer:
        model.gone = reason
        self._scheduler.remove_model(model.model_id, f"no model {model.model_id!r}: {reason}")
        self._engine.unload(model.model_id)
        return JsonAnswer({"type": "unload_model", "model_id": model.model_id})
