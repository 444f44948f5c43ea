"""Stand-in for verl's trainer on a CPU: its configuration, worker, advantages and actor loss, with a small model.

    python -m bedside_trainers.verl.stand_in --model FOLDER --steps 30 --groups 8 --group-size 8 --lr 0.001 --out runs/x

What stands in for verl is the engine that draws and steps, and the loop around them. Consultations are those of the
server of BEDSIDE_URL; overrides of verl's configuration follow the flags (`algorithm.adv_estimator=rloo`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")

from ..engines.engine import AdamParams, EngineError
from ..job import Job
from ..stand_in_engine import StandInEngine
from ..token_sessions import SessionError, shared_client
from . import maths, plugin
from .library import AgentLoopWorker, TokenOutput
from .numbers import step_line
from .rows import AGENT, write_agents, write_rows


async def close_clients() -> None:
    """Closes the connections of this event loop."""
    await shared_client().close()


class StandInClient:
    """verl's client of its inference servers, over a stand-in engine."""

    def __init__(self, engine: StandInEngine) -> None:
        self.engine = engine

    async def generate(
        self,
        request_id: str,
        *,
        prompt_ids: Sequence[int],
        sampling_params: Mapping[str, Any],
        **_: Any,
    ) -> TokenOutput:
        """Draws a reply, as verl's client does."""
        drawn = await self.engine.draw(
            prompt_ids,
            max_tokens=int(sampling_params["max_tokens"]),
            stop=sampling_params["stop_token_ids"],
            temperature=float(sampling_params["temperature"]),
        )
        at = {
            name: drawn.version for name in ("global_steps", "min_global_steps", "max_global_steps")
        }
        return TokenOutput(
            token_ids=list(drawn.tokens),
            log_probs=list(drawn.logprobs),
            stop_reason="completed",
            extra_fields=at,
        )


def overrides_of(given: argparse.Namespace, job: Job, files: Mapping[str, Path]) -> list[str]:
    """verl's configuration of a run, before the user's own overrides."""
    prompt = given.max_prompt_length or job.context_length // 2
    response = job.context_length - prompt
    return [
        f"actor_rollout_ref.model.path={given.model}",
        "actor_rollout_ref.rollout.name=vllm",
        f"actor_rollout_ref.rollout.n={given.group_size}",
        f"actor_rollout_ref.rollout.agent.agent_loop_config_path={files['agents']}",
        f"actor_rollout_ref.rollout.agent.default_agent_loop={AGENT}",
        f"actor_rollout_ref.actor.ppo_mini_batch_size={given.groups}",
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1",
        f"actor_rollout_ref.actor.optim.lr={given.lr}",
        f"data.train_batch_size={given.groups}",
        f"data.max_prompt_length={prompt}",
        f"data.max_response_length={response}",
        "algorithm.adv_estimator=bedside",
        # Its worker gives rows back; that of trainer v1 hands them to a queue of the cluster.
        "trainer.use_v1=false",
        *given.overrides,
    ]


class StandIn:
    """A run of the stand-in."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.job = Job.from_environment()
        self.out: Path = given.out
        rows = self.out / "rows"
        rows.mkdir(parents=True, exist_ok=True)
        self.files = {"train": rows / "train.parquet", "agents": rows / "agents.yaml"}
        write_rows(
            self.files["train"], "train", 0, given.cases or given.groups * given.steps, given.seed
        )
        write_agents(self.files["agents"])
        if given.heldout:
            self.files["heldout"] = rows / "heldout.parquet"
            write_rows(self.files["heldout"], "heldout", 0, given.heldout, given.seed)
        self.config = maths.configuration(overrides_of(given, self.job, self.files))
        self.actor = maths.actor_config(self.config)
        self.temperature = float(self.config.actor_rollout_ref.rollout.temperature)
        self.engine = StandInEngine(given.model, seed=given.seed, dtype=given.dtype)
        self.worker = AgentLoopWorker(self.config, StandInClient(self.engine), None, None)
        self.data = {
            name: maths.data_set(str(path), self.worker.tokenizer, self.config)
            for name, path in self.files.items()
            if name != "agents"
        }
        if self.actor.use_kl_loss:
            self.engine.keep_reference()
        optim = self.config.actor_rollout_ref.actor.optim
        self.adam = AdamParams(
            learning_rate=float(optim.lr),
            beta1=float(optim.betas[0]),
            beta2=float(optim.betas[1]),
            eps=1e-8,
            weight_decay=float(optim.weight_decay),
            grad_clip_norm=float(self.actor.grad_clip),
        )

    async def play(self, step: int) -> Any:
        """The rollouts of a step, by verl's worker."""
        data, groups = self.data["train"], self.given.groups
        at = [(step * groups + number) % len(data) for number in range(groups)]
        uids = [f"{step}-{number}" for number in range(groups)]
        batch = maths.batch_of(
            [data[one] for one in at], uids, self.given.group_size, self.engine.version
        )
        return await self.worker.generate_sequences(batch)

    async def heldout(self) -> float | None:
        """Mean reward of the held-out consultations, at verl's validation settings."""
        data = self.data["heldout"]
        rows = [data[one] for one in range(len(data))]
        batch = maths.batch_of(
            rows, [f"heldout-{one}" for one in range(len(rows))], 1, self.engine.version
        )
        batch.meta_info["validate"] = True
        played = await self.worker.generate_sequences(batch)
        scores = played.batch["rm_scores"].sum(-1)
        known = scores[played.batch["response_mask"].sum(-1) > 0]
        return float(known.mean()) if len(known) else None

    def learn(self, batch: Any) -> dict[str, float]:
        """Advantages, verl's actor loss over its mini-batches and epochs, and the engine's steps."""
        old = maths.engine_logprobs(self.engine, batch, self.temperature)
        batch.batch["old_log_probs"] = maths.padded(old, batch.batch["responses"])
        mask = batch.batch["response_mask"].bool()
        gap = (batch.batch["old_log_probs"] - batch.batch["rollout_log_probs"])[mask].abs()
        if self.actor.use_kl_loss:
            kept = maths.engine_logprobs(self.engine, batch, self.temperature, reference=True)
            batch.batch["ref_log_prob"] = maths.padded(kept, batch.batch["responses"])
        batch = maths.add_correction(batch, self.config)
        maths.add_advantages(batch, self.config)
        told: dict[str, list[float]] = {}
        size = int(self.actor.ppo_mini_batch_size) * self.given.group_size
        for _ in range(int(self.actor.ppo_epochs)):
            for part in maths.minibatches(batch, size):
                values = maths.engine_logprobs(self.engine, part, self.temperature)
                loss, slopes, metrics = maths.loss_and_slopes(part, values, self.actor)
                self.engine.backward(maths.samples_of(part), slopes, self.temperature)
                norm = self.engine.step(self.adam)
                for name, value in {**metrics, "actor/loss": loss, "actor/grad_norm": norm}.items():
                    told.setdefault(name, []).append(value)
        found = {name: float(np.mean(values)) for name, values in told.items()}
        if mask.any():
            found["training/rollout_logprob_gap_max"] = float(gap.max())
        return found

    def log(self, line: Mapping[str, Any]) -> None:
        """Prints a line and appends it to the metrics file; both say what made it."""
        made = {**line, "trainer": "stand-in for verl"}
        self.job.log(made)
        print(f"stand-in for verl: {json.dumps(made)}", flush=True)

    def keep(self, step: int) -> None:
        """Keeps the state after a step, and drops the one before."""
        states = self.out / "states"
        states.mkdir(exist_ok=True)
        self.engine.save_state(states / f"step-{step:06d}-version-{self.engine.version}")
        for before in sorted(states.glob("step-*"))[:-1]:
            shutil.rmtree(before)

    def resume(self) -> int:
        """Goes on after the last step that was kept; returns the number of steps made."""
        found = sorted((self.out / "states").glob("step-*-version-*"))
        if not found:
            return 0
        _, step, _, version = found[-1].name.split("-")
        self.engine.load_state(found[-1], int(version))
        return int(step)

    async def whole(self) -> None:
        """All steps, and closes what was open."""
        try:
            await self.run()
        finally:
            await close_clients()
            self.engine.close()

    async def run(self) -> None:
        """All steps. @raises SessionError where no server is, or the job's settings do not fit"""
        made = self.resume()
        if self.given.heldout and made == 0:
            self.log({"type": "held-out", "step": 0, "reward": await self.heldout()})
        for step in range(made, self.given.steps):
            started = time.perf_counter()
            batch = await self.play(step)
            played = time.perf_counter() - started
            found = await asyncio.to_thread(self.learn, batch)
            known = batch.batch["response_mask"].sum(-1) > 0
            numbers = {
                **found,
                "critic/score/mean": float(batch.batch["rm_scores"].sum(-1)[known].mean())
                if known.any()
                else None,
                "num_turns/mean": float(
                    np.mean(batch.non_tensor_batch["__num_turns__"][known.numpy()])
                ),
                "timing_s/step": time.perf_counter() - started,
            }
            [line] = step_line(numbers, step + 1, plugin.counts())
            if "samples" in line:
                line["samples"]["forks"] = int(sum(batch.non_tensor_batch["forks"]))
            gap = found.get("training/rollout_logprob_gap_max")
            self.log(
                {
                    **line,
                    "steps": self.given.steps,
                    "logprobGap": {"max": gap},
                    "playSeconds": played,
                }
            )
            self.keep(step + 1)
        if self.given.heldout:
            self.log({"type": "held-out", "step": self.given.steps, "reward": await self.heldout()})
        self.save()

    def save(self) -> None:
        """Writes the model."""
        folder = self.out / "model"
        shutil.rmtree(folder, ignore_errors=True)
        self.engine.save(folder)
        (folder / "STAND-IN.md").write_text(
            "Made by Bedside's stand-in for verl's trainer on a CPU, not by verl's trainer.\n",
            encoding="utf-8",
        )


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bedside_trainers.verl.stand_in",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument(
        "--model", type=Path, required=True, help="folder of a small model with its tokenizer"
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="folder of the trained model and of states to resume",
    )
    for name, default in {
        "steps": 30,
        "groups": 8,
        "group-size": 8,
        "seed": 0,
        "heldout": 0,
    }.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"[{default}]")
    parser.add_argument("--cases", type=int, default=0, help="cases to train on [groups x steps]")
    parser.add_argument("--lr", type=float, default=1e-3, help="[0.001]")
    parser.add_argument("--max-prompt-length", type=int, default=0, help="[half of the context]")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("overrides", nargs="*", help="of verl's configuration, key=value")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line."""
    given = _arguments(argv)
    try:
        run = StandIn(given)
        asyncio.run(run.whole())
    except (SessionError, EngineError) as error:
        print(f"stand-in for verl: {error}", file=sys.stderr)
        return 1
    print(f"stand-in for verl: wrote {given.out / 'model'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
