"""Prefill: reads prompts into slots in batches, each from the end of its stored prefix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..decoder import ROWS, Decoder
from ..head import chunk_rows, scaled_logprobs
from ..slots import SlotBatch, Slots
from .sequences import ActiveSequence


@dataclass
class Prefill:
    """A prompt of which `done` tokens are in its slot."""

    sequence: ActiveSequence
    done: int
    # Keys and values of the first `done` tokens, until they are in the slot.
    stored: Tensor | None = None
    last: Tensor | None = None

    @property
    def left(self) -> int:
        return len(self.sequence.job.prompt) - self.done


def read_prompts(decoder: Decoder, slots: Slots, prefills: Sequence[Prefill], budget: int) -> int:
    """Reads prompts to their ends, `budget` tokens at a time; rows are adjacent, the most remaining tokens first.
    Stores the last hidden state of each; returns the number of tokens read."""
    read = sum(one.left for one in prefills)
    while True:
        active = [one for one in prefills if one.left > 0]
        if not active:
            return read
        count = len(active)
        length = min(max(budget // count, 1), active[0].left)
        # Whole blocks of tokens, so that no padding rows are needed.
        step = ROWS // math.gcd(ROWS, count)
        length = -(-length // step) * step
        _read_chunk(decoder, slots, active, length)


def _read_chunk(decoder: Decoder, slots: Slots, active: Sequence[Prefill], length: int) -> None:
    rows = len(active)
    start = active[0].sequence.row
    tokens = np.zeros((rows, length), dtype=np.int64)
    positions = np.tile(np.arange(length), (rows, 1))
    for row, one in enumerate(active):
        part = one.sequence.job.prompt[one.done : one.done + length]
        tokens[row, : len(part)] = part
        positions[row] += one.done
    slots.reserve(start + rows, int(positions.max()) + 1)
    batch = SlotBatch(
        slots,
        start,
        torch.from_numpy(positions).to(decoder.device),
        int(positions.max()) + 1,
        from_start=all(one.done == 0 for one in active),
    )
    hidden = decoder.hidden(torch.from_numpy(tokens).to(decoder.device), batch)
    for row, one in enumerate(active):
        taken = min(one.left, length)
        if one.sequence.job.prompt_logprobs:
            _store_logprobs(decoder, one, hidden[row, :taken])
        one.done += taken
        if one.left == 0:
            one.last = hidden[row, taken - 1]


def _store_logprobs(decoder: Decoder, one: Prefill, hidden: Tensor) -> None:
    sequence = one.sequence
    prompt = sequence.job.prompt
    if sequence.prompt_logprobs is None:
        sequence.prompt_logprobs = np.full(len(prompt), np.nan)
    targets = torch.tensor(prompt[one.done + 1 : one.done + 1 + len(hidden)], device=hidden.device)
    temp = sequence.job.temperature or 1.0
    rows = chunk_rows(decoder.head.out_features, decoder.device)
    for start in range(0, len(targets), rows):
        part = targets[start : start + rows]
        logits = decoder.logits(hidden[start : start + len(part)])
        temperature = None if temp == 1 else torch.full((len(part),), temp, dtype=torch.float64)
        if temperature is not None:
            temperature = temperature.to(logits.device)
        picked = scaled_logprobs(logits, temperature).gather(1, part[:, None]).squeeze(1)
        at = one.done + 1 + start
        sequence.prompt_logprobs[at : at + len(part)] = picked.double().cpu().numpy()
