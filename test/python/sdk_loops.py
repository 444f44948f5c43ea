"""The official client, unmodified, against a running sidecar: supervised learning, then rewards.

Reads {"address", "token", "model", "vocabulary", "steps": [supervised, rewarded]} on stdin; writes
losses, rewards, gradient norms and log-prob gaps. Started with the client's version on PYTHONPATH.
"""

import json
import logging
import os
import sys
import warnings

import numpy as np

given = json.load(sys.stdin)
os.environ["TINKER_TELEMETRY"] = "0"
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

import tinker  # noqa: E402
from tinker import types  # noqa: E402

VOCAB, SAMPLES = given["vocabulary"], 32
service = tinker.ServiceClient(base_url=given["address"], api_key=given["token"])


def datum(tokens, **inputs):
    held = {"target_tokens": np.array(tokens[1:], np.int64)}
    held |= {name: np.array(values, np.float32) for name, values in inputs.items()}
    arrays = {name: types.TensorData.from_numpy(values) for name, values in held.items()}
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=arrays)


def adam(rate):
    return types.AdamParams(learning_rate=rate, beta1=0.9, beta2=0.95, eps=1e-8)


def supervised(client):
    """Learns eight sequences by heart: losses, norms, how far the sampler's log-probs are off."""
    rng = np.random.default_rng(0)
    sequences = [rng.integers(5, VOCAB, 10).tolist() for _ in range(8)]
    data = [datum(tokens, weights=[0.0] * 2 + [1.0] * 7) for tokens in sequences]
    losses, norms = [], []
    for _ in range(given["steps"][0]):
        passed = client.forward_backward(data, "cross_entropy")
        stepped = client.optim_step(adam(1e-2))
        losses.append(passed.result().metrics["loss:sum"])
        norms.append(stepped.result().metrics["grad_norm:mean"])
    forward = client.forward(data, "cross_entropy").result()
    sampler = client.save_weights_and_get_sampling_client()
    gaps = []
    for tokens, output in zip(sequences, forward.loss_fn_outputs, strict=True):
        scores = sampler.compute_logprobs(types.ModelInput.from_ints(tokens)).result()
        gaps.append(np.abs(np.array(scores[1:], float) - output["logprobs"].to_numpy()).max())
    return {"losses": losses, "norms": norms, "gap": float(max(gaps))}


def rewarded(client):
    """Importance sampling on a reward of drawing one token; the mean reward of every step."""
    rewards = []
    prompt = [7, 8, 9]
    for at in range(given["steps"][1]):
        sampler = client.save_weights_and_get_sampling_client()
        params = types.SamplingParams(max_tokens=4, temperature=1.0, seed=at)
        drawn = sampler.sample(
            types.ModelInput.from_ints(prompt), num_samples=SAMPLES, sampling_params=params
        ).result()
        scores = [np.mean([t % 4 == 1 for t in each.tokens]) for each in drawn.sequences]
        rewards.append(float(np.mean(scores)))
        data = []
        for each, score in zip(drawn.sequences, scores, strict=True):
            n = len(each.tokens)
            before = [0.0] * (len(prompt) - 1)
            advantages = [*before, *[(score - rewards[-1]) / len(scores)] * n]
            logprobs = [*before, *each.logprobs]
            data.append(datum([*prompt, *each.tokens], logprobs=logprobs, advantages=advantages))
        client.forward_backward(data, "importance_sampling")
        client.optim_step(adam(4e-3)).result()
    return rewards


def kept(client):
    """Saved, made anew from the file, and the same: the two next gradient norms."""
    path = client.save_state("kept").result().path
    other = service.create_training_client_from_state_with_optimizer(path)
    data = [datum([5, 6, 7, 8], weights=[1.0] * 3)]
    norms = []
    for each in (client, other):
        each.forward_backward(data, "cross_entropy")
        norms.append(each.optim_step(adam(0.0)).result().metrics["grad_norm:mean"])
    return norms


def failed(client):
    """The message of a request that the server cannot do."""
    client.forward_backward(
        [datum([5, 6], logprobs=[-1e6], advantages=[1.0])], "importance_sampling"
    )
    try:
        client.optim_step(adam(0.1)).result()
    except Exception as error:
        return str(error)


def main():
    client = service.create_lora_training_client(base_model=given["model"], rank=8, seed=7)
    info = client.get_info()
    learnt = supervised(client)
    other = service.create_lora_training_client(base_model=given["model"], rank=8, seed=8)
    outcome = {
        "version": tinker.__version__,
        "rank": info.lora_rank,
        "tokenizer": info.model_data.tokenizer_id,
        "encoded": client.get_tokenizer().encode("patient"),
        "supervised": learnt,
        "rewards": rewarded(other),
        "kept": kept(other),
        "failed": failed(other),
    }
    print(json.dumps(outcome))
    # The client's threads may crash an interpreter that ends under them.
    sys.stdout.flush()
    os._exit(0)


main()
