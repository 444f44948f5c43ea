"""The official client, unmodified, after each request that a running sidecar refuses: run by
test/trainers/python/sdk.slow.test.ts.

Reads {"address", "token", "model", "vocabulary", "context"} on stdin; writes for each refusal what the client was told,
and how long the next good requests took. Started with the client's version on PYTHONPATH.
"""

import json
import logging
import math
import os
import sys
import time
import warnings

import numpy as np

given = json.load(sys.stdin)
os.environ["TINKER_TELEMETRY"] = "0"
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import tinker  # noqa: E402
from tinker import types  # noqa: E402

WAIT_SECONDS = 60
service = tinker.ServiceClient(base_url=given["address"], api_key=given["token"])
client = service.create_lora_training_client(base_model=given["model"], rank=4, seed=1)


def datum(tokens=(5, 6, 7), **inputs):
    tokens = list(tokens)
    held = {"target_tokens": np.array(tokens[1:], np.int64)}
    held |= {name: np.array(values, np.float32) for name, values in inputs.items()}
    arrays = {name: types.TensorData.from_numpy(values) for name, values in held.items()}
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=arrays)


def adam(rate=0.0, **changes):
    return types.AdamParams(learning_rate=rate, **changes)


def ratio(**inputs):
    return datum(**{"logprobs": [-1.0, -1.0], "advantages": [1.0, 1.0], **inputs})


def backward(data, loss="cross_entropy", config=None):
    return lambda: client.forward_backward(data, loss, config)


GOOD = datum(weights=[1.0, 1.0])
CASES = {
    "bad token": backward([datum((5, given["vocabulary"], 7))]),
    "negative token": backward([datum((5, -1, 7))]),
    "too long": backward([datum([5] * (given["context"] + 2))]),
    "empty": backward([datum((5,))]),
    "weights NaN": backward([datum(weights=[math.nan, 1.0])]),
    "weights infinite": backward([datum(weights=[math.inf, 1.0])]),
    "weights too short": backward([datum(weights=[1.0])]),
    "advantages NaN": backward([ratio(advantages=[math.nan, 1.0])], "importance_sampling"),
    "overflow": backward([ratio(logprobs=[-1e6, 0.0])], "importance_sampling"),
    "no advantages": backward([datum(logprobs=[0.0, 0.0])], "ppo"),
    "unknown input": backward([datum(mask=[1.0, 1.0])]),
    "unknown loss": backward([GOOD], "mse"),
    "unknown setting": backward([ratio()], "ppo", {"beta": 1.0}),
    "setting NaN": backward([ratio()], "ppo", {"clip_low_threshold": math.nan}),
    "dro without beta": backward([ratio()], "dro"),
    "one of two": backward([GOOD, datum((5, given["vocabulary"], 7))]),
    "forward": lambda: client.forward([datum((5, -1, 7))], "cross_entropy"),
    "rate NaN": lambda: client.optim_step(adam(math.nan)),
    "rate negative": lambda: client.optim_step(adam(-1.0)),
    "rate infinite": lambda: client.optim_step(adam(math.inf)),
    "beta of 1": lambda: client.optim_step(adam(beta1=1.0)),
    "name of a path": lambda: client.save_state("../x"),
    "sampler name": lambda: client.save_weights_for_sampler("a/b"),
    "overwritten": lambda: [client.save_state("x").result(), client.save_state("x")][1],
    "time to live": lambda: client.save_state("x", ttl_seconds=-1),
    "no such weights": lambda: client.load_state(f"tinker://{client.model_id}/weights/none"),
    "no weights": lambda: client.load_state("tinker://x"),
}


def outcome(make):
    """A result or an error's text."""
    try:
        return {"result": make().result(timeout=WAIT_SECONDS)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def attempt(make):
    """What a refused request was told, and what came of a step, a batch and a step after it."""
    told = outcome(make).get("error")
    began = time.monotonic()
    outcome(lambda: client.optim_step(adam()))
    seconds = time.monotonic() - began
    passed, stepped = client.forward_backward([GOOD], "cross_entropy"), client.optim_step(adam())
    good = [outcome(lambda: passed), outcome(lambda: stepped)]
    norm = good[1]["result"].metrics["grad_norm:mean"] if "result" in good[1] else None
    errors = [one["error"] for one in good if "error" in one]
    whole = time.monotonic() - began
    return {"told": told, "seconds": seconds, "whole": whole, "norm": norm, "errors": errors}


def main():
    client.forward_backward([GOOD], "cross_entropy").result()
    first = client.optim_step(adam()).result().metrics["grad_norm:mean"]
    seen = {name: attempt(make) for name, make in CASES.items()}
    print(json.dumps({"version": tinker.__version__, "first": first, "seen": seen}))
    # The client's threads would wait for what never comes.
    sys.stdout.flush()
    os._exit(0)


main()
