"""The sidecar's server in front of the bigram engine, as a process."""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src/trainers/python"))

from server_engine import BigramEngine

from bedside_trainers.sidecar.__main__ import run
from bedside_trainers.sidecar.serve import bind
from bedside_trainers.sidecar.settings import Settings

parser = argparse.ArgumentParser()
parser.add_argument("--state", type=Path, required=True)
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--max-chunk-len", type=int)
parser.add_argument("--parent-pid", type=int)
given = parser.parse_args()
settings = Settings(
    given.state, os.environ["BEDSIDE_SIDECAR_TOKEN"], max_chunk_len=given.max_chunk_len
)
run(BigramEngine(), settings, bind("127.0.0.1", given.port), given.parent_pid)
