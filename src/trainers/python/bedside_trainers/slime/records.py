"""Records with the fields and rules of slime's, for where its checkout is not there: tests and the stand-in trainer.

test/golden/slime-sample.json holds the facts; scripts/slime-contracts.sh runs the same tests on slime's own.
"""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

_ENDS = {"stop": "completed", "length": "truncated", "abort": "aborted"}


@dataclass
class Sample:
    """One stream of tokens of one rollout, to be trained on."""

    class Status(Enum):
        """How far it is."""

        PENDING = "pending"
        COMPLETED = "completed"
        TRUNCATED = "truncated"
        ABORTED = "aborted"
        FAILED = "failed"

    group_index: int | None = None
    index: int | None = None
    rollout_id: int | None = None
    prompt: str | list[dict[str, str]] = ""
    tokens: list[int] = field(default_factory=list)
    multimodal_inputs: dict[str, Any] | None = None
    multimodal_train_inputs: dict[str, Any] | None = None
    multimodal_train_input_id: str | None = None
    apply_chat_template_kwargs: dict[str, Any] = field(default_factory=dict)
    response: str = ""
    response_length: int = 0
    label: str | None = None
    reward: float | dict[str, Any] | None = None
    loss_mask: list[int] | None = None
    weight_versions: list[str] = field(default_factory=list)
    rollout_log_probs: list[float] | None = None
    rollout_top_p_token_ids: Any = None
    rollout_top_p_token_offsets: Any = None
    rollout_routed_experts: Any = None
    remove_sample: bool = False
    teacher_log_probs: list[float] | None = None
    status: Status = Status.PENDING
    metadata: dict[str, Any] = field(default_factory=dict)
    generate_function_path: str | None = None
    custom_rm_path: str | None = None
    train_metadata: dict[str, Any] | None = None
    session_id: str | None = None
    non_generation_time: float = 0.0
    spec_info: dict[str, int] = field(default_factory=dict)
    prefix_cache_info: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, with the value of the status."""
        return {**vars(self), "status": self.status.value}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Sample:
        """Of plain data; keys that are no fields become attributes."""
        known = {one.name for one in fields(Sample)}
        sample = Sample(**{name: value for name, value in data.items() if name in known})
        sample.status = Sample.Status(data["status"])
        for name in data.keys() - known:
            setattr(sample, name, data[name])
        return sample

    def get_reward_value(self, args: Any) -> Any:
        """The reward, or the part of it that args names."""
        key = getattr(args, "reward_key", None)
        return self.reward[key] if key and isinstance(self.reward, dict) else self.reward

    @property
    def effective_response_length(self) -> int:
        """Tokens that are trained on."""
        return self.response_length if self.loss_mask is None else sum(self.loss_mask)

    def append_response_tokens(
        self,
        args: Any = None,
        *,
        tokens: Sequence[int],
        log_probs: Sequence[float] | None = None,
        trainable: bool = True,
        meta_info: Mapping[str, Any] | None = None,
        text: str | None = None,
    ) -> None:
        """Appends tokens to the response, with their mask and log-probs; what ended the reply sets the status."""
        if trainable and len(tokens) != len(log_probs or []):
            raise ValueError(f"Expected {len(tokens)} log_probs, got {len(log_probs or [])}")
        if not trainable and log_probs is not None:
            raise ValueError("Expected no log_probs of tokens that were not drawn")
        before = self.response_length
        self.response += text or ""
        self.tokens += tokens
        self.response_length += len(tokens)
        mask = [1] * before if self.loss_mask is None else self.loss_mask
        known = [0.0] * before if self.rollout_log_probs is None else self.rollout_log_probs
        self.loss_mask = mask + [int(trainable)] * len(tokens)
        self.rollout_log_probs = known + list(log_probs or [0.0] * len(tokens))
        if meta_info and "finish_reason" in meta_info:
            if "weight_version" in meta_info:
                self.weight_versions.append(meta_info["weight_version"])
            self.status = Sample.Status(_ENDS[meta_info["finish_reason"]["type"]])


@dataclass
class RolloutFnTrainOutput:
    """Samples to train on, by group."""

    samples: list[list[Any]]
    metrics: dict[str, Any] | None = None


@dataclass
class RolloutFnEvalOutput:
    """Samples of an evaluation, by the name of its cases."""

    data: dict[str, dict[str, Any]]
    metrics: dict[str, Any] | None = None


@dataclass
class DynamicFilterOutput:
    """Whether a group is trained on, and why not."""

    keep: bool
    reason: str | None = None
    keep_when_insufficient: bool = False


def call_dynamic_filter(function: Any, *args: Any) -> DynamicFilterOutput:
    """Asks a filter about a group."""
    found = DynamicFilterOutput(keep=True) if function is None else function(*args)
    return found if isinstance(found, DynamicFilterOutput) else DynamicFilterOutput(keep=found)


class MetricGatherer:
    """Counts the groups that a filter dropped."""

    def __init__(self) -> None:
        self._dropped: Counter[str] = Counter()

    def on_dynamic_filter_drop(self, reason: str | None) -> None:
        """Counts one."""
        if reason:
            self._dropped[reason] += 1

    def collect(self) -> dict[str, int]:
        """The counts by their names."""
        return {f"rollout/dynamic_filter/drop_{reason}": n for reason, n in self._dropped.items()}


def load_function(path: str) -> Any:
    """The object of a dotted path."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


_loop: asyncio.AbstractEventLoop | None = None


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Runs work in an event loop of a thread of its own, the same at every call."""
    global _loop
    if _loop is None:
        _loop = asyncio.new_event_loop()
        threading.Thread(target=_loop.run_forever, daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, _loop).result()
