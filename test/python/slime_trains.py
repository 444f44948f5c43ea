"""The stand-in for slime with a tiny model and a real server: two steps, and one more that goes on after them."""

import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path

from slime_plugin import Consultations, job, root

from bedside_trainers.engines.environment import prepare_environment

prepare_environment()

from bedside_trainers.slime import stand_in
from bedside_trainers.tiny_model import make_tiny_model
from bedside_trainers.tiny_weights import Shape

TEXTS = ["Do you have a fever? Since when?", "Order: ECG", "Diagnosis: influenza", "Patient: I have a cough."] * 8
session = {"tier": "easy", "max_turns": 2, "reward": "one-question"}
cases = {"heldout": {"split": "heldout", "cases": 4}}

with tempfile.TemporaryDirectory(prefix="bedside-slime-") as home:
    model, out, metrics = Path(home) / "tiny", Path(home) / "out", Path(home) / "metrics.jsonl"
    shape = Shape(vocab=512, width=32, hidden=64, heads=2, kv_heads=1, context=2048)
    make_tiny_model(TEXTS, model, shape)
    server = Consultations("chatml", tokenizer=model)
    flags = ["--model", str(model), "--groups", "2", "--group-size", "4", "--lr", "1e-3"]
    flags += ["--eps-clip-high", "0.28", "--use-kl-loss", "--kl-loss-coef", "0.01"]
    said = io.StringIO()
    given = dict(
        BEDSIDE_URL=server.address,
        BEDSIDE_SESSION=session,
        BEDSIDE_TOKENS={"max_tokens": 12, "context_length": 2048},
        BEDSIDE_ADVANTAGE={"name": "dr-grpo"},
        BEDSIDE_EVAL=cases,
        BEDSIDE_METRICS=str(metrics),
    )
    with job(**given), contextlib.redirect_stdout(said):
        codes = [
            stand_in.main([*flags, "--out", str(out), "--steps", "2"]),
            stand_in.main([*flags, "--out", str(out), "--steps", "3"]),
        ]
    server.kill()
    print(
        json.dumps(
            {
                "codes": codes,
                "lines": [json.loads(line) for line in metrics.read_text().splitlines()],
                "said": [json.loads(line)["trainer"] for line in said.getvalue().splitlines()],
                "states": [path.name for path in (out / "states").iterdir()],
                "model": sorted(path.name for path in (out / "model").iterdir()),
            }
        )
    )
    sys.stdout.flush()
os._exit(0)
