"""LoRA targets: the modules of a model that get LoRA."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from .engine import EngineError, ModelSpec


def tied(causal: nn.Module) -> bool:
    """Whether a model's output embeddings are its input embeddings."""
    return causal.get_output_embeddings().weight is causal.get_input_embeddings().weight


def _linear(causal: nn.Module) -> dict[str, nn.Linear]:
    head = causal.get_output_embeddings()
    return {
        name: one
        for name, one in causal.named_modules()
        if isinstance(one, nn.Linear) and one is not head
    }


def names(causal: nn.Module, spec: ModelSpec) -> list[str]:
    """Last name components of the modules that get LoRA, as PEFT's `target_modules`."""
    found = set()
    for name in _linear(causal):
        attention = any("attn" in part or "attention" in part for part in name.split("."))
        if spec.train_attn if attention else spec.train_mlp:
            found.add(name.rsplit(".", 1)[-1])
    if spec.train_unembed and spec.head == "language" and not tied(causal):
        head = causal.get_output_embeddings()
        found.update(name for name, one in causal.named_modules() if one is head)
    return sorted(found)


def check(causal: nn.Module, spec: ModelSpec) -> Sequence[str]:
    """Notes on changes to a spec. @raises EngineError for a spec that the model does not support"""
    if spec.mode == "full":
        if spec.train_attn and spec.train_mlp:
            return ()
        return ("full mode trains every weight: train_attn and train_mlp are ignored",)
    chosen = names(causal, spec)
    if not chosen:
        raise EngineError(
            "Expected LoRA on something, got train_attn, train_mlp and train_unembed that leave none"
        )
    max_rank = min(
        min(one.in_features, one.out_features)
        for name, one in causal.named_modules()
        if isinstance(one, nn.Linear) and name.rsplit(".", 1)[-1] in chosen
    )
    if not 1 <= spec.rank <= max_rank:
        raise EngineError(
            f"Expected a rank of 1 to {max_rank}, the model's smallest layer, got {spec.rank}"
        )
    if not spec.alpha > 0:
        raise EngineError(f"Expected a positive alpha, got {spec.alpha}")
    if spec.train_unembed and spec.head == "language" and tied(causal):
        return (
            "train_unembed was skipped: the embeddings are tied, and an adapter on both cannot be merged",
        )
    return ()
