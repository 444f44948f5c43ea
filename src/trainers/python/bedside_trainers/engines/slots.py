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
    """Key-value tensors (2, rows, heads, positions, width), one for each layer, that grow as needed."""

    def __init__(self, shape: KeyShape, dtype: torch.dtype, device: torch.device) -> None:
        self.shape = shape
        empty = torch.zeros((2, 0, shape.heads, 0, shape.width), dtype=dtype, device=device)
        self.data = [empty] * shape.layers

    @property
    def bytes(self) -> int:
        return sum(one.nbytes for one in self.data)

    def reserve(self, rows: int, length: int, cells: int | None = None) -> None:
        """Grows to at least this many rows and positions. Keeps all rows held, or only these if they would be more
        than `cells` positions."""
        _, had_rows, _, had_length, _ = self.data[0].shape
        if rows <= had_rows and length <= had_length:
            return
        kept = max(rows, had_rows)
        if length > had_length:
            length = -(-max(length, had_length * 5 // 4) // BLOCK) * BLOCK
        length = max(length, had_length)
        if cells is not None and kept * length > cells:
            kept = rows
        had_rows, shape = min(had_rows, kept), self.shape
        # A layer at a time, so that only one of them is held twice.
        for layer, had in enumerate(self.data):
            # Zeros, not uninitialised memory: masked positions are multiplied by 0, and 0 times infinity is NaN.
            grown = had.new_zeros((2, kept, shape.heads, length, shape.width))
            grown[:, :had_rows, :, :had_length] = had[:, :had_rows]
            self.data[layer] = grown

    def move(self, source: int, target: int, length: int) -> None:
        for one in self.data:
            one[:, target, :, :length] = one[:, source, :, :length]

    def put(self, row: int, stored: Tensor, length: int) -> None:
        for one, layer in zip(self.data, stored):
            one[:, row, :, :length] = layer[:, :, :length]

    def take(self, row: int, length: int) -> Tensor:
        """A copy of a row's keys and values, (layers, 2, heads, length, width)."""
        return torch.stack([one[:, row, :, :length] for one in self.data])


class SlotBatch:
    """Adjacent slot rows of one forward pass, used by a model as its key-value cache.

    `positions` is (rows, length): the position of each new token in its row. Rows begin at `start`; rows that a pass
    computes beyond `count` are padding, neither stored nor attended to.
    """

    def __init__(
        self, slots: Slots, start: int, positions: Tensor, span: int, *, from_start: bool = False
    ) -> None:
        # Whether every row begins at position 0, so that plain causal attention sees all there is.
        self.from_start = from_start
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
            mask = torch.zeros(hidden.shape, dtype=self.slots.data[0].dtype, device=hidden.device)
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
    real = query[: batch.count]
    if query.device.type == "cpu" or softcap is not None:
        out = attend(real, keys, values, batch.mask(window), scale, softcap)
    else:
        out = attend_fused(real, keys, values, batch, scale, window)
    spare = len(query) - batch.count
    return functional.pad(out, (0, 0, 0, 0, 0, 0, 0, spare)) if spare else out


def attend_fused(
    query: Tensor, keys: Tensor, values: Tensor, batch: SlotBatch, scale: float, window: int | None
) -> Tensor:
    """Attention by torch's fused kernels, for a GPU; without a dense mask where prompts are read from their start."""
    length = query.shape[2]
    if batch.from_start and (window is None or length <= window):
        seen = {"key": keys[:, :, :length], "value": values[:, :, :length], "is_causal": True}
    else:
        seen = {"key": keys, "value": values, "attn_mask": batch.mask(window)}
    attended = functional.scaled_dot_product_attention(query, scale=scale, enable_gqa=True, **seen)
    return attended.transpose(1, 2)


def slot_attention(module, query, key, value, attention_mask, scaling, **kwargs):
    """Attention function for transformers' models that read a `SlotBatch`, passed as `slot_batch`."""
    batch, window = kwargs["slot_batch"], kwargs.get("sliding_window")
    softcap = kwargs.get("softcap")
    # Some models view the result in another shape.
    return attend_slots(query, key, value, batch, scaling, window, softcap).contiguous(), None
