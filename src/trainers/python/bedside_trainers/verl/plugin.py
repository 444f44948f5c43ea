"""What verl's driver knows of Bedside: the estimator `bedside`, and a copy of verl's numbers for `bedside train`.

Name this module in VERL_USE_EXTERNAL_MODULES: verl imports it in all of its processes.
"""

from __future__ import annotations

import asyncio
import functools
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from verl.trainer.ppo import core_algos
from verl.utils import tracking

from ..job import Job, json_of
from ..token_sessions import BadJob, TokenClient
from .numbers import step_line

#: Of the last call of the estimator, for the step's line.
_counts: dict[str, int] = {}


def counts() -> dict[str, int]:
    """What the last call of the estimator counted: groups, singletons, groups of equal rewards, rows, lost rows."""
    return dict(_counts)


def _ask(method: dict[str, Any], groups: list[list[dict[str, Any]]]) -> list[list[float | None]]:
    """Advantages of the server. @raises Refused; LostConsultation"""

    async def ask() -> list[list[float | None]]:
        async with TokenClient() as client:
            body = {"method": method, "groups": groups}
            found = await client.request("POST", "/v1/advantages", body)
            return list(found["advantages"])

    # The driver may be inside an event loop of its own.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(ask())).result()


@core_algos.register_adv_est("bedside")  # type: ignore[untyped-decorator]
def bedside_advantages(
    token_level_rewards: Any, response_mask: Any, config: Any = None, index: Any = None, **_: Any
) -> tuple[Any, Any]:
    """verl's estimator `bedside`: one advantage a row, at the tokens that were drawn, 0 elsewhere.

    By BEDSIDE_ADVANTAGE, a recipe's estimator, the server computes it; without it verl's own GRPO does. A row without
    a drawn token (a consultation that was lost, padding) is of no group and gets 0, as does a group of one.
    @raises BadJob without groups; Refused for an estimator that does not exist
    """
    if index is None:
        raise BadJob("Expected the uid of each row, got none")
    drawn = response_mask.sum(dim=-1)
    known = [row for row, count in enumerate(drawn.tolist()) if count > 0]
    groups: dict[Any, list[int]] = {}
    for row in known:
        groups.setdefault(index[row], []).append(row)
    totals = token_level_rewards.sum(dim=-1)
    values = response_mask.new_zeros(response_mask.shape[0], dtype=token_level_rewards.dtype)
    method = dict(json_of("BEDSIDE_ADVANTAGE"))
    if method:
        paid = [
            [{"total": totals[row].item(), "tokens": int(drawn[row])} for row in rows]
            for rows in groups.values()
        ]
        for rows, found in zip(groups.values(), _ask(method, paid) if paid else [], strict=True):
            for row, value in zip(rows, found, strict=True):
                values[row] = 0.0 if value is None else value
    elif known:
        several = [row for rows in groups.values() if len(rows) > 1 for row in rows]
        if several:
            _, returns = core_algos.compute_grpo_outcome_advantage(
                token_level_rewards[several],
                response_mask[several],
                index[several],
                norm_adv_by_std_in_grpo=config.get("norm_adv_by_std_in_grpo", True)
                if config
                else True,
            )
            at = response_mask[several].argmax(dim=-1, keepdim=True)
            values[several] = returns.gather(-1, at).squeeze(-1)
    _count(groups, totals, lost=len(drawn) - len(known))
    spread = values.unsqueeze(-1) * response_mask
    return spread, spread.clone()


def _count(groups: dict[Any, list[int]], totals: Any, lost: int) -> None:
    _counts.update(
        groups=len(groups),
        singleton=sum(len(rows) == 1 for rows in groups.values()),
        zero_variance=sum(
            len(rows) > 1 and bool((totals[rows] == totals[rows[0]]).all())
            for rows in groups.values()
        ),
        rows=sum(map(len, groups.values())),
        lost=lost,
    )


def _follow(log: Any) -> Any:
    """verl's logging, which also appends a line to BEDSIDE_METRICS."""

    @functools.wraps(log)
    def logged(self: Any, data: dict[str, Any], step: int, backend: Any = None) -> None:
        log(self, data, step, backend)
        numbers = {name: _number(value) for name, value in data.items()}
        for line in step_line(numbers, step, counts()):
            Job.from_environment().log(line)

    return logged


def _number(value: Any) -> float | None:
    """A finite number, or nothing."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


tracking.Tracking.log = _follow(tracking.Tracking.log)
