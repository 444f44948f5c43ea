"""The `unsloth` engine: Unsloth loads the base model and runs LoRA's training passes. CUDA only, LoRA models only.

Sampling reads the same weights through `blocks.Blocks`, because Unsloth has no continuous batching outside vLLM.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

# Makes Unsloth's models return hidden states in place of logits. Read at every forward pass.
os.environ["UNSLOTH_RETURN_HIDDEN_STATES"] = "1"

# Before transformers and PEFT, which Unsloth patches.
import unsloth  # isort: skip
import torch
from torch import Tensor, nn

from . import folder as model_folder
from .base_model import BaseModel
from .blocks import FAMILIES, is_supported
from .engine import EngineError, ModelSpec
from .options import Options
from .peft_engine import PeftLibrary, describe
from .torch_engine import TorchEngine

_DTYPES = {"auto": None, "bfloat16": torch.bfloat16, "float16": torch.float16, "4bit": None}


class UnslothLibrary(PeftLibrary):
    """The `Library` of base_model.py; modules that read slots use PEFT's plain layers on the same base."""

    def add_adapter(
        self, causal: nn.Module, spec: ModelSpec, names: Sequence[str], *, training: bool
    ) -> nn.Module:
        if not training:
            return super().add_adapter(causal, spec, names, training=False)
        adapted = unsloth.FastLanguageModel.get_peft_model(
            causal,
            r=spec.rank,
            lora_alpha=spec.alpha,
            target_modules=list(names),
            lora_dropout=0,
            bias="none",
            use_gradient_checkpointing="unsloth",
            random_state=spec.seed & 0x7FFFFFFF,
        )
        return unsloth.FastLanguageModel.for_training(adapted)

    def hidden(self, causal: nn.Module) -> Callable[[Tensor], Tensor]:
        return lambda ids: causal(input_ids=ids, use_cache=False).logits

    def logits(self, causal: nn.Module) -> Callable[[Tensor], Tensor]:
        def read(ids: Tensor) -> Tensor:
            os.environ["UNSLOTH_RETURN_HIDDEN_STATES"] = "0"
            try:
                return causal(input_ids=ids, use_cache=False).logits
            finally:
                os.environ["UNSLOTH_RETURN_HIDDEN_STATES"] = "1"

        return read

    def checkpoint_activations(self, causal: nn.Module) -> None:
        """Does nothing: Unsloth's adapters recompute activations already."""

    def read_slots(self, causal: nn.Module) -> None:
        """Does nothing: only models that `blocks.Blocks` supports are opened."""


def _load(path: Path, dtype: str, context: int) -> tuple[nn.Module, Any]:
    try:
        causal, tokenizer = unsloth.FastLanguageModel.from_pretrained(
            model_name=str(path),
            max_seq_length=context,
            dtype=_DTYPES[dtype],
            load_in_4bit=dtype == "4bit",
            offload_embedding=False,
        )
    except (OSError, ValueError, KeyError, RuntimeError, NotImplementedError) as error:
        raise EngineError(f"Unsloth could not load {path}: {error}") from error
    if not is_supported(causal):
        kinds, got = ", ".join(sorted(FAMILIES)), causal.config.model_type
        raise EngineError(f"Expected a model of {kinds} for unsloth, got {got!r}")
    return causal.eval(), tokenizer


def open_unsloth(
    path: Path,
    *,
    name: str,
    dtype: str,
    device: str,
    checkpointing: bool | None,
    context_length: int | None,
    options: Options,
) -> TorchEngine:
    """Opens the engine. `dtype` 4bit quantises the base model; activations are always recomputed.
    @raises EngineError without CUDA, or for a folder without a model"""
    config = model_folder.read_config(path)
    if not torch.cuda.is_available() or not (device == "auto" or device.startswith("cuda")):
        raise EngineError(
            f"Expected CUDA for the unsloth engine, got device {device!r}: take --engine peft"
        )
    if dtype not in _DTYPES:
        raise EngineError(f"Expected a dtype of {', '.join(_DTYPES)} for unsloth, got {dtype!r}")
    causal, tokenizer = _load(
        path, dtype, context_length or config.get("max_position_embeddings", 4096)
    )
    versions = {"unsloth": unsloth.__version__}
    info = describe(causal, name, path, "unsloth", versions, context_length)
    info = replace(info, modes=("lora",))
    if dtype == "4bit":
        info = replace(info, dtype=dtype, exports=("adapter",))
    identity = model_folder.identity(path)
    library = UnslothLibrary()
    base = BaseModel(library, causal, tokenizer, path, info, identity, checkpointing=False)
    return TorchEngine(base, options)
