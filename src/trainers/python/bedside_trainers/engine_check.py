"""Measures an engine alone, on whatever device is there: parity, bits, tokens a second and memory.

python -m bedside_trainers.engine_check FOLDER [--engine peft] [--device auto] [--dtype auto] [--json]
    [--sampler vllm --sampler-url http://127.0.0.1:8100]      another server draws

Prints a table, or one JSON document. Exits with 1 if log-probs of sampling and training are further apart than the
precision allows, with 2 if the engine cannot be opened.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from .engines import open_engine
from .engines.engine import (
    AdamParams,
    Datum,
    Engine,
    EngineError,
    LossSpec,
    ModelSpec,
    SampleJob,
    SamplingPlace,
)

# Most nats between the sampler's log-prob of a token and the trainer's.
BOUNDS = {"float64": 1e-6, "float32": 1e-4}
_LOSS = LossSpec("bedside", {"kind": "ppo-clip", "low": 0.2, "high": 0.2, "entropy": 0.0})
_ROUNDS = 3


def _seconds(work: Callable[[], Any]) -> float:
    """Median time of a few repetitions, after one to warm up."""
    times = []
    for _ in range(_ROUNDS + 1):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return median(times[1:])


def _peak_bytes(device: str) -> int:
    """Most bytes taken so far: of the device's memory on CUDA, else of the process."""
    if device.startswith("cuda"):
        import torch

        return torch.cuda.max_memory_allocated()
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else size * 1024


def _draw(engine: Engine, prompts: np.ndarray, length: int) -> dict[int, Any]:
    for key, prompt in enumerate(prompts):
        engine.submit(SampleJob(key, "check", prompt.tolist(), length, seed=key))
    done = {}
    while engine.waiting:
        done.update((one.key, one) for one in engine.advance())
    for one in done.values():
        if one.error is not None:
            raise EngineError(one.error)
    return done


def _datum(prompt: np.ndarray, sampled: Any) -> Datum:
    ids = np.array([*prompt, *sampled.tokens])
    drawn = np.arange(len(ids) - 1) >= len(prompt) - 1
    logprobs = np.zeros(len(drawn))
    logprobs[drawn] = sampled.logprobs
    inputs = {
        "target_tokens": ids[1:],
        "weights": drawn / len(drawn),
        "logprobs": logprobs,
        "advantages": drawn * (1.0 if sampled.key % 2 else -1.0),
    }
    return Datum(ids[:-1], inputs)


def measure(engine: Engine, mode: str, rows: int, prompt: int, length: int) -> dict[str, Any]:
    """Measures an open engine on `rows` random prompts and replies of these lengths, in tokens.
    @raises EngineError if they do not fit, or a job fails"""
    info, draw = engine.info, np.random.default_rng(0)
    prompts = draw.integers(0, info.vocab_size, (rows, prompt))
    engine.create("check", ModelSpec(mode=mode))
    engine.snapshot("check", "check")
    together = _draw(engine, prompts, length)
    alone = _draw(engine, prompts[:1], length)[0]
    data = [_datum(prompts[key], together[key]) for key in range(rows)]
    trained = engine.forward("check", data, _LOSS).outputs
    gap = max(
        float(np.abs(one["logprobs"] - datum.inputs["logprobs"])[datum.inputs["weights"] > 0].max())
        for one, datum in zip(trained, data)
    )
    sampled_tokens = sum(len(one.tokens) for one in together.values())

    def step() -> None:
        engine.forward_backward("check", data, _LOSS)
        engine.optim_step("check", AdamParams(1e-6))

    sample_seconds = _seconds(lambda: _draw(engine, prompts, length))
    step_seconds = _seconds(step)
    precision = info.dtype if info.dtype in BOUNDS else None
    metrics = engine.metrics()
    return {
        "engine": info.engine,
        "device": info.device,
        "dtype": info.dtype,
        "arch": info.arch,
        "parameters": info.parameters,
        "mode": mode,
        "versions": dict(info.versions),
        "notes": list(info.notes),
        "same_bits": bool(metrics["same_bits"]),
        "drawn_alike_alone": alone == together[0],
        "logprob_gap": gap,
        "logprob_bound": None if precision is None else BOUNDS[precision],
        "logit_gap": metrics["logit_gap"],
        "trained_tokens_per_second": sum(len(one.tokens) for one in data) / step_seconds,
        "sampled_tokens_per_second": sampled_tokens / sample_seconds,
        "peak_bytes": _peak_bytes(info.device),
        **{name: metrics[name] for name in ("key_bytes", "stored_bytes", "snapshot_bytes")},
    }


def print_table(found: Mapping[str, Any]) -> None:
    """Prints what was measured, a line each."""
    mebi = 2**20
    for name, value in found.items():
        if name.endswith("_bytes"):
            value = f"{value / mebi:.0f} MiB"
        elif isinstance(value, float):
            value = f"{value:.2g}" if value < 1 else f"{value:,.0f}"
        elif isinstance(value, dict):
            value = ", ".join(f"{key} {one}" for key, one in value.items())
        elif isinstance(value, list):
            value = "; ".join(value) or "none"
        print(f"{name.replace('_', ' '):28} {value}")


def main(argv: list[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="bedside_trainers.engine_check", description=__doc__)
    parser.add_argument("model", type=Path, help="a Hugging Face model folder")
    parser.add_argument("--engine", choices=("peft", "unsloth"), default="peft")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--mode", choices=("lora", "full"), default="lora")
    parser.add_argument("--rows", type=int, default=16, help="sequences at once")
    parser.add_argument("--prompt", type=int, default=64, help="tokens of a prompt")
    parser.add_argument("--length", type=int, default=64, help="tokens of a reply")
    parser.add_argument("--sampler", choices=("vllm", "sglang"), help="a server that draws")
    parser.add_argument("--sampler-url", default="http://127.0.0.1:8100", help="its address")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(argv)
    try:
        # The server reads adapters from it, so it must be one that both see.
        folder = Path(tempfile.mkdtemp(prefix="bedside-adapters-"))
        place = SamplingPlace(given.sampler, given.sampler_url, folder) if given.sampler else None
        engine = open_engine(
            given.engine,
            given.model,
            dtype=given.dtype,
            device=given.device,
            options={"sampling": place},
        )
        found = measure(engine, given.mode, given.rows, given.prompt, given.length)
    except EngineError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(found)) if given.json else print_table(found)
    bound = found["logprob_bound"]
    return int(bound is not None and not found["logprob_gap"] <= bound)


if __name__ == "__main__":
    sys.exit(main())
