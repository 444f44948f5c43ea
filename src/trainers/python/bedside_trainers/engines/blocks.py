"""Own forward pass of Llama-like models over transformers' modules, shared by training and sampling."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from . import fused
from .attention import causal_attention
from .slots import SlotBatch, attend_slots

# Model families with pre-norm attention, rotary positions and a gated SiLU.
FAMILIES = frozenset({"llama", "mistral", "qwen2", "qwen3"})

# Types of rotary angles that do not depend on the sequence's length.
_STATIC = frozenset({"default", "linear", "llama3", "yarn"})

# From a layer's number and its queries (batch, length, heads, width), keys and values to (batch, length, heads, width).
Attention = Callable[[int, Tensor, Tensor, Tensor], Tensor]


def is_supported(causal: nn.Module) -> bool:
    """Whether this module implements a model's forward pass, with all of its config switches."""
    config = causal.config
    if config.model_type not in FAMILIES or config.hidden_act != "silu":
        return False
    windows = "sliding_attention" in (getattr(config, "layer_types", None) or ())
    windowed = getattr(config, "sliding_window", None) is not None and (
        windows or config.model_type == "mistral"
    )
    rotary = (getattr(config, "rope_parameters", None) or {}).get("rope_type", "default")
    return not windowed and rotary in _STATIC and not getattr(config, "attention_dropout", 0)


def merges_lora(weight: Tensor) -> bool:
    """Whether LoRA is merged into weights of this type for every product. Below 32 bits, rounding would change the
    policy; off the CPU, the library's own layers are better."""
    return weight.dtype in (torch.float32, torch.float64) and weight.device.type == "cpu"


def _linear_weights(module: nn.Module) -> tuple[Tensor | None, ...]:
    if hasattr(module, "lora_A"):
        base, down, up = module.base_layer, module.lora_A["default"], module.lora_B["default"]
        return base.weight, base.bias, down.weight, up.weight
    return module.weight, module.bias, None, None


class Blocks:
    """Forward pass over the modules of a causal model; their parameters may be exchanged at any time."""

    def __init__(
        self, causal: nn.Module, scale: float = 0.0, *, checkpointing: bool = False
    ) -> None:
        self.checkpointing = checkpointing
        self.trunk = getattr(causal, causal.base_model_prefix)
        self.config = causal.config
        self.scale = scale
        self.width = getattr(self.config, "head_dim", None)
        self.width = self.width or self.config.hidden_size // self.config.num_attention_heads
        self.merged = merges_lora(self.trunk.embed_tokens.weight)
        self._angles: tuple[Tensor, Tensor] | None = None

    def angles(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines of every position, (…, 1, width / 2), from a cached table."""
        if self._angles is None:
            with torch.inference_mode(False):
                self._angles = self._table()
        cosines, sines = self._angles
        # Padding may lie beyond the last position.
        places = positions.clamp(max=len(cosines) - 1)
        return cosines[places][..., None, :], sines[places][..., None, :]

    def _table(self) -> tuple[Tensor, Tensor]:
        rotary, like = self.trunk.rotary_emb, self.trunk.embed_tokens.weight
        every = torch.arange(self.config.max_position_embeddings, device=like.device).float()
        turned = every[:, None] * rotary.inv_freq.to(like.device).float()
        size = getattr(rotary, "attention_scaling", 1.0)
        return (turned.cos() * size).to(like.dtype), (turned.sin() * size).to(like.dtype)

    def _norm(self, module: nn.Module, x: Tensor) -> Tensor:
        if not self.merged:
            return module(x)
        return fused.rms_norm(x, module.weight, module.variance_epsilon)

    def _project(self, x: Tensor, *modules: nn.Module) -> tuple[Tensor, ...]:
        if not self.merged:
            return tuple(module(x) for module in modules)
        return fused.project(x, self.scale, *(_linear_weights(module) for module in modules))

    def run(self, ids: Tensor, positions: Tensor, attention: Attention) -> Tensor:
        """Last hidden states of token ids (batch, length)."""
        angles = self.angles(positions)
        table = self.trunk.embed_tokens
        hidden = functional.embedding(ids, table.weight, table.padding_idx)
        for number, layer in enumerate(self.trunk.layers):
            if self.checkpointing and torch.is_grad_enabled():
                hidden = checkpoint(
                    self._layer, number, layer, hidden, angles, attention, use_reentrant=False
                )
            else:
                hidden = self._layer(number, layer, hidden, angles, attention)
        return self._norm(self.trunk.norm, hidden)

    def _layer(self, number, layer, hidden, angles, attention) -> Tensor:
        hidden = hidden + self._attention(number, layer, hidden, angles, attention)
        return hidden + self._feed_forward(layer, hidden)

    def _attention(self, number, layer, hidden, angles, attention) -> Tensor:
        own = layer.self_attn
        normed = self._norm(layer.input_layernorm, hidden)
        query, key, value = (
            one.view(*hidden.shape[:-1], -1, self.width)
            for one in self._project(normed, own.q_proj, own.k_proj, own.v_proj)
        )
        if hasattr(own, "q_norm"):
            query, key = self._norm(own.q_norm, query), self._norm(own.k_norm, key)
        query, key = fused.rotary(query, *angles), fused.rotary(key, *angles)
        out = attention(number, query, key, value).reshape(*hidden.shape[:-1], -1)
        return self._project(out, own.o_proj)[0]

    def _feed_forward(self, layer, hidden) -> Tensor:
        normed = self._norm(layer.post_attention_layernorm, hidden)
        inner = fused.gated_silu(*self._project(normed, layer.mlp.gate_proj, layer.mlp.up_proj))
        return self._project(inner, layer.mlp.down_proj)[0]

    def train(self, ids: Tensor) -> Tensor:
        """Hidden states of whole sequences, padded on the right; used in training."""
        return self.run(ids, torch.arange(ids.shape[1], device=ids.device), self._causal)

    def _causal(self, _: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return causal_attention(query, key, value, self.width**-0.5)

    def read(self, ids: Tensor, positions: Tensor, batch: SlotBatch) -> Tensor:
        """Hidden states of new tokens, which attend to their slots; used in sampling."""

        def attention(layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
            keys, values = batch.write(key, value, layer)
            return attend_slots(query.transpose(1, 2), keys, values, batch, self.width**-0.5)

        return self.run(ids, positions, attention)
