"""TRL's GRPOTrainer on consultations with tools: `environment_factory` is all that joins the two.

python examples/python/trl/environment_factory.py --out runs/trl
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import small_clinic  # noqa: E402
import torch  # noqa: E402
from datasets import Dataset  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402
from trl.chat_template_utils import qwen3_template  # noqa: E402

import bedside  # noqa: E402

SYSTEM = "You are a doctor."
# Qwen's form of tool calls, without the tools' schemas in the prompt, which a model this small could not read: it knows
# the tools by imitation. A model of your own brings its own template.
TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.role == 'assistant' %}{% generation %}
{{- message.content }}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>\\n' + call.function | tojson + '\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>' }}
{%- endgeneration %}{% else %}
{{- message.content + '<|im_end|>' }}
{%- endif %}
{{- '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""


class Consulting(bedside.ToolEnvironment):
    """The environment of the trainer: its methods are the tools, and it owns the reward."""

    options = small_clinic.OPTIONS


def demonstrate(count: int, seed: int) -> list[list[dict[str, Any]]]:
    """Consultations of the doctor who knows no medicine, as the trainer will write them."""
    environment = Consulting()
    made = []
    for index in range(count):
        heard = environment.reset(split="train", index=index, seed=seed * count + index)
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": heard}]
        for name, arguments in small_clinic.coin_doctor(seed * count + index):
            call = {"type": "function", "function": {"name": name, "arguments": arguments}}
            said = getattr(environment, name)(**arguments)
            messages += [
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "name": name, "content": said},
            ]
        made.append([*messages, {"role": "assistant", "content": "Goodbye."}])
    return made


def imitate(folder: Path, talks: list[list[dict[str, Any]]], given: argparse.Namespace) -> tuple[Any, Any]:
    """A model of random weights that learns to speak: model and tokenizer."""
    texts = [json.dumps(turn.get("tool_calls", turn["content"])) for talk in talks for turn in talk]
    small_clinic.make_model(folder, [*texts, TEMPLATE], given.seed)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template, tokenizer.response_template = TEMPLATE, qwen3_template
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    form = {"return_dict": True, "return_assistant_tokens_mask": True}
    written = [tokenizer.apply_chat_template(talk, **form) for talk in talks]
    drawn = [(one["input_ids"], one["assistant_masks"]) for one in written]
    small_clinic.imitate(model, drawn, steps=given.imitation_steps, seed=given.seed)
    return model, tokenizer


def common(given: argparse.Namespace, **more: Any) -> GRPOConfig:
    """Settings of the trainer for a small model on a CPU."""
    return GRPOConfig(
        output_dir=str(given.out / "grpo"),
        per_device_train_batch_size=given.patients * given.group,
        num_generations=given.group,
        num_generations_eval=1,
        per_device_eval_batch_size=min(100, given.heldout),
        max_completion_length=256,
        max_steps=given.steps,
        learning_rate=given.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=2,
        adam_beta2=0.95,
        beta=0.0,
        scale_rewards="none",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=1,
        seed=given.seed,
        **more,
    )


def rows(split: str, count: int, seed: int) -> Dataset:
    """What the trainer reads: a prompt that the environment adds the patient's complaint to, and the case."""
    prompt = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ""}]
    return Dataset.from_list(
        [{"prompt": prompt, "split": split, "index": index, "seed": seed * count + index} for index in range(count)]
    )


def arguments(says: str | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=says)
    parser.add_argument("--out", type=Path, required=True, help="folder for the model, the cases and what was measured")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--imitation-steps", type=int, default=120)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--patients", type=int, default=32, help="patients of a step")
    parser.add_argument("--group", type=int, default=4, help="consultations with each patient of a step")
    parser.add_argument("--cases", type=int, default=256, help="patients to train with")
    parser.add_argument("--heldout", type=int, default=100, help="patients to measure with")
    return parser.parse_args()


def main() -> None:
    given = arguments(__doc__)
    given.out.mkdir(parents=True, exist_ok=True)
    set_seed(given.seed)
    cases = given.out / "cases.jsonl"
    small_clinic.write_cases(cases, given.cases, given.heldout)
    with bedside.serve("--cases", str(cases)) as server:
        os.environ |= {"BEDSIDE_URL": server.url, "BEDSIDE_TOKEN": server.token, "TRL_EXPERIMENTAL_SILENCE": "1"}
        model, tokenizer = imitate(given.out / "model", demonstrate(given.cases, given.seed), given)
        trainer = GRPOTrainer(
            model,
            args=common(given, max_tool_calling_iterations=small_clinic.MAX_TURNS),
            train_dataset=rows("train", given.cases, given.seed),
            eval_dataset=rows("heldout", given.heldout, given.seed),
            processing_class=tokenizer,
            environment_factory=Consulting,
        )
        small_clinic.measure(trainer, given)


if __name__ == "__main__":
    main()
