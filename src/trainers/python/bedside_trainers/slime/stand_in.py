"""A stand-in for slime on a machine without a GPU: the plugin, slime's losses, and a small model that learns for real.

python -m bedside_trainers.slime.stand_in --model FOLDER --steps N --groups G --group-size K --lr R --out FOLDER

It is no slime: no Megatron, no SGLang, no Ray; one process. Rollouts go through `generate_rollout` and a router with
SGLang's routes, rewards through `reward_post_process`, and the loss is that of slime's own functions where its checkout
is on PYTHONPATH, else of the same formulas. Reads the environment of a job. Every line that it prints or writes says
that it is a stand-in.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..engines.engine import AdamParams, EngineError
from ..job import Job, json_of
from ..stand_in_engine import StandInEngine
from ..token_sessions import SessionError
from .formulas import LossFlags, batch_loss
from .learning import reward_post_process
from .library import GENUINE, Sample, run
from .metrics import eval_lines, rollout_line
from .rollout import generate_rollout
from .router import StandInRouter
from .seeds import SeedSource

_NAME = "stand-in for slime" + ("" if GENUINE else ", without slime's own code")


_ESTIMATORS = ("grpo", "gspo", "cispo", "reinforce_plus_plus_baseline")


def _say(**facts: Any) -> None:
    print(json.dumps({"trainer": _NAME, **facts}), flush=True)


def _arguments(given: Namespace, router: str) -> Namespace:
    """The flags of slime's that the plugin reads."""
    host, port = router.removeprefix("http://").split(":")
    return Namespace(
        sglang_router_ip=host,
        sglang_router_port=int(port),
        sglang_server_concurrency=given.groups * given.group_size,
        rollout_num_engines=1,
        rollout_batch_size=given.groups,
        over_sampling_batch_size=given.over_sampling_batch_size or given.groups,
        n_samples_per_prompt=given.group_size,
        global_batch_size=given.groups * given.group_size,
        num_rollout=given.steps,
        rollout_temperature=given.temperature,
        eval_temperature=given.eval_temperature,
        dynamic_sampling_filter_path=given.dynamic_sampling_filter_path,
        advantage_estimator=given.advantage_estimator,
        grpo_std_normalization=not given.disable_grpo_std_normalization,
        normalize_advantages=given.normalize_advantages,
        save=str(given.out) if given.out else None,
        load=str(given.out) if given.out else None,
    )


def _router(engine: StandInEngine) -> StandInRouter:
    async def draw(
        ids: Sequence[int], sampling: Mapping[str, Any], aborted: asyncio.Event
    ) -> tuple[list[int], list[float], str]:
        most, stop = int(sampling["max_new_tokens"]), list(sampling["stop_token_ids"])
        drawn = await engine.draw(ids, max_tokens=most, stop=stop, temperature=float(sampling["temperature"]))
        tokens, logprobs = list(drawn.tokens), [float(p) for p in drawn.logprobs]
        ending = "abort" if aborted.is_set() else "stop" if tokens[-1] in stop else "length"
        return tokens, logprobs, ending

    return StandInRouter(draw)


def train_data(samples: Sequence[Sample], advantages: Sequence[float]) -> dict[str, list[list[float]]]:
    """The rows that slime makes of samples: masks, sums over each rollout, and one advantage a sample."""
    masks = [
        [0.0] * one.response_length if one.remove_sample else [float(m) for m in one.loss_mask or []]
        for one in samples
    ]
    keys = [("one", n) if one.rollout_id is None else ("of", one.rollout_id) for n, one in enumerate(samples)]
    sums: dict[Any, float] = {}
    for key, mask in zip(keys, masks, strict=True):
        sums[key] = sums.get(key, 0.0) + sum(mask)
    return {
        "loss_masks": masks,
        "rollout_mask_sums": [[sums[key]] for key in keys],
        "advantages": [[value] for value in advantages],
        "rollouts": [[float(len(sums))]],
        "rollout_log_probs": [list(one.rollout_log_probs or []) for one in samples],
    }


def whitened(advantages: Sequence[float], masks: Sequence[Sequence[float]]) -> list[float]:
    """slime's --normalize-advantages: mean 0 and deviation 1 over the drawn tokens of the batch, each of which has its
    sample's advantage."""
    counts, values = np.array([sum(mask) for mask in masks]), np.asarray(advantages, dtype=np.float64)
    total = counts.sum()
    mean = (counts * values).sum() / total
    variance = (counts * (values - mean) ** 2).sum() / max(total - 1, 1)
    return [float(value) for value in (values - mean) / np.sqrt(variance + 1e-8)]


class _Trainer:
    """The model, and the flags of its steps."""

    def __init__(self, engine: StandInEngine, given: Namespace, flags: LossFlags) -> None:
        self._engine, self._given, self._flags = engine, given, flags
        # The policy that the model began as.
        self._reference = StandInEngine(given.model, seed=given.seed) if flags.use_kl_loss else None

    def step(self, samples: Sequence[Sample], advantages: Sequence[float]) -> dict[str, Any]:
        """One optimiser step on a rollout, and its report."""
        engine, temperature = self._engine, self._given.temperature
        pairs = [
            (one.tokens[: len(one.tokens) - one.response_length], one.tokens[len(one.tokens) - one.response_length :])
            for one in samples
        ]
        old = engine.logprobs(pairs, temperature)
        data = train_data(samples, advantages) | {"log_probs": [list(row) for row in old]}
        if self._given.normalize_advantages:
            data["advantages"] = [[value] for value in whitened(advantages, data["loss_masks"])]
        if self._reference:
            known = self._reference.logprobs(pairs, temperature)
            data["ref_log_probs"] = [list(row) for row in known]
        found = batch_loss(data, old, self._flags)
        engine.backward(pairs, found.slopes, temperature)
        adam = AdamParams(self._given.lr, eps=1e-8, grad_clip_norm=self._given.max_grad_norm)
        norm = engine.step(adam)
        drawn = np.concatenate([np.asarray(mask, dtype=bool) for mask in data["loss_masks"]])
        sampled = np.concatenate([np.asarray(row) for row in data["rollout_log_probs"]])
        gap = np.abs(np.concatenate(old) - sampled)[drawn]
        return {
            "policyVersion": engine.version,
            "loss": found.loss,
            "gradNorm": norm,
            "clipFraction": found.clipped,
            "logprobGap": {"mean": float(gap.mean()), "max": float(gap.max())} if gap.size else None,
            "tokens": int(drawn.sum()),
        }


def _flat(groups: Sequence[Any]) -> list[Sample]:
    return [s for group in groups for one in group for s in (one if isinstance(one, list) else [one])]


def _evaluate(args: Namespace, step: int) -> None:
    if not json_of("BEDSIDE_EVAL"):
        return
    found = generate_rollout(args, step, None, evaluation=True)
    for line in eval_lines(step, found.data, found.metrics):
        Job.from_environment().log({**line, "trainer": _NAME})
        _say(**line)


def _keep(engine: StandInEngine, out: Path, step: int) -> None:
    """Keeps the state after a step, and drops the one before."""
    states = out / "states"
    states.mkdir(parents=True, exist_ok=True)
    engine.save_state(states / f"step-{step:06d}-version-{engine.version}")
    for before in sorted(states.glob("step-*-version-*"))[:-1]:
        shutil.rmtree(before)


def _resume(engine: StandInEngine, out: Path, source: SeedSource) -> int:
    """Goes on after the last step that was kept; returns the number of steps made."""
    found = sorted((out / "states").glob("step-*-version-*"))
    if not found:
        return 0
    _, step, _, version = found[-1].name.split("-")
    engine.load_state(found[-1], int(version))
    source.load(int(step) - 1)
    return int(step)


def train(given: Namespace, flags: LossFlags) -> None:
    """Trains, and writes the model. @raises SessionError, EngineError, OSError"""
    job = Job.from_environment()
    engine = StandInEngine(given.model, seed=given.seed)
    router = run(_router(engine).__aenter__())
    args = _arguments(given, router.url)
    source, trainer = SeedSource(args), _Trainer(engine, given, flags)
    made = _resume(engine, given.out, source) if given.out else 0
    if made == 0:
        _evaluate(args, 0)
    for rollout_id in range(made, given.steps):
        started = time.perf_counter()
        router.version = engine.version
        output = generate_rollout(args, rollout_id, source)
        samples = _flat(output.samples)
        played = time.perf_counter() - started
        _, advantages = reward_post_process(args, samples)
        update = trainer.step(samples, advantages)
        line = rollout_line(rollout_id, args, samples, output.metrics, played)
        line |= {"policyVersion": engine.version, "update": update, "seconds": time.perf_counter() - started}
        job.log({**line, "trainer": _NAME})
        _say(**line)
        source.save(rollout_id)
        if given.out:
            _keep(engine, given.out, rollout_id + 1)
    router.version = engine.version
    _evaluate(args, given.steps)
    if given.out:
        shutil.rmtree(given.out / "model", ignore_errors=True)
        engine.save(given.out / "model")
        _say(model=str(given.out / "model"))
    run(router.__aexit__(None, None, None))
    engine.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bedside_trainers.slime.stand_in", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a Hugging Face model folder")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--max-grad-norm", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--eval-temperature", type=float, help="[that of training]")
    parser.add_argument("--dynamic-sampling-filter-path")
    parser.add_argument("--advantage-estimator", choices=_ESTIMATORS, default="grpo")
    parser.add_argument("--disable-grpo-std-normalization", action="store_true")
    parser.add_argument("--normalize-advantages", action="store_true")
    parser.add_argument("--over-sampling-batch-size", type=int)
    parser.add_argument("--eps-clip", type=float, default=0.2)
    parser.add_argument("--eps-clip-high", type=float)
    parser.add_argument("--eps-clip-c", type=float)
    parser.add_argument("--calculate-per-token-loss", action="store_true")
    parser.add_argument("--use-tis", action="store_true")
    parser.add_argument("--tis-clip", type=float, default=2.0)
    parser.add_argument("--tis-clip-low", type=float, default=0.0)
    parser.add_argument("--use-kl-loss", action="store_true")
    parser.add_argument("--kl-loss-coef", type=float, default=0.0)
    parser.add_argument("--use-unbiased-kl", action="store_true")
    parser.add_argument("--use-opsm", action="store_true")
    parser.add_argument("--opsm-delta", type=float, default=1e-4)
    parser.add_argument("--kl-loss-type", choices=("k1", "k2", "k3", "low_var_kl"), default="k1")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; prints JSON lines."""
    given = _parser().parse_args(argv)
    flags = LossFlags(**{name: getattr(given, name) for name in LossFlags.__dataclass_fields__})
    try:
        train(given, flags)
    except (SessionError, EngineError, OSError) as error:
        print(f"{_NAME}: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    if code:
        # At once: draws under way in other threads would fail too, and bury the error.
        os._exit(code)
    sys.exit()
