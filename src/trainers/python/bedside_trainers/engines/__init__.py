"""Engines: hold weights and compute gradients. The server uses them through the protocol `engine.Engine`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine import Engine


def open_engine(
    name: str,
    model_path: str | Path,
    *,
    dtype: str = "auto",
    device: str = "auto",
    options: Mapping[str, Any] | None = None,
) -> Engine:
    """Opens the engine `peft` or `unsloth` on a model folder, without falling back to the other.

    `dtype` auto is float32 on a CPU and bfloat16 on CUDA. Options: the fields of `options.Options`, `model_name`
    (the model's name for clients; default the folder's name), `checkpointing` (recomputes activations in the
    backward pass; default on CUDA), `context_length` (most tokens of a sequence; default, and at most, the model's) and
    `sampling` (an `engine.SamplingPlace`: another server draws the tokens).
    @raises EngineError for an unsuitable folder, device, precision or option
    """
    from .environment import prepare_environment

    prepare_environment()
    from .engine import EngineError
    from .options import Options

    if name == "peft":
        from .peft_engine import open_peft as opening
    elif name == "unsloth":
        try:
            from .unsloth_engine import open_unsloth as opening
        except NotImplementedError as error:
            raise EngineError(f"Expected a GPU for the unsloth engine: {error}") from error
    else:
        raise EngineError(f"Expected the engine peft or unsloth, got {name!r}")
    path = Path(model_path).resolve()
    given = dict(options or {})
    label = given.pop("model_name", path.name)
    checkpointing = given.pop("checkpointing", None)
    context_length = given.pop("context_length", None)
    place = given.pop("sampling", None)
    unknown = set(given) - set(Options.__dataclass_fields__)
    if unknown:
        raise EngineError(
            f"Expected options of {list(Options.__dataclass_fields__)}, got {sorted(unknown)}"
        )
    engine = opening(
        path,
        name=label,
        dtype=dtype,
        device=device,
        checkpointing=checkpointing,
        context_length=context_length,
        options=Options(**given),
    )
    if place is not None:
        from .sampling.handover import hand_over

        hand_over(engine, place)
    return engine
