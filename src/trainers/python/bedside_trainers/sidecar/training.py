"""Operations in a model's sequence: queued here, run in the engine's thread."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import NoReturn

import numpy as np

from ..engines.engine import EngineError, ForwardResult
from .checkpoints import Place, read_place
from .ordering import USED_UP
from .parts import Parts
from .sessions import Model
from .wire.answers import Answer, JsonAnswer, PassAnswer
from .wire.columns import join_columns
from .wire.digest import compute_digest
from .wire.refusal import Refused
from .wire.requests import Discard, Export, Load, Pass, Save, Snapshot, Step, Turn

Operation = Pass | Step | Save | Snapshot | Load | Export | Discard


class Training:
    """Handles passes, steps, and saving, loading and exporting of weights."""

    def __init__(self, parts: Parts) -> None:
        self._engine = parts.engine
        self._scheduler = parts.scheduler
        self._sessions = parts.sessions
        self._checkpoints = parts.checkpoints
        self._snapshots = parts.snapshots

    def submit(self, turn: Turn, operation: Operation) -> str:
        """Queues an operation at its place in the model's sequence; returns the request's id. @raises Refused"""
        model = self._sessions.model(turn.model_id)
        if isinstance(operation, Load):
            read_place(operation.path)
        digest = compute_digest((type(operation).__name__, operation))
        if isinstance(operation, Snapshot):
            session = self._sessions.get(model.session_id)
            made_by = compute_digest((turn, operation))
            self._sessions.add_sampling(session, operation.session_seq_id, None, made_by, None)
        run = self._runner(model, turn, operation)
        size = 0
        if isinstance(operation, Pass):
            arrays = (array for datum in operation.data for array in datum.inputs.values())
            size = sum(array.nbytes for array in arrays)
        return self._scheduler.submit(
            *(turn.model_id, turn.seq_id, digest, run, size),
            give_up=lambda missing: self._give_up(model, operation, missing),
        )

    def use_up(self, turn: Turn, message: str, *, backward: bool) -> None:
        """Uses up the number of a refused request, so that no later one waits for it. A number that has a request, or
        is of an unknown model, stays as it is. @param backward whether gradients of a batch are now missing"""
        with contextlib.suppress(Refused):
            model = self._sessions.model(turn.model_id)
            self._scheduler.submit(
                *(turn.model_id, turn.seq_id, USED_UP),
                lambda: self._fail(model, turn.seq_id, message, backward=backward),
                give_up=lambda missing: self._give_up(model, None, missing),
            )

    # The methods below run in the engine's thread.

    def _runner(self, model: Model, turn: Turn, operation: Operation) -> Callable[[], Answer]:
        if isinstance(operation, Pass):
            return lambda: self._pass(model, turn.seq_id, operation)
        if isinstance(operation, Step):
            return lambda: self._step(model, operation)
        if isinstance(operation, Load):
            return lambda: self._load(model, operation)
        if isinstance(operation, Snapshot):
            return lambda: self._snapshot(model, operation)
        if isinstance(operation, Discard):
            return lambda: self._discard(model)
        return lambda: self._write(model, operation)

    def _pass(self, model: Model, seq_id: int, operation: Pass) -> PassAnswer:
        run = self._engine.forward_backward if operation.backward else self._engine.forward
        try:
            result = _finite(run(model.model_id, operation.data, operation.loss))
            return PassAnswer(join_columns(result, operation.widths))
        except Exception:
            if not operation.backward:
                raise
            self._spoil(model, f"forward_backward of seq_id {seq_id} failed")
            raise

    def _spoil(self, model: Model, reason: str) -> None:
        # No step may be made on a part of a batch.
        model.spoilt = reason
        self._engine.discard(model.model_id)

    def _fail(self, model: Model, seq_id: int, message: str, *, backward: bool) -> NoReturn:
        if backward:
            self._spoil(model, f"forward_backward of seq_id {seq_id} was refused")
        raise EngineError(message)

    def _give_up(self, model: Model, operation: Operation | None, missing: int) -> None:
        self._spoil(model, f"seq_id {missing} never arrived")
        if isinstance(operation, Step):
            # The batch ended with this step, which fails.
            model.spoilt = None

    def _step(self, model: Model, operation: Step) -> JsonAnswer:
        if model.spoilt is not None:
            reason, model.spoilt = model.spoilt, None
            self._engine.discard(model.model_id)
            raise EngineError(
                f"no step: {reason}, and the gradients gathered since the last step were dropped"
            )
        metrics = self._engine.optim_step(model.model_id, operation.adam)
        finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
        return JsonAnswer({"type": "optim_step", "metrics": finite})

    def _discard(self, model: Model) -> JsonAnswer:
        model.spoilt = None
        self._engine.discard(model.model_id)
        return JsonAnswer({"type": "discard"})

    def _load(self, model: Model, operation: Load) -> JsonAnswer:
        folder = self._checkpoints.existing(operation.path)
        self._engine.load(model.model_id, folder, optimizer=operation.optimizer)
        model.spoilt = None
        path = operation.path
        return JsonAnswer({"type": "load_weights", "path": path, "model_id": model.model_id})

    def _snapshot(self, model: Model, operation: Snapshot) -> JsonAnswer:
        name = f"{model.session_id}:sample:{operation.session_seq_id}"
        self._snapshots.keep(name, lambda: self._engine.snapshot(model.model_id, name))
        kind = "save_weights_for_sampler"
        return JsonAnswer({"type": kind, "path": None, "sampling_session_id": name})

    def _write(self, model: Model, operation: Save | Export) -> JsonAnswer:
        if isinstance(operation, Export):
            place = Place(model.model_id, "exports", operation.name)
            run = self._engine.export
            write = self._checkpoints.write
            path = write(place, lambda folder: run(model.model_id, operation.format, folder))
            return JsonAnswer({"type": "export", "path": path})
        place = Place(model.model_id, operation.kind, operation.name)
        sampler = operation.kind == "sampler_weights"
        path = self._checkpoints.write(
            place,
            lambda folder: self._engine.save(model.model_id, folder, optimizer=not sampler),
            overwrite=operation.overwrite,
            ttl_seconds=operation.ttl_seconds,
        )
        return JsonAnswer(
            {"type": "save_weights_for_sampler" if sampler else "save_weights", "path": path}
        )


def _finite(result: ForwardResult) -> ForwardResult:
    for name, value in result.metrics.items():
        if not math.isfinite(value):
            raise EngineError(f"{name} is {value}")
    for index, output in enumerate(result.outputs):
        for name, array in output.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise EngineError(f"datum {index}: {name} is not finite")
    return result
