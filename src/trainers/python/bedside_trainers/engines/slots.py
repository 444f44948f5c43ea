"""Key-value cache of the sequences being sampled, one slot (row) for each."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from .attention import BLOCK, attend


@dataclass(frozen=True)
class KeyShape:
    """Shape of one token's keys, and of its values: (layers, heads, width)."""

    layers: int
    heads: int
    width: int

    def bytes(self, dtype: torch.dtype) -> int:
        return 2 * self.layers * self.heads * self.width * dtype.itemsize


class Slots:
    """Key-value tensor (layers, 2, rows, heads, positions, width) that grows as needed."""

    def __init__(self, shape: KeyShape, dtype: torch.dtype, device: torch.device) -> None:
        self.shape = shape
        self.data = torch.zeros(
            (shape.layers, 2, 0, shape.heads, 0, shape.width), dtype=dtype, device=device
        )

    def reserve(self, rows: int, length: int) -> None:
        """Grows the tensor to at least this many rows and positions."""
        _, _, had_rows, _, had_length, _ = self.data.shape
        if rows <= had_rows and length <= had_length:
            return
        rows = max(rows, had_rows)
        if length > had_length:
            length = -(-max(length, had_length * 5 // 4) // BLOCK) * BLOCK
        length = max(length, had_length)
        shape = self.shape
        # Zeros, not uninitialised memory: masked positions are multiplied by 0, and 0 times infinity is NaN.
        grown = self.data.new_zeros((shape.layers, 2, rows, shape.heads, length, shape.width))
        grown[:, :, :had_rows, :, :had_length] = self.data
        self.data = grown

    def move(self, source: int, target: int, length: int) -> None:
        self.data[:, :, target, :, :length] = self.data[:, :, source, :, :length]

    def put(self, row: int, stored: Tensor, length: int) -> None:
        self.data[:, :, row, :, :length] = stored[:, :, :, :length]

    def take(self, row: int, length: int) -> Tensor:
        return self.data[:, :, row, :, :length].clone()


class SlotBatch:
    """Adjacent slot rows of one forward pass, used by a model as its key-value cache.

    `positions` is (rows, length): the position of each new token in its row. Rows begin at `start`; rows that a pass
    computes beyond `count` are padding, neither stored nor attended to.
    """

    def __init__(self, slots: Slots, start: int, positions: Tensor, span: int) -> None:
        self.slots = slots
        self.start = start
        self.positions = positions
        self.count = positions.shape[0]
        self.span = -(-span // BLOCK) * BLOCK
        self.rows = torch.arange(start, start + self.count, device=positions.device)[:, None]
        self._masks: dict[int | None, Tensor] = {}

    def get_seq_length(self, layer: int = 0) -> int:
        return 0

    def write(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Writes (rows, length, heads, width) at the positions; returns the rows' content, (rows, heads, span, width)."""
        held = self.slots.data[layer]
        held[0][self.rows, :, self.positions] = keys[: self.count]
        held[1][self.rows, :, self.positions] = values[: self.count]
        seen = held[:, self.start : self.start + self.count, :, : self.span]
        return seen[0], seen[1]

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: object, **__: object):
        """Cache interface of transformers' models: like `write`, for (rows, heads, length, width)."""
        return self.write(keys.transpose(1, 2), values.transpose(1, 2), layer)

    def mask(self, window: int | None = None) -> Tensor:
        """Additive attention mask (rows, 1, length, span): 0 where a token may attend, minus infinity elsewhere."""
        if window not in self._masks:
            at = torch.arange(self.span, device=self.positions.device)
            here = self.positions[:, None, :, None]
            hidden = at > here
            if window is not None:
                hidden = hidden | (at <= here - window)
            mask = torch.zeros(hidden.shape, dtype=self.slots.data.dtype, device=hidden.device)
            self._masks[window] = mask.masked_fill_(hidden, float("-inf"))
        return self._masks[window]


def attend_slots(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    batch: SlotBatch,
    scale: float,
    window: int | None = None,
    softcap: float | None = None,
) -> Tensor:
    """Attention over a batch's rows; (rows, query heads, length, width) to (rows, length, query heads, width)."""
    mask = batch.mask(window)
    real = query[: batch.count]
    if query.device.type == "cpu" or softcap is not None:
        out = attend(real, keys, values, mask, scale, softcap)
    else:
        out = functional.scaled_dot_product_attention(
            real, keys, values, attn_mask=mask, scale=scale, enable_gqa=True
        ).transpose(1, 2)
    spare = len(query) - batch.count
    return functional.pad(out, (0, 0, 0, 0, 0, 0, 0, spare)) if spare else out


def slot_attention(module, query, key, value, attention_mask, scaling, **kwargs):
    """Attention function for transformers' models that read a `SlotBatch`, passed as `slot_batch`."""
    batch, window = kwargs["slot_batch"], kwargs.get("sliding_window")
    softcap = kwargs.get("softcap")
    # Some models view the result in another shape.
    return attend_slots(query, key, value, batch, scaling, window, softcap).contiguous(), None
