"""What the sampler asks of a model: hidden states and logits for rows of slots."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from .slots import KeyShape, SlotBatch
from .threads import Threads

# Rows of a product are a multiple of it, so that a row's bits do not depend on how many there are.
ROWS = 8

# Token ids and positions, both (rows, length), reading and writing a batch's slots; to hidden states.
Trunk = Callable[[Tensor, Tensor, SlotBatch], Tensor]


@dataclass(frozen=True)
class Decoder:
    """A model with one snapshot's weights in place."""

    trunk: Trunk
    head: nn.Module
    keys: KeyShape
    dtype: torch.dtype
    device: torch.device
    threads: Threads

    def hidden(self, ids: Tensor, batch: SlotBatch) -> Tensor:
        """(rows, length) to (rows, length, width)."""
        self.threads.fit(ids.numel())
        # The least that makes rows times length a whole number of blocks.
        spare = -len(ids) % (ROWS // math.gcd(ROWS, ids.shape[1]))
        positions = batch.positions
        if spare:
            ids, positions = pad(ids, (0, 0, 0, spare)), pad(positions, (0, 0, 0, spare))
        return self.trunk(ids, positions, batch)[: batch.count]

    def logits(self, hidden: Tensor) -> Tensor:
        """(rows, width) to (rows, vocabulary)."""
        spare = -len(hidden) % ROWS
        padded = pad(hidden, (0, 0, 0, spare)) if spare else hidden
        return self.head(padded)[: len(hidden)]
