"""Losses of token segments in torch, float64, differentiated by autograd.

Reads {"cases": [...]} on stdin; writes {"torch": version, "cases": [{"value", "gradients"}]}. Written from the formulas
in the papers, apart from the TypeScript they are compared with.
"""

import json
import sys

import torch


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def bounded(correction, rho):
    low, high = correction.get("min", 0.0), correction["max"]
    if correction["mode"] == "truncate":
        return rho.clamp(low, high)
    return torch.where((rho >= low) & (rho <= high), rho, torch.zeros_like(rho))


def surrogate(loss, ratio, advantage):
    held = ratio.clamp(1 - loss["low"], 1 + loss["high"])
    value = -torch.minimum(ratio * advantage, held * advantage)
    if "dual" in loss:
        capped = torch.minimum(value, -loss["dual"] * advantage)
        value = torch.where(advantage < 0, capped, value)
    return value


def objective(loss, logprob, old, advantage):
    kind = loss["kind"]
    ratio = torch.exp(logprob - old)
    if kind in ("policy-gradient", "cross-entropy"):
        return -advantage * logprob
    if kind == "importance-sampling":
        return -ratio * advantage
    if kind == "ppo-clip":
        return surrogate(loss, ratio, advantage)
    if kind == "cispo":
        held = ratio.clamp(1 - loss["low"], 1 + loss["high"]).detach()
        return -held * advantage * logprob
    if kind == "gspo":
        # The paper's token form: the value of the sequence's ratio, the gradient of each token's own.
        sequence = torch.exp((logprob - old).mean()).detach()
        return surrogate(loss, sequence * torch.exp(logprob - logprob.detach()), advantage)
    if kind == "sapo":
        tau = torch.where(
            advantage > 0, tensor(loss["tauPositive"]), tensor(loss["tauNegative"])
        )
        return -torch.sigmoid(tau * (ratio - 1)) * (4 / tau) * advantage
    raise ValueError(f"unknown objective {kind}")


def penalty(kl, logprob, reference):
    distance = logprob - reference
    if kl["estimator"] == "k1":
        return distance
    if kl["estimator"] == "k2":
        return distance**2 / 2
    return torch.exp(-distance) + distance - 1


def segment_loss(loss, segment, logprobs):
    drawn = tensor(segment["mask"]) == 1
    logprob = logprobs[drawn]
    sampled = tensor(segment["logprobs"])[drawn]
    old = tensor(segment["oldLogprobs"])[drawn]
    values = objective(loss, logprob, old, tensor(segment["advantages"])[drawn])
    if "correction" in loss:
        difference = old - sampled
        level = loss["correction"]["level"]
        if level != "token":
            whole = difference.sum() if level == "sequence" else difference.mean()
            difference = whole.expand_as(difference)
        weight = bounded(loss["correction"], torch.exp(difference))
        values = values * weight * loss["correction"].get("scale", 1.0)
    if "offPolicyMask" in loss:
        mask = loss["offPolicyMask"]
        behaviour = old if mask.get("behaviour") == "old" else sampled
        apart = (behaviour - logprob.detach()).mean()
        advantage = tensor(segment["advantages"])[drawn]
        values = values * ~((advantage < 0) & (apart > mask["threshold"]))
    if "kl" in loss:
        reference = tensor(segment["refLogprobs"])[drawn]
        estimate = penalty(loss["kl"], logprob, reference)
        if loss["kl"].get("ratio"):
            estimate = torch.exp(logprob - old) * estimate
        values = values + loss["kl"]["coefficient"] * estimate
    return values.sum()


def run(case):
    logprobs = [tensor(one).requires_grad_() for one in case["now"]]
    total = sum(
        weight * segment_loss(case["loss"], segment, now)
        for weight, segment, now in zip(case["weights"], case["segments"], logprobs)
    )
    total.backward()
    return {"value": total.item(), "gradients": [one.grad.tolist() for one in logprobs]}


if __name__ == "__main__":
    torch.set_num_threads(1)
    cases = json.load(sys.stdin)["cases"]
    json.dump({"torch": torch.__version__, "cases": [run(case) for case in cases]}, sys.stdout)
