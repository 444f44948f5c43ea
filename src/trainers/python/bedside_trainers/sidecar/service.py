"""The operation behind each route, independent of HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..engines.engine import Engine, EngineError
from .checkpoints import Place, check_name, read_place
from .models import Models
from .parts import make_parts
from .sampling import Sampling
from .settings import Settings
from .training import Training
from .wire.answers import Answer
from .wire.data import Bounds
from .wire.fields import Fields
from .wire.passes import PassBody, find_turn
from .wire.proto import PassMessage
from .wire.refusal import Refused
from .wire.requests import (
    Export,
    Load,
    Pass,
    Save,
    Snapshot,
    Turn,
    read_creation,
    read_own_spec,
    read_sample,
    read_source,
    read_spec,
    read_step,
    read_ttl,
    read_turn,
)

Reply = Mapping[str, Any]


class Service:
    """Operations of one server. Called on the event loop only."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self.settings = settings
        self.info = engine.info
        self.parts = make_parts(engine, settings)
        self.models = Models(self.parts)
        self.training = Training(self.parts)
        self.sampling = Sampling(self.parts)
        self.bounds = Bounds(
            vocab_size=engine.info.vocab_size,
            context_length=engine.info.context_length,
            datums=settings.limits.datums,
            number_type=np.float64 if engine.info.dtype == "float64" else np.float32,
        )

    # Sessions and models.

    def client_config(self, _: Fields) -> Reply:
        # In parallel, the official client sends a batch's first request last, and never if another one was refused:
        # it would then wait for that request's turn for ever.
        config: dict[str, Any] = {"parallel_fwdbwd_chunks": False}
        if self.settings.max_chunk_len is not None:
            config["fwdbwd_max_chunk_len"] = self.settings.max_chunk_len
        return config

    def create_session(self, _: Fields) -> Reply:
        session = self.parts.sessions.open()
        return {"type": "create_session", "session_id": session.session_id}

    def session_heartbeat(self, body: Fields) -> Reply:
        self.parts.sessions.get(body.text("session_id"))
        return {"type": "session_heartbeat"}

    def finish_session(self, session_id: str, body: Fields) -> Reply:
        body.fields("reason", {}).text(
            "type", "success", among=("success", "errored", "interrupted")
        )
        self.models.finish_session(session_id)
        return {"type": "finish_session", "session_id": session_id}

    def create_model(self, body: Fields) -> Reply:
        return self._create(body, read_spec(body), own=False)

    def create_own_model(self, body: Fields) -> Reply:
        return self._create(body, read_own_spec(body), own=True)

    def get_info(self, body: Fields) -> Reply:
        model = self.parts.sessions.model(body.text("model_id"))
        spec = model.info and model.info.spec
        info = self.info
        data = {"arch": info.arch, "model_name": info.model_name, "tokenizer_id": info.model_path}
        reply = {"type": "get_info", "model_id": model.model_id, "model_data": data}
        if spec is None:
            return reply
        rank = spec.rank if spec.mode == "lora" else None
        is_lora = spec.mode == "lora"
        return {**reply, "is_lora": is_lora, "lora_rank": rank, "model_name": info.model_name}

    def unload_model(self, body: Fields) -> Reply:
        return _future(self.models.unload(body.text("model_id")))

    # Operations in a model's sequence.

    @contextmanager
    def using_up(self, body: PassBody, *, backward: bool = False) -> Iterator[None]:
        """Uses up the number of a request that is refused, unless the client is asked to come again with it."""
        try:
            yield
        except (Refused, EngineError) as error:
            turn = find_turn(body)
            if turn is not None and not (isinstance(error, Refused) and error.status == 429):
                spoils = backward and not (isinstance(body, PassMessage) and body.forward_only)
                self.training.use_up(turn, str(error), backward=spoils)
            raise

    def submit_pass(self, turn: Turn, operation: Pass) -> Reply:
        return _future(self.training.submit(turn, operation), turn.model_id)

    def optim_step(self, body: Fields) -> Reply:
        turn = read_turn(body)
        return _future(self.training.submit(turn, read_step(body)), turn.model_id)

    def save_weights(self, body: Fields) -> Reply:
        turn = read_turn(body)
        name = check_name(body.text("path", f"{turn.seq_id:06d}"))
        save = Save("weights", name, body.flag("overwrite", False), read_ttl(body))
        return _future(self.training.submit(turn, save), turn.model_id)

    def save_weights_for_sampler(self, body: Fields) -> Reply:
        turn = read_turn(body)
        body.text("kind", "snapshot", among=("snapshot",))
        number = body.integer("sampling_session_seq_id", None, least=0)
        if number is not None and not body.has("path"):
            return _future(self.training.submit(turn, Snapshot(number)), turn.model_id)
        name = check_name(body.text("path", f"{turn.seq_id:06d}"))
        save = Save("sampler_weights", name, ttl_seconds=read_ttl(body))
        return _future(self.training.submit(turn, save), turn.model_id)

    def load_weights(self, body: Fields) -> Reply:
        load = Load(body.text("path"), body.flag("optimizer", False))
        if body.has("session_id"):
            return self._create(body, load, own=False)
        turn = read_turn(body)
        return _future(self.training.submit(turn, load), turn.model_id)

    def export(self, body: Fields) -> Reply:
        turn = read_turn(body)
        form = body.text("format", among=tuple(self.info.exports))
        export = Export(form, check_name(body.text("path")))
        return _future(self.training.submit(turn, export), turn.model_id)

    # Sampling.

    def create_sampling_session(self, body: Fields) -> Reply:
        session = self.parts.sessions.get(body.text("session_id"))
        number = body.integer("sampling_session_seq_id", least=0)
        made = self.sampling.open_session(session, number, read_source(body))
        name = made.sampling_session_id
        return {"type": "create_sampling_session", "sampling_session_id": name}

    def asample(self, body: Fields) -> Reply:
        sample = read_sample(body)
        request_id = self.sampling.sample(sample, self.bounds)
        names = [f"{request_id}-{index}" for index in range(sample.num_samples)]
        return {"request_id": request_id, "sample_sequence_ids": names}

    def get_sampler(self, sampling_session_id: str) -> Reply:
        found = self.parts.sessions.sampling(sampling_session_id)
        name = self.info.model_name
        reply = {"sampler_id": sampling_session_id, "base_model": name}
        return reply if found.model_path is None else {**reply, "model_path": found.model_path}

    # Results and checkpoints.

    async def retrieve_future(self, body: Fields) -> tuple[str, Answer | None]:
        """Returns the request's id and its answer, or None if the client has to ask again."""
        request_id = body.text("request_id")
        seconds = self.settings.poll_seconds
        return request_id, await self.parts.futures.wait(request_id, seconds)

    def cancel_future(self, body: Fields) -> Reply:
        self.sampling.cancel(body.text("request_id"))
        return {}

    async def weights_info(self, body: Fields) -> Reply:
        folder = self.parts.checkpoints.existing(body.text("tinker_path"))
        reading = self.parts.scheduler.call(lambda: self.parts.engine.spec_of(folder))
        spec = await asyncio.wrap_future(reading)
        reply = {"base_model": self.info.model_name, "is_lora": spec.mode == "lora"}
        if spec.mode == "full":
            return reply
        trained = ("train_unembed", "train_mlp", "train_attn")
        return {**reply, "lora_rank": spec.rank, **{key: getattr(spec, key) for key in trained}}

    def delete_checkpoint(self, model_id: str, kind: str, name: str) -> None:
        self.parts.checkpoints.delete(read_place(str(Place(model_id, kind, name))))

    def _create(self, body: Fields, source: Any, *, own: bool) -> Reply:
        model_id, request_id = self.models.create(read_creation(body, source), own=own)
        return _future(request_id, model_id)


def _future(request_id: str, model_id: str | None = None) -> Reply:
    return {"request_id": request_id, **({"model_id": model_id} if model_id else {})}
