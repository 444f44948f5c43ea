"""Engines: whatever holds weights and makes gradients; the server knows them by `engine.Engine` alone."""

from __future__ import annotations

import os
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
    """Opens the engine `peft` or `unsloth` on a model folder; never another than the one asked for.

    `dtype` auto is float32 on a CPU and bfloat16 on CUDA. Options: the fields of `options.Options`, `model_name`
    (what clients call the model; the folder's name), `checkpointing` (activations computed again in the backward
    pass; on CUDA by default).
    @raises EngineError for a folder, device, precision or option that will not do
    """
    # Read when torch is loaded. Threads that spin while they wait starve the processes beside this one.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
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
    unknown = set(given) - set(Options.__dataclass_fields__)
    if unknown:
        raise EngineError(
            f"Expected options of {list(Options.__dataclass_fields__)}, got {sorted(unknown)}"
        )
    return opening(
        path,
        name=label,
        dtype=dtype,
        device=device,
        checkpointing=checkpointing,
        options=Options(**given),
    )
