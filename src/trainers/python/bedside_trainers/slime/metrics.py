"""Lines for Bedside's metrics.jsonl: what a rollout was paid, and how many of its consultations were lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..job import Job
from .library import Sample
from .play import is_lost
from .settings import argument


def _rollouts(samples: Sequence[Any]) -> list[Sample]:
    """The first sample of each rollout."""
    found: dict[Any, Sample] = {}
    for item in samples:
        for sample in item if isinstance(item, list) else [item]:
            found.setdefault(sample.rollout_id if sample.rollout_id is not None else id(sample), sample)
    return list(found.values())


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _number(args: Any, sample: Sample) -> float | None:
    key = getattr(args, "reward_key", None)
    reward = sample.reward[key] if key and isinstance(sample.reward, dict) else sample.reward
    return None if reward is None or is_lost(sample) else float(reward)


def about_samples(args: Any, samples: Sequence[Any]) -> dict[str, float | None]:
    """Means over the consultations of samples, and how many had no score."""
    rollouts = _rollouts(samples)
    numbers = [number for one in rollouts if (number := _number(args, one)) is not None]
    turns = [one.metadata["bedside"]["turns"] for one in rollouts if "turns" in one.metadata.get("bedside", {})]
    return {"reward": _mean(numbers), "turns": _mean(turns)}


def rollout_line(
    rollout_id: int, args: Any, samples: Sequence[Any], extra_metrics: Any, seconds: float
) -> dict[str, Any]:
    """The line of a rollout."""
    extra: Mapping[str, Any] = extra_metrics or {}
    rollouts = _rollouts(samples)
    lost = int(extra.get("bedside/lost_groups", 0))
    groups: dict[Any, set[float | None]] = {}
    for one in rollouts:
        groups.setdefault(one.group_index, set()).add(_number(args, one))
    formed = len(groups)
    equal = sum(len(rewards) == 1 for rewards in groups.values())
    unavailable = sum(_number(args, one) is None for one in rollouts)
    return {
        "type": "step",
        "step": rollout_id + 1,
        "steps": argument(args, "num_rollout"),
        **about_samples(args, samples),
        "groups": {
            "drawn": formed + lost + _dropped(extra),
            "formed": formed,
            "zeroVariance": equal + int(extra.get("rollout/dynamic_filter/drop_zero_variance", 0)),
            "dropped": lost,
            "reasons": {"lost": lost, "stale": 0, "singleton": 0, "tooFewScored": 0},
        },
        "samples": {
            "used": len(rollouts) - unavailable,
            "unavailable": unavailable,
            "stale": 0,
            "forks": int(extra.get("bedside/forks", 0)),
        },
        "seconds": seconds,
    }


def _dropped(extra: Mapping[str, Any]) -> int:
    """Groups that a filter dropped, but for those that were lost."""
    names = (name for name in extra if name.startswith("rollout/dynamic_filter/drop_"))
    return sum(int(extra[name]) for name in names if not name.endswith("drop_lost"))


def log_rollout(
    rollout_id: int, args: Any, samples: Sequence[Any], rollout_extra_metrics: Any, rollout_time: float
) -> bool:
    """slime's --custom-rollout-log-function-path: appends a line to BEDSIDE_METRICS. slime logs as it does besides."""
    line = rollout_line(rollout_id, args, samples, rollout_extra_metrics, rollout_time)
    Job.from_environment().log(line)
    return False


def eval_lines(step: int, data: Mapping[str, Any], extra_metrics: Any) -> list[dict[str, Any]]:
    """The lines of an evaluation, one for each set of cases."""
    extra = extra_metrics or {}
    return [
        {
            "type": "held-out",
            "step": step,
            "name": name,
            "reward": _mean([float(reward) for reward in found["rewards"]]),
            "lost": int(extra.get(f"bedside/{name}/lost", 0)),
        }
        for name, found in data.items()
    ]


def log_eval(rollout_id: int, args: Any, data: Mapping[str, Any], extra_metrics: Any) -> bool:
    """slime's --custom-eval-rollout-log-function-path: a line for each set of cases. slime logs as it does besides."""
    job = Job.from_environment()
    for line in eval_lines(rollout_id, data, extra_metrics):
        job.log(line)
    return False
