"""What the plugin takes from slime. slime is no package: without its checkout there are records that tests and the
stand-in trainer run on, and nothing else can."""

from __future__ import annotations

from typing import Any

try:
    from slime.rollout.base_types import RolloutFnEvalOutput, RolloutFnTrainOutput
    from slime.rollout.filter_hub.base_types import DynamicFilterOutput, MetricGatherer
    from slime.rollout.filter_hub.base_types import call_dynamic_filter
    from slime.utils.async_utils import run
    from slime.utils.misc import load_function
    from slime.utils.types import Sample

    #: Whether these are slime's own.
    GENUINE = True
except ModuleNotFoundError as missing:
    if not (missing.name or "").startswith("slime"):
        raise
    from .records import (
        DynamicFilterOutput,
        MetricGatherer,
        RolloutFnEvalOutput,
        RolloutFnTrainOutput,
        Sample,
        call_dynamic_filter,
        load_function,
        run,
    )

    GENUINE = False

__all__ = [
    "GENUINE",
    "DynamicFilterOutput",
    "MetricGatherer",
    "RolloutFnEvalOutput",
    "RolloutFnTrainOutput",
    "Sample",
    "call_dynamic_filter",
    "load_function",
    "run",
    "stock_rollout_stops",
]


def stock_rollout_stops(args: Any) -> bool:
    """Whether slime's own rollout has enough, and breaks off what is under way."""
    if not GENUINE:
        return False
    # Late: it loads the tokenizer of the job.
    from slime.rollout.sglang_rollout import GenerateState

    return bool(GenerateState(args).aborted)
