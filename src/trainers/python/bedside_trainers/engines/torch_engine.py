"""Torch engine: training models and sampling snapshots that share one base model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from . import checkpoint
from .engine import (
    AdamParams,
    Datum,
    EngineError,
    EngineInfo,
    ForwardResult,
    LossSpec,
    ModelInfo,
    ModelSpec,
    NonFinite,
    Sampled,
    SampleJob,
)
from .foundation import Foundation
from .options import Options
from .sampling.remote import RemoteSampler
from .sampling.sampler import Sampler
from .sampling.servers import SamplingServer
from .snapshots import Snapshot, Snapshots
from .training import adamw
from .training.passes import Limits, run_pass
from .weights import Body, Model, clone_weights, shape_key


class TorchEngine:
    """The `Engine` of engine.py over a foundation."""

    def __init__(self, foundation: Foundation, options: Options) -> None:
        options = options.for_device(foundation.device)
        self.info: EngineInfo = foundation.info
        self._foundation = foundation
        self._bodies: dict[tuple, Body] = {}
        self._models: dict[str, Model] = {}
        self._limits = Limits(
            options.training_tokens,
            self.info.vocab_size,
            self.info.context_length,
            foundation.device,
            foundation.threads,
        )
        self._snapshots = Snapshots(foundation)
        self._snapshot_budget = options.snapshot_bytes
        self._budgets = {
            f"{name}_budget": getattr(options, name)
            for name in ("key_bytes", "stored_bytes", "snapshot_bytes")
        }
        self._sampler: Sampler | RemoteSampler = Sampler(
            self._snapshots.decoder,
            foundation.decode,
            self.info.context_length,
            self.info.vocab_size,
            options,
        )
        self._counts = {"trained_tokens": 0.0, "forward_tokens": 0.0, "optim_steps": 0.0}

    def _model(self, model_id: str) -> Model:
        if model_id not in self._models:
            raise EngineError(f"Expected a model, got {model_id!r}: there is none of this name")
        return self._models[model_id]

    def _body(self, spec: ModelSpec) -> Body:
        key = shape_key(spec)
        if key not in self._bodies:
            self._bodies[key] = self._foundation.body(spec)
        return self._bodies[key]

    def create(self, model_id: str, spec: ModelSpec) -> ModelInfo:
        if model_id in self._models:
            raise EngineError(f"Expected a new model, got {model_id!r}, which is there already")
        notes = self._foundation.check(spec)
        body = self._body(spec)
        generator = torch.Generator().manual_seed(spec.seed & (1 << 63) - 1)
        weights = self._foundation.initial(body, generator)
        info = ModelInfo(spec, sum(one.numel() for one in weights.values()), notes)
        self._models[model_id] = Model(info, body, weights, generator)
        return info

    def unload(self, model_id: str) -> None:
        self._model(model_id)
        del self._models[model_id]

    def forward(self, model_id: str, data: Sequence[Datum], loss: LossSpec) -> ForwardResult:
        model = self._model(model_id)
        result = run_pass(model.activate(), data, loss, self._limits, backward=False)
        self._counts["forward_tokens"] += result.metrics["tokens:sum"]
        return result

    def forward_backward(
        self, model_id: str, data: Sequence[Datum], loss: LossSpec
    ) -> ForwardResult:
        model = self._model(model_id)
        try:
            result = run_pass(model.activate(), data, loss, self._limits, backward=True)
        except NonFinite:
            model.gradients = {}
            raise
        finally:
            fresh = model.body.gradients()
        for name, gradient in fresh.items():
            held = model.gradients.get(name)
            model.gradients[name] = gradient if held is None else held.add_(gradient)
        self._counts["trained_tokens"] += result.metrics["tokens:sum"]
        return result

    def discard(self, model_id: str) -> None:
        self._model(model_id).gradients = {}

    def optim_step(self, model_id: str, adam: AdamParams) -> Mapping[str, float]:
        model = self._model(model_id)
        gradients, model.gradients = model.gradients, {}
        norm = adamw.step(model.weights, gradients, model.moments, adam)
        model.trained()
        self._counts["optim_steps"] += 1
        return {"grad_norm:mean": norm}

    def save(self, model_id: str, folder: Path, *, optimizer: bool = True) -> None:
        model = self._model(model_id)
        checkpoint.save(
            folder,
            model.spec,
            self._foundation.identity,
            model.weights,
            (model.moments, model.generator.get_state()) if optimizer else None,
            lambda into: self._foundation.describe(model.spec, into),
        )

    def load(self, model_id: str, folder: Path, *, optimizer: bool) -> None:
        model = self._model(model_id)
        manifest = checkpoint.read_manifest(folder, self._foundation.identity)
        spec = checkpoint.spec_of(manifest)
        if shape_key(spec) != shape_key(model.spec):
            raise EngineError(f"Expected a checkpoint of {model.spec}, got one of {spec}")
        weights = self._read_weights(folder, manifest)
        moments, state = adamw.Moments(), model.generator.get_state()
        if optimizer:
            moments, state = checkpoint.read_moments(folder, manifest)
            for kept in (moments.first, moments.second):
                kept.update((name, self._foundation.place(one)) for name, one in kept.items())
        model.generator.set_state(state)
        model.weights, model.moments, model.gradients = weights, moments, {}
        model.trained()

    def _read_weights(self, folder: Path, manifest: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        name = checkpoint.weights_file(checkpoint.spec_of(manifest))
        read = checkpoint.read_tensors(folder, manifest, name)
        return {name: self._foundation.place(one) for name, one in read.items()}

    def spec_of(self, folder: Path) -> ModelSpec:
        return checkpoint.spec_of(checkpoint.read_manifest(folder, self._foundation.identity))

    def export(self, model_id: str, format: str, folder: Path) -> None:
        model = self._model(model_id)
        if model.spec.head == "value":
            raise EngineError("Expected a language model to export, got one with a value head")
        if format not in self.info.exports or (format == "adapter" and model.spec.mode == "full"):
            raise EngineError(f"Expected an export of a {model.spec.mode} model, got {format!r}")
        with checkpoint.atomic_folder(folder) as partial:
            if format == "adapter":
                name = checkpoint.weights_file(model.spec)
                checkpoint.tensors_to_file(model.weights, partial / name)
                self._foundation.describe(model.spec, partial)
            else:
                self._foundation.write_merged(model.spec, model.weights, partial)

    def snapshot(self, model_id: str | None, name: str) -> None:
        if model_id is None:
            self._keep(name, Snapshot(None, {}))
            return
        model = self._model(model_id)
        self._keep(name, Snapshot(model.spec, clone_weights(model.working)))

    def load_snapshot(self, folder: Path, name: str) -> None:
        manifest = checkpoint.read_manifest(folder, self._foundation.identity)
        spec = checkpoint.spec_of(manifest)
        self._keep(name, Snapshot(spec, self._read_weights(folder, manifest)))

    def _keep(self, name: str, snapshot: Snapshot) -> None:
        if snapshot.spec is not None and snapshot.spec.head == "value":
            raise EngineError("Expected a language model to sample from, got one with a value head")
        self._snapshots.keep(name, snapshot)
        try:
            self._sampler.open(name)
        except Exception:
            self._snapshots.drop(name)
            raise

    def sample_through(self, server: SamplingServer, folder: Path) -> None:
        """Draws through a sampling server from now on; the adapters of snapshots are handed over in `folder`."""
        own = self._sampler
        assert isinstance(own, Sampler)
        self._sampler = RemoteSampler(
            server, own, self._foundation.decode, folder, self._write_adapter
        )

    def _write_adapter(self, name: str, folder: Path) -> bool:
        snapshot = self._snapshots.get(name)
        if snapshot.spec is None:
            return False
        if snapshot.spec.mode != "lora":
            raise EngineError(
                "Expected a LoRA model: a sampling server gets weights as adapters, not whole models"
            )
        with checkpoint.atomic_folder(folder) as partial:
            name = checkpoint.weights_file(snapshot.spec)
            checkpoint.tensors_to_file(snapshot.weights, partial / name)
            self._foundation.describe(snapshot.spec, partial)
        return True

    def drop_snapshot(self, name: str) -> None:
        self._sampler.close(name)
        self._snapshots.drop(name)

    @property
    def snapshots_full(self) -> bool:
        held, count = self._snapshots.bytes, len(self._snapshots)
        # With one more of the usual size.
        return count > 1 and held + held // count > self._snapshot_budget

    def submit(self, job: SampleJob) -> None:
        self._sampler.submit(job)

    def cancel(self, key: Any) -> None:
        self._sampler.cancel(key)

    @property
    def waiting(self) -> int:
        return self._sampler.waiting

    def advance(self) -> Sequence[Sampled]:
        return self._sampler.advance()

    def metrics(self) -> Mapping[str, float]:
        kept = {
            "models": len(self._models),
            "snapshots": len(self._snapshots),
            "snapshot_bytes": self._snapshots.bytes,
            "same_bits": float(self._foundation.same_bits),
            "logit_gap": self._foundation.logit_gap,
            **self._budgets,
        }
        return {**self._counts, **kept, **self._sampler.metrics()}
