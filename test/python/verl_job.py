"""A job of verl in one process: refusals of `check`, a run of the stand-in and its resumption, and the loss of one batch
against our own; prints what was seen as JSON.

Reads one object of JSON: url, older (a server of another version), token, model (a folder), home (an empty folder).
"""

import contextlib
import io
import json
import os
import shutil
import sys
from pathlib import Path

os.environ["TORCH_COMPILE_DISABLE"] = "1"
os.environ["VERL_USE_EXTERNAL_MODULES"] = "bedside_trainers.verl.plugin"
sys.path.insert(0, str(Path(__file__).parents[2] / "src/trainers/python"))
given = json.load(sys.stdin)
home = Path(given["home"])

import numpy as np
import torch

from bedside_trainers.engines.engine import Datum, LossSpec
from bedside_trainers.verl import check, maths, rows, stand_in

torch.set_num_threads(1)
TOKENS = {"max_tokens": 24, "context_length": 2000}
USUAL = {
    "BEDSIDE_URL": given["url"],
    "BEDSIDE_TOKEN": given["token"],
    "BEDSIDE_TOKENS": json.dumps(TOKENS),
    "BEDSIDE_SESSION": json.dumps({"max_turns": 3, "reward": "format"}),
    "BEDSIDE_ADVANTAGE": json.dumps({"name": "dr-grpo"}),
    "BEDSIDE_METRICS": str(home / "metrics.jsonl"),
    "VERL_USE_EXTERNAL_MODULES": "bedside_trainers.verl.plugin",
}


def quietly(main, argv, **environment):
    """What a command exits with and says."""
    for name, value in {**USUAL, **environment}.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = main([str(one) for one in argv])
    return code, out.getvalue(), error.getvalue().strip().split("\n")[-1]


def tokens(**over):
    return json.dumps({**TOKENS, **over})


made = quietly(rows.main, ["--out", home / "rows", "--count", 8, "--heldout", 2])
model = given["model"]
ready = [
    f"actor_rollout_ref.model.path={model}",
    "actor_rollout_ref.rollout.name=vllm",
    "actor_rollout_ref.rollout.n=4",
    f"actor_rollout_ref.rollout.agent.agent_loop_config_path={home}/rows/agents.yaml",
    f"data.train_files={home}/rows/train.parquet",
    "data.max_prompt_length=1200",
    "data.max_response_length=800",
    "algorithm.adv_estimator=bedside",
]
other = home / "other"
shutil.copytree(model, other)
(other / "chat_template.jinja").write_text("{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}")
bare = home / "bare"
shutil.copytree(model, bare)
(bare / "chat_template.jinja").unlink()
refused = {
    name: quietly(check.main, [*ready, *argv], **environment)
    for name, (argv, environment) in {
        "no server": ([], {"BEDSIDE_URL": None}),
        "no http": ([], {"BEDSIDE_URL": "127.0.0.1:8000"}),
        "token file": ([], {"BEDSIDE_TOKEN": None, "BEDSIDE_TOKEN_FILE": str(home / "none")}),
        "older server": ([], {"BEDSIDE_URL": given["older"]}),
        "wrong token": ([], {"BEDSIDE_TOKEN": "another"}),
        "not JSON": ([], {"BEDSIDE_TOKENS": "{"}),
        "unknown bound": ([], {"BEDSIDE_TOKENS": tokens(tokens=3)}),
        "no bound": ([], {"BEDSIDE_TOKENS": "{}"}),
        "long reply": ([], {"BEDSIDE_TOKENS": tokens(max_tokens=801)}),
        "long context": ([], {"BEDSIDE_TOKENS": tokens(context_length=2001)}),
        "short context": ([], {"BEDSIDE_TOKENS": tokens(context_length=30)}),
        "stripped": ([], {"BEDSIDE_TOKENS": tokens(history="strip-reasoning")}),
        "unknown option": ([], {"BEDSIDE_SESSION": json.dumps({"tiers": "easy"})}),
        "unknown advantage": ([], {"BEDSIDE_ADVANTAGE": json.dumps({"name": "gae"})}),
        "verl's own": (["algorithm.adv_estimator=grpo"], {}),
        "no plugin": ([], {"VERL_USE_EXTERNAL_MODULES": ""}),
        "single": (["actor_rollout_ref.rollout.n=1"], {}),
        "nucleus": (["actor_rollout_ref.rollout.top_p=0.9"], {}),
        "no log-probs": (["actor_rollout_ref.rollout.calculate_log_probs=False"], {}),
        "no rows": ([f"data.train_files={home}/none.parquet"], {}),
        "no agents": (["actor_rollout_ref.rollout.agent.agent_loop_config_path=null"], {}),
        "short prompt": (["data.max_prompt_length=20", "data.max_response_length=1980"], {}),
        "other template": ([f"actor_rollout_ref.model.path={other}"], {}),
        "no template": ([f"actor_rollout_ref.model.path={bare}"], {}),
    }.items()
}
fits = quietly(check.main, ready)

flags = ["--model", model, "--out", home / "run", "--groups", 2, "--group-size", 4, "--heldout", 2]
flags += ["--max-prompt-length", 1200]
first = quietly(stand_in.main, [*flags, "--steps", 2])
assert first[0] == 0 and fits[0] == 0, (first[2], fits[2])
kept = [path.name for path in (home / "run/states").iterdir()]
again = quietly(stand_in.main, [*flags, "--steps", 3])
lines = [json.loads(line) for line in (home / "metrics.jsonl").read_text().splitlines()]

# The same batch by verl's actor loss, linearised, and by our own loss with the same normaliser.
arguments = stand_in._arguments([str(one) for one in [*flags, "--steps", 1, "--dtype", "float64"]])
arguments.out = home / "loss"
run = stand_in.StandIn(arguments)
engine = run.engine


async def batch():
    played = await run.play(0)
    await stand_in.close_clients()
    return played


import asyncio

data = asyncio.run(batch())
draw = np.random.default_rng(3)
old = [values + draw.normal(0, 0.3, len(values)) for values in maths.engine_logprobs(engine, data, 1.0)]
data.batch["old_log_probs"] = maths.padded(old, data.batch["responses"])
data.batch["rm_scores"] = data.batch["rm_scores"] * 0
data.batch["rm_scores"][:, -1] = torch.from_numpy(draw.normal(0, 1, len(data))).float()
maths.add_advantages(data, run.config)
values = maths.engine_logprobs(engine, data, 1.0)
loss, slopes, _ = maths.loss_and_slopes(data, values, run.actor)
samples = maths.samples_of(data)
total = float(data.batch["response_mask"].sum())
theirs = engine._engine
engine.backward(samples, slopes)
linearised = {name: one.clone() for name, one in theirs._model("stand-in").gradients.items()}
theirs.discard("stand-in")
ours = []
for at, ((prompt, response), before) in enumerate(zip(samples, old)):
    count = len(response)
    mask = data.batch["response_mask"][at][:count].double().numpy()
    shift = lambda one: np.concatenate([np.zeros(len(prompt) - 1), one])
    whole = np.array([*prompt, *response])
    ours.append(
        Datum(
            whole[:-1],
            {
                "target_tokens": whole[1:],
                "weights": shift(mask / total),
                "advantages": shift(data.batch["advantages"][at][:count].double().numpy()),
                "logprobs": shift(before),
            },
        )
    )
config = {"kind": "ppo-clip", "low": 0.2, "high": 0.2, "dual": 3.0}
result = theirs.forward_backward("stand-in", ours, LossSpec("bedside", config))
gradients = theirs._model("stand-in").gradients
scale = max(float(one.abs().max()) for one in gradients.values())
gap = max(float((gradients[name] - linearised[name]).abs().max()) for name in gradients)
told = {
    "rows": made[1],
    "fits": [fits[0], fits[1]],
    "refused": {name: [code, said] for name, (code, _, said) in refused.items()},
    "first": [first[0], first[2] if first[0] else ""],
    "kept": kept,
    "again": [again[0], again[2] if again[0] else ""],
    "said": first[1].splitlines() + again[1].splitlines(),
    "lines": lines,
    "model": sorted(path.name for path in (home / "run/model").iterdir()),
    "loss": [loss, result.metrics["loss:sum"]],
    "gradient": [gap, scale],
}
print(json.dumps(told))
