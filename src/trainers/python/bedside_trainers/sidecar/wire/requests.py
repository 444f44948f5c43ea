"""Request bodies as dataclasses, with the checks that need only the body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...engines.engine import AdamParams, Datum, LossSpec, ModelSpec
from .data import integers, prompt_tokens
from .fields import Fields
from .refusal import Refused, invalid

MAX_TOKENS = 2**31 - 1


@dataclass(frozen=True)
class Turn:
    """Position of a request in its model's sequence; `seq_id` begins with 1."""

    model_id: str
    seq_id: int


@dataclass(frozen=True)
class Pass:
    """A forward pass; with `backward`, gradients are accumulated. `widths` has the columns of each datum as it was sent,
    0 for one target per position."""

    data: list[Datum]
    loss: LossSpec
    backward: bool
    widths: tuple[int, ...]


@dataclass(frozen=True)
class Step:
    adam: AdamParams


@dataclass(frozen=True)
class Save:
    """Saves weights as a checkpoint of a kind (`weights` or `sampler_weights`), deleted after `ttl_seconds`."""

    kind: str
    name: str
    overwrite: bool = False
    ttl_seconds: int | None = None


@dataclass(frozen=True)
class Snapshot:
    """Snapshots the current weights for a new sampling session, in memory only."""

    session_seq_id: int


@dataclass(frozen=True)
class Load:
    """Loads a checkpoint, optionally with its optimiser state."""

    path: str
    optimizer: bool


@dataclass(frozen=True)
class Export:
    format: str
    name: str


@dataclass(frozen=True)
class Creation:
    """Creation of a model from the base model or from a checkpoint."""

    session_id: str
    model_seq_id: int
    base_model: str | None
    source: ModelSpec | Load


@dataclass(frozen=True)
class Source:
    """Source of samples; one of the three is set."""

    base_model: str | None = None
    model_path: str | None = None
    sampling_session_id: str | None = None


@dataclass(frozen=True)
class Sample:
    source: Source
    seq_id: int | None
    num_samples: int
    prompt: list[int]
    max_tokens: int | None
    temperature: float
    top_k: int
    top_p: float
    seed: int | None
    stop_tokens: frozenset[int]
    stop_strings: tuple[str, ...]
    prompt_logprobs: bool


def read_turn(body: Fields) -> Turn:
    """Parses the place of a request in its model's sequence. @raises Refused"""
    return Turn(body.text("model_id"), body.integer("seq_id", least=1, most=2**31 - 1))


def read_ttl(body: Fields) -> int | None:
    """Parses the time to live of a checkpoint, in seconds; None keeps it. @raises Refused"""
    return body.integer("ttl_seconds", None, least=1, most=10 * 366 * 86400)


def read_step(body: Fields) -> Step:
    """Parses Adam's settings, with the wire's defaults for those that are absent. @raises Refused also for null, as
    which a client may send a NaN"""
    if body.has("optimizer_params"):
        raise invalid("optimizer_params", body.values["optimizer_params"], "adam_params")
    adam = body.fields("adam_params", {})
    for key, value in adam.values.items():
        if value is None:
            raise invalid(adam.at(key), value, "a finite number")
    return Step(
        AdamParams(
            learning_rate=adam.number("learning_rate", AdamParams.learning_rate, least=0),
            beta1=adam.number("beta1", AdamParams.beta1, least=0, below=1),
            beta2=adam.number("beta2", AdamParams.beta2, least=0, below=1),
            eps=adam.number("eps", AdamParams.eps, least=0),
            weight_decay=adam.number("weight_decay", AdamParams.weight_decay, least=0),
            grad_clip_norm=adam.number("grad_clip_norm", AdamParams.grad_clip_norm, least=0),
        )
    )


def read_spec(body: Fields) -> ModelSpec:
    """Parses a model spec of the wire, in `lora_config`."""
    config = body.fields("lora_config", {})
    return _spec(config, train_unembed=True)


def read_own_spec(body: Fields) -> ModelSpec:
    """Parses a model spec of our own route, in `spec`."""
    return _spec(body.fields("spec", {}), train_unembed=False)


def _spec(config: Fields, *, train_unembed: bool) -> ModelSpec:
    return ModelSpec(
        mode=config.text("mode", "lora", among=("lora", "full")),
        rank=config.integer("rank", ModelSpec.rank, least=1, most=65536),
        alpha=config.number("alpha", ModelSpec.alpha),
        seed=config.integer("seed", ModelSpec.seed, least=0, most=2**63 - 1),
        train_attn=config.flag("train_attn", True),
        train_mlp=config.flag("train_mlp", True),
        train_unembed=config.flag("train_unembed", train_unembed),
        head=config.text("head", "language", among=("language", "value")),
    )


def read_creation(body: Fields, source: ModelSpec | Load) -> Creation:
    optimizer = body.fields("optimizer_config", {})
    optimizer.text("type", "adamw", among=("adamw",))
    base_model = body.text("base_model", *((None,) if isinstance(source, Load) else ()))
    seq_id = body.integer("model_seq_id", least=0, most=2**31 - 1)
    return Creation(body.text("session_id"), seq_id, base_model, source)


def read_source(body: Fields) -> Source:
    keys = ("sampling_session_id", "model_path", "base_model")
    source = Source(**{key: body.text(key, None) for key in keys})
    if not any((source.sampling_session_id, source.model_path, source.base_model)):
        raise Refused(422, f"body: expected one of {', '.join(keys)}, received none")
    return source


def read_stop(params: Fields) -> tuple[frozenset[int], tuple[str, ...]]:
    """Parses stop tokens and stop strings, given as a text, a list of texts or a list of token ids."""
    stop: Any = params.values.get("stop")
    if stop is None or stop == []:
        return frozenset(), ()
    texts = [stop] if isinstance(stop, str) else stop
    if isinstance(texts, list) and all(isinstance(text, str) and text for text in texts):
        return frozenset(), tuple(texts)
    if not isinstance(stop, list):
        raise invalid(params.at("stop"), stop, "a text, a list of texts or a list of token ids")
    return frozenset(integers(stop, params.at("stop")).tolist()), ()


def read_sample(body: Fields) -> Sample:
    """Parses a sampling request. @raises Refused also for features of the wire that this server lacks"""
    for key in ("topk_prompt_logprobs", "topk_sample_logprobs", "prompt_alt_tokens_k"):
        if body.integer(key, 0) != 0:
            raise invalid(key, body.values[key], "0: this server does not have it")
    for key in ("target_prompt_logprobs", "prompt_logprobs_last_n"):
        if body.has(key):
            raise invalid(key, body.values[key], "nothing: this server does not have it")
    if body.flag("record_stability_info", False):
        raise invalid(
            "record_stability_info", True, "false: this server does not have stable_reinforce"
        )
    params = body.fields("sampling_params", {})
    stop_tokens, stop_strings = read_stop(params)
    top_k = params.integer("top_k", -1, least=-1, most=MAX_TOKENS)
    top_p = params.number("top_p", 1.0, least=0)
    if not 0 < top_p <= 1:
        raise invalid(params.at("top_p"), top_p, "a number above 0, at most 1")
    return Sample(
        source=read_source(body),
        seq_id=body.integer("seq_id", None, least=0),
        num_samples=body.integer("num_samples", 1, least=1, most=MAX_TOKENS),
        prompt=prompt_tokens(body.fields("prompt")).tolist(),
        max_tokens=params.integer("max_tokens", None, least=1, most=MAX_TOKENS),
        temperature=params.number("temperature", 1.0, least=0),
        top_k=top_k if top_k > 0 else -1,
        top_p=top_p,
        seed=params.integer("seed", None, least=-(2**63), most=2**64 - 1),
        stop_tokens=stop_tokens,
        stop_strings=stop_strings,
        prompt_logprobs=body.flag("prompt_logprobs", False),
    )
