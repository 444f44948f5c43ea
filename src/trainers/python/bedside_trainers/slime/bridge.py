"""Writes the files of slime's --load-debug-rollout-data from samples that Bedside has exported.

python -m bedside_trainers.slime.bridge samples.jsonl --out FOLDER [--rollouts-per-file N]

Whole groups, in the order of the file, become FOLDER/0.pt, FOLDER/1.pt, …
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .library import Sample

_ALONG = ("loss_mask", "rollout_log_probs")


def _sample(line: str, place: str) -> dict[str, Any]:
    """Checks a line. @raises ValueError naming the place"""
    try:
        sample = Sample.from_dict(json.loads(line))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{place}: expected a sample of slime's: {error!r}") from error
    length = sample.response_length
    if length >= len(sample.tokens):
        raise ValueError(f"{place}: expected a prompt before {length} tokens, got {len(sample.tokens)} in all")
    for name in _ALONG:
        values = getattr(sample, name)
        if values is None or len(values) != length:
            raise ValueError(f"{place}: expected {length} of {name}, got {values and len(values)}")
    if sample.reward is None:
        raise ValueError(f"{place}: expected a reward")
    return dict(sample.to_dict())


def read_samples(path: Path) -> Iterator[dict[str, Any]]:
    """Reads samples. @raises ValueError naming the file and the line of one that is none"""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _sample(line, f"{path}:{number}")


def split_rollouts(samples: Sequence[Mapping[str, Any]], most: int | None) -> list[list[Mapping[str, Any]]]:
    """Splits samples after whole groups, so that no part has more than `most` rollouts. @raises ValueError"""
    groups: dict[Any, list[Mapping[str, Any]]] = {}
    for at, sample in enumerate(samples):
        number = sample.get("group_index")
        groups.setdefault(("one", at) if number is None else number, []).append(sample)
    parts: list[list[Mapping[str, Any]]] = []
    room = 0
    for group in groups.values():
        rollouts = {one["rollout_id"] if one.get("rollout_id") is not None else id(one) for one in group}
        if most is not None and len(rollouts) > most:
            raise ValueError(f"Expected groups of at most {most} rollouts, got one of {len(rollouts)}")
        if not parts or (most is not None and len(rollouts) > room):
            parts.append([])
            room = most or 0
        parts[-1] += group
        room -= len(rollouts)
    return parts


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; prints one JSON line."""
    parser = argparse.ArgumentParser(prog="bedside_trainers.slime.bridge", description=__doc__)
    parser.add_argument("samples", type=Path, help="JSONL of bedside trajectories export --format slime")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rollouts-per-file", type=int, help="global_batch_size, or a multiple [all in one]")
    given = parser.parse_args(argv)
    # Late: reading alone needs no torch.
    import torch

    try:
        parts = split_rollouts(list(read_samples(given.samples)), given.rollouts_per_file)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    given.out.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(parts):
        torch.save({"rollout_id": number, "samples": part}, given.out / f"{number}.pt")
    print(json.dumps({"out": str(given.out), "files": len(parts), "samples": sum(map(len, parts))}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
