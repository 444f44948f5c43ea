"""Stand-in for a cluster's engines: one small model that draws and learns on this machine, for a trainer's own maths.

It is no trainer. A plugin draws from it for real, and the trainer's own loss is differentiated by the log-probs that it
returns; the engine carries that derivative on to the weights.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .engines import open_engine
from .engines.engine import AdamParams, Datum, LossSpec, ModelSpec, Sampled, SampleJob
from .token_samples import Drawn

_MODEL, _REFERENCE = "stand-in", "reference"

# The engine imports it late. Who asks for help learns at once that it is missing, not after minutes of imitation.
if find_spec("peft") is None:
    raise ModuleNotFoundError("No module named 'peft'", name="peft")


class StandInEngine:
    """A model folder as an engine that draws and learns, all of its parameters, in one thread of its own.

    version: number of the policy that draws, from 0; a step makes the next one.
    """

    def __init__(self, folder: Path, *, seed: int = 0, dtype: str = "float32") -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="stand-in")
        self._engine = open_engine("peft", folder, dtype=dtype, device="cpu")
        self._engine.create(_MODEL, ModelSpec(mode="full", seed=seed))
        self._keys = itertools.count()
        self._waiting: dict[int, asyncio.Future[Sampled]] = {}
        self._rounds: asyncio.Task[None] | None = None
        self.seed = seed
        self.version = 0
        self._engine.snapshot(_MODEL, self._policy)

    @property
    def _policy(self) -> str:
        return f"policy-{self.version}"

    @property
    def vocabulary(self) -> int:
        """Number of ids."""
        return self._engine.info.vocab_size

    @property
    def context_length(self) -> int:
        """Most tokens of a sequence."""
        return self._engine.info.context_length

    async def _in_thread(self, work: Any, *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)

    async def draw(
        self,
        prompt: Sequence[int],
        *,
        max_tokens: int,
        stop: Sequence[int],
        temperature: float = 1.0,
        key: int | None = None,
    ) -> Drawn:
        """Draws a reply to the end of the turn or `max_tokens`; draws at the same time share their passes.

        key: names the draw's randomness, beside the engine's seed. @default the number of draws before
        @raises EngineError for a prompt that does not fit
        """
        number = next(self._keys)
        policy, version = self._policy, self.version
        job = SampleJob(
            key=number,
            snapshot=policy,
            prompt=list(prompt),
            max_tokens=max_tokens,
            temperature=temperature,
            seed=self.seed * 1_000_003 + (number if key is None else key),
            stop_tokens=frozenset(stop),
        )
        self._engine.submit(job)
        done = self._waiting[number] = asyncio.get_running_loop().create_future()
        if self._rounds is None or self._rounds.done():
            self._rounds = asyncio.ensure_future(self._advance())
        sampled = await done
        if sampled.error is not None:
            raise RuntimeError(f"stand-in: {sampled.error}")
        return Drawn(sampled.tokens, sampled.logprobs, version)

    async def _advance(self) -> None:
        while self._waiting:
            try:
                finished = await self._in_thread(self._engine.advance)
            except Exception as error:
                for waiting in self._waiting.values():
                    if not waiting.done():
                        waiting.set_exception(error)
                self._waiting.clear()
                return
            for sampled in finished:
                waiting = self._waiting.pop(sampled.key)
                if not waiting.done():
                    waiting.set_result(sampled)

    @staticmethod
    def _datum(
        prompt: Sequence[int], response: Sequence[int], inputs: dict[str, np.ndarray]
    ) -> Datum:
        """A sample, whose response's tokens are predicted at the last tokens of what is before each."""
        whole = np.asarray([*prompt, *response], dtype=np.int64)
        return Datum(whole[:-1], {"target_tokens": whole[1:], **inputs})

    @staticmethod
    def _on_targets(prompt: Sequence[int], values: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(len(prompt) - 1), values])

    def keep_reference(self) -> None:
        """Keeps the weights of the folder as the reference policy of a KL penalty."""
        self._engine.create(_REFERENCE, ModelSpec(mode="full", seed=self.seed))

    def logprobs(
        self,
        samples: Sequence[tuple[Sequence[int], Sequence[int]]],
        temperature: float = 1.0,
        *,
        reference: bool = False,
    ) -> list[np.ndarray]:
        """Log-probs of each token of the responses under the weights as they are now, or the reference's."""
        at = {"temperature": np.asarray([temperature])}
        data = [self._datum(prompt, response, at) for prompt, response in samples]
        result = self._engine.forward(
            _REFERENCE if reference else _MODEL, data, LossSpec("cross_entropy")
        )
        return [
            np.asarray(output["logprobs"][len(prompt) - 1 :], dtype=np.float64)
            for (prompt, _), output in zip(samples, result.outputs)
        ]

    def backward(
        self,
        samples: Sequence[tuple[Sequence[int], Sequence[int]]],
        slopes: Sequence[np.ndarray],
        temperature: float = 1.0,
    ) -> None:
        """Adds the gradient of a loss, given its derivative by each log-prob of `logprobs`."""
        # The derivative of -w·lp by lp is -w: a weighted cross-entropy carries any loss's derivative on.
        data = [
            self._datum(
                prompt,
                response,
                {
                    "weights": self._on_targets(prompt, -slope),
                    "temperature": np.asarray([temperature]),
                },
            )
            for (prompt, response), slope in zip(samples, slopes)
        ]
        self._engine.forward_backward(_MODEL, data, LossSpec("cross_entropy"))

    def step(self, adam: AdamParams) -> float:
        """Makes the next policy of the gradients added so far; returns their norm. No draw may be under way."""
        norm = self._engine.optim_step(_MODEL, adam)["grad_norm:mean"]
        before = self._policy
        self.version += 1
        self._engine.snapshot(_MODEL, self._policy)
        self._engine.drop_snapshot(before)
        return float(norm)

    def save_state(self, folder: Path) -> None:
        """Writes weights and optimiser into a new folder, atomically, for `load_state`."""
        self._engine.save(_MODEL, folder)

    def load_state(self, folder: Path, version: int) -> None:
        """Goes on as policy `version` from a folder of `save_state`."""
        self._engine.load(_MODEL, folder, optimizer=True)
        before = self._policy
        self.version = version
        self._engine.snapshot(_MODEL, self._policy)
        if before != self._policy:
            self._engine.drop_snapshot(before)

    def save(self, folder: Path) -> None:
        """Writes the model as a Hugging Face folder with its tokenizer, atomically."""
        self._engine.export(_MODEL, "merged", folder)

    def close(self) -> None:
        """Ends the thread."""
        self._thread.shutdown()
