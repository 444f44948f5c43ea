"""Decoders over slots: modules for sampling that hold the weights of one snapshot at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from .blocks import Blocks, is_supported, merges_lora
from .decoder import Decoder, Trunk
from .engine import EngineError, ModelSpec
from .fused import merge_lora
from .head import scaled_logprobs
from .logits import LogitTransform
from .slots import KeyShape, SlotBatch, Slots
from .threads import Threads
from .weights import Body, Weights

_UNSUPPORTED = "This architecture is not served here"
# Rounding between two ways to compute a log-prob, as a share of the largest logit times the square root of the layers.
_ROUNDING = {torch.float32: 2e-6, torch.bfloat16: 0.02}
# Bytes for merged weights, of which those of the last two snapshots used are kept at any size.
_KEPT_BYTES = 1 << 30


def merged_weights(base: Weights, spec: ModelSpec | None, weights: Mapping[str, Tensor]) -> Weights:
    """All weights of a model with LoRA merged into them: W + alpha / rank B A."""
    if spec is None or spec.mode == "full":
        return {**base, **weights}
    dense = dict(base)
    for name, down in weights.items():
        if ".lora_A." not in name:
            continue
        target = name.removeprefix("base_model.model.").replace(".lora_A.weight", ".weight")
        up = weights[name.replace("lora_A", "lora_B")]
        whole = merge_lora(base[target].to(down.dtype), down, up, spec.alpha / spec.rank)
        dense[target] = whole.to(base[target].dtype)
    return dense


def key_shape(causal: nn.Module) -> KeyShape:
    """Shape of one token's keys in all layers of a model."""
    config = causal.config.get_text_config()
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return KeyShape(config.num_hidden_layers, heads, width)


def library_trunk(causal: nn.Module) -> Trunk:
    """Forward pass of transformers' model, which reads slots by `slots.slot_attention`."""
    trunk = getattr(causal, causal.base_model_prefix)

    def read(ids: Tensor, positions: Tensor, batch: SlotBatch) -> Tensor:
        # A four-dimensional mask is taken as prepared; the slots supply their own.
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
    """Decoders of snapshots. With merged LoRA one module serves all snapshots; otherwise one per adapter shape."""

    def __init__(
        self,
        base: Weights,
        threads: Threads,
        transform: LogitTransform,
        plain: Callable[[], nn.Module],
        adapted: Callable[[ModelSpec], tuple[nn.Module, Mapping[str, nn.Parameter]]],
    ) -> None:
        self._base = base
        self._threads = threads
        self._transform = transform
        self._plain = plain
        self._adapted = adapted
        some = next(iter(base.values()))
        self._dtype, self._device = some.dtype, some.device
        self._merges = merges_lora(some)
        self._made: dict[tuple, tuple[Body, Decoder]] = {}
        self._merged: OrderedDict[str, tuple[Weights, int]] = OrderedDict()

    def decoder(self, name: str, spec: ModelSpec | None, weights: Weights) -> Decoder:
        """A decoder with these weights, for the snapshot of this name."""
        adapter = spec if spec is not None and spec.mode == "lora" and not self._merges else None
        body, decoder = self._reader(adapter)
        body.use(weights if adapter is not None else self._full_weights(name, spec, weights))
        return decoder

    def forget(self, name: str) -> None:
        self._merged.pop(name, None)

    def merged_bytes(self) -> int:
        """Bytes of kept weights that are neither the base's nor a snapshot's own."""
        return sum(size for _, size in list(self._merged.values()))

    def _full_weights(self, name: str, spec: ModelSpec | None, weights: Weights) -> Weights:
        if name not in self._merged:
            whole = merged_weights(self._base, spec, weights)
            held = {id(one) for one in (*self._base.values(), *weights.values())}
            size = sum(one.nbytes for one in whole.values() if id(one) not in held)
            self._merged[name] = whole, size
            while len(self._merged) > 2 and self.merged_bytes() > _KEPT_BYTES:
                self._merged.popitem(last=False)
        self._merged.move_to_end(name)
        return self._merged[name][0]

    def _reader(self, adapter: ModelSpec | None) -> tuple[Body, Decoder]:
        key = () if adapter is None else (adapter.rank, adapter.alpha, *_targets(adapter))
        if key not in self._made:
            if adapter is None:
                causal = self._plain()
                parameters = dict(causal.named_parameters())
            else:
                causal, parameters = self._adapted(adapter)
            head = causal.get_output_embeddings()
            trunk = Blocks(causal).read if is_supported(causal) else library_trunk(causal)
            decoder = Decoder(
                trunk,
                head,
                self._transform,
                key_shape(causal),
                self._dtype,
                self._device,
                self._threads,
            )
            self._made[key] = Body(causal, _refuse_training, head, parameters), decoder
        return self._made[key]


def _targets(spec: ModelSpec) -> tuple[bool, ...]:
    return spec.train_attn, spec.train_mlp, spec.train_unembed


def _refuse_training(_: Tensor) -> Tensor:
    raise RuntimeError("This body reads slots only")


@torch.inference_mode()
def read_in_parts(decoder: Decoder, ids: Tensor) -> Tensor:
    """Hidden states of sequences read through slots in three parts: a prompt, one token, the rest."""
    slots = Slots(decoder.keys, decoder.dtype, decoder.device)
    slots.reserve(*ids.shape)
    parts = []
    for start, stop in ((0, 9), (9, 10), (10, ids.shape[1])):
        positions = torch.arange(start, stop, device=decoder.device).expand(len(ids), -1)
        batch = SlotBatch(slots, 0, positions, stop)
        parts.append(decoder.hidden(ids[:, start:stop], batch))
    return torch.cat(parts, 1)


TokenMap = Callable[[Tensor], Tensor]


def probe_tokens(vocabulary: int, device: torch.device) -> Tensor:
    """Token ids (3, 48) that a model is tried with when it is opened."""
    return (torch.arange(1, 145, device=device) * 7 % vocabulary).view(3, 48)


@torch.inference_mode()
def check_reading(
    kind: str, make: Callable[[], Decoder], logits: TokenMap, hidden: TokenMap, ids: Tensor
) -> tuple[bool, float]:
    """Whether hidden states read through slots in a batch are bit-identical to those of training, `hidden`, alone; and
    the largest gap, in nats, between log-probs of either and those of the model's `logits`.
    @raises EngineError, with the gap, if that is more than rounding"""
    own = logits(ids)
    expected = scaled_logprobs(own, None)
    try:
        decoder = make()
        ways = {"training": hidden(ids), "sampling": read_in_parts(decoder, ids)}
        alone = hidden(ids[1:2])
    except Exception as error:  # Code of any model: whatever it raises, the model is not served.
        raise EngineError(f"{_UNSUPPORTED} ({kind}): {error!r}") from error
    bound = _ROUNDING.get(own.dtype, 2e-6) * decoder.keys.layers**0.5
    bound *= max(1.0, own.abs().max().item())
    worst = 0.0
    for way, states in ways.items():
        logprobs = scaled_logprobs(decoder.logits(states.flatten(0, 1)), None)
        gap = (logprobs.view_as(expected) - expected).abs().max().item()
        if not gap <= bound:
            raise EngineError(
                f"{_UNSUPPORTED} ({kind}): log-probs of {way} are {gap:.2g} nats from the model's own"
            )
        worst = max(worst, gap)
    return torch.equal(ways["sampling"][1:2], alone), worst
