"""Runs TRL's GRPOTrainer methods on the shared inputs and writes trl.json.

.venvs/trl/bin/python test/golden/generate-trl.py

TRL has no pure loss functions. One CPU trainer is built around a tiny random model; its
`_get_per_token_logps_and_entropies`, `_generate` and `_calculate_rewards` are replaced by the
fixed inputs, so `_compute_loss` and `_generate_and_score_completions` run as written.
"""

import math
import os
import platform
import tempfile
from importlib.metadata import version
from pathlib import Path

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

import inputs

HERE = Path(__file__).parent
BATCHES = inputs.batches()
MAX_COMPLETION = 16
cases = []


def make_trainer():
    words = {word: index for index, word in enumerate(["<pad>", "<eos>", "a", "b", "c"])}
    core = Tokenizer(models.WordLevel(words, unk_token="a"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="<eos>")
    config = Qwen2Config(vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1,
                         num_attention_heads=1, num_key_value_heads=1, pad_token_id=0, eos_token_id=1)
    args = GRPOConfig(output_dir=tempfile.mkdtemp(), use_cpu=True, bf16=False, report_to="none",
                      per_device_train_batch_size=4, num_generations=4,
                      max_completion_length=MAX_COMPLETION)
    return GRPOTrainer(model=Qwen2ForCausalLM(config), reward_funcs=[zero, zero], args=args,
                       train_dataset=Dataset.from_dict({"prompt": ["a b"] * 8}),
                       processing_class=tokenizer)


def zero(completions, **columns):
    return [0.0] * len(completions)


DEFAULTS = {
    "loss_type": "dapo", "importance_sampling_level": "token", "epsilon_low": 0.2, "epsilon_high": 0.2,
    "delta": None, "beta": 0.0, "use_bias_correction_kl": True, "sapo_temperature_pos": 1.0,
    "sapo_temperature_neg": 1.05, "vespo_k_pos": 2.0, "vespo_lambda_pos": 3.0, "vespo_k_neg": 3.0,
    "vespo_lambda_neg": 2.0, "off_policy_mask_threshold": None,
    "current_gradient_accumulation_steps": 1, "steps_per_generation": 1,
    "max_completion_length": MAX_COMPLETION, "entropy_coef": 0.0,
}
OF_ARGS = ["delta", "use_bias_correction_kl", "sapo_temperature_pos", "sapo_temperature_neg",
           "vespo_k_pos", "vespo_lambda_pos", "vespo_k_neg", "vespo_lambda_neg", "steps_per_generation"]


def check_defaults():
    """The constants above are TRL's own, apart from the three sizes."""
    fresh = GRPOConfig(output_dir=tempfile.mkdtemp(), use_cpu=True, bf16=False)
    sizes = ["current_gradient_accumulation_steps", "steps_per_generation", "max_completion_length"]
    for name, value in DEFAULTS.items():
        own = {"epsilon_low": "epsilon", "epsilon_high": "epsilon"}.get(name, name)
        if name not in sizes:
            assert getattr(fresh, own) == value, (name, getattr(fresh, own), value)
    assert fresh.use_adaptive_entropy is False and fresh.top_entropy_quantile == 1.0
    assert fresh.epsilon_high is None and fresh.scale_rewards == "group"
    assert fresh.vllm_importance_sampling_mode == "sequence_mask"
    assert fresh.vllm_importance_sampling_clip_max == 3.0
    assert fresh.vllm_importance_sampling_clip_min is None


check_defaults()  # before the trainer: a second GRPOConfig resets accelerate's state
trainer = make_trainer()
torch.set_default_dtype(torch.float64)


def configure(options):
    config = {**DEFAULTS, **options}
    for name, value in config.items():
        setattr(trainer.args if name in OF_ARGS else trainer, name, value)
    return config


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def add(name, kind, function, batch, config, outputs, given=None):
    cases.append({
        "name": name, "kind": kind, "function": f"GRPOTrainer.{function}", "dtype": "float64",
        "batch": batch, "config": config, "inputs": given or {}, "outputs": outputs,
    })


# --- losses ---


def loss_and_gradient(batch, items, extra=None):
    data = BATCHES[batch]
    log_prob = tensor(data["log_prob"]).requires_grad_()
    mask = torch.tensor(data["response_mask"])
    # Stands for the entropies: any numbers above 0 do, and these have no gradient of their own.
    entropies = -tensor(data["old_log_prob"])
    trainer._entropy_bonus_enabled = trainer.entropy_coef != 0.0
    trainer._get_per_token_logps_and_entropies = lambda *a, **k: (log_prob, entropies, None)
    rows = len(mask)
    batch_inputs = {
        "prompt_ids": torch.full((rows, 1), 2), "prompt_mask": torch.ones(rows, 1, dtype=torch.long),
        "completion_ids": torch.full(mask.shape, 2), "completion_mask": mask,
        "advantages": tensor(data["advantage"]), "old_per_token_logps": tensor(data["old_log_prob"]),
        "ref_per_token_logps": tensor(data["ref_log_prob"]),
        "sampling_per_token_logps": tensor(data["rollout_log_prob"]),
        "num_items_in_batch": torch.tensor(items), **(extra or {}),
    }
    value = trainer._compute_loss(trainer.model, batch_inputs)
    value.backward()
    return {"loss": value.item(), "gradient": log_prob.grad}


def loss(kind, batch, options=None, label="", items=None):
    config = configure({"loss_type": kind, **(options or {})})
    tokens = sum(map(sum, BATCHES[batch]["response_mask"])) if items is None else items
    name = "/".join(part for part in ["loss", kind, batch, label] if part)
    add(name, "loss", "_compute_loss", batch, {**config, "num_items_in_batch": tokens},
        loss_and_gradient(batch, tokens))


def losses():
    kinds = ["grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo", "luspo", "vespo"]
    for kind in kinds:
        loss(kind, "ragged")
        loss(kind, "on-policy")
    for kind in ["grpo", "dapo"]:
        loss(kind, "aborted")
        loss(kind, "ragged", {"epsilon_high": 0.28}, "clip-higher")
        loss(kind, "ragged", {"delta": 3.0}, "delta=3")
    for kind in ["dapo", "dr_grpo", "cispo"]:
        loss(kind, "ragged", {"current_gradient_accumulation_steps": 2, "steps_per_generation": 4},
             "accumulation=2,steps=4", items=240)
    for kind in ["grpo", "sapo", "dapo", "luspo"]:
        loss(kind, "ragged", {"importance_sampling_level": "sequence"}, "sequence")
    loss("grpo", "aborted", {"importance_sampling_level": "sequence"}, "sequence")
    tight = {"importance_sampling_level": "sequence", "epsilon_low": 3e-4, "epsilon_high": 4e-4}
    loss("grpo", "ragged", tight, "sequence-tight")
    loss("cispo", "ragged", {"epsilon_high": 5.0}, "epsilon_high=5")
    loss("cispo", "ragged", {"epsilon_high": 1.2}, "epsilon_high=1.2")
    loss("sapo", "ragged", {"sapo_temperature_pos": 2.0, "sapo_temperature_neg": 3.0}, "hot")
    for correct in [True, False]:
        label = "kl-corrected" if correct else "kl-plain"
        loss("dapo", "ragged", {"beta": 0.1, "use_bias_correction_kl": correct}, label)
    loss("dapo", "extreme")
    loss("grpo", "extreme", {"importance_sampling_level": "sequence"}, "sequence")
    loss("dapo", "extreme", {"beta": 0.1, "use_bias_correction_kl": False}, "kl-plain")
    loss("grpo", "ragged", {"off_policy_mask_threshold": 0.05}, "off-policy-mask")
    for kind in ["dapo", "luspo"]:
        sequence = {"importance_sampling_level": "sequence"} if kind == "luspo" else {}
        loss(kind, "ragged", {"off_policy_mask_threshold": 0.05, **sequence}, "off-policy-mask")
    for kind in ["grpo", "dapo", "dr_grpo"]:
        loss(kind, "ragged", {"entropy_coef": 0.05}, "entropy")
    loss("grpo", "aborted", {"entropy_coef": 0.05}, "entropy")
    loss("dr_grpo", "aborted")
    dual = {"importance_sampling_level": "sequence", "delta": 1.3}
    loss("grpo", "ragged", dual, "sequence-delta=1.3")
    loss("luspo", "ragged", dual, "sequence-delta=1.3")
    loss("grpo", "ragged", {"beta": 0.1}, "kl-corrected")


# --- advantages ---


def score(batch, options, components=None, old=None):
    """Runs _generate_and_score_completions with the batch in place of generation and rewards."""
    data = BATCHES[batch]
    masks = data["response_mask"]
    lengths = [max((t for t, bit in enumerate(mask) if bit), default=len(mask) - 1) + 1 for mask in masks]
    sampled = data.get("rollout_log_prob", [[0.0] * len(mask) for mask in masks])
    rows = len(masks)
    trainer._generate = lambda prompts: (
        [[2]] * rows, [[2] * length for length in lengths],
        [mask[:length] for mask, length in zip(masks, lengths)], ["a"] * rows,
        [row[:length] for row, length in zip(sampled, lengths)] if trainer.use_vllm else None,
        {}, None, None)
    rewards = components if components is not None else [[value, 0.0] for value in data["reward"]]
    filled = tensor([[math.nan if value is None else value for value in row] for row in rewards])
    trainer._calculate_rewards = lambda *a, **k: filled
    trainer._get_per_token_logps_and_entropies = lambda *a, **k: (
        tensor(old) if old is not None else tensor(sampled), None, None)
    for name, value in options.items():
        setattr(trainer, name, tensor(value) if name == "reward_weights" else value)
    return trainer._generate_and_score_completions([{"prompt": "a"}] * rows)


def advantage(label, options, components=None, training=True):
    data = BATCHES["even"]
    config = {"scale_rewards": "group", "multi_objective_aggregation": "sum_then_normalize",
              "num_generations": 4, "reward_weights": [1.0, 1.0], **options}
    trainer.model.train(training)
    configure({})
    result = score("even", {**config, "use_vllm": False, "num_generations_eval": config["num_generations"]},
                   components)
    trainer.model.train()
    rewards = components or [[value, 0.0] for value in data["reward"]]
    add(f"advantage/{label}", "advantage", "_generate_and_score_completions", "even", config,
        {"advantages": result["advantages"], "num_items_in_batch": result["num_items_in_batch"].item()},
        given={"rewards_per_function": rewards})


def advantages():
    data = BATCHES["even"]
    both = [list(pair) for pair in zip(data["reward"], data["second_reward"])]
    for scale in ["group", "batch", "none"]:
        advantage(f"even/{scale}", {"scale_rewards": scale})
        gaps = [list(row) for row in both]
        gaps[1] = [None, None]
        gaps[9] = [None, 0.5]
        advantage(f"even-unscorable/{scale}", {"scale_rewards": scale}, gaps)
    singleton = {"scale_rewards": "group", "num_generations": 1}
    advantage("even-singletons/group", singleton, training=False)
    for weights in [[1.0, 1.0], [1.0, 0.5]]:
        for way in ["sum_then_normalize", "normalize_then_sum"]:
            options = {"multi_objective_aggregation": way, "reward_weights": weights}
            advantage(f"even-two/{way}/weights={weights[0]},{weights[1]}", options, both)


# --- rollout correction ---


def correction(batch, mode, low=None, high=3.0, kind="dapo"):
    data = BATCHES[batch]
    options = {"vllm_importance_sampling_mode": mode, "vllm_importance_sampling_clip_min": low,
               "vllm_importance_sampling_clip_max": high}
    config = configure({"loss_type": kind})
    rows = len(data["response_mask"])
    scored = score(batch, {**options, "use_vllm": True, "vllm_importance_sampling_correction": True,
                           "num_generations": rows, "scale_rewards": "group",
                           "multi_objective_aggregation": "sum_then_normalize",
                           "reward_weights": [1.0, 1.0]}, old=data["old_log_prob"])
    ratio = scored["importance_sampling_ratio"]
    items = scored["num_items_in_batch"].item()
    result = loss_and_gradient(batch, items, {"importance_sampling_ratio": ratio})
    trainer.use_vllm = False
    bounds = f"{low},{high}"
    add(f"correction/{batch}/{mode}/{bounds}/{kind}", "correction",
        "_generate_and_score_completions, _compute_loss", batch,
        {**config, **options, "num_items_in_batch": items}, {"ratio": ratio, **result})


def corrections():
    for mode in ["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"]:
        correction("ragged", mode)
        correction("ragged", mode, 0.5, 2.0)
    correction("ragged", "sequence_mask", kind="grpo")
    correction("aborted", "sequence_mask")


losses()
advantages()
corrections()
head = {
    "source": "trl",
    "commit": None,
    "versions": {name: version(name) for name in ["trl", "torch", "transformers", "accelerate"]}
    | {"python": platform.python_version()},
}
inputs.write(HERE / "trl.json", head, cases)
