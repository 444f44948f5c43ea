"""Prefix cache: keys and values of recent sequences, looked up by longest common prefix."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

# Tokens hashed together; shorter common prefixes are not found.
BLOCK = 16


@dataclass(frozen=True)
class _Entry:
    tokens: tuple[int, ...]
    stored: Tensor


def block_hashes(tokens: Sequence[int]) -> Iterator[int]:
    """Hashes of all prefixes of whole blocks."""
    chained = 0
    for end in range(BLOCK, len(tokens) + 1, BLOCK):
        chained = hash((chained, *tokens[end - BLOCK : end]))
        yield chained


class PrefixStore:
    """LRU cache of sequences, bounded by a budget of tokens."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.tokens = 0
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._blocks: dict[int, list[int]] = {}
        self._next = 0

    def longest(self, tokens: Sequence[int]) -> tuple[Tensor | None, int]:
        """Keys and values of the sequence with the longest common prefix found, and the prefix's length."""
        best: int | None = None
        for hashed in block_hashes(tokens):
            owners = self._blocks.get(hashed)
            if not owners:
                break
            best = owners[-1]
        if best is None:
            return None, 0
        entry = self._entries[best]
        length = 0
        for mine, theirs in zip(tokens, entry.tokens):
            if mine != theirs:
                break
            length += 1
        self._entries.move_to_end(best)
        return entry.stored, length

    def shrink(self, budget: int) -> None:
        """Drops the sequences unused longest until at most `budget` tokens are stored."""
        while self.tokens > budget:
            self._evict()

    def put(self, tokens: Sequence[int], stored: Tensor) -> None:
        """Stores a sequence's keys and values, (layers, 2, heads, length, width)."""
        if not BLOCK <= len(tokens) <= self.budget:
            return
        number = self._next
        self._next += 1
        self._entries[number] = _Entry(tuple(tokens), stored)
        self.tokens += len(tokens)
        for hashed in block_hashes(tokens):
            self._blocks.setdefault(hashed, []).append(number)
        self.shrink(self.budget)

    def _evict(self) -> None:
        number, entry = self._entries.popitem(last=False)
        self.tokens -= len(entry.tokens)
        for hashed in block_hashes(entry.tokens):
            owners = self._blocks[hashed]
            owners.remove(number)
            if not owners:
                del self._blocks[hashed]
