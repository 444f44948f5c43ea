"""Tiny random models of every causal architecture of the installed transformers, and what the engine makes of them.

`python test/python/architectures.py [TYPE...]` prints the table of docs/sidecar-architectures.md; all take two minutes.
"""

import contextlib
import io
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from engine_harness import drain, fresh_folder, make_tokenizer, open_tiny  # isort: split

import numpy as np
import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from bedside_trainers.engines.engine import Datum, EngineError, LossSpec, ModelSpec, SampleJob

# Sizes by the name of a config's number; the first pattern that matches the whole name decides.
SIZES = tuple(
    (re.compile(pattern), size)
    for pattern, size in (
        (r"(encoder_)?vocab_size(_per_layer_input)?|entity_vocab_size|text_vocab_size", 320),
        (r"(pad|bos|eos|sep|cls|mask|decoder_start|image|audio|video|boi|eoi|boa|eoa)_token_id|.*_token_(id|index)", 0),
        (r"max_position_embeddings|n_positions|n_ctx|max_seq_len|max_target_positions|context_length", 256),
        (r"num_hidden_layers|n_layers?|num_layers|num_decoder_layers|(en|de)coder_layers|encoder_num_hidden_layers", 2),
        (r"num_key_value_heads|num_kv_heads|num_global_key_value_heads", 2),
        (r".*n(um)?_?(attention_)?heads?|(en|de)coder_attention_heads|num_mamba_heads|mamba_n_heads", 4),
        (r"head_dim|dim_head|d_kv|global_head_dim|(qk_(nope|rope)|v|index|swa|linear_(key|value))_head_dim|mamba_d_head", 16),
        (r"qk_head_dim", 32),
        (r"rotary_dim", 8),
        (r"hidden_size|d_model|n_embd|embedding_size|word_embed_proj_dim|dim|lru_width|backbone_hidden_size", 64),
        (r"hidden_size_per_layer_input", 16),
        (r"(.*_)?intermediate_size|(en|de)coder_ffn_dim|ffn_dim|n_inner|dim_ff|dff|ffn_hidden_size|.*_expansion_dim", 96),
        (r".*lora_rank|gated_norm_rank|altup_.*rank|laurel_rank|time_step_rank", 16),
        (r"n_routed_experts|num_(local_)?experts|moe_num_experts|zero_expert_num", 4),
        (r"num_experts_per_tok|moe_topk|moe_k|num_selected_experts|top_k_experts", 2),
        (r"n_group|topk_group|n_groups|mamba_n_groups|mamba_ngroups", 1),
        (r"index_topk", 64),
        (r"sliding_window|window_size|attention_chunk_size|local_attention", 16),
    )
)  # fmt: skip
# Scales and caps of logits, all of them alive.
LOGITS = {"logits_scaling": 4.0, "logit_scale": 0.25, "lm_head_multiplier": 0.5, "output_multiplier": 0.5}
CAPS = ("final_logit_softcapping", "logits_soft_cap")
# Most nats between a served model's log-probs and its own.
BOUND = 1e-5
MOST_PARAMETERS = 20_000_000


def shrunk(numbers: dict) -> dict:
    """Tiny values for the numbers of a config; its parts, which are configs too, included."""
    small = {}
    for name, value in numbers.items():
        if isinstance(value, dict) and "model_type" in value:
            small[name] = {**shrunk(value), "model_type": value["model_type"]}
        elif value is None and name in ("num_key_value_heads", "head_dim"):
            small[name] = {"num_key_value_heads": 2, "head_dim": 16}[name]
        elif name in LOGITS:
            small[name] = LOGITS[name]
        elif name in CAPS:
            small[name] = 6.0
        elif name.endswith("_multiplier") and value == 1 and isinstance(value, float):
            small[name] = 0.7
        elif name == "is_decoder":
            small[name] = True
        elif name == "attn_logit_softcapping":
            small[name] = 2.0
        elif isinstance(value, int) and not isinstance(value, bool):
            size = next((size for pattern, size in SIZES if pattern.fullmatch(name)), None)
            if size is not None:
                small[name] = min(value, size) if value > 0 else value
    return small


# What a type needs besides, where its numbers depend on each other.
MORE = {
    "bamba": {"mamba_n_heads": 8},
    "dots1": {"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2, "first_k_dense_replace": 1},
    "falcon_h1": {"mamba_d_ssm": 64, "mamba_d_head": 16},
    "cohere_compass_text": {"rope_parameters": {
        kind: {"rope_type": "default", "rope_theta": 1e4} for kind in ("full_attention", "sliding_attention")}},
    "gemma3n_text": {"num_kv_shared_layers": 0, "layer_types": ["full_attention", "sliding_attention"]},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "granitemoehybrid": {"mamba_n_heads": 8},
    "inkling_text": {"swa_num_key_value_heads": 2},
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "mamba2": {"num_heads": 8},
    "reformer": {"axial_pos_embds_dim": [16, 48], "axial_pos_shape": [16, 16]},
    "zamba": {"num_hidden_layers": 3, "layers_block_type": ["linear_attention", "hybrid", "linear_attention"]},
    "zamba2": {"num_hidden_layers": 2, "layers_block_type": ["linear_attention", "hybrid"]},
}  # fmt: skip


# Latent attention has as many heads of keys as of queries.
MORE |= {
    kind: {"num_key_value_heads": 4}
    for kind in (
        "axk1", "axk2", "deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe_lite", "glm_moe_dsa",
        "longcat_flash", "minicpm3", "youtu",
    )
}  # fmt: skip


def tiny_config(kind: str):
    """A config of one model type in which everything is small."""
    whole = AutoConfig.for_model(kind)
    small = {"tie_word_embeddings": False, **shrunk(whole.to_dict()), **MORE.get(kind, {})}
    return type(whole)(**small)


def make_architecture(kind: str, folder: Path) -> int:
    """Writes a tiny random model of a type into a folder; returns its number of parameters.
    @raises an error of the library's own for a type that these sizes do not suit"""
    config = tiny_config(kind)
    with torch.device("meta"):
        count = sum(one.numel() for one in AutoModelForCausalLM.from_config(config).parameters())
    if count > MOST_PARAMETERS:
        raise ValueError(f"{count:,} parameters at the smallest")
    torch.manual_seed(0)
    causal = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for parameter in causal.parameters():
            # Every part has a say: matrices as large as trained ones, biases and norms off their 0 and 1.
            parameter.mul_(4) if parameter.ndim > 1 else parameter.add_(0.1 * torch.randn_like(parameter))
        # Logits as large as a trained model's: float32 then leaves less than 1e-5 of them open.
        logits = causal.eval()(input_ids=torch.arange(3, 103)[None], use_cache=False).logits
        if causal.get_output_embeddings() is not None:
            causal.get_output_embeddings().weight.mul_(min(1.0, 6 / logits.abs().max().item()))
    causal.save_pretrained(folder)
    return count


@dataclass(frozen=True)
class Judged:
    """One model type: `gap` in nats of a served one, else why it was refused, or could not be made tiny."""

    kind: str
    parameters: int = 0
    gap: float | None = None
    refused: str | None = None
    not_made: str | None = None


@torch.inference_mode()
def own_logprobs(folder: Path, ids: np.ndarray) -> np.ndarray:
    """Log-probs of every token but the first by the library's causal model itself."""
    causal = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    logits = causal(input_ids=torch.from_numpy(ids)[None], use_cache=False).logits[0, :-1]
    return logits.log_softmax(-1).gather(1, torch.from_numpy(ids[1:])[:, None])[:, 0].numpy()


def judge(kind: str) -> Judged:
    """Makes a tiny model of a type, opens it, and compares log-probs of training and of sampling with the model's own."""
    folder = fresh_folder()
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            parameters = make_architecture(kind, folder)
    except Exception as error:  # Whatever a type's own code raises for these sizes.
        return Judged(kind, not_made=f"cannot be made tiny: {type(error).__name__}")
    make_tokenizer(folder)
    try:
        engine = open_tiny(folder, context_length=128)
        engine.create("m", ModelSpec(mode="full"))
    except EngineError as error:
        return Judged(kind, parameters, refused=str(error))
    engine.snapshot("m", "s")
    ids = np.random.default_rng(0).integers(3, 300, 100)
    expected = own_logprobs(folder, ids)
    data = [Datum(ids[:-1], {"target_tokens": ids[1:]})]
    trained = engine.forward("m", data, LossSpec("cross_entropy")).outputs[0]["logprobs"]
    engine.submit(SampleJob(0, "s", ids.tolist(), 1, prompt_logprobs=True))
    sampled = drain(engine)[0].prompt_logprobs[1:]
    gap = max(np.abs(trained - expected).max(), np.abs(sampled - expected).max())
    shutil.rmtree(folder)
    return Judged(kind, parameters, gap=float(gap))


def described(found: Judged) -> str:
    """A row of the table."""
    gap = "" if found.gap is None else f"{found.gap:.0e}"
    reason = re.sub(r"\S*/(\S+)", "FOLDER", found.refused or found.not_made or "")
    reason = re.split(r" yet. Please request|\.\s+Model type should|: configuration_", reason)[0]
    reason = reason.removeprefix("Could not load FOLDER as a causal language model: ")
    return f"| `{found.kind}` | {gap} | {' '.join(reason[:160].split()).replace('|', '/')} |"


def main() -> None:
    """Prints a Markdown table of the types named, of all without names; exits with 1 if one is silently wrong."""
    transformers.utils.logging.set_verbosity_error()
    judged = [judge(kind) for kind in sys.argv[1:] or MODEL_FOR_CAUSAL_LM_MAPPING_NAMES]
    print("| type | gap, nats | not served because |\n|---|---|---|")
    print("\n".join(map(described, judged)))
    sys.exit(any(found.gap is not None and not found.gap <= BOUND for found in judged))


if __name__ == "__main__":
    main()
