"""Rows of consultations for verl's data set, and the file that registers the agent loop that plays them.

python -m bedside_trainers.verl.rows --out data --count 1024 --heldout 64
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from ..job import json_of
from ..token_sessions import BadJob

#: Name of the agent loop.
AGENT = "bedside"
_TARGET = "bedside_trainers.verl.agent_loop.BedsideAgentLoop"


def row(index: int, options: Mapping[str, Any]) -> dict[str, Any]:
    """One row: siblings of its group play the same case with the same seed.

    The prompt is for verl's own filters only: the consultation's first messages come from the server.
    """
    return {
        "prompt": [{"role": "user", "content": f"Consultation {options['split']} {index}"}],
        "data_source": "bedside",
        "ability": "consultation",
        "reward_model": {"style": "rule", "ground_truth": ""},
        "extra_info": {"index": index, "consultation": json.dumps(dict(options))},
        "agent_name": AGENT,
    }


def options_of(index: int, split: str, seed: int) -> dict[str, Any]:
    """Options of the group of an index: a case of its own, and a seed that no other group of the run has."""
    return {"split": split, "index": index, "seed": seed * 1_000_000 + index}


def write_rows(path: Path, split: str, first: int, count: int, seed: int) -> None:
    """Writes a data set."""
    rows = [row(index, options_of(index, split, seed)) for index in range(first, first + count)]
    parquet.write_table(pa.Table.from_pylist(rows), path)


def write_agents(path: Path) -> None:
    """Writes the list of agent loops for `actor_rollout_ref.rollout.agent.agent_loop_config_path`."""
    path.write_text(f"- name: {AGENT}\n  _target_: {_TARGET}\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; prints one JSON line with the files."""
    parser = argparse.ArgumentParser(prog="bedside_trainers.verl.rows", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the files")
    parser.add_argument("--count", type=int, required=True, help="groups to train on")
    parser.add_argument("--heldout", type=int, default=0, help="consultations to validate on")
    parser.add_argument("--first", type=int, default=0, help="index of the first case [0]")
    parser.add_argument("--seed", type=int, default=0, help="of the run [0]")
    given = parser.parse_args(argv)
    try:
        if given.count < 1 or given.heldout < 0 or given.first < 0 or not 0 <= given.seed < 2**31:
            raise BadJob(
                "Expected --count of at least 1, and --heldout, --first and --seed of at least 0"
            )
        named = {"seed", "index", "split"} & set(json_of("BEDSIDE_SESSION"))
        if named:
            raise BadJob(
                f"BEDSIDE_SESSION: {', '.join(sorted(named))} are of the rows, not of the job"
            )
    except BadJob as error:
        print(error, file=sys.stderr)
        return 1
    given.out.mkdir(parents=True, exist_ok=True)
    files = {"train_files": given.out / "train.parquet", "agents": given.out / "agents.yaml"}
    write_rows(files["train_files"], "train", given.first, given.count, given.seed)
    if given.heldout:
        files["val_files"] = given.out / "heldout.parquet"
        write_rows(files["val_files"], "heldout", 0, given.heldout, given.seed)
    write_agents(files["agents"])
    print(json.dumps({name: str(path) for name, path in files.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
