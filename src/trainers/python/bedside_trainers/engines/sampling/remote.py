"""Sampling through another server, which gets each snapshot's weights as an adapter folder."""

from __future__ import annotations

import atexit
import math
import queue
import shutil
import sys
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..engine import Sampled, SampleJob
from .sampler import Sampler
from .sequences import ActiveSequence, Decode
from .servers import Drawn, SamplingServer, ServerError

# Seconds that a round waits for a reply: a training request waits no longer behind it.
_ROUND_SECONDS = 0.01
# Requests at once; the server batches them.
_REQUESTS = 256


def is_reply(drawn: Drawn) -> bool:
    """Whether a server's words are token ids and as many log-probs."""
    return (
        isinstance(drawn.tokens, list)
        and isinstance(drawn.logprobs, list)
        and len(drawn.tokens) == len(drawn.logprobs)
        and all(type(token) is int for token in drawn.tokens)
        and all(isinstance(one, int | float) and math.isfinite(one) for one in drawn.logprobs)
    )


class RemoteSampler:
    """The interface of `Sampler` over a sampling server. The engine's own sampler does what a server does not: score a
    prompt."""

    def __init__(
        self,
        server: SamplingServer,
        own: Sampler,
        decode: Decode,
        folder: Path,
        write_adapter: Callable[[str, Path], bool],
    ) -> None:
        """`write_adapter` writes a snapshot's adapter into a folder; false for the base model, which has none."""
        self._server = server
        self._own = own
        self._decode = decode
        self._folder = folder
        self._write_adapter = write_adapter
        self._adapters: dict[str, str | None] = {}
        self._running: dict[Any, ActiveSequence] = {}
        self._todo: queue.SimpleQueue[tuple[ActiveSequence, str | None]] = queue.SimpleQueue()
        self._threads = 0
        self._ended: queue.SimpleQueue[tuple[ActiveSequence, Drawn | Exception]] = (
            queue.SimpleQueue()
        )
        self._counts = {"sampled_tokens": 0.0, "prompt_tokens": 0.0}
        atexit.register(self._end)

    def _end(self) -> None:
        """Leaves nothing behind, there or on the disk."""
        for name in list(self._adapters):
            self.close(name)
        self._server.close()

    def open(self, name: str) -> None:
        self.close(name)
        adapter = f"bedside-{uuid.uuid4().hex[:12]}"
        folder = self._folder / adapter
        try:
            if not self._write_adapter(name, folder):
                adapter = None
            else:
                self._server.load(adapter, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._adapters[name] = adapter
        self._own.open(name)

    def close(self, name: str) -> None:
        self._own.close(name)
        adapter = self._adapters.pop(name, None)
        if adapter is None:
            return
        try:
            self._server.unload(adapter)
        except ServerError as error:
            # Its place there is lost, and nothing else.
            print(f"bedside sidecar: {error}", file=sys.stderr, flush=True)
        shutil.rmtree(self._folder / adapter, ignore_errors=True)

    def submit(self, job: SampleJob) -> None:
        if job.prompt_logprobs or job.max_tokens == 0:
            self._own.submit(job)
            return
        one = self._own.sequence(job)
        self._server.check_job(job)
        self._running[job.key] = one
        self._todo.put((one, self._adapters[job.snapshot]))
        if self._threads < min(len(self._running), _REQUESTS):
            self._threads += 1
            # Daemons, so that a request in flight does not hold up the server's end.
            threading.Thread(target=self._draw_all, daemon=True).start()

    def _draw_all(self) -> None:
        while True:
            one, adapter = self._todo.get()
            if self._running.get(one.job.key) is not one:
                continue
            try:
                self._ended.put((one, self._server.draw(one.job, one.limit, adapter)))
            except Exception as error:
                self._ended.put((one, error))

    def cancel(self, key: Any) -> None:
        if self._running.pop(key, None) is None:
            self._own.cancel(key)

    @property
    def waiting(self) -> int:
        return len(self._running) + self._own.waiting

    def advance(self) -> list[Sampled]:
        """Returns the sequences that have ended, after a short wait for the first where nothing else is to do."""
        done = self._own.advance() if self._own.waiting else []
        patience = 0 if done or not self._running else _ROUND_SECONDS
        while True:
            try:
                one, drawn = self._ended.get(timeout=patience) if patience else self._ended.get_nowait()
            except queue.Empty:
                return done
            patience = 0
            if self._running.get(one.job.key) is one:
                del self._running[one.job.key]
                done.append(self._result(one, drawn))

    def _result(self, one: ActiveSequence, drawn: Drawn | Exception) -> Sampled:
        """The sequence as far as it goes by our own rules: a server may stop a token later."""
        if isinstance(drawn, Exception):
            return one.result("length", f"could not be drawn: {drawn}")
        if not (is_reply(drawn) and self._own.has_tokens(drawn.tokens)):
            expected = f"{self._server.name}: expected token ids and as many log-probs"
            return one.result("length", f"{expected}, got {str(drawn)[:200]}")
        reason = None
        for token, logprob in zip(drawn.tokens, drawn.logprobs, strict=True):
            one.add(token, min(logprob, 0.0))
            reason = one.stop_reason(self._decode)
            if reason is not None:
                break
        self._counts["sampled_tokens"] += len(one.drawn)
        self._counts["prompt_tokens"] += len(one.job.prompt)
        if reason is None:
            return one.result(
                "length", f"{self._server.name}: the reply ended after {len(drawn.tokens)} tokens without a reason"
            )
        return one.result(reason)

    def metrics(self) -> Mapping[str, float]:
        own = self._own.metrics()
        counts = {name: own[name] + count for name, count in self._counts.items()}
        waiting = len(self._running)
        return {**own, **counts, "running_sequences": own["running_sequences"] + waiting}
