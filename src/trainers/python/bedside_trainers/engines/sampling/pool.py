"""Continuous batching of the sequences sampled from one snapshot."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import torch
from torch import Tensor

from ..decoder import Decoder
from ..engine import Sampled
from ..options import Options
from ..slots import SlotBatch, Slots
from .draw import draw
from .prefill import Prefill, read_prompts
from .prefix import BLOCK, PrefixStore, block_hashes
from .sequences import ActiveSequence, Decode


class Pool:
    """Sequences of one snapshot. They use slot rows 0 to n - 1; a freed row is filled with the last one."""

    def __init__(self, options: Options, decode: Decode) -> None:
        self.options = options
        self.decode = decode
        self.waiting: deque[ActiveSequence] = deque()
        self.running: list[ActiveSequence] = []
        self.prefixes = PrefixStore(0)
        self.slots: Slots | None = None
        self.cells = 0
        self.each = 0
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

    @property
    def key_bytes(self) -> int:
        """Bytes of keys and values of running sequences."""
        return 0 if self.slots is None else self.slots.bytes

    @property
    def stored_bytes(self) -> int:
        """Bytes of keys and values of past sequences."""
        return self.prefixes.tokens * self.each

    @torch.inference_mode()
    def advance(self, decoder: Decoder, key_bytes: int) -> list[Sampled]:
        """Draws one token for every sequence, the first for those admitted now; admits what fits into `key_bytes`."""
        if self.slots is None:
            self._allocate(decoder)
        self.cells = key_bytes // self.each
        states: list[tuple[ActiveSequence, Tensor]] = []
        if self.running:
            states.extend(zip(list(self.running), self._decode(decoder)))
        while fresh := self._admit():
            new = [one for one in fresh if one.left > BLOCK]
            read = read_prompts(decoder, self.slots, fresh, self.options.prompt_tokens)
            self.counts["prompt_tokens"] += read
            for one in new:
                self._store(one.sequence, len(one.sequence.job.prompt))
            states.extend((one.sequence, one.last) for one in fresh)
        return self._draw(decoder, states)

    def _allocate(self, decoder: Decoder) -> None:
        self.each = decoder.keys.bytes(decoder.dtype)
        self.slots = Slots(decoder.keys, decoder.dtype, decoder.device)
        if not self.prefixes.budget:
            self.prefixes = PrefixStore(self.options.stored_bytes // self.each)

    def _decode(self, decoder: Decoder) -> Tensor:
        places = [one.length for one in self.running]
        self.slots.reserve(len(places), max(places) + 1, self.cells)
        positions = torch.tensor(places, device=decoder.device)[:, None]
        ids = torch.tensor([one.drawn[-1] for one in self.running], device=decoder.device)[:, None]
        batch = SlotBatch(self.slots, 0, positions, max(places) + 1)
        return decoder.hidden(ids, batch)[:, 0]

    def _fits(self, admitted: Sequence[Prefill]) -> bool:
        """Whether the next waiting sequence fits beside the running and newly admitted ones."""
        beside = [*self.running, *(one.sequence for one in admitted)]
        span = max((one.max_length for one in (*beside, self.waiting[0])))
        rows = len(beside) + 1
        within = rows <= self.options.rows and rows * span <= self.cells
        return within or rows == 1

    def clear(self) -> None:
        """Drops all running sequences and all keys."""
        self.running = []
        self.slots = None
        self.prefixes = PrefixStore(0)

    def give_back(self) -> None:
        """Drops the slots of an idle pool; stored sequences stay."""
        self.slots = None

    def shrink_stored(self, most: int) -> None:
        """Drops stored sequences beyond so many bytes."""
        if self.each:
            self.prefixes.shrink(most // self.each)

    def _admit(self) -> list[Prefill]:
        """Takes waiting jobs in order; a job that shares a prefix with one being read waits until that is stored."""
        prefills: list[Prefill] = []
        begun: set[int] = set()
        held: list[ActiveSequence] = []
        while self.waiting and self._fits(prefills):
            one = self.waiting.popleft()
            prefill = self._prefill(one)
            if self.prefixes.budget and prefill.left > BLOCK and not one.job.prompt_logprobs:
                ahead = list(block_hashes(one.job.prompt))[prefill.done // BLOCK :]
                if ahead[0] in begun:
                    held.append(one)
                    continue
                begun.update(ahead)
            prefills.append(prefill)
        self.waiting.extendleft(reversed(held))
        prefills.sort(key=lambda prefill: -prefill.left)
        self._assign_rows(prefills)
        return prefills

    def _prefill(self, one: ActiveSequence) -> Prefill:
        if one.job.prompt_logprobs:
            return Prefill(one, 0)
        stored, length = self.prefixes.longest(one.job.prompt)
        return Prefill(one, min(length, len(one.job.prompt) - 1), stored)

    def _assign_rows(self, prefills: Sequence[Prefill]) -> None:
        for prefill in prefills:
            prefill.sequence.row = len(self.running)
            self.running.append(prefill.sequence)
        longest = max((len(one.sequence.job.prompt) for one in prefills), default=0)
        self.slots.reserve(len(self.running), longest + 1, self.cells)
        for prefill in prefills:
            self.counts["reused_tokens"] += prefill.done
            if prefill.stored is not None and prefill.done > 0:
                self.slots.put(prefill.sequence.row, prefill.stored, prefill.done)
                prefill.stored = None

    def _draw(
        self, decoder: Decoder, states: Sequence[tuple[ActiveSequence, Tensor]]
    ) -> list[Sampled]:
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
            reason = one.stop_reason(self.decode)
            if reason is not None:
                if one.drawn:
                    self._store(one, one.length)
                self._release(one)
                finished.append(one.result(reason))
        return finished

    def _store(self, one: ActiveSequence, length: int) -> None:
        wanted = not one.job.prompt_logprobs
        if wanted and BLOCK <= length <= self.prefixes.budget:
            self.prefixes.put(one.tokens[:length], self.slots.take(one.row, length))

    def _release(self, one: ActiveSequence) -> None:
        last = self.running.pop()
        if last is not one:
            self.slots.move(last.row, one.row, last.length)
            self.running[one.row] = last
            last.row = one.row
