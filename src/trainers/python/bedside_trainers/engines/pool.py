"""The sequences being drawn under one snapshot."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import torch
from torch import Tensor

from .decoder import Decoder
from .draw import draw
from .engine import Sampled
from .options import Options
from .prefill import Reading, read_prompts
from .prefix import BLOCK, PrefixStore, block_hashes
from .sequences import Decode, Running
from .slots import SlotBatch, Slots


class Pool:
    """Rows 0 to n - 1 of the slots are in use; a row that gets free is filled with the last."""

    def __init__(self, options: Options, decode: Decode) -> None:
        self.options = options
        self.decode = decode
        self.waiting: deque[Running] = deque()
        self.running: list[Running] = []
        self.prefixes = PrefixStore(0)
        self.slots: Slots | None = None
        self.cells = 0
        self.counts = {"sampled_tokens": 0, "prompt_tokens": 0, "reused_tokens": 0}

    def __len__(self) -> int:
        return len(self.waiting) + len(self.running)

    @torch.inference_mode()
    def cancel(self, key: object) -> bool:
        for one in self.waiting:
            if one.job.key == key:
                self.waiting.remove(one)
                return True
        for one in self.running:
            if one.job.key == key:
                self._release(one)
                return True
        return False

    @torch.inference_mode()
    def advance(self, decoder: Decoder) -> list[Sampled]:
        """One token for every sequence: those admitted now have their first."""
        if self.slots is None:
            self._begin(decoder)
        states: list[tuple[Running, Tensor]] = []
        if self.running:
            states.extend(zip(list(self.running), self._decode(decoder)))
        while fresh := self._admit():
            new = [one for one in fresh if one.left > BLOCK]
            read = read_prompts(decoder, self.slots, fresh, self.options.prompt_tokens)
            self.counts["prompt_tokens"] += read
            for one in new:
                self._store(one.running, len(one.running.job.prompt))
            states.extend((one.running, one.last) for one in fresh)
        return self._draw(decoder, states)

    def _begin(self, decoder: Decoder) -> None:
        each = decoder.keys.bytes(decoder.dtype)
        self.slots = Slots(decoder.keys, decoder.dtype, decoder.device)
        self.cells = self.options.key_bytes // each
        self.prefixes = PrefixStore(self.options.stored_bytes // each)

    def _decode(self, decoder: Decoder) -> Tensor:
        places = [one.length for one in self.running]
        self.slots.reserve(len(places), max(places) + 1)
        positions = torch.tensor(places, device=decoder.device)[:, None]
        ids = torch.tensor([one.drawn[-1] for one in self.running], device=decoder.device)[:, None]
        batch = SlotBatch(self.slots, 0, positions, max(places) + 1)
        return decoder.hidden(ids, batch)[:, 0]

    def _fits(self, admitted: Sequence[Reading]) -> bool:
        """Whether there is room for the next one waiting beside those running and those admitted now."""
        beside = [*self.running, *(one.running for one in admitted)]
        span = max((one.whole for one in (*beside, self.waiting[0])))
        rows = len(beside) + 1
        within = rows <= self.options.rows and rows * span <= self.cells
        return within or rows == 1

    def rest(self) -> None:
        """Gives up all sequences that run, and all keys."""
        self.running = []
        self.slots = None
        self.prefixes = PrefixStore(0)

    def _admit(self) -> list[Reading]:
        """Takes waiting jobs in order; one whose prompt begins like one being read waits for that to be stored."""
        readings: list[Reading] = []
        begun: set[int] = set()
        held: list[Running] = []
        while self.waiting and self._fits(readings):
            one = self.waiting.popleft()
            reading = self._reading(one)
            if self.prefixes.budget and reading.left > BLOCK and not one.job.prompt_logprobs:
                ahead = list(block_hashes(one.job.prompt))[reading.done // BLOCK :]
                if ahead[0] in begun:
                    held.append(one)
                    continue
                begun.update(ahead)
            readings.append(reading)
        self.waiting.extendleft(reversed(held))
        readings.sort(key=lambda reading: -reading.left)
        self._place(readings)
        return readings

    def _reading(self, one: Running) -> Reading:
        if one.job.prompt_logprobs:
            return Reading(one, 0)
        stored, length = self.prefixes.longest(one.job.prompt)
        return Reading(one, min(length, len(one.job.prompt) - 1), stored)

    def _place(self, readings: Sequence[Reading]) -> None:
        for reading in readings:
            reading.running.row = len(self.running)
            self.running.append(reading.running)
        longest = max((len(one.running.job.prompt) for one in readings), default=0)
        self.slots.reserve(len(self.running), longest + 1)
        for reading in readings:
            self.counts["reused_tokens"] += reading.done
            if reading.stored is not None and reading.done > 0:
                self.slots.put(reading.running.row, reading.stored, reading.done)
                reading.stored = None

    def _draw(self, decoder: Decoder, states: Sequence[tuple[Running, Tensor]]) -> list[Sampled]:
        if not states:
            return []
        wanted = [(one, state) for one, state in states if one.limit > 0]
        if wanted:
            logits = decoder.logits(torch.stack([state for _, state in wanted]))
            jobs = [one.job for one, _ in wanted]
            places = [len(one.job.prompt) + len(one.drawn) for one, _ in wanted]
            for (one, _), token, logprob in zip(wanted, *draw(logits, jobs, places)):
                one.add(token, logprob)
            self.counts["sampled_tokens"] += len(wanted)
        finished = []
        for one, _ in states:
            reason = one.reason(self.decode)
            if reason is not None:
                if one.drawn:
                    self._store(one, one.length)
                self._release(one)
                finished.append(one.sampled(reason))
        return finished

    def _store(self, one: Running, length: int) -> None:
        wanted = not one.job.prompt_logprobs
        if wanted and BLOCK <= length <= self.prefixes.budget:
            self.prefixes.put(one.tokens[:length], self.slots.take(one.row, length))

    def _release(self, one: Running) -> None:
        last = self.running.pop()
        if last is not one:
            self.slots.move(last.row, one.row, last.length)
            self.running[one.row] = last
            last.row = one.row
