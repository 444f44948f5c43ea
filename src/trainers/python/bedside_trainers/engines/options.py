"""Size options of an engine: micro-batches, concurrent sequences, prompt chunks and key-value memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch

from .engine import EngineError


@dataclass(frozen=True)
class Options:
    """Sizes; None takes the default of the device."""

    # Padded tokens of a micro-batch. Default 4096, on CUDA 16384.
    training_tokens: int | None = None
    # Sequences sampled at the same time from one snapshot. Default 64, on CUDA 256.
    rows: int | None = None
    # Prompt tokens read in one pass. Default 1024, on CUDA 8192.
    prompt_tokens: int | None = None
    # Keys and values of sequences being sampled, of all snapshots. Default 1 GiB, on CUDA a quarter of the memory.
    key_bytes: int | None = None
    # Keys and values of past sequences, of all snapshots. Default a quarter of `key_bytes`.
    stored_bytes: int | None = None
    # Weights of snapshots, beyond which those unused longest are to go; two are kept at any size. Default 2 GiB, on
    # CUDA an eighth of the memory.
    snapshot_bytes: int | None = None

    def for_device(self, device: torch.device) -> Options:
        """Completes the sizes for a device. @raises EngineError for an invalid size"""
        on_cuda = device.type == "cuda"
        memory = torch.cuda.get_device_properties(device).total_memory if on_cuda else 4 << 30
        usual = {
            "training_tokens": 16384 if on_cuda else 4096,
            "rows": 256 if on_cuda else 64,
            "prompt_tokens": 8192 if on_cuda else 1024,
            "key_bytes": memory // 4,
            "snapshot_bytes": memory // 8 if on_cuda else 2 << 30,
        }
        given = {name: size for name, size in asdict(self).items() if size is not None}
        sizes = usual | given
        sizes.setdefault("stored_bytes", sizes["key_bytes"] // 4)
        for name, size in sizes.items():
            least = 0 if name in ("stored_bytes", "snapshot_bytes") else 1
            if type(size) is not int or size < least:
                raise EngineError(
                    f"Expected `{name}` to be a whole number >= {least}, got {size!r}"
                )
        return Options(**sizes)
