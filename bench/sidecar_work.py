"""The work that the sidecar's engine and TRL are both given, and the engine's way of doing it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src" / "trainers" / "python"))

import numpy as np

from bedside_trainers.engines import open_engine
from bedside_trainers.engines.engine import AdamParams, Datum, LossSpec, ModelSpec
from bedside_trainers.tiny_model import make_tiny_model
from bedside_trainers.tiny_weights import Shape

RANK, ALPHA, LEARNING_RATE, LOW, HIGH = 8, 32, 1e-5, 0.2, 0.28
# Ids below BYTES are single bytes, the last ones controls; rows are drawn between.
BYTES, CONTROLS = 256, 6


def model_folder(home: Path, vocab: int, layers: int, width: int) -> tuple[Path, int]:
    """A tiny model of exactly so many tokens, and its parameters: words of random letters give as many merges as are
    wanted."""
    draw = np.random.default_rng(0)
    letters = draw.integers(97, 123, (4 * vocab, 6))
    words = [bytes(row.tolist()).decode() for row in letters]
    shape = Shape(vocab=vocab, layers=layers, width=width, hidden=3 * width, context=4096)
    parameters = make_tiny_model([" ".join(words)] * 2, home / "model", shape)
    config = json.loads((home / "model" / "config.json").read_text())
    assert config["vocab_size"] == vocab, config["vocab_size"]
    return home / "model", parameters


def consultations(count: int, vocab: int) -> list[dict]:
    """Rows as consultations are: a prompt, then replies between what is heard; `drawn` marks the replies."""
    draw = np.random.default_rng(1)
    rows = []
    for _ in range(count):
        prompt = int(draw.integers(50, 70))
        drawn: list[int] = []
        turns = int(draw.integers(2, 10))
        for turn in range(turns):
            drawn += [1] * int(draw.integers(6, 14))
            drawn += [0] * int(draw.integers(15, 70)) if turn < turns - 1 else [1] * 30
        rows.append(_row(draw, prompt, drawn, vocab))
    return rows


def replies(count: int, vocab: int, prompt: int, length: int) -> list[dict]:
    """Rows of one turn: a prompt and a reply, all of the same length."""
    draw = np.random.default_rng(2)
    return [_row(draw, prompt, [1] * length, vocab) for _ in range(count)]


def _row(draw: np.random.Generator, prompt: int, drawn: list[int], vocab: int) -> dict:
    ids = draw.integers(BYTES, vocab - CONTROLS, prompt + len(drawn)).tolist()
    advantage = float(draw.choice([-1.0, 1.0]))
    # Old log-probs near those of random weights, a little off, so that the ratio is alive.
    old = (-np.log(vocab) + 0.05 * draw.standard_normal(len(drawn))).tolist()
    return {"ids": ids, "prompt": prompt, "drawn": drawn, "advantage": advantage, "old": old}


def real_tokens(rows: list[dict]) -> int:
    return sum(len(row["ids"]) for row in rows)


class Ours:
    """The sidecar's engine with one model."""

    def __init__(self, folder: Path, lora: bool, checkpointing: bool = False) -> None:
        options = {"checkpointing": checkpointing}
        self.engine = open_engine("peft", folder, device="cpu", options=options)
        mode = "lora" if lora else "full"
        self.engine.create("m", ModelSpec(mode=mode, rank=RANK, alpha=ALPHA))

    def step(self, rows: list[dict]) -> float:
        """One step on all rows; gives the gradient's norm."""
        loss = LossSpec("bedside", {"kind": "ppo-clip", "low": LOW, "high": HIGH, "entropy": 0.0})
        data = [self.datum(row, rows) for row in rows]
        result = self.engine.forward_backward("m", data, loss)
        # Tokens read, padding included.
        self.padded = result.metrics["tokens:sum"]
        adam = AdamParams(LEARNING_RATE, beta2=0.999, eps=1e-8, grad_clip_norm=1.0)
        return self.engine.optim_step("m", adam)["grad_norm:mean"]

    @staticmethod
    def datum(row: dict, rows: list[dict]):
        ids = np.array(row["ids"], dtype=np.int64)
        before = np.zeros(row["prompt"] - 1, dtype=np.float32)
        mask = np.concatenate([before, np.array(row["drawn"], dtype=np.float32)])
        old = np.concatenate([before, np.array(row["old"], dtype=np.float32)]) * mask
        inputs = {
            "target_tokens": ids[1:],
            "weights": mask / sum(sum(one["drawn"]) for one in rows),
            "logprobs": old,
            "advantages": row["advantage"] * mask,
        }
        return Datum(ids[:-1], inputs)
