"""The sidecar's engine beside TRL's GRPOTrainer: `bench/sidecar.js` runs this and prints the ratios.

python bench/sidecar.py train|memory|sample '{"settings": …}'

Both train the same weights on the same tokens with the same advantages and old log-probs. One JSON document on
stdout.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path
from statistics import median

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch

from sidecar_http import OursOverHttp
from sidecar_work import Ours, consultations, model_folder, real_tokens, replies


def clocks() -> tuple[float, float]:
    """Seconds on the wall and of this process on all cores: the latter are ours whoever else is at work."""
    return time.perf_counter(), time.process_time()


def since(started: tuple[float, float]) -> tuple[float, float]:
    wall, cpu = clocks()
    return wall - started[0], cpu - started[1]


def train(settings: dict, home: Path) -> dict:
    """Tokens a second of both, who step one after the other, and the norms of their first gradients."""
    from sidecar_trl import Clock, trl_batch, trl_trainer

    folder, parameters = model_folder(
        home, settings["vocab"], settings["layers"], settings["width"]
    )
    rows = consultations(settings["rows"], settings["vocab"])
    if settings["shape"] == "replies":
        rows = replies(settings["rows"], settings["vocab"], 64, 192)
    if settings.get("http"):
        ours = OursOverHttp(folder, home, settings["lora"])
    else:
        ours = Ours(folder, settings["lora"], settings.get("ours_checkpointing", False))
    seconds: dict[str, list[tuple[float, float]]] = {"ours": [], "trl": []}
    norms: dict[str, list[float]] = {"ours": [], "trl": []}
    started = (0.0, 0.0)

    def begin() -> None:
        nonlocal started
        started = clocks()

    def end() -> None:
        seconds["trl"].append(since(started))
        begin()
        norms["ours"].append(ours.step(rows))
        seconds["ours"].append(since(started))

    trainer = trl_trainer(folder, home, lambda: rows, settings, Clock(begin, end))
    clip = trainer.accelerator.clip_grad_norm_

    def noted(*args, **kwargs):
        norm = clip(*args, **kwargs)
        norms["trl"].append(float(norm))
        return norm

    trainer.accelerator.clip_grad_norm_ = noted
    trainer.train()
    batch, tokens = trl_batch(rows), real_tokens(rows)
    return {
        "parameters": parameters,
        "sequences": len(rows),
        "tokens": tokens,
        "drawn": sum(sum(row["drawn"]) for row in rows),
        "ours_padded": int(ours.padded),
        "padded": batch["prompt_mask"].numel() + batch["completion_mask"].numel(),
        "tokens_per_second": {
            who: [tokens / median(column) for column in zip(*all[settings["warm"] :])]
            for who, all in seconds.items()
        },
        "first_norms": {who: all[0] for who, all in norms.items()},
    }


def resident(key: str) -> int:
    """Bytes by /proc/self/status: `VmRSS` now, `VmHWM` at most since it was reset."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(f"{key}:"))
    return int(line.split()[1]) * 1024


def memory(settings: dict, home: Path) -> dict:
    """Bytes that a step takes at its peak above the process at rest, after two short steps to warm up."""
    folder, parameters = model_folder(
        home, settings["vocab"], settings["layers"], settings["width"]
    )
    rows = replies(settings["rows"], settings["vocab"], 512, settings["length"] - 512)
    short = replies(settings["rows"], settings["vocab"], 8, 8)
    idle = 0

    def rest() -> None:
        nonlocal idle
        gc.collect()
        idle = resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")

    def steps():
        yield short
        yield short
        rest()
        yield rows

    if settings["who"] == "ours":
        ours = Ours(folder, settings["lora"])
        for step in steps():
            ours.step(step)
    else:
        from sidecar_trl import Clock, trl_trainer

        # Rows are asked for where a step begins, when the one before is over.
        given = steps()
        clock = Clock(lambda: None, lambda: None)
        trl_trainer(folder, home, lambda: next(given), {**settings, "steps": 3}, clock).train()
    return {"parameters": parameters, "idle": idle, "peak": resident("VmHWM") - idle}


def sample(settings: dict, home: Path) -> dict:
    """Tokens a second of so many sequences at once, and of one at a time, in turn."""
    from bedside_trainers.engines.engine import SampleJob

    folder, parameters = model_folder(
        home, settings["vocab"], settings["layers"], settings["width"]
    )
    engine = Ours(folder, lora=True).engine
    engine.snapshot("m", "s")
    prompts = [row["ids"] for row in replies(settings["together"], settings["vocab"], 64, 64)]

    def drawn(count: int, first: int) -> float:
        """Tokens a second of `count` sequences submitted together."""
        started = time.perf_counter()
        for place in range(count):
            job = SampleJob((first, place), "s", prompts[place], settings["length"], seed=place)
            engine.submit(job)
        done = 0
        while engine.waiting:
            done += sum(len(one.tokens) for one in engine.advance())
        return done / (time.perf_counter() - started)

    rates: dict[str, list[float]] = {"together": [], "alone": []}
    for turn in range(settings["rounds"] + 1):
        together = drawn(settings["together"], 2 * turn)
        alone = drawn(1, 2 * turn + 1)
        if turn > 0:  # the first warms up
            rates["together"].append(together)
            rates["alone"].append(alone)
    return {"parameters": parameters, **{who: median(all) for who, all in rates.items()}}


def main() -> None:
    question, settings = sys.argv[1], json.loads(sys.argv[2])
    torch.set_num_threads(settings.get("threads", 2))
    # Trainers print as they like; the one document is ours.
    with tempfile.TemporaryDirectory() as home, redirect_stdout(sys.stderr):
        answer = {"train": train, "memory": memory, "sample": sample}[question](settings, Path(home))
    print(json.dumps(answer))


main()
