"""slime's rollout function: groups of siblings, each of one patient, until a rollout has exactly as many as it needs."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..job import json_of
from ..token_sessions import BadJob, LostConsultation, shared_client
from .engine import shared_engine
from .learning import keep_whole_groups
from .library import (
    MetricGatherer,
    RolloutFnEvalOutput,
    RolloutFnTrainOutput,
    Sample,
    call_dynamic_filter,
    load_function,
    run,
)
from .play import consult, first_of, is_lost
from .settings import Settings, argument, sampling_of, settings_of

#: Times that a consultation is begun at which the world fails, before its group is replaced.
TRIES = 3
#: Groups in a row that had to be replaced, beyond those of one rollout, before it gives up.
MOST_LOST = 8

Rollout = Sample | list[Sample]
Group = list[Rollout]

_DONE = (Sample.Status.COMPLETED, Sample.Status.TRUNCATED)


class _Player:
    """Plays the consultations of one call."""

    def __init__(self, args: Any, settings: Settings, *, evaluation: bool = False) -> None:
        self._args, self._settings, self._evaluation = args, settings, evaluation
        self._room = asyncio.Semaphore(settings.concurrency)
        self._sampling = sampling_of(args, evaluation=evaluation)
        self.stopped = False
        self.replayed = 0

    async def play(self, rollout: Rollout) -> Rollout:
        """Plays one to its end; what is done stays, and where the world fails it is played again.

        @raises BadJob, Refused, EngineRefused
        """
        first = first_of(rollout)
        if first.status in _DONE:
            return rollout
        tries = 0
        while True:
            async with self._room:
                found = await consult(
                    self._args,
                    self._settings,
                    first,
                    self._sampling,
                    evaluation=self._evaluation,
                    stops=lambda: self.stopped,
                )
            first = first_of(found)
            tries += is_lost(first)
            if self.stopped or first.status in _DONE or tries == TRIES:
                return found if len(found) > 1 else first
            # Else it goes on: an engine broke off for a reason of its own, or the world failed.
            self.replayed += is_lost(first)

    async def play_group(self, group: Sequence[Rollout]) -> Group:
        """Plays siblings."""
        return await _together([asyncio.create_task(self.play(one)) for one in group])


async def _together(tasks: Iterable[asyncio.Task[Any]]) -> list[Any]:
    """The results of tasks; where one fails, the others are ended first."""
    tasks = list(tasks)
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _number(group: Group) -> int:
    sample = first_of(group[0])
    return int(sample.group_index if sample.group_index is not None else sample.index or 0)


def _begin(settings: Settings, data_source: Any, count: int) -> list[Group]:
    """Groups of a data source, each with a number that its siblings share. @raises BadJob for another size"""
    groups: list[Group] = data_source.get_samples(count)
    if not groups:
        raise BadJob("Expected groups of the data source, got none: it has no more")
    for group in groups:
        if len(group) != settings.size:
            raise BadJob(f"Expected groups of n_samples_per_prompt ({settings.size}), got {len(group)}")
        for one in group:
            sample = first_of(one)
            if sample.group_index is None:
                sample.group_index = _number(group)
    return groups


class _Harvest:
    """The groups of a rollout that are kept, and the counts of those that are not."""

    def __init__(self, args: Any, settings: Settings) -> None:
        self._args, self._wanted = args, settings.groups
        path = argument(args, "dynamic_sampling_filter_path")
        self._filter = load_function(path) if path else None
        self._dropped = MetricGatherer()
        self._lost_in_a_row = 0
        self.kept: list[Group] = []
        self.counts: Counter[str] = Counter()

    @property
    def full(self) -> bool:
        """Whether there are enough."""
        return len(self.kept) >= self._wanted

    def take(self, group: Group) -> None:
        """Keeps a group, or counts why not. @raises LostConsultation where the world fails at every one"""
        whole = keep_whole_groups(self._args, group)
        self._lost_in_a_row = 0 if whole.keep else self._lost_in_a_row + 1
        if not whole.keep:
            self.counts["lost_groups"] += 1
            if self._lost_in_a_row > self._wanted + MOST_LOST:
                reasons = (first_of(one).metadata["bedside"]["lost"] for one in group if is_lost(first_of(one)))
                raise LostConsultation(f"{self._lost_in_a_row} groups in a row were lost: {next(reasons)}")
        found = call_dynamic_filter(self._filter, self._args, group) if whole.keep else whole
        if found.keep:
            self.kept.append(group)
        else:
            self._dropped.on_dynamic_filter_drop(found.reason)

    def metrics(self, player: _Player) -> dict[str, float]:
        """Numbers of the rollout, by their names in slime's log."""
        self.counts["replayed"] = player.replayed
        for group in self.kept:
            for one in group:
                about = first_of(one).metadata.get("bedside", {})
                self.counts["forks"] += about.get("forks", 0)
                self.counts["turns"] += about.get("turns", 0)
        return {f"bedside/{name}": n for name, n in self.counts.items()} | self._dropped.collect()


async def _break_off(settings: Settings, player: _Player, pending: set[asyncio.Task[Group]]) -> list[Group]:
    """Ends what is under way, and returns it as far as it was played."""
    player.stopped = True
    groups: list[Group] = []
    while pending:
        await shared_engine(settings.router).abort()
        done, pending = await asyncio.wait(pending, timeout=1)
        groups += [task.result() for task in done]
    return groups


async def _collect(args: Any, settings: Settings, data_source: Any) -> tuple[_Harvest, _Player, list[Group]]:
    player, harvest = _Player(args, settings), _Harvest(args, settings)
    await shared_client().check()
    pending: set[asyncio.Task[Group]] = set()
    over: list[Group] = []
    try:
        while not harvest.full:
            while len(pending) + len(harvest.kept) < settings.groups:
                for group in _begin(settings, data_source, settings.ahead):
                    pending.add(asyncio.create_task(player.play_group(group)))
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for group in await _together(done):
                over.append(group) if harvest.full else harvest.take(group)
    except BaseException:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        raise
    return harvest, player, over + await _break_off(settings, player, pending)


def _one_shape(groups: list[Group]) -> list[Group]:
    """Lists of samples everywhere, where one consultation is several: slime wants one depth of all."""
    if not any(isinstance(one, list) for group in groups for one in group):
        return groups
    return [[one if isinstance(one, list) else [one] for one in group] for group in groups]


async def _train(args: Any, rollout_id: int, data_source: Any) -> RolloutFnTrainOutput:
    settings = settings_of(args)
    harvest, player, over = await _collect(args, settings, data_source)
    if settings.partial and over:
        for group in over:
            for one in group:
                first_of(one).metadata.setdefault("start_rollout_id", rollout_id)
        data_source.add_samples(over)
    groups = _one_shape(sorted(harvest.kept, key=_number))
    for name, process in (("rollout_sample_filter_path", [groups]), ("rollout_all_samples_process_path", [groups, data_source])):
        path = argument(args, name)
        if path:
            load_function(path)(args, *process)
    return RolloutFnTrainOutput(samples=groups, metrics=harvest.metrics(player))


def _cases(rollout_id: int) -> Mapping[str, Mapping[str, Any]]:
    """Consultations of an evaluation by name, with `cases` each. @raises BadJob"""
    named = json_of("BEDSIDE_EVAL") or {"heldout": {"split": "heldout", "cases": 64}}
    for name, one in named.items():
        if not isinstance(one, dict) or not isinstance(one.get("cases"), int) or one["cases"] < 1:
            raise BadJob(f'BEDSIDE_EVAL: {name}: expected {{"cases": …}} and options, got {json.dumps(one)}')
    return named


async def _evaluate(args: Any, rollout_id: int) -> RolloutFnEvalOutput:
    settings = settings_of(args)
    data: dict[str, dict[str, Any]] = {}
    metrics: dict[str, float] = {}
    for name, given in _cases(rollout_id).items():
        options = {key: value for key, value in given.items() if key != "cases"}
        player = _Player(args, settings, evaluation=True)
        asked = [
            Sample(index=n, metadata={"consultation": {**options, "seed": n, "index": n}})
            for n in range(given["cases"])
        ]
        played = await player.play_group(asked)
        scored = [first_of(one) for one in played if not is_lost(first_of(one))]
        if not scored:
            raise LostConsultation(f"{name}: none of {len(asked)} consultations could be scored")
        key = argument(args, "eval_reward_key") or argument(args, "reward_key")
        data[name] = {
            "rewards": [one.reward[key] if key else one.reward for one in scored],
            "truncated": [one.status == Sample.Status.TRUNCATED for one in scored],
            "samples": scored,
        }
        metrics[f"bedside/{name}/lost"] = len(asked) - len(scored)
    return RolloutFnEvalOutput(data=data, metrics=metrics)


def generate_rollout(
    args: Any, rollout_id: int, data_source: Any, evaluation: bool = False
) -> RolloutFnTrainOutput | RolloutFnEvalOutput:
    """slime's --rollout-function-path and --eval-function-path.

    Training: exactly `rollout_batch_size` groups of `n_samples_per_prompt` consultations. A consultation at which the
    world fails is played again with the same patient, or its group is replaced; it is counted and never scored.
    @raises BadJob before anything is played; LostConsultation where nothing can be played
    """
    return run(_evaluate(args, rollout_id) if evaluation else _train(args, rollout_id, data_source))
