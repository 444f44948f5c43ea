"""The environment of a job: what to play, within which bounds, and where its numbers go."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .token_sessions import BadJob, Options


def json_of(name: str) -> Mapping[str, Any]:
    """The JSON object of an environment variable; empty where it is not set. @raises BadJob naming it"""
    text = os.environ.get(name, "").strip()
    try:
        value = json.loads(text) if text else {}
    except ValueError as error:
        raise BadJob(f"{name}: expected JSON, got {text[:80]!r}: {error}") from error
    if not isinstance(value, dict):
        raise BadJob(f"{name}: expected a JSON object, got {text[:80]!r}")
    return value


def _count(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise BadJob(f"BEDSIDE_TOKENS: {name}: expected a whole number above 0, got {value!r}")
    return value


@dataclass(frozen=True)
class Job:
    """Settings of a job.

    session: options of every consultation, of BEDSIDE_SESSION. max_tokens, context_length, history: of BEDSIDE_TOKENS.
    advantage: a recipe's `advantage`, of BEDSIDE_ADVANTAGE; None where the trainer's own estimator is used.
    metrics: file of BEDSIDE_METRICS, if any.
    """

    session: Mapping[str, Any]
    max_tokens: int
    context_length: int
    history: str | None
    advantage: Mapping[str, Any] | None
    metrics: Path | None

    @classmethod
    def from_environment(cls) -> Job:
        """@raises BadJob naming the variable that is wrong"""
        tokens = json_of("BEDSIDE_TOKENS")
        unknown = sorted(set(tokens) - {"max_tokens", "context_length", "history"})
        if unknown:
            raise BadJob(f"BEDSIDE_TOKENS: unknown {', '.join(unknown)}")
        history = tokens.get("history")
        if history not in (None, "keep", "strip-reasoning"):
            raise BadJob(
                f"BEDSIDE_TOKENS: history: expected keep or strip-reasoning, got {history!r}"
            )
        metrics = os.environ.get("BEDSIDE_METRICS")
        return cls(
            session=json_of("BEDSIDE_SESSION"),
            max_tokens=_count(tokens, "max_tokens"),
            context_length=_count(tokens, "context_length"),
            history=history,
            advantage=json_of("BEDSIDE_ADVANTAGE") or None,
            metrics=Path(metrics) if metrics else None,
        )

    def options(self, row: Mapping[str, Any]) -> Options:
        """Options of one consultation: the job's, and over them those of a row (`seed`, `index`, …)."""
        return Options(self.max_tokens, self.context_length, self.history, {**self.session, **row})

    def log(self, numbers: Mapping[str, Any]) -> None:
        """Appends a line to the metrics file, if there is one. One write, so that several processes can share it."""
        if self.metrics is None:
            return
        line = (json.dumps(numbers) + "\n").encode()
        self.metrics.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.metrics, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
