"""What a job was told: slime's own flags, and the environment that Bedside started it in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..job import Job, json_of
from ..token_sessions import BadJob, Options


def argument(args: Any, name: str, default: Any = None) -> Any:
    """A flag of slime's, by its name in `args`; BEDSIDE_SLIME has those of a call without any."""
    found = getattr(args, name, None)
    if found is None:
        found = json_of("BEDSIDE_SLIME").get(name)
    return default if found is None else found


def _engines(args: Any) -> int:
    """Inference engines behind the router."""
    named = argument(args, "rollout_num_engines")
    if named is not None:
        return max(1, int(named))
    gpus = argument(args, "rollout_num_gpus", 0) or 0
    return max(1, int(gpus) // max(1, int(argument(args, "rollout_num_gpus_per_engine", 1))))


@dataclass(frozen=True)
class Settings:
    """A job's settings, and those of its trainer.

    groups, size: groups of a rollout, and consultations of a group.
    step: consultations of an optimiser step. ahead: groups that are begun at once.
    concurrency: consultations under way at most.
    partial: consultations that a rollout breaks off go on in the next.
    """

    router: str
    groups: int
    size: int
    step: int
    ahead: int
    concurrency: int
    partial: bool
    job: Job

    def options(self, own: Mapping[str, Any]) -> Options:
        """The options of one consultation: the job's, and its own."""
        return self.job.options(own)


def sampling_of(args: Any, *, evaluation: bool = False) -> dict[str, Any]:
    """The sampling parameters of a rollout, or of an evaluation."""

    def named(name: str, default: Any) -> Any:
        rollout = argument(args, f"rollout_{name}", default)
        return argument(args, f"eval_{name}", rollout) if evaluation else rollout

    return {
        "temperature": named("temperature", 1.0),
        "top_p": named("top_p", 1.0),
        "top_k": named("top_k", -1),
        "max_new_tokens": named("max_response_len", 1 << 30),
        "skip_special_tokens": False,
        "no_stop_trim": True,
        "spaces_between_special_tokens": False,
    }


def _check(settings: Settings) -> Settings:
    played = settings.groups * settings.size
    if played % settings.step:
        raise BadJob(
            f"Expected rollout_batch_size x n_samples_per_prompt ({settings.groups} x {settings.size}) to be a multiple "
            f"of global_batch_size ({settings.step}): slime trains on whole steps and drops the rest"
        )
    if settings.ahead < settings.groups:
        raise BadJob(
            f"Expected over_sampling_batch_size of at least rollout_batch_size ({settings.groups}), got {settings.ahead}"
        )
    return settings


def settings_of(args: Any) -> Settings:
    """The settings of a call of slime's. @raises BadJob for what does not fit together"""
    groups = int(argument(args, "rollout_batch_size", 1))
    size = int(argument(args, "n_samples_per_prompt", 1))
    job = Job.from_environment()
    host, port = argument(args, "sglang_router_ip"), argument(args, "sglang_router_port")
    router = f"http://{host}:{port}" if host else os.environ.get("BEDSIDE_ENGINE_URL")
    if not router:
        raise BadJob("Expected slime's router in args.sglang_router_ip, or an engine in BEDSIDE_ENGINE_URL")
    context = int(argument(args, "rollout_max_context_len", job.context_length))
    return _check(
        Settings(
            router=str(router).rstrip("/"),
            groups=groups,
            size=size,
            step=int(argument(args, "global_batch_size", groups * size)),
            ahead=int(argument(args, "over_sampling_batch_size", groups)),
            concurrency=int(argument(args, "sglang_server_concurrency", 512)) * _engines(args),
            partial=bool(argument(args, "partial_rollout", False)),
            job=replace(job, context_length=min(context, job.context_length)),
        )
    )
