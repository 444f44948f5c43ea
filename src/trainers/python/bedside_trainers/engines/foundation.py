"""What a torch engine asks of the library that loads the base model."""

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
    """A base model, and bodies over its frozen weights."""

    info: EngineInfo
    identity: Mapping[str, Any]
    device: torch.device
    threads: Threads
    # Whether training and drawing give a token the same bits, in whatever company; tried out when opened.
    same_bits: bool

    def check(self, spec: ModelSpec) -> Sequence[str]:
        """Notes on what becomes of a spec. @raises EngineError for one that cannot be"""

    def body(self, spec: ModelSpec) -> Body:
        """A body for training models of this shape."""

    def initial(self, body: Body, generator: torch.Generator) -> Weights:
        """The weights a training model begins with."""

    def place(self, tensor: Tensor) -> Tensor:
        """A trainable weight read from disk, on the device."""

    def describe(self, spec: ModelSpec, folder: Path) -> None:
        """Writes what else a checkpoint's weights need to be read by others."""

    def write_merged(self, spec: ModelSpec, weights: Weights, folder: Path) -> None:
        """Writes a whole model with its tokenizer."""

    def decoder(self, name: str, spec: ModelSpec | None, weights: Weights) -> Decoder:
        """A decoder with these weights in place, for the snapshot of this name; of the base without a spec."""

    def forget(self, name: str) -> None:
        """Gives up what is kept for the snapshot of this name."""

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens, special ones as they are written."""
