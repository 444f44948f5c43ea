"""Foundation protocol: what a torch engine needs from the loaded base model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from .decoder import Decoder
from .engine import EngineInfo, ModelSpec
from .threads import Threads
from .weights import Body, Weights


class Foundation(Protocol):
    """A base model with frozen weights, and bodies (modules with exchangeable weights) over it."""

    info: EngineInfo
    identity: Mapping[str, Any]
    device: torch.device
    threads: Threads
    # Whether training and sampling give a token bit-identical log-probs in any batch; tested at open.
    same_bits: bool
    # Largest gap found at open between log-probs and those of the library's own model, in nats.
    logit_gap: float

    def check(self, spec: ModelSpec) -> Sequence[str]:
        """Notes on changes to a spec. @raises EngineError for an unsupported one"""

    def body(self, spec: ModelSpec) -> Body:
        """Creates a body for training models of this shape."""

    def initial(self, body: Body, generator: torch.Generator) -> Weights:
        """Initial weights of a training model."""

    def place(self, tensor: Tensor) -> Tensor:
        """Moves a trainable weight read from disk to the device."""

    def describe(self, spec: ModelSpec, folder: Path) -> None:
        """Writes the config that other programs need to read a checkpoint's weights."""

    def write_merged(self, spec: ModelSpec, weights: Weights, folder: Path) -> None:
        """Writes a merged model with its tokenizer."""

    def decoder(self, name: str, spec: ModelSpec | None, weights: Weights) -> Decoder:
        """A decoder with these weights, for the snapshot of this name; of the base model without a spec."""

    def merged_bytes(self) -> int:
        """Bytes of weights that are kept merged for snapshots."""

    def forget(self, name: str) -> None:
        """Drops the cache of the snapshot of this name."""

    def decode(self, tokens: Sequence[int]) -> str:
        """Decodes tokens to text, special tokens included."""
