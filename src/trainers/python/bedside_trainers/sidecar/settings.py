"""Settings and limits of a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Limits:
    """Limits of requests and of what the server keeps for clients."""

    request_bytes: int = 64 * 2**20
    datums: int = 4096  # of one request
    samples: int = 4096  # sequences running or waiting
    models: int = 8
    sessions: int = 1024
    snapshots: int = 16  # weights kept for sampling
    queued: int = 4096  # waiting requests of one model
    queued_bytes: int = 2**30  # the same in bytes; the next request in order is always accepted
    # How long requests wait for an earlier number that does not arrive, from the last request of the model.
    missing_seconds: float = 60
    kept_seconds: float = 3600  # how long results can be read again
    kept_bytes: int = 512 * 2**20  # of results; the oldest ones already read are dropped first
    # Models of a session without a request for this long may be unloaded to make room; clients send heartbeats.
    silent_seconds: float = 60


@dataclass(frozen=True)
class Settings:
    """Settings of one server: state folder, token and limits."""

    state: Path
    token: str
    limits: Limits = field(default_factory=Limits)
    # Maximum datums of the official client's forward_backward requests; None leaves it to the client.
    max_chunk_len: int | None = None
    poll_seconds: float = 30.0
