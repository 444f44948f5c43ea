"""Checks a job of verl before any GPU is asked for: settings, rows, server, tokenizer.

python -m bedside_trainers.verl.check KEY=VALUE …      the overrides of verl.trainer.main_ppo
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")

from pyarrow import parquet
from transformers import AutoTokenizer

from ..job import Job
from ..token_sessions import BadJob, Options, SessionError, TokenClient, ToRead
from . import maths
from .agent_loop import ESTIMATOR, check_rollout, row_options
from .rows import AGENT

_PLUGIN = "bedside_trainers.verl.plugin"
#: Estimators of verl's that compare siblings; a group of one would learn its reward as it is.
_COMPARING = {
    ESTIMATOR,
    "grpo",
    "grpo_vectorized",
    "grpo_passk",
    "rloo",
    "rloo_vectorized",
    "opo",
    "gdpo",
}


def check_settings(config: Any, job: Job) -> None:
    """@raises BadJob naming the setting of verl that contradicts the job"""
    rollout, algorithm = config.actor_rollout_ref.rollout, config.algorithm
    check_rollout(rollout, job)
    if not rollout.calculate_log_probs:
        raise BadJob("Expected actor_rollout_ref.rollout.calculate_log_probs=True, got False")
    if algorithm.adv_estimator in _COMPARING and rollout.n < 2:
        raise BadJob(
            f"Expected actor_rollout_ref.rollout.n of at least 2 for {algorithm.adv_estimator}, got {rollout.n}"
        )
    named = os.environ.get("VERL_USE_EXTERNAL_MODULES", "").split(",")
    if algorithm.adv_estimator == ESTIMATOR and _PLUGIN not in named:
        raise BadJob(f"Expected VERL_USE_EXTERNAL_MODULES={_PLUGIN}, which registers {ESTIMATOR}")
    if job.advantage is not None and algorithm.adv_estimator != ESTIMATOR:
        raise BadJob(
            f"Expected algorithm.adv_estimator={ESTIMATOR} with BEDSIDE_ADVANTAGE, got {algorithm.adv_estimator}"
        )


def first_row(config: Any) -> dict[str, Any]:
    """Options of the first training row; checks the files of rows and agent loops. @raises BadJob"""
    agents = config.actor_rollout_ref.rollout.agent
    path = agents.agent_loop_config_path
    if not path or not Path(path).is_file() or f"name: {AGENT}" not in Path(path).read_text():
        raise BadJob(f"Expected agent_loop_config_path to name the agent loop {AGENT}, got {path}")
    files = config.data.train_files
    row = _first_line(Path(files if isinstance(files, str) else files[0]))
    if AGENT not in (row.get("agent_name"), agents.default_agent_loop):
        raise BadJob(f"Expected rows with agent_name {AGENT}, got {row.get('agent_name')}")
    return row_options(row.get("extra_info"))


def _first_line(path: Path) -> dict[str, Any]:
    """The first row of a file of Parquet or of JSON lines. @raises BadJob"""
    try:
        if path.suffix == ".parquet":
            [row] = parquet.read_table(path).slice(0, 1).to_pylist()
        else:
            with path.open(encoding="utf-8") as lines:
                row = json.loads(next(lines))
    except (OSError, ValueError, StopIteration) as error:
        raise BadJob(f"data.train_files: expected rows of consultations: {error!r}") from error
    return dict(row)


async def check_server(config: Any, job: Job, options: Options) -> int:
    """Checks that the server plays a row, in the ids of the model; returns those of the first prompt. @raises SessionError"""
    async with TokenClient(patience_seconds=30) as client:
        async with await client.open(options) as session:
            told = session.next
        if not isinstance(told, ToRead):
            raise BadJob("Expected a first prompt with room for a reply: raise context_length")
        longest = config.data.max_prompt_length
        if len(told.prompt) > longest:
            raise BadJob(
                f"Expected a first prompt of at most data.max_prompt_length={longest} ids, got {len(told.prompt)}"
            )
        check_tokenizer(config, told.prompt)
        if job.advantage is not None:
            paid = [[{"total": 0.0, "tokens": 1}, {"total": 1.0, "tokens": 1}]]
            body = {"method": dict(job.advantage), "groups": paid}
            await client.request("POST", "/v1/advantages", body)
    return len(told.prompt)


def check_tokenizer(config: Any, prompt: Sequence[int]) -> None:
    """Checks that the server's tokenizer and chat template are the model's. @raises BadJob"""
    folder = config.actor_rollout_ref.model.path
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise BadJob(f"{folder}: expected a model with its tokenizer: {error}") from error
    if tokenizer.chat_template is None:
        raise BadJob(f"{folder}: expected a chat template, got none")
    # What is said is the recipe's own; what stands around it is the template's. As text: the server never merges a
    # template's characters with a patient's into one id.
    read = tokenizer.decode(list(prompt), skip_special_tokens=False)
    frames = [_frame(tokenizer, roles) for roles in (("user",), ("system", "user"))]
    if any(_stands_in(read, frame) for frame in frames if frame):
        return
    known = [frame for frame in frames if frame] or [[""]]
    at, frame = max((len(os.path.commonprefix([read, one[0]])), one) for one in known)
    ends = f"{read[-40:]!r} by the server, {frame[-1][-40:]!r} by the model"
    begins = f"{read[at : at + 40]!r} by the server, {frame[0][at : at + 40]!r} by the model"
    where = f"ends in {ends}" if read.startswith(frame[0]) else f"reads at character {at} {begins}"
    raise BadJob(
        f"Expected `bedside serve --tokenizer {folder}`, the model's own: the first prompt {where}"
    )


def _frame(tokenizer: Any, roles: Sequence[str]) -> list[str] | None:
    """What the template writes before, between and after messages of these roles; None where it refuses them."""
    words = [f"\u2402{role}\u2403" for role in roles]
    messages = [{"role": role, "content": word} for role, word in zip(roles, words, strict=True)]
    try:
        text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    except Exception:  # Of the template's own, as for a system message that it does not take.
        return None
    frame = []
    for word in words:
        before, found, text = text.partition(word)
        if not found:
            return None
        frame.append(before)
    return [*frame, text]


def _stands_in(read: str, frame: Sequence[str]) -> bool:
    first, *between, last = frame
    if not read.startswith(first) or not read.endswith(last):
        return False
    rest = read[len(first) : len(read) - len(last)]
    for part in between:
        _, found, rest = rest.partition(part)
        if not found:
            return False
    # One message more would show the template's own marks again.
    return not last or last not in rest


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; prints one JSON line."""
    try:
        config = maths.configuration(sys.argv[1:] if argv is None else argv)
        job = Job.from_environment()
        check_settings(config, job)
        options = job.options(first_row(config))
        count = asyncio.run(check_server(config, job, options))
    except SessionError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps({"ready": True, "first_prompt_ids": count}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
