"""verl's numbers of a step by the names of Bedside's metrics.jsonl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def step_line(
    numbers: Mapping[str, float | None], step: int, counts: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Lines of a step: one of training, one of each validation set.

    numbers: verl's. counts: of the estimator `bedside`, empty where another was used.
    """
    if numbers.get("critic/score/mean") is not None or numbers.get("actor/pg_loss") is not None:
        yield {
            "type": "step",
            "step": step,
            "reward": numbers.get("critic/score/mean"),
            "turns": numbers.get("num_turns/mean"),
            **({"groups": _groups(counts), "samples": _samples(counts, numbers)} if counts else {}),
            "update": _update(numbers, step),
            "seconds": numbers.get("timing_s/step"),
        }
    for name, value in numbers.items():
        if name.startswith("val-core/") and "/mean@" in name and value is not None:
            yield {"type": "held-out", "step": step, "name": name.split("/")[1], "reward": value}


def _groups(counts: Mapping[str, int]) -> dict[str, Any]:
    reasons = {"lost": 0, "stale": 0, "singleton": counts["singleton"], "tooFewScored": 0}
    return {
        "drawn": counts["groups"],
        "formed": counts["groups"] - counts["singleton"],
        "zeroVariance": counts["zero_variance"],
        "dropped": counts["singleton"],
        "reasons": reasons,
    }


def _samples(counts: Mapping[str, int], numbers: Mapping[str, float | None]) -> dict[str, int]:
    stale = numbers.get("training/off_policy/evicted_samples") or 0
    return {"used": counts["rows"], "unavailable": counts["lost"], "stale": int(stale), "forks": 0}


def _update(numbers: Mapping[str, float | None], step: int) -> dict[str, Any]:
    named = {
        "loss": "actor/pg_loss",
        "gradNorm": "actor/grad_norm",
        "clipFraction": "actor/pg_clipfrac",
        "kl": "actor/ppo_kl",
        "entropy": "actor/entropy",
    }
    gap = {
        "mean": numbers.get("training/rollout_probs_diff_mean"),
        "max": numbers.get("training/rollout_probs_diff_max"),
    }
    found = {ours: numbers[theirs] for ours, theirs in named.items() if theirs in numbers}
    return {"policyVersion": step, **found, "probabilityGap": gap}
