"""Sequence being sampled: its job, its tokens so far, and its stop condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..engine import Sampled, SampleJob

Decode = Callable[[Sequence[int]], str]


@dataclass
class ActiveSequence:
    """A sample job, waiting or running in a slot row."""

    job: SampleJob
    # Maximum tokens to draw, by the job and by the context length.
    limit: int
    row: int = -1
    drawn: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    prompt_logprobs: np.ndarray | None = None

    @property
    def length(self) -> int:
        """Number of tokens whose keys are in the slot, once the first was drawn: all but the last."""
        return len(self.job.prompt) + len(self.drawn) - 1

    @property
    def max_length(self) -> int:
        """Maximum length, prompt included."""
        return len(self.job.prompt) + self.limit

    @property
    def tokens(self) -> list[int]:
        return [*self.job.prompt, *self.drawn]

    def add(self, token: int, logprob: float) -> None:
        self.drawn.append(token)
        self.logprobs.append(logprob)

    def stop_reason(self, decode: Decode) -> str | None:
        """Why the sequence ends with its last token, or None."""
        if self.drawn and self.drawn[-1] in self.job.stop_tokens:
            return "stop"
        if self.job.stop_strings and self.drawn and self._ends_with_stop(decode):
            return "stop"
        return "length" if len(self.drawn) >= self.limit else None

    def _ends_with_stop(self, decode: Decode) -> bool:
        # Every non-empty token adds at least one byte, so a stop string spans at most as many tokens as bytes.
        bytes_at_most = max(len(stop.encode()) for stop in self.job.stop_strings)
        tail = decode(self.drawn[-(bytes_at_most + 4) :])
        return any(stop in tail for stop in self.job.stop_strings)

    def result(self, reason: str, error: str | None = None) -> Sampled:
        return Sampled(
            key=self.job.key,
            tokens=tuple(self.drawn),
            logprobs=tuple(self.logprobs),
            stop_reason="stop" if reason == "stop" else "length",
            prompt_logprobs=self.prompt_logprobs,
            error=error,
        )
