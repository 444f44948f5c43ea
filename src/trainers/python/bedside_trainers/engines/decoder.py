"""Decoder: hidden states and logits of a model for the sampler, over slot rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from .logits import LogitTransform
from .slots import KeyShape, SlotBatch
from .threads import Threads

# Matrix products have a multiple of this many rows, so that a row's bits do not depend on the batch size.
ROWS = 8

# From token ids and positions, both (rows, length), to hidden states; reads and writes the batch's slots.
Trunk = Callable[[Tensor, Tensor, SlotBatch], Tensor]


@dataclass(frozen=True)
class Decoder:
    """A model with the weights of one snapshot."""

    trunk: Trunk
    head: nn.Module
    transform: LogitTransform
    keys: KeyShape
    dtype: torch.dtype
    device: torch.device
    threads: Threads

    def hidden(self, ids: Tensor, batch: SlotBatch) -> Tensor:
        """Hidden states of new tokens: (rows, length) to (rows, length, width)."""
        self.threads.fit(ids.numel())
        # Fewest padding rows that make rows times length a multiple of ROWS.
        spare = -len(ids) % (ROWS // math.gcd(ROWS, ids.shape[1]))
        positions = batch.positions
        if spare:
            ids, positions = pad(ids, (0, 0, 0, spare)), pad(positions, (0, 0, 0, spare))
        return self.trunk(ids, positions, batch)[: batch.count]

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits of hidden states: (rows, width) to (rows, vocabulary)."""
        spare = -len(hidden) % ROWS
        padded = pad(hidden, (0, 0, 0, spare)) if spare else hidden
        return self.transform.apply(self.head(padded)[: len(hidden)])
