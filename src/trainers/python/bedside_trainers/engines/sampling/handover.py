"""Hands drawing over to a sampling server, after a look at the log-probs it gives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..engine import EngineError, SampleJob, SamplingPlace
from .remote import is_reply
from .servers import SERVERS, Drawn, ServerError

if TYPE_CHECKING:
    from ..torch_engine import TorchEngine

# Far from 1, so that log-probs of another temperature stand out.
_TEMPERATURE = 0.5
_TOKENS = 32
# Most mean distance in nats; 16 bits on both sides cost a few hundredths.
_BOUND = 0.25
_NAME = "sampling-server-check"


def hand_over(engine: TorchEngine, place: SamplingPlace) -> None:
    """Draws through a server from now on.
    @raises EngineError if there is none, if it serves another model, or if its log-probs are not those of the job's
    temperature"""
    if place.kind not in SERVERS:
        raise EngineError(f"Expected a sampling server of {', '.join(SERVERS)}, got {place.kind!r}")
    if urlsplit(place.url).scheme not in ("http", "https"):
        raise EngineError(f"Expected the http address of a sampling server, got {place.url!r}")
    try:
        place.folder.mkdir(parents=True, exist_ok=True)
        server = SERVERS[place.kind](place.url.rstrip("/"))
        prompt = list(range(1, min(9, engine.info.vocab_size)))
        job = SampleJob(_NAME, _NAME, prompt, _TOKENS, _TEMPERATURE)
        drawn = server.draw(job, _TOKENS, None)
    except (OSError, ServerError) as error:
        raise EngineError(str(error)) from error
    gap = _mean_gap(engine, job, drawn)
    if gap is None or not gap <= _BOUND:
        how = "gave no token ids with log-probs" if gap is None else f"is {gap:.3f} nats off"
        raise EngineError(
            f"Expected the log-probs of this model at the job's temperature, but {place.kind} at {place.url} {how}: "
            "does it serve the same folder, and vllm with --logprobs-mode processed_logprobs?"
        )
    engine.sample_through(server, place.folder.resolve())
    note = f"tokens are drawn by {place.kind} at {place.url}, whose log-probs are {gap:.1e} nats off"
    engine.info = replace(engine.info, notes=(*engine.info.notes, note))


def _mean_gap(engine: TorchEngine, job: SampleJob, drawn: Drawn) -> float | None:
    """Mean distance of a server's log-probs and the engine's own."""
    if not is_reply(drawn) or len(drawn.tokens) == 0:
        return None
    engine.snapshot(None, _NAME)
    text = [*job.prompt, *drawn.tokens]
    engine.submit(replace(job, prompt=text, max_tokens=0, prompt_logprobs=True))
    ended = []
    while engine.waiting:
        ended += engine.advance()
    engine.drop_snapshot(_NAME)
    scored = ended[0].prompt_logprobs
    if scored is None:
        raise EngineError(f"Could not score a prompt: {ended[0].error}")
    own = scored[len(job.prompt) :]
    return sum(abs(float(a) - b) for a, b in zip(own, drawn.logprobs, strict=True)) / len(own)
