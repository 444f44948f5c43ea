"""What a server is told at its start: how much it holds, and what it asks of clients."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Limits:
    """Bounds on what clients may ask for and on what is kept for them."""

    request_bytes: int = 64 * 2**20
    datums: int = 4096  # in a request
    samples: int = 4096  # sequences being drawn or waiting
    models: int = 8
    sessions: int = 1024
    snapshots: int = 16  # weights kept for sampling
    queued: int = 4096  # requests waiting for their turn, of one model
    queued_bytes: int = 2**30  # the same in bytes; the request whose turn it is always gets in
    kept_seconds: float = 3600  # results are readable again for so long
    kept_bytes: int = 512 * 2**20  # unless they outgrow this: the oldest read ones go first
    # Models of a session not heard of for so long make room for new ones.
    silent_seconds: float = 600


@dataclass(frozen=True)
class Settings:
    """One server: where it keeps checkpoints, who may talk to it, within which limits."""

    state: Path
    token: str
    limits: Limits = field(default_factory=Limits)
    # Datums in a forward_backward request of the official client; None leaves it to the client.
    max_chunk_len: int | None = None
    poll_seconds: float = 30.0
