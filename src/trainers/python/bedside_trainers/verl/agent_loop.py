"""verl's agent loop that plays one consultation in tokens. verl's own engine draws, and nothing is tokenised here.

Registered by name in the file of `actor_rollout_ref.rollout.agent.agent_loop_config_path`; `rows.py` writes both.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from ..job import Job
from ..token_samples import Drawn, Played, Segment, joined, play_session
from ..token_sessions import (
    BadJob,
    LostConsultation,
    Options,
    ServerUnreachable,
    SessionEnd,
    ToRead,
    shared_client,
)
from .library import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput

#: Name of the estimator that leaves out lost rows; see plugin.py.
ESTIMATOR = "bedside"
#: Times that a consultation that was lost is begun anew.
ATTEMPTS = 3

_log = logging.getLogger(__name__)


def row_options(extra_info: Any) -> dict[str, Any]:
    """Options of a row's consultation: `extra_info.consultation`, JSON text. @raises BadJob"""
    text = extra_info.get("consultation") if isinstance(extra_info, Mapping) else None
    try:
        options = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        options = None
    if not isinstance(options, Mapping):
        raise BadJob(
            "Expected rows of `python -m bedside_trainers.verl.rows`, whose extra_info.consultation is a JSON object, "
            f"got {str(extra_info)[:120]}"
        )
    return dict(options)


class BedsideAgentLoop(AgentLoopBase):  # type: ignore[misc]
    """Plays the consultation of a row. Options of the job are in the environment; see `job.Job`."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.job = Job.from_environment()
        check_rollout(self.rollout_config, self.job)

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> Any:
        """A sample: what was read first is the prompt, all after it the response, marked where the policy drew.

        A consultation that the world lost is begun anew. One that stays lost is no sample: an empty list for verl's
        trainer v1, which leaves it out; a row without a drawn token for the older one, whose score is not a number.
        @raises BadJob; Refused; ServerUnreachable
        """
        options = self.job.options(row_options(row.get("extra_info")))
        for attempt in range(1, ATTEMPTS + 1):
            timer = _Timer()
            try:
                played = await self._play(options, sampling_params, timer)
            except ServerUnreachable:
                raise
            except LostConsultation as lost:
                _log.warning(
                    "Consultation %s, attempt %d: lost: %s", options.consultation, attempt, lost
                )
                continue
            if played.end.reward is not None:
                return self._output(played, played.end.reward, attempt - 1, timer)
            _log.warning(
                "Consultation %s, attempt %d: no score: %s",
                options.consultation,
                attempt,
                played.end.score,
            )
        return self._lost(timer)

    async def _play(
        self, options: Options, sampling_params: dict[str, Any], timer: _Timer
    ) -> Played:
        request = uuid4().hex
        longest = int(self.rollout_config.prompt_length)
        room = int(self.rollout_config.response_length)

        async def draw(to_read: ToRead) -> Drawn:
            asked = {
                **sampling_params,
                "max_tokens": to_read.max_tokens,
                "stop_token_ids": list(to_read.stop),
            }
            started = time.perf_counter()
            output = await self.server_manager.generate(
                request_id=request, prompt_ids=list(to_read.prompt), sampling_params=asked
            )
            timer.drew(time.perf_counter() - started, output)
            return drawn_of(output)

        session = await shared_client().open(options)
        if isinstance(session.next, ToRead):
            first = len(session.next.prompt)
            if first > longest:
                await session.close()
                raise BadJob(
                    f"Expected a first prompt of at most data.max_prompt_length={longest} ids, got {first}"
                )
            if first + room < options.context_length:
                # All that is drawn and heard fits into the response then, and nothing is ever cut off.
                await session.close()
                session = await shared_client().open(replace(options, context_length=first + room))
        async with session:
            played = await play_session(session, draw)
        return played

    def _output(self, played: Played, reward: float, begun_anew: int, timer: _Timer) -> Any:
        segment, left_out = one_sample(played)
        return AgentLoopOutput(
            prompt_ids=segment.prompt,
            response_ids=segment.response,
            response_mask=segment.mask,
            response_logprobs=segment.logprobs,
            reward_score=reward,
            num_turns=played.end.turns,
            metrics=timer.metrics(),
            extra_fields=extra_fields(played.end, segment, left_out, begun_anew, timer),
        )

    def _lost(self, timer: _Timer) -> Any:
        if self.config.trainer.use_v1:
            return []
        estimator = self.config.algorithm.adv_estimator
        if estimator != ESTIMATOR:
            raise LostConsultation(
                f"Expected algorithm.adv_estimator={ESTIMATOR}, which leaves out consultations that were lost, got {estimator}"
            )
        filler = self.tokenizer.eos_token_id or 0
        return AgentLoopOutput(
            prompt_ids=[filler],
            response_ids=[filler],
            response_mask=[0],
            response_logprobs=[0.0],
            reward_score=float("nan"),
            num_turns=0,
            metrics=timer.metrics(),
            extra_fields=extra_fields(None, Segment([]), 0, ATTEMPTS - 1, timer),
        )


class _Timer:
    """Seconds in the engine and elsewhere, and what the engine says of its draws."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._drawing = 0.0
        self._preempted = -1
        self.steps: list[int] = []

    def drew(self, seconds: float, output: Any) -> None:
        self._drawing += seconds
        if output.num_preempted is not None:
            self._preempted = max(0, self._preempted) + output.num_preempted
        for name in ("min_global_steps", "max_global_steps", "global_steps"):
            step = output.extra_fields.get(name)
            if step is not None:
                self.steps.append(int(step))

    def metrics(self) -> Any:
        elsewhere = time.perf_counter() - self._started - self._drawing
        return AgentLoopMetrics(
            generate_sequences=self._drawing, tool_calls=elsewhere, num_preempted=self._preempted
        )


def drawn_of(output: Any) -> Drawn:
    """What an engine drew, from its TokenOutput. @raises BadJob; LostConsultation for a draw that was broken off"""
    if not output.token_ids or output.stop_reason in ("abort", "aborted"):
        raise LostConsultation("The engine broke a draw off")
    if output.log_probs is None:
        raise BadJob(
            "Expected the engine's log-probs: set actor_rollout_ref.rollout.calculate_log_probs=True"
        )
    version = output.extra_fields.get("min_global_steps", output.extra_fields.get("global_steps"))
    return Drawn(list(output.token_ids), list(output.log_probs), int(version or 0))


def check_rollout(rollout: Any, job: Job) -> None:
    """Checks verl's rollout settings against the job. @raises BadJob"""
    prompt, response = int(rollout.prompt_length), int(rollout.response_length)
    if job.max_tokens > response:
        raise BadJob(
            f"Expected data.max_response_length, {response}, to hold a reply of max_tokens, {job.max_tokens}"
        )
    if job.context_length > prompt + response:
        raise BadJob(
            f"Expected context_length of at most data.max_prompt_length + data.max_response_length, {prompt} + {response}, "
            f"got {job.context_length}"
        )
    if job.history == "strip-reasoning":
        raise BadJob(
            "Expected history: keep, since a sample of verl is one stream, got strip-reasoning"
        )
    if float(rollout.top_p) != 1 or int(rollout.top_k) > 0:
        raise BadJob(
            "Expected rollout.top_p=1 and top_k=-1, since log-probs of a truncated distribution are not the policy's, "
            f"got {rollout.top_p} and {rollout.top_k}"
        )


def one_sample(played: Played) -> tuple[Segment, int]:
    """A consultation's one sample, and the number of drawn ids that are not in it. @raises BadJob"""
    if not played.segments:
        raise BadJob(
            "Expected a first prompt with room for a reply: raise context_length of BEDSIDE_TOKENS"
        )
    whole = joined(played.segments)
    if whole is None:
        raise BadJob(
            "Expected a chat template that only appends, got one that rewrote history: see `bedside template`"
        )
    return whole


def extra_fields(
    end: SessionEnd | None, segment: Segment, left_out: int, begun_anew: int, timer: _Timer
) -> dict[str, Any]:
    """Fields beside the tokens. `reward_extra_info` has numbers that are always known, which verl averages."""
    counts = {
        "drawn_tokens": sum(segment.mask),
        "turns": end.turns if end else 0,
        "forks": end.forks if end else 0,
        "left_out_tokens": left_out,
        "lost": int(end is None),
        "begun_anew": begun_anew,
    }
    return {
        "turn_scores": [],
        "tool_rewards": [],
        "min_global_steps": min(timer.steps, default=0),
        "max_global_steps": max(timer.steps, default=0),
        "reward_extra_info": counts,
        "reward_parts": json.dumps((end.score or {}).get("parts", {}) if end else {}),
        "policy_versions": segment.versions,
    }
