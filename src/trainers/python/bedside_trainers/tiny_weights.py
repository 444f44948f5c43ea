"""Random weights and configuration of a small Qwen3 model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .tiny_tokenizer import CONTROLS, END_OF_TEXT, END_OF_TURN, TAGS, TinyModelError


@dataclass(frozen=True)
class Shape:
    """Sizes of the model; `init_range` is the standard deviation of its initial weights."""

    vocab: int = 2048
    layers: int = 2
    width: int = 128
    hidden: int = 384
    heads: int = 4
    kv_heads: int = 2
    context: int = 1024
    init_range: float = 0.12
    tied: bool = True

    def check(self) -> None:
        """Checks that the sizes fit together. @raises TinyModelError"""
        for name in ["vocab", "layers", "width", "hidden", "heads", "kv_heads", "context"]:
            if getattr(self, name) < 1:
                raise TinyModelError(f"Expected {name} of at least 1, got {getattr(self, name)}")
        if not 0 < self.init_range < math.inf:
            raise TinyModelError(f"Expected init-range above 0, got {self.init_range}")
        if self.width % (2 * self.heads) != 0:
            raise TinyModelError(
                f"Expected a width that {self.heads} heads share in even parts, got {self.width}"
            )
        if self.heads % self.kv_heads != 0:
            raise TinyModelError(
                f"Expected kv-heads that divide {self.heads} heads, got {self.kv_heads}"
            )
        least = 256 + len(CONTROLS) + len(TAGS)
        if self.vocab < least:
            raise TinyModelError(
                f"Expected a vocab of at least {least}, all bytes and controls, got {self.vocab}"
            )


def weights(shape: Shape, vocab: int, seed: int) -> dict[str, np.ndarray]:
    """Random weights by Qwen3 name; projections into the residual stream are scaled by 1 / sqrt(2 layers)."""
    generator = np.random.Generator(np.random.PCG64(seed))
    head = shape.width // shape.heads
    out: dict[str, np.ndarray] = {}

    def normal(name: str, rows: int, columns: int, scale: float = 1.0) -> None:
        values = generator.standard_normal((rows, columns), dtype=np.float32)
        out[f"{name}.weight"] = values * np.float32(scale * shape.init_range)

    def ones(name: str, size: int) -> None:
        out[f"{name}.weight"] = np.ones(size, dtype=np.float32)

    residual = 1 / math.sqrt(2 * shape.layers)
    normal("model.embed_tokens", vocab, shape.width)
    for layer in range(shape.layers):
        at = f"model.layers.{layer}"
        ones(f"{at}.input_layernorm", shape.width)
        normal(f"{at}.self_attn.q_proj", shape.heads * head, shape.width)
        normal(f"{at}.self_attn.k_proj", shape.kv_heads * head, shape.width)
        normal(f"{at}.self_attn.v_proj", shape.kv_heads * head, shape.width)
        normal(f"{at}.self_attn.o_proj", shape.width, shape.heads * head, residual)
        ones(f"{at}.self_attn.q_norm", head)
        ones(f"{at}.self_attn.k_norm", head)
        ones(f"{at}.post_attention_layernorm", shape.width)
        normal(f"{at}.mlp.gate_proj", shape.hidden, shape.width)
        normal(f"{at}.mlp.up_proj", shape.hidden, shape.width)
        normal(f"{at}.mlp.down_proj", shape.width, shape.hidden, residual)
    ones("model.norm", shape.width)
    if not shape.tied:
        normal("lm_head", vocab, shape.width)
    return out


def model_config(shape: Shape, vocab: int, ids: Mapping[str, int]) -> dict[str, object]:
    """Contents of config.json."""
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": None,
        "dtype": "float32",
        "eos_token_id": ids[END_OF_TURN],
        "head_dim": shape.width // shape.heads,
        "hidden_act": "silu",
        "hidden_size": shape.width,
        "initializer_range": shape.init_range,
        "intermediate_size": shape.hidden,
        "max_position_embeddings": shape.context,
        "num_attention_heads": shape.heads,
        "num_hidden_layers": shape.layers,
        "num_key_value_heads": shape.kv_heads,
        "pad_token_id": ids[END_OF_TEXT],
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"},
        "tie_word_embeddings": shape.tied,
        "use_cache": True,
        "vocab_size": vocab,
    }
