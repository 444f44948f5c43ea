"""Decoders: modules that read slots, with one snapshot's weights in place at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from .blocks import Blocks, known, merges
from .decoder import Decoder, Trunk
from .engine import EngineError, ModelSpec
from .fused import merged
from .slots import KeyShape, SlotBatch, Slots
from .threads import Threads
from .weights import Body, Weights

_UNKNOWN = "This architecture has an attention that sampling here does not know"
# Merged weights kept beside those of the last two snapshots drawn from, each the size of what LoRA is on.
_KEPT_BYTES = 1 << 30


def with_merged(base: Weights, spec: ModelSpec | None, weights: Mapping[str, Tensor]) -> Weights:
    """A whole model's weights, LoRA merged into them: W + alpha / rank B A."""
    if spec is None or spec.mode == "full":
        return {**base, **weights}
    dense = dict(base)
    for name, down in weights.items():
        if ".lora_A." not in name:
            continue
        target = name.removeprefix("base_model.model.").replace(".lora_A.weight", ".weight")
        up = weights[name.replace("lora_A", "lora_B")]
        whole = merged(base[target].to(down.dtype), down, up, spec.alpha / spec.rank)
        dense[target] = whole.to(base[target].dtype)
    return dense


def key_shape(causal: nn.Module) -> KeyShape:
    """What a token's keys take in every layer of a model."""
    config = causal.config.get_text_config()
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return KeyShape(config.num_hidden_layers, heads, width)


def library_trunk(causal: nn.Module) -> Trunk:
    """The library's own forward pass, reading slots by `slots.slot_attention`."""
    trunk = getattr(causal, causal.base_model_prefix)

    def read(ids: Tensor, positions: Tensor, batch: SlotBatch) -> Tensor:
        # Four dimensions pass for a mask that is ready: the slots have their own.
        ready = torch.zeros((1, 1, 1, 1), device=ids.device)
        return trunk(
            input_ids=ids,
            position_ids=positions,
            attention_mask=ready,
            past_key_values=batch,
            use_cache=True,
            slot_batch=batch,
        )[0]

    return read


class Readers:
    """Where LoRA is merged one module serves all snapshots; where it is not, one for each shape of adapter."""

    def __init__(
        self,
        base: Weights,
        threads: Threads,
        plain: Callable[[], nn.Module],
        adapted: Callable[[ModelSpec], tuple[nn.Module, Mapping[str, nn.Parameter]]],
    ) -> None:
        self._base = base
        self._threads = threads
        self._plain = plain
        self._adapted = adapted
        some = next(iter(base.values()))
        self._dtype, self._device = some.dtype, some.device
        self._merges = merges(some)
        self._made: dict[tuple, tuple[Body, Decoder]] = {}
        self._merged: OrderedDict[str, Weights] = OrderedDict()

    def decoder(self, name: str, spec: ModelSpec | None, weights: Weights) -> Decoder:
        """A decoder with these weights in place, for the snapshot of this name."""
        adapter = spec if spec is not None and spec.mode == "lora" and not self._merges else None
        body, decoder = self._reader(adapter)
        body.use(weights if adapter is not None else self._whole(name, spec, weights))
        return decoder

    def forget(self, name: str) -> None:
        self._merged.pop(name, None)

    def _whole(self, name: str, spec: ModelSpec | None, weights: Weights) -> Weights:
        if name not in self._merged:
            self._merged[name] = with_merged(self._base, spec, weights)
            each = sum(one.nbytes for one in self._base.values())
            while len(self._merged) > max(2, _KEPT_BYTES // each):
                self._merged.popitem(last=False)
        self._merged.move_to_end(name)
        return self._merged[name]

    def _reader(self, adapter: ModelSpec | None) -> tuple[Body, Decoder]:
        key = () if adapter is None else (adapter.rank, adapter.alpha, *_targets(adapter))
        if key not in self._made:
            if adapter is None:
                causal = self._plain()
                parameters = dict(causal.named_parameters())
            else:
                causal, parameters = self._adapted(adapter)
            head = causal.get_output_embeddings()
            trunk = Blocks(causal).read if known(causal) else library_trunk(causal)
            decoder = Decoder(
                trunk, head, key_shape(causal), self._dtype, self._device, self._threads
            )
            self._made[key] = Body(causal, _not_trained, head, parameters), decoder
        return self._made[key]


def _targets(spec: ModelSpec) -> tuple[bool, ...]:
    return spec.train_attn, spec.train_mlp, spec.train_unembed


def _not_trained(_: Tensor) -> Tensor:
    raise RuntimeError("This body reads slots only")


@torch.inference_mode()
def read_in_parts(decoder: Decoder, ids: Tensor) -> Tensor:
    """Hidden states of some sequences, each read by slots as a prompt, then a token, then the rest.
    @raises EngineError where the model cannot be read so"""
    slots = Slots(decoder.keys, decoder.dtype, decoder.device)
    slots.reserve(*ids.shape)
    parts = []
    try:
        for start, stop in ((0, 9), (9, 10), (10, ids.shape[1])):
            positions = torch.arange(start, stop, device=decoder.device).expand(len(ids), -1)
            batch = SlotBatch(slots, 0, positions, stop)
            parts.append(decoder.hidden(ids[:, start:stop], batch))
    except (RuntimeError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise EngineError(f"{_UNKNOWN}: {error}") from error
    return torch.cat(parts, 1)


Whole = Callable[[Tensor], Tensor]


@torch.inference_mode()
def check_reading(decoder: Decoder, library: Whole, own: Whole | None, vocabulary: int) -> bool:
    """Whether hidden states read by slots beside others are to the bit those that training by `own` has alone.
    @raises EngineError where they are not even near those of the library"""
    ids = (torch.arange(1, 61, device=decoder.device) * 7 % vocabulary).view(3, 20)
    parts = read_in_parts(decoder, ids)
    whole = library(ids)
    gap = (parts - whole).abs().max().item()
    bound = (0.2 if decoder.dtype == torch.bfloat16 else 1e-3) * whole.abs().max().item()
    if not gap <= bound:
        raise EngineError(f"{_UNKNOWN}: hidden states are {gap} apart")
    return own is not None and torch.equal(parts[1:2], own(ids[1:2]))
