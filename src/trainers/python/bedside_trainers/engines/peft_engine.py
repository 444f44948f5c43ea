"""The `peft` engine: loads a model folder with transformers and adds LoRA with PEFT. CPU or CUDA."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import peft
import torch
import transformers
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.modeling_layers import GradientCheckpointingLayer

from . import folder as model_folder
from . import targets
from .base_model import BaseModel
from .engine import EngineError, EngineInfo, ModelSpec
from .options import Options
from .slots import slot_attention
from .torch_engine import TorchEngine
from .training.passes import LOSSES

_SLOTS = "bedside_slots"
_DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}


def _lora_config(spec: ModelSpec, names: Sequence[str], base: str) -> peft.LoraConfig:
    return peft.LoraConfig(
        r=spec.rank,
        lora_alpha=spec.alpha,
        target_modules=list(names),
        lora_dropout=0.0,
        bias="none",
        task_type="CAUSAL_LM",
        base_model_name_or_path=base,
    )


class PeftLibrary:
    """The `Library` of base_model.py."""

    def add_adapter(
        self, causal: nn.Module, spec: ModelSpec, names: Sequence[str], *, training: bool
    ) -> nn.Module:
        return peft.get_peft_model(causal, _lora_config(spec, names, causal.name_or_path))

    def write_adapter_config(
        self, spec: ModelSpec, names: Sequence[str], base: str, folder: Path
    ) -> None:
        config = _lora_config(spec, names, base)
        config.inference_mode = True
        config.save_pretrained(folder)

    def write_model(self, causal: nn.Module, folder: Path) -> None:
        causal.save_pretrained(folder)

    def hidden(self, causal: nn.Module) -> Callable[[Tensor], Tensor]:
        trunk = getattr(causal, causal.base_model_prefix, None)
        if trunk is None:
            raise EngineError(
                f"This architecture is not served here ({causal.config.model_type}): it has no trunk "
                f"{causal.base_model_prefix!r} apart from its head"
            )
        return lambda ids: trunk(input_ids=ids, use_cache=False)[0]

    def logits(self, causal: nn.Module) -> Callable[[Tensor], Tensor]:
        def read(ids: Tensor) -> Tensor:
            # The plain implementation is the reference: others leave out what they cannot do, such as capped scores.
            kept = causal.config._attn_implementation
            causal.set_attn_implementation("eager")
            try:
                return causal(input_ids=ids, use_cache=False).logits
            finally:
                causal.set_attn_implementation(kept)

        return read

    def checkpoint_activations(self, causal: nn.Module) -> None:
        # Not the library's switch: it wants modules in training mode, where a configuration's dropout is on.
        for layer in causal.modules():
            if isinstance(layer, GradientCheckpointingLayer):
                layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)

    def read_slots(self, causal: nn.Module) -> None:
        transformers.AttentionInterface.register(_SLOTS, slot_attention)
        causal.set_attn_implementation(_SLOTS)


def _device(device: str) -> torch.device:
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise EngineError(f"Expected a device that is there, got {device!r}: torch finds no CUDA")
    return torch.device(device)


def _dtype(dtype: str, device: torch.device) -> torch.dtype:
    if dtype == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    if dtype not in _DTYPES:
        raise EngineError(f"Expected a dtype of auto, {', '.join(_DTYPES)}, got {dtype!r}")
    return _DTYPES[dtype]


def _context_length(config: Any, asked: int | None) -> int:
    """The model's context length, or the shorter one asked for. @raises EngineError if there is neither"""
    most = getattr(config, "max_position_embeddings", None)
    if asked is None and most is None:
        raise EngineError(
            f"Expected the option `context_length`: the configuration of {config.model_type} names none"
        )
    if asked is not None and (type(asked) is not int or not 1 <= asked <= (most or asked)):
        limit = "or more" if most is None else f"to {most}, the model's own"
        raise EngineError(f"Expected `context_length` to be 1 {limit}, got {asked!r}")
    return asked or most


def describe(
    causal: nn.Module,
    name: str,
    path: Path,
    engine: str,
    versions: Mapping[str, str],
    context_length: int | None = None,
) -> EngineInfo:
    """Engine information of a loaded model. @raises EngineError for a context length it does not have"""
    config, some = causal.config.get_text_config(), next(causal.parameters())
    libraries = (torch, transformers, peft)
    return EngineInfo(
        engine=engine,
        device=str(some.device),
        dtype=str(some.dtype).removeprefix("torch."),
        versions={one.__name__: one.__version__ for one in libraries} | dict(versions),
        model_name=name,
        model_path=str(path),
        arch=config.model_type,
        context_length=_context_length(config, context_length),
        vocab_size=config.vocab_size,
        parameters=sum(one.numel() for one in causal.parameters()),
        tied_embeddings=targets.tied(causal),
        losses=LOSSES,
    )


def _load(path: Path, dtype: torch.dtype, attention: str) -> tuple[nn.Module, Any]:
    transformers.utils.logging.disable_progress_bar()
    try:
        causal, loading = AutoModelForCausalLM.from_pretrained(
            path,
            dtype=dtype,
            attn_implementation=attention,
            local_files_only=True,
            output_loading_info=True,
        )
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise EngineError(f"Could not load {path} as a causal language model: {error}") from error
    absent = [*loading["missing_keys"], *loading["mismatched_keys"]]
    if absent:
        # transformers would continue with random weights in their place.
        raise EngineError(
            f"Expected every weight of a causal language model in {path}, missed {absent[:3]}"
        )
    return causal.eval(), tokenizer


def open_peft(
    path: Path,
    *,
    name: str,
    dtype: str,
    device: str,
    checkpointing: bool | None,
    context_length: int | None,
    options: Options,
) -> TorchEngine:
    """Opens the engine. @raises EngineError for a folder without a model it can serve, or an unavailable device or dtype"""
    config = model_folder.read_config(path)
    where = _device(device)
    # Torch's fused attention has no cap of scores.
    attention = "eager" if config.get("attn_logit_softcapping") else "sdpa"
    causal, tokenizer = _load(path, _dtype(dtype, where), attention)
    causal = causal.to(where)
    info = describe(causal, name, path, "peft", {}, context_length)
    identity = model_folder.identity(path)
    again = where.type == "cuda" if checkpointing is None else checkpointing
    library = PeftLibrary()
    base = BaseModel(library, causal, tokenizer, path, info, identity, checkpointing=again)
    return TorchEngine(base, options)
