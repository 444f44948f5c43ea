"""Foundation of an engine over a causal language model in torch, independent of the library that loaded it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from . import blocks, targets
from .bits import NOTE, bits_hold
from .decoder import Decoder
from .engine import EngineError, EngineInfo, ModelSpec
from .logits import find_transform
from .reading import Readers, check_reading, merged_weights, probe_tokens
from .threads import Threads
from .weights import Body, Weights, structural_copy

# Files of a tokenizer.
_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
    "added_tokens.json",
    "generation_config.json",
)


class Library(Protocol):
    """Operations of the library that loaded a model."""

    def add_adapter(
        self, causal: nn.Module, spec: ModelSpec, names: Sequence[str], *, training: bool
    ) -> nn.Module:
        """Adds LoRA to the modules of these names; returns a module with PEFT's parameter names."""

    def hidden(self, causal: nn.Module) -> Callable[[Tensor], Tensor]:
        """The library's forward pass, from token ids to the last hidden states of whole sequences."""

    def logits(self, causal: nn.Module) -> Callable[[Tensor], Tensor]:
        """The library's forward pass, from token ids to the model's own logits."""

    def write_adapter_config(
        self, spec: ModelSpec, names: Sequence[str], base: str, folder: Path
    ) -> None: ...

    def write_model(self, causal: nn.Module, folder: Path) -> None: ...

    def checkpoint_activations(self, causal: nn.Module) -> None:
        """Makes backward passes recompute activations."""

    def read_slots(self, causal: nn.Module) -> None:
        """Makes a model attend by `slots.slot_attention`."""


class BaseModel:
    """The `Foundation` of foundation.py: bodies are structural copies that share the base's storage."""

    def __init__(
        self,
        library: Library,
        causal: nn.Module,
        tokenizer: Any,
        folder: Path,
        info: EngineInfo,
        identity: Mapping[str, Any],
        *,
        checkpointing: bool,
    ) -> None:
        repeatable = bits_hold(causal.parameters())
        self.info = info if repeatable else replace(info, notes=(*info.notes, NOTE))
        self.identity = identity
        self._library = library
        self._causal = causal.requires_grad_(False)
        self._tokenizer = tokenizer
        self._folder = folder
        self._checkpointing = checkpointing
        self.device = next(causal.parameters()).device
        self.dtype = next(causal.parameters()).dtype
        # Trained weights are in full precision even if the base is not.
        self._trained = torch.float64 if self.dtype == torch.float64 else torch.float32
        self.threads = Threads(info.parameters, self.device)
        ids, logits = probe_tokens(info.vocab_size, self.device), library.logits(self._causal)
        hidden = library.hidden(self._causal)
        self.transform = find_transform(self._causal, hidden, logits, ids)
        self._readers = Readers(
            self._base_weights(),
            self.threads,
            self.transform,
            self._plain_reader,
            self._adapted_reader,
        )
        if self._has_own_forward():
            hidden = blocks.Blocks(self._causal).train
        equal, self.logit_gap = check_reading(
            info.arch, lambda: self.decoder("", None, {}), logits, hidden, ids
        )
        self.same_bits = repeatable and equal
        self.forget("")

    def _has_own_forward(self) -> bool:
        weight = self._causal.get_input_embeddings().weight
        return blocks.is_supported(self._causal) and blocks.merges_lora(weight)

    def decode(self, tokens: Sequence[int]) -> str:
        return self._tokenizer.decode(list(tokens), skip_special_tokens=False)

    def check(self, spec: ModelSpec) -> Sequence[str]:
        if spec.mode not in self.info.modes or spec.head not in self.info.heads:
            asked = f"mode {spec.mode!r} and head {spec.head!r}"
            raise EngineError(
                f"Expected a mode of {self.info.modes} and a head of {self.info.heads}, got {asked}"
            )
        return targets.check(self._causal, spec)

    def body(self, spec: ModelSpec) -> Body:
        causal = structural_copy(self._causal)
        if spec.mode == "lora":
            parameters = self._add_lora(causal, spec, training=True)
        else:
            parameters = dict(causal.requires_grad_(True).named_parameters())
        head: nn.Module = causal.get_output_embeddings()
        if spec.head == "value":
            unused = () if self.info.tied_embeddings else ("lm_head.weight", "lm_head.bias")
            parameters = {name: one for name, one in parameters.items() if name not in unused}
            head = nn.Linear(causal.config.get_text_config().hidden_size, 1, device=self.device)
            head = head.to(self._trained)
            parameters.update((f"value_head.{name}", one) for name, one in head.named_parameters())
        if self._has_own_forward():
            scale = spec.alpha / spec.rank if spec.mode == "lora" else 0.0
            own = blocks.Blocks(causal, scale, checkpointing=self._checkpointing)
            return Body(causal, own.train, head, parameters, self.transform)
        if self._checkpointing:
            self._library.checkpoint_activations(causal)
        return Body(causal, self._library.hidden(causal), head, parameters, self.transform)

    def initial(self, body: Body, generator: torch.Generator) -> Weights:
        weights: Weights = {}
        base = self._base_weights()
        for name in sorted(body.parameters):
            parameter = body.parameters[name]
            if ".lora_A." in name:
                # As in PEFT: uniform with the bound of kaiming_uniform(a = √5).
                drawn = (
                    torch.rand(parameter.shape, generator=generator, dtype=torch.float64) * 2 - 1
                )
                made = (drawn / parameter.shape[1] ** 0.5).to(self.device, self._trained)
            elif ".lora_" in name or name.startswith("value_head."):
                made = torch.zeros(parameter.shape, dtype=self._trained, device=self.device)
            else:
                made = base[name].detach().to(self._trained, copy=True)
            weights[name] = made
        return weights

    def place(self, tensor: Tensor) -> Tensor:
        return tensor.to(self.device)

    def _base_weights(self) -> Weights:
        return {name: one.data for name, one in self._causal.named_parameters()}

    def _plain_reader(self) -> nn.Module:
        causal = structural_copy(self._causal)
        self._library.read_slots(causal)
        return causal

    def _adapted_reader(self, spec: ModelSpec) -> tuple[nn.Module, Mapping[str, nn.Parameter]]:
        causal = self._plain_reader()
        return causal, self._add_lora(causal, spec, training=False)

    def _add_lora(
        self, causal: nn.Module, spec: ModelSpec, *, training: bool
    ) -> dict[str, nn.Parameter]:
        """Adds LoRA to a copy; returns its parameters by their names in PEFT's files."""
        names = targets.names(causal, spec)
        named = self._library.add_adapter(causal, spec, names, training=training)
        return {
            name.replace(".default", ""): parameter
            for name, parameter in named.named_parameters()
            if ".lora_" in name
        }

    def decoder(self, name: str, spec: ModelSpec | None, weights: Weights) -> Decoder:
        return self._readers.decoder(name, spec, weights)

    def merged_bytes(self) -> int:
        return self._readers.merged_bytes()

    def forget(self, name: str) -> None:
        self._readers.forget(name)

    def describe(self, spec: ModelSpec, folder: Path) -> None:
        if spec.mode == "lora":
            named = targets.names(self._causal, spec)
            self._library.write_adapter_config(spec, named, str(self._folder), folder)
        else:
            shutil.copy(self._folder / "config.json", folder)

    def write_merged(self, spec: ModelSpec, weights: Weights, folder: Path) -> None:
        causal = structural_copy(self._causal)
        whole = merged_weights(self._base_weights(), spec, weights)
        Body(causal, lambda ids: ids, causal, dict(causal.named_parameters())).use(whole)
        self._library.write_model(causal, folder)
        for name in _TOKENIZER_FILES:
            if (self._folder / name).is_file():
                shutil.copy(self._folder / name, folder)
