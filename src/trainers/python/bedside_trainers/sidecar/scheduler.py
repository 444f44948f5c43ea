"""Scheduler: the single thread that owns the engine. Training jobs run in order; sampling gets equal time."""

from __future__ import annotations

import math
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from ..engines.engine import Engine, EngineError, Sampled, SampleJob
from .futures import Futures
from .ordering import Job, OrderedQueue
from .settings import Limits
from .wire.answers import Answer, Failure
from .wire.refusal import Refused

Done = Callable[[Sampled], None]


def to_failure(error: Exception) -> Failure:
    """Turns an error into the client's answer; prints the traceback to stderr unless it is the client's fault."""
    if isinstance(error, (EngineError, Refused)):
        return Failure(str(error), "User")
    traceback.print_exception(error, file=sys.stderr)
    what = f"{error.strerror}" if isinstance(error, OSError) and error.strerror else str(error)
    first = what.strip().splitlines()[0] if what.strip() else "no message"
    return Failure(f"{type(error).__name__}: {first[:500]}", "Server")


class Scheduler:
    """Queues jobs from any thread and runs them in the engine's thread."""

    def __init__(self, engine: Engine, futures: Futures, limits: Limits) -> None:
        self._engine = engine
        self._futures = futures
        self._limits = limits
        self._changed = threading.Condition()
        self._control: deque[Job | Callable[[], None]] = deque()
        self._queues: dict[str, OrderedQueue] = {}
        # Round robin over models; the one served last is at the end.
        self._turns: deque[str] = deque()
        self._drawing: dict[Any, Done] = {}
        self._stopping = False
        self._thread = threading.Thread(target=self._loop, name="engine", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float) -> bool:
        """Stops after the running job; returns whether that ended within `seconds`."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def add_model(self, model_id: str) -> None:
        with self._changed:
            self._queues[model_id] = OrderedQueue(self._limits)
            self._turns.append(model_id)

    def remove_model(self, model_id: str, reason: str) -> None:
        """Removes a model; its waiting requests fail with the reason."""
        with self._changed:
            queue = self._queues.pop(model_id, None)
            if queue is None:
                return
            self._turns.remove(model_id)
            jobs = queue.drain()
        for job in jobs:
            self._futures.resolve(job.request_id, Failure(reason, "User"))

    def submit(
        self,
        model_id: str,
        seq_id: int,
        digest: bytes,
        run: Callable[[], Answer],
        size: int = 0,
        *,
        give_up: Callable[[int], None],
    ) -> str:
        """Queues work in a model's sequence; returns its request id, the same for a resent request.
        @param give_up called in place of `run` with the number of an earlier request that never arrived
        @raises Refused"""
        with self._changed:
            queue = self._queues.get(model_id)
            if queue is None:
                raise Refused(404, f"no model {model_id!r}: it was unloaded")
            repeated = queue.repeated(seq_id, digest)
            if repeated is not None:
                return repeated
            job = Job(self._futures.open(), run, size, give_up)
            queue.put(seq_id, digest, job)
            self._changed.notify()
            return job.request_id

    def control(self, job: Job) -> None:
        """Queues work outside any model's sequence; it runs before training."""
        with self._changed:
            self._control.append(job)
            self._changed.notify()

    def call(self, work: Callable[[], Any]) -> Future[Any]:
        """Runs a function in the engine's thread and returns a future of its value."""
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except Exception as error:
                future.set_exception(error)

        with self._changed:
            self._control.append(run)
            self._changed.notify()
        return future

    def draw(self, job: SampleJob, done: Done) -> None:
        """Starts one sequence and calls `done` at its end; engine thread only. @raises EngineError"""
        self._engine.submit(job)
        self._drawing[job.key] = done

    def abandon(self, key: Any) -> None:
        """Cancels one sequence; engine thread only."""
        if self._drawing.pop(key, None) is not None:
            self._engine.cancel(key)

    def counts(self) -> dict[str, float]:
        """Gauges for the metrics endpoint."""
        with self._changed:
            queued = sum(len(queue) for queue in self._queues.values())
            return {
                "models": len(self._queues),
                "queue_training": queued,
                "queue_control": len(self._control),
                "queue_sampling": len(self._drawing),
            }

    def _loop(self) -> None:
        while True:
            with self._changed:
                while not (self._stopping or self._drawing or self._has_job()):
                    self._changed.wait(self._patience())
                if self._stopping:
                    return
                given_up = [queue.give_up() for queue in self._overdue()]
                # Take all control jobs at once, so that sequences requested together are sampled together.
                jobs: list[Job | Callable[[], None]] = [*self._control]
                self._control.clear()
                jobs += self._next_in_turn()
            started = time.monotonic()
            for missing, waiting in given_up:
                self._give_up(missing, waiting)
            for job in jobs:
                self._run(job)
            self._sample(2 * time.monotonic() - started)

    def _has_job(self) -> bool:
        queues = self._queues.values()
        return bool(self._control or self._overdue()) or any(queue.ready for queue in queues)

    def _overdue(self) -> list[OrderedQueue]:
        now = time.monotonic()
        return [queue for queue in self._queues.values() if queue.overdue_at <= now]

    def _patience(self) -> float | None:
        """Seconds until a missing number is given up; None if none is missing."""
        earliest = min((queue.overdue_at for queue in self._queues.values()), default=math.inf)
        return None if earliest == math.inf else max(0.0, earliest - time.monotonic())

    def _give_up(self, missing: int, waiting: list[Job]) -> None:
        seconds = self._limits.missing_seconds
        message = f"not served: seq_id {missing} never arrived, and was waited for {seconds:g} s"
        for job in waiting:
            job.give_up(missing)
            self._futures.resolve(job.request_id, Failure(message, "User"))

    def _next_in_turn(self) -> list[Job]:
        for model_id in self._turns:
            if self._queues[model_id].ready:
                self._turns.remove(model_id)
                self._turns.append(model_id)
                return [self._queues[model_id].pop()]
        return []

    def _run(self, job: Job | Callable[[], None]) -> None:
        if not isinstance(job, Job):
            job()
            return
        try:
            answer = job.run()
        except Exception as error:
            answer = to_failure(error)
        if answer is not None:
            self._futures.resolve(job.request_id, answer)

    def _sample(self, until: float) -> None:
        # Samples for as long as the last job took, so that neither sampling nor training starves.
        while self._drawing:
            try:
                finished = self._engine.advance()
            except Exception as error:
                finished = self._fail_all(to_failure(error).error)
            for sampled in finished:
                done = self._drawing.pop(sampled.key, None)
                if done is not None:
                    done(sampled)
            if time.monotonic() >= until:
                return

    def _fail_all(self, message: str) -> list[Sampled]:
        for key in self._drawing:
            self._engine.cancel(key)
        return [Sampled(key, [], [], "length", error=message) for key in self._drawing]
