"""How much an engine computes and keeps at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Sizes, in tokens where nothing else is said."""

    # Padded tokens of a micro-batch.
    training_tokens: int = 4096
    # Sequences drawn at the same time, of one snapshot.
    rows: int = 64
    # Tokens of prompts read in one pass.
    prompt_tokens: int = 1024
    # Rows of keys times their length, at most.
    cells: int = 1 << 20
    # Tokens of past sequences whose keys are kept, per snapshot.
    stored_tokens: int = 65536
