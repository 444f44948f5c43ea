"""What the server asks of an engine. All methods but `submit` are called from one thread, one at a time.

Arrays are numpy: integers int64, numbers float32 on the way in (float64 accepted), float32 or the engine's own float
type on the way out. Nothing here imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np


class EngineError(Exception):
    """The request cannot be served: the client's fault. Nothing was changed."""


class NonFinite(EngineError):
    """A loss or a gradient is NaN or infinite. Gradients gathered so far are dropped, no step is made."""


@dataclass(frozen=True)
class ModelSpec:
    """What a training model is made as."""

    mode: Literal["lora", "full"] = "lora"
    rank: int = 16
    # LoRA's scale is alpha / rank.
    alpha: float = 32.0
    seed: int = 0
    train_attn: bool = True
    train_mlp: bool = True
    # LoRA on lm_head: skipped, and said so in `ModelInfo.notes`, where embeddings are tied.
    train_unembed: bool = False
    # `value`: a scalar head, zero at first, on a trunk of its own weights; it has no sampler.
    head: Literal["language", "value"] = "language"


@dataclass(frozen=True)
class ModelInfo:
    """What became of a `ModelSpec`."""

    spec: ModelSpec
    trainable_parameters: int
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class EngineInfo:
    """What is running, for `/ext/v1/capabilities`."""

    engine: str  # 'peft' or 'unsloth', the one that really runs
    device: str
    dtype: str
    versions: Mapping[str, str]
    model_name: str  # what clients call the base model
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


@dataclass(frozen=True)
class Datum:
    """`tokens[t]` is read at t and `inputs['target_tokens'][t]` predicted there. Inputs have length N, or 1."""

    tokens: np.ndarray
    inputs: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class LossSpec:
    """A loss by its name on the wire, with its flat configuration."""

    name: str
    config: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class ForwardResult:
    """Outputs per datum, in the order of the data; metrics named `name:reduction`."""

    outputs: Sequence[Mapping[str, np.ndarray]]
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class AdamParams:
    learning_rate: float = 1e-4
    beta1: float = 0.9
    beta2: float = 0.95
    eps: float = 1e-12
    weight_decay: float = 0.0  # decoupled
    grad_clip_norm: float = 0.0  # 0 is off


@dataclass(frozen=True)
class SampleJob:
    """One sequence to draw. `key` is the caller's, unique among those in flight."""

    key: Any
    snapshot: str
    prompt: Sequence[int]
    max_tokens: int
    temperature: float = 1.0  # 0 takes the likeliest
    top_k: int = -1
    top_p: float = 1.0
    # Decides every draw, with the position alone: not the other jobs in flight.
    seed: int = 0
    stop_tokens: frozenset[int] = frozenset()
    stop_strings: Sequence[str] = ()
    # Also log p of the prompt's own tokens, at `temperature` (1 where that is 0); the first is NaN.
    prompt_logprobs: bool = False


@dataclass(frozen=True)
class Sampled:
    """A finished job. Log-probs are of the whole distribution at the job's temperature (1 where that is 0),
    before top-k and top-p. A stop token is the last of `tokens`; so are those that complete a stop string."""

    key: Any
    tokens: Sequence[int]
    logprobs: Sequence[float]
    stop_reason: Literal["stop", "length"]
    prompt_logprobs: np.ndarray | None = None
    error: str | None = None


class Engine(Protocol):
    info: EngineInfo

    def create(self, model_id: str, spec: ModelSpec) -> ModelInfo:
        """@raises EngineError for a rank that is too high, or what this engine does not have"""

    def unload(self, model_id: str) -> None: ...

    def forward(self, model_id: str, data: Sequence[Datum], loss: LossSpec) -> ForwardResult: ...

    def forward_backward(
        self, model_id: str, data: Sequence[Datum], loss: LossSpec
    ) -> ForwardResult:
        """Adds to the model's gradients; the sum over data, whatever the order or the split.
        @raises NonFinite, after which the model's gradients are zero"""

    def discard(self, model_id: str) -> None:
        """Drops the gradients gathered so far: a part of the batch failed, so no step may be made."""

    def optim_step(self, model_id: str, adam: AdamParams) -> Mapping[str, float]:
        """One AdamW step on the gathered gradients, which are zero after it. Metrics: `grad_norm:mean`.
        @raises NonFinite"""

    def save(self, model_id: str, folder: Path) -> None:
        """Weights, optimiser, generator state and `checkpoint.json`, into a new folder: whole or not at all."""

    def load(self, model_id: str, folder: Path, *, optimizer: bool) -> None:
        """@raises EngineError for a checkpoint of another base model or shape; the model stays as it was"""

    def spec_of(self, folder: Path) -> ModelSpec:
        """What a checkpoint was made as. @raises EngineError where it is none of this base model"""

    def export(self, model_id: str, format: str, folder: Path) -> None:
        """`adapter`: a PEFT folder; `merged`: a Hugging Face model folder with the tokenizer."""

    def snapshot(self, model_id: str | None, name: str) -> None:
        """Keeps the weights of this moment under a name for sampling; without a model, those of the base."""

    def load_snapshot(self, folder: Path, name: str) -> None:
        """Keeps a checkpoint's weights under a name for sampling."""

    def drop_snapshot(self, name: str) -> None: ...

    # Sampling: continuous batching. Jobs are admitted between two tokens.
    def submit(self, job: SampleJob) -> None:
        """Queues a job. Thread-safe, cheap. @raises EngineError for a prompt that does not fit, or no snapshot"""

    def cancel(self, key: Any) -> None: ...

    @property
    def waiting(self) -> int:
        """Jobs not finished yet."""

    def advance(self) -> Sequence[Sampled]:
        """One round: admits what fits, draws one token for every job of one snapshot; gives the finished jobs."""

    def metrics(self) -> Mapping[str, float]:
        """Counters and gauges for the metrics endpoint."""
