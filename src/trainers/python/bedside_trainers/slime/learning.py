"""What samples learn: which groups are kept, and our advantages in the place of slime's normalised rewards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..job import json_of
from ..token_sessions import BadJob, shared_client
from .library import DynamicFilterOutput, Sample, run
from .play import first_of, is_lost
from .settings import argument

#: slime's estimators that spread one number over a sample's tokens, and the estimator of ours that gives the same.
_OURS = {"grpo": "grpo", "gspo": "grpo", "cispo": "grpo", "reinforce_plus_plus_baseline": "dr-grpo"}


def _flat(samples: Sequence[Any]) -> list[Sample]:
    return [one for item in samples for one in (item if isinstance(item, list) else [item])]


def keep_whole_groups(args: Any, samples: Sequence[Any], **_: Any) -> DynamicFilterOutput:
    """slime's --dynamic-sampling-filter-path: groups of which every consultation has a score."""
    lost = any(is_lost(sample) for sample in _flat(samples))
    return DynamicFilterOutput(keep=not lost, reason="lost" if lost else None)


def keep_learning_groups(args: Any, samples: Sequence[Any], **_: Any) -> DynamicFilterOutput:
    """The same, and not of equal rewards (DAPO's dynamic sampling, Yu et al. 2025)."""
    whole = keep_whole_groups(args, samples)
    if not whole.keep:
        return whole
    rewards = [_reward(args, first_of(one)) for one in samples]
    equal = max(rewards) - min(rewards) == 0
    return DynamicFilterOutput(keep=not equal, reason="zero_variance" if equal else None)


def _reward(args: Any, sample: Sample) -> float:
    """The number of a reward; not a number where it is not known, which is not 0."""
    key = getattr(args, "reward_key", None)
    value = sample.reward[key] if key and isinstance(sample.reward, dict) else sample.reward
    return math.nan if value is None or is_lost(sample) else float(value)


def _method(args: Any) -> dict[str, Any] | None:
    """The estimator: the recipe's, else slime's own by the flags. None: rewards as they are. @raises BadJob"""
    named = dict(json_of("BEDSIDE_ADVANTAGE"))
    if named and argument(args, "normalize_advantages", False):
        raise BadJob("Expected no --normalize-advantages: advantages of the recipe would be whitened a second time")
    if named:
        return named
    ours = _OURS.get(str(argument(args, "advantage_estimator", "grpo")))
    if ours is None or not argument(args, "rewards_normalization", True):
        return None
    return {"name": ours if argument(args, "grpo_std_normalization", True) else "dr-grpo"}


def _rollouts(samples: Sequence[Sample]) -> dict[int | None, dict[tuple[str, int], list[int]]]:
    """Positions of samples by group and by rollout: several samples of one consultation count once."""
    groups: dict[int | None, dict[tuple[str, int], list[int]]] = {}
    for at, sample in enumerate(samples):
        key = ("one", at) if sample.rollout_id is None else ("of", sample.rollout_id)
        groups.setdefault(sample.group_index, {}).setdefault(key, []).append(at)
    return groups


def _paid(args: Any, samples: Sequence[Sample]) -> dict[str, Any]:
    """What one rollout was paid, as the server asks."""
    reward = _reward(args, samples[0])
    parts = ((samples[0].metadata.get("bedside", {}).get("score") or {}).get("parts")) or {}
    drawn = sum(sum(one.loss_mask) if one.loss_mask is not None else one.response_length for one in samples)
    return {
        "total": None if math.isnan(reward) else reward,
        "parts": {name: part["value"] for name, part in parts.items() if part["status"] == "ok"},
        "tokens": drawn,
        "truncated": any(one.status == Sample.Status.TRUNCATED for one in samples),
    }


def reward_post_process(args: Any, samples: Sequence[Sample]) -> tuple[list[float], list[float]]:
    """slime's --custom-reward-post-process-path: rewards as they are, and the advantage of each sample's tokens.

    Groups may be of any size. The numbers are the server's, by BEDSIDE_ADVANTAGE, else by slime's own flags. A sample
    without a score gets 0 and is taken out of the loss.
    @raises BadJob; Refused for an estimator that does not exist
    """
    raw = [_reward(args, sample) for sample in samples]
    for sample, reward in zip(samples, raw, strict=True):
        sample.remove_sample = sample.remove_sample or math.isnan(reward)
    method = _method(args)
    if method is None:
        return raw, [0.0 if math.isnan(reward) else reward for reward in raw]
    groups = [list(rollouts.values()) for rollouts in _rollouts(samples).values()]
    paid = [[_paid(args, [samples[at] for at in one]) for one in group] for group in groups]
    body = {"method": method, "groups": paid}

    async def ask() -> Any:
        return await shared_client().request("POST", "/v1/advantages", body)

    found = run(ask())["advantages"]
    rewards = [0.0] * len(samples)
    for group, values in zip(groups, found, strict=True):
        for one, value in zip(group, values, strict=True):
            for at in one:
                rewards[at] = 0.0 if value is None else float(value)
    return raw, rewards


def token_advantages(args: Any, rollout_data: dict[str, Any]) -> None:
    """slime's --custom-advantage-function-path: the advantage of a sample at the tokens that were drawn, 0 elsewhere.

    For estimators of slime's that would spread it otherwise. Runs where the model is; context parallelism must be 1.
    """
    if int(getattr(args, "context_parallel_size", 1)) != 1:
        raise BadJob("Expected context parallelism of 1: token_advantages does not split a sample")
    spread = [
        reward * mask.to(dtype=like.dtype)
        for reward, mask, like in zip(
            rollout_data["rewards"], rollout_data["loss_masks"], rollout_data["kl"], strict=True
        )
    ]
    rollout_data["advantages"] = spread
    rollout_data["returns"] = [one.clone() for one in spread]
