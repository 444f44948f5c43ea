"""Reading prompts into slots, many at once, each from where a stored prefix ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .decoder import ROWS, Decoder
from .head import chunk_rows, scaled_logprobs
from .sequences import Running
from .slots import SlotBatch, Slots


@dataclass
class Reading:
    """A prompt partly in its slot."""

    running: Running
    done: int
    # Keys and values of what is done, until they are in the slot.
    stored: Tensor | None = None
    last: Tensor | None = None

    @property
    def left(self) -> int:
        return len(self.running.job.prompt) - self.done


def read_prompts(decoder: Decoder, slots: Slots, readings: Sequence[Reading], budget: int) -> int:
    """Reads all of them to the end, `budget` tokens at a time; their rows follow each other, the longest rest first.
    Leaves each one's last hidden state; gives how many tokens were read."""
    read = sum(one.left for one in readings)
    while True:
        active = [one for one in readings if one.left > 0]
        if not active:
            return read
        count = len(active)
        length = min(max(budget // count, 1), active[0].left)
        # Whole blocks of tokens without a row of padding.
        step = ROWS // math.gcd(ROWS, count)
        length = -(-length // step) * step
        _read_chunk(decoder, slots, active, length)


def _read_chunk(decoder: Decoder, slots: Slots, active: Sequence[Reading], length: int) -> None:
    rows = len(active)
    start = active[0].running.row
    tokens = np.zeros((rows, length), dtype=np.int64)
    positions = np.tile(np.arange(length), (rows, 1))
    for row, one in enumerate(active):
        part = one.running.job.prompt[one.done : one.done + length]
        tokens[row, : len(part)] = part
        positions[row] += one.done
    slots.reserve(start + rows, int(positions.max()) + 1)
    batch = SlotBatch(
        slots, start, torch.from_numpy(positions).to(decoder.device), int(positions.max()) + 1
    )
    hidden = decoder.hidden(torch.from_numpy(tokens).to(decoder.device), batch)
    for row, one in enumerate(active):
        taken = min(one.left, length)
        if one.running.job.prompt_logprobs:
            _note_logprobs(decoder, one, hidden[row, :taken])
        one.done += taken
        if one.left == 0:
            one.last = hidden[row, taken - 1]


def _note_logprobs(decoder: Decoder, one: Reading, hidden: Tensor) -> None:
    running = one.running
    prompt = running.job.prompt
    if running.prompt_logprobs is None:
        running.prompt_logprobs = np.full(len(prompt), np.nan)
    targets = torch.tensor(prompt[one.done + 1 : one.done + 1 + len(hidden)], device=hidden.device)
    heat = running.job.temperature or 1.0
    rows = chunk_rows(decoder.head.out_features)
    for start in range(0, len(targets), rows):
        part = targets[start : start + rows]
        logits = decoder.logits(hidden[start : start + len(part)])
        temperature = None if heat == 1 else torch.full((len(part),), heat, dtype=torch.float64)
        if temperature is not None:
            temperature = temperature.to(logits.device)
        picked = scaled_logprobs(logits, temperature).gather(1, part[:, None]).squeeze(1)
        at = one.done + 1 + start
        running.prompt_logprobs[at : at + len(part)] = picked.double().cpu().numpy()
