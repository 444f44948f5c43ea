"""Writes a checkpoint of the sidecar's as a plain model folder, for any other program: a job's trainer, a server.

python -m bedside_trainers.export_model --model BASE --checkpoint FOLDER --out FOLDER [--format merged] [--engine peft]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from .engines import open_engine
from .engines.engine import EngineError

_MODEL = "export"


def export(given: argparse.Namespace) -> None:
    """Loads a checkpoint over its base model and writes it. @raises EngineError for a checkpoint of another model, or a
    folder that is there"""
    engine = open_engine(given.engine, given.model, dtype=given.dtype, device=given.device)
    engine.create(_MODEL, engine.spec_of(given.checkpoint))
    engine.load(_MODEL, given.checkpoint, optimizer=False)
    engine.export(_MODEL, given.format, given.out)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; prints one JSON line."""
    parser = argparse.ArgumentParser(
        prog="bedside_trainers.export_model", description=__doc__
    )
    parser.add_argument("--model", type=Path, required=True, help="folder of the base model")
    parser.add_argument("--checkpoint", type=Path, required=True, help="folder of its weights")
    parser.add_argument("--out", type=Path, required=True, help="the folder, not there yet")
    parser.add_argument("--format", choices=("merged", "adapter"), default="merged")
    parser.add_argument("--engine", choices=("peft", "unsloth"), default="peft")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--device", default="auto")
    given = parser.parse_args(argv)
    try:
        export(given)
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps({"out": str(given.out.resolve()), "format": given.format}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
