"""Engine protocol: the interface between the server and an engine. All methods but `submit` run in one thread.

Arrays are numpy: integers int64; numbers float32 as input (float64 accepted), float32 or the engine's own float type
as output. This module does not import torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np


class EngineError(Exception):
    """Invalid request: the client's fault. Nothing was changed."""


class StorageError(Exception):
    """A full disk or a file that cannot be read: not the client's fault. Nothing was changed."""


class NonFinite(EngineError):
    """A loss or a gradient is NaN or infinite. Accumulated gradients are dropped and no step is made."""


@dataclass(frozen=True)
class ModelSpec:
    """Spec of a training model."""

    mode: Literal["lora", "full"] = "lora"
    rank: int = 16
    # LoRA's scale is alpha / rank.
    alpha: float = 32.0
    seed: int = 0
    train_attn: bool = True
    train_mlp: bool = True
    # LoRA on lm_head: skipped with a note in `ModelInfo.notes` if embeddings are tied.
    train_unembed: bool = False
    # `value`: a scalar head, initialised to zero, on a trunk with its own weights; it has no sampler.
    head: Literal["language", "value"] = "language"


@dataclass(frozen=True)
class ModelInfo:
    """A created model: its spec, its number of trainable parameters, and notes on changes to the spec."""

    spec: ModelSpec
    trainable_parameters: int
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class EngineInfo:
    """Description of a running engine, for `/ext/v1/capabilities`."""

    engine: str  # 'peft' or 'unsloth'
    device: str
    dtype: str
    versions: Mapping[str, str]
    model_name: str  # the base model's name for clients
    model_path: str
    arch: str
    context_length: int
    vocab_size: int
    parameters: int
    tied_embeddings: bool
    modes: Sequence[str] = ("lora", "full")
    heads: Sequence[str] = ("language", "value")
    exports: Sequence[str] = ("adapter", "merged")
    losses: Sequence[str] = ()
    # What is promised elsewhere and does not hold on this machine, in sentences.
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Datum:
    """At position t the model reads `tokens[t]` and predicts `inputs['target_tokens'][t]`. Inputs have length N or 1."""

    tokens: np.ndarray
    inputs: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class LossSpec:
    """A loss by its name on the wire, with its flat config."""

    name: str
    config: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class ForwardResult:
    """Outputs per datum, in the order of the data; metrics named `name:reduction`."""

    outputs: Sequence[Mapping[str, np.ndarray]]
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class AdamParams:
    """Settings of one AdamW step."""

    learning_rate: float = 1e-4
    beta1: float = 0.9
    beta2: float = 0.95
    eps: float = 1e-12
    weight_decay: float = 0.0  # decoupled
    grad_clip_norm: float = 0.0  # 0 is off


@dataclass(frozen=True)
class SampleJob:
    """One sequence to draw. `key` is chosen by the caller, unique among jobs in flight."""

    key: Any
    snapshot: str
    prompt: Sequence[int]
    max_tokens: int
    temperature: float = 1.0  # 0 decodes greedily
    top_k: int = -1
    top_p: float = 1.0
    # Every draw depends only on this seed and the position, not on other jobs in flight.
    seed: int = 0
    stop_tokens: frozenset[int] = frozenset()
    stop_strings: Sequence[str] = ()
    # Also log-probs of the prompt's tokens, at `temperature` (at 1 if that is 0); the first is NaN.
    prompt_logprobs: bool = False


@dataclass(frozen=True)
class Sampled:
    """A finished job. Log-probs are of the full distribution at the job's temperature (at 1 if that is 0), before
    top-k and top-p. `tokens` end with the stop token, or with the tokens that complete a stop string."""

    key: Any
    tokens: Sequence[int]
    logprobs: Sequence[float]
    stop_reason: Literal["stop", "length"]
    prompt_logprobs: np.ndarray | None = None
    error: str | None = None


@dataclass(frozen=True)
class SamplingPlace:
    """A server that draws the tokens in the engine's stead, and the folder that it reads adapters from."""

    kind: Literal["vllm", "sglang"]
    url: str
    folder: Path


class Engine(Protocol):
    """Trains models on one base model, and samples from snapshots of them."""

    info: EngineInfo

    def create(self, model_id: str, spec: ModelSpec) -> ModelInfo:
        """Creates a training model. @raises EngineError for a rank that is too high, or an unsupported spec"""

    def unload(self, model_id: str) -> None: ...

    def forward(self, model_id: str, data: Sequence[Datum], loss: LossSpec) -> ForwardResult: ...

    def forward_backward(
        self, model_id: str, data: Sequence[Datum], loss: LossSpec
    ) -> ForwardResult:
        """Accumulates gradients, summed over data, independently of their order and batching.
        @raises NonFinite, after which the model's gradients are zero"""

    def discard(self, model_id: str) -> None:
        """Drops the accumulated gradients: part of the batch failed, so no step may be made."""

    def optim_step(self, model_id: str, adam: AdamParams) -> Mapping[str, float]:
        """Runs one AdamW step on the accumulated gradients, then zeroes them. Metrics: `grad_norm:mean`.
        @raises NonFinite"""

    def save(self, model_id: str, folder: Path, *, optimizer: bool = True) -> None:
        """Saves weights and `checkpoint.json`, by default optimiser and generator state too, into a new folder,
        atomically."""

    def load(self, model_id: str, folder: Path, *, optimizer: bool) -> None:
        """Loads a checkpoint. @raises EngineError for another base model or shape; the model is then unchanged"""

    def spec_of(self, folder: Path) -> ModelSpec:
        """Reads the spec of a checkpoint. @raises EngineError if it is not one of this base model"""

    def export(self, model_id: str, format: str, folder: Path) -> None:
        """Exports weights. `adapter`: a PEFT folder; `merged`: a Hugging Face model folder with the tokenizer."""

    def snapshot(self, model_id: str | None, name: str) -> None:
        """Snapshots a model's current weights under a name for sampling; without a model, the base weights."""

    def load_snapshot(self, folder: Path, name: str) -> None:
        """Loads a checkpoint's weights as a snapshot for sampling."""

    def drop_snapshot(self, name: str) -> None: ...

    @property
    def snapshots_full(self) -> bool:
        """Whether snapshots take up their budget of memory, so that one should go before the next is made."""

    # Sampling: continuous batching. Jobs are admitted between two tokens.
    def submit(self, job: SampleJob) -> None:
        """Queues a job. Thread-safe and cheap. @raises EngineError for a prompt too long or an unknown snapshot"""

    def cancel(self, key: Any) -> None: ...

    @property
    def waiting(self) -> int:
        """Number of unfinished jobs."""

    def advance(self) -> Sequence[Sampled]:
        """Runs one round: admits jobs that fit, draws one token for every job of one snapshot, returns finished ones."""

    def metrics(self) -> Mapping[str, float]:
        """Counters and gauges for the metrics endpoint."""
