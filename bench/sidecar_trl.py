"""TRL's GRPOTrainer on given rows: its generation is replaced by them, everything after it runs as written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from sidecar_work import ALPHA, HIGH, LEARNING_RATE, LOW, RANK

LIGER_KERNELS = ("rope", "rms_norm", "swiglu", "cross_entropy", "fused_linear_cross_entropy")
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def padded(rows: list[list[float]], left: bool, kind: torch.dtype = torch.long) -> torch.Tensor:
    length = max(map(len, rows))
    pads = [[0] * (length - len(row)) for row in rows]
    return torch.tensor([p + r if left else r + p for p, r in zip(pads, rows)], dtype=kind)


def trl_batch(rows: list[dict]) -> dict[str, torch.Tensor]:
    """What `_generate_and_score_completions` gives for these rows."""
    prompts = [row["ids"][: row["prompt"]] for row in rows]
    completions = [row["ids"][row["prompt"] :] for row in rows]
    return {
        "prompt_ids": padded(prompts, left=True),
        "prompt_mask": padded([[1] * len(ids) for ids in prompts], left=True),
        "completion_ids": padded(completions, left=False),
        "completion_mask": padded([[1] * len(ids) for ids in completions], left=False),
        "tool_mask": padded([row["drawn"] for row in rows], left=False),
        "advantages": torch.tensor([row["advantage"] for row in rows]),
        "old_per_token_logps": padded([row["old"] for row in rows], False, torch.float32),
        "num_items_in_batch": torch.tensor(sum(sum(row["drawn"]) for row in rows)),
    }


class Clock(TrainerCallback):
    """Tells when every step begins and ends."""

    def __init__(self, begin: Callable[[], None], end: Callable[[], None]) -> None:
        self.begin, self.end = begin, end

    def on_step_begin(self, *_, **__) -> None:
        self.begin()

    def on_step_end(self, *_, **__) -> None:
        self.end()


def trl_trainer(
    folder: Path, home: Path, given: Callable[[], list[dict]], settings: dict, clock: Clock
) -> GRPOTrainer:
    """A GRPOTrainer whose every step is the rows then given: `at_once` of them in a forward."""
    count, at_once = settings["rows"], settings.get("at_once", settings["rows"])
    args = GRPOConfig(
        output_dir=str(home / "trl"),
        use_cpu=True,
        bf16=False,
        report_to="none",
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        per_device_train_batch_size=at_once,
        gradient_accumulation_steps=count // at_once,
        num_generations=min(4, count),
        gradient_checkpointing=settings.get("checkpointing", True),
        use_liger_kernel=settings.get("liger", False),
        # Only Liger's loss, which torch computes: its other kernels are Triton's and need a GPU.
        liger_kernel_config=dict.fromkeys(LIGER_KERNELS, False),
        max_completion_length=4096,
        max_steps=settings["steps"],
        learning_rate=LEARNING_RATE,
        lr_scheduler_type="constant",
        max_grad_norm=1.0,
        loss_type="dapo",
        epsilon=LOW,
        epsilon_high=HIGH,
    )
    targets = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, task_type="CAUSAL_LM")
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32),
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=args,
        train_dataset=Dataset.from_dict({"prompt": ["a"] * 64}),
        processing_class=AutoTokenizer.from_pretrained(folder),
        peft_config=targets if settings["lora"] else None,
        callbacks=[clock],
    )
    trainer._generate_and_score_completions = lambda _: trl_batch(given())
    return trainer
