"""Capabilities and metrics of a server."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .parts import Parts
from .wire.losses import OWN_LOSSES


def wire_capabilities(parts: Parts) -> Mapping[str, Any]:
    """Capabilities in the wire's format."""
    info = parts.engine.info
    model = {"model_name": info.model_name, "max_context_length": info.context_length}
    return {"supported_models": [model]}


def loss_settings(losses: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """Settings that each loss takes: `number`, or the words of which it is one. Those that requests are read by."""
    return {
        name: {
            **{key: "number" for key in shape.numbers},
            **{key: list(words) for key, words in (shape.texts or {}).items()},
        }
        for name, shape in OWN_LOSSES.items()
        if name in losses
    }


def own_capabilities(parts: Parts) -> Mapping[str, Any]:
    """Capabilities of our own extension: the engine, its features and limits."""
    info, limits = parts.engine.info, asdict(parts.limits)
    model = {
        "name": info.model_name,
        "path": info.model_path,
        "arch": info.arch,
        "contextLength": info.context_length,
        "vocabSize": info.vocab_size,
        "parameters": info.parameters,
        "tiedEmbeddings": info.tied_embeddings,
    }
    return {
        "engine": info.engine,
        "device": info.device,
        "dtype": info.dtype,
        "versions": dict(info.versions),
        "model": model,
        "modes": list(info.modes),
        "heads": list(info.heads),
        "exports": list(info.exports),
        "losses": list(info.losses),
        "lossSettings": loss_settings(info.losses),
        "notes": list(info.notes),
        "state": str(parts.checkpoints.state),
        "limits": {_camel(f"max_{key}"): value for key, value in limits.items()},
    }


def metrics_text(parts: Parts, requests: Mapping[tuple[str, int], int]) -> str:
    """Metrics as Prometheus text. @param requests request counts by route and status"""
    lines = ["# TYPE bedside_requests_total counter"]
    for (route, status), count in sorted(requests.items()):
        lines.append(f'bedside_requests_total{{route="{route}",status="{status}"}} {count}')
    gauges = {
        **parts.scheduler.counts(),
        **parts.futures.counts(),
        "sessions": len(parts.sessions),
        "snapshots": len(parts.snapshots),
        "resident_bytes": resident_bytes(),
        **{f"engine_{name}": value for name, value in parts.engine.metrics().items()},
    }
    for name, value in gauges.items():
        # A name may have a unit or a reduction after a colon.
        name = "".join(letter if letter.isalnum() else "_" for letter in name)
        lines += [f"# TYPE bedside_{name} gauge", f"bedside_{name} {float(value):.12g}"]
    return "\n".join(lines) + "\n"


def resident_bytes() -> int:
    """Resident memory of this process; on macOS its peak, 0 if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        if sys.platform != "darwin":
            return 0
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
