"""A clinic of two diseases, a doctor who knows no medicine, and a small language model that learns to speak like one.

The recipes beside this file share it. A model of random weights cannot be rewarded before it can talk: it imitates
a doctor who asks and orders a few things in any order and names one of the two diseases by the toss of a coin. All that
it knows of medicine afterwards, it learnt from rewards.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import bedside

#: The two diseases, as the generator and a doctor name them.
DISEASES = {"hypothyroidism": "Hypothyroidism", "iron-deficiency-anaemia": "Iron-deficiency anaemia"}
#: All that the doctor ever does before the diagnosis, as tool calls.
STEPS: list[tuple[str, dict[str, str]]] = [
    ("ask_patient", {"question": "Have you put on weight?"}),
    ("ask_patient", {"question": "Do you feel cold when others do not?"}),
    ("ask_patient", {"question": "Are you constipated?"}),
    ("ask_patient", {"question": "Do you get short of breath?"}),
    ("ask_patient", {"question": "Is your heart racing or pounding?"}),
    ("ask_patient", {"question": "Do you feel dizzy?"}),
    ("order_exam", {"exam": "Full blood count"}),
    ("order_exam", {"exam": "Thyroid function test"}),
]
#: Actions of a consultation at most, the diagnosis among them.
MAX_TURNS = 4
#: How every consultation is played; the reward is 1 for the right disease and 0 for another.
OPTIONS: dict[str, Any] = {"max_turns": MAX_TURNS, "reward": "diagnosis-accuracy"}


def write_cases(path: Path, train: int, heldout: int) -> None:
    """Writes a case file with as many patients of one disease as of the other, in turn."""
    with path.open("w", encoding="utf-8") as file:
        for split, count in {"train": train, "heldout": heldout}.items():
            # More than enough: about half of the group's patients have one of the two.
            asked = bedside.cases.generate(4 * count + 100, tier="easy", clinic=["tiredness"], split=split)
            of = {disease: [case for case in asked if case["gold"]["dx"][0]["id"] == disease] for disease in DISEASES}
            pairs = list(zip(*of.values()))[: count // 2]
            for case in (case for pair in pairs for case in pair):
                file.write(json.dumps(case, ensure_ascii=False) + "\n")


def coin_doctor(seed: int) -> list[tuple[str, dict[str, str]]]:
    """The tool calls of one consultation by the doctor who knows no medicine."""
    draw = random.Random(seed)
    steps = draw.sample(STEPS, draw.randint(1, MAX_TURNS - 1))
    return [*steps, ("diagnose", {"diagnosis": draw.choice(list(DISEASES.values())), "recommendation": "See me again."})]


def as_text(name: str, arguments: dict[str, str]) -> str:
    """A tool call in the words of a dialogue without tools."""
    if name == "diagnose":
        return f"Diagnosis: {arguments['diagnosis']}\nRecommendation: {arguments['recommendation']}"
    return f"Question: {arguments['question']}" if name == "ask_patient" else f"Order: {arguments['exam']}"


def demonstrate(client: bedside.Client, count: int, seed: int) -> list[list[dict[str, str]]]:
    """Consultations of the coin's doctor as chat messages; the doctor is the assistant."""
    talks = []
    for index in range(count):
        number = seed * count + index
        with client.open(split="train", index=index, seed=number, **OPTIONS) as consultation:
            for call in coin_doctor(number):
                consultation.say(as_text(*call))
            talks.append(consultation.messages)
    return talks


def make_model(folder: Path, texts: list[str], seed: int) -> None:
    """Writes a model of random weights with a tokenizer learnt from `texts`, as `bedside sidecar tiny-model` does."""
    corpus = folder.with_suffix(".jsonl")
    corpus.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    package = Path(__file__).resolve().parents[2] / "src" / "trainers" / "python"
    line = [sys.executable, "-m", "bedside_trainers.tiny_model", "--corpus", str(corpus), "--out", str(folder)]
    size = ["--vocab", "2048", "--width", "96", "--pieces", "phrases", "--untied", "--seed", str(seed)]
    env = {**os.environ, "PYTHONPATH": str(package)}
    subprocess.run([*line, *size], check=True, env=env, stdout=subprocess.DEVNULL)


def imitate(model: Any, talks: list[tuple[list[int], list[int]]], *, steps: int, seed: int, batch: int = 16) -> float:
    """Trains `model` to say what the doctor said; gives the last loss.

    talks: ids, and 1 for those that the doctor said.
    """
    import torch

    draw = random.Random(seed)
    rate, warmup = 3e-3, max(1, steps // 20)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=0.0)
    loss = torch.tensor(0.0)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min((step + 1) / warmup, 1 - step / steps)
        chosen = draw.sample(talks, batch)
        longest = max(len(ids) for ids, _ in chosen)
        ids = torch.zeros(batch, longest, dtype=torch.long)
        labels = torch.full((batch, longest), -100)
        for row, (tokens, said) in enumerate(chosen):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            labels[row, : len(tokens)] = torch.tensor([token if by else -100 for token, by in zip(tokens, said)])
        # Padding stands at the end, where no token looks.
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


def masked(tokenizer: Any, talk: list[dict[str, str]]) -> tuple[list[int], list[int]]:
    """Ids of a dialogue in ChatML, and 1 for those that the doctor says."""
    ids: list[int] = []
    said: list[int] = []
    for message in talk:
        by = int(message["role"] == "assistant")
        parts = [(f"<|im_start|>{message['role']}\n", 0), (f"{message['content']}<|im_end|>", by), ("\n", 0)]
        for text, mark in parts:
            added = tokenizer(text, add_special_tokens=False)["input_ids"]
            ids += added
            said += [mark] * len(added)
    return ids, said


def keep(out: Path, told: dict[str, Any], curve: list[float]) -> None:
    """Writes `result.json`, and the two files that `bedside curves` draws."""
    (out / "result.json").write_text(json.dumps({**told, "curve": curve}) + "\n")
    lines = [{"type": "step", "step": step, "reward": reward} for step, reward in enumerate(curve, 1)]
    levels = {0: told["before"], len(curve): told["after"]}
    lines += [{"type": "held-out", "step": step, "accuracy": level} for step, level in levels.items()]
    (out / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    # As many patients have one disease as the other, so that a coin is right half of the time. No ceiling was measured.
    held_out = {"floor": {"name": "a coin", "accuracy": 0.5}, "ceiling": {"accuracy": None}}
    (out / "report.json").write_text(json.dumps({"heldOut": held_out}) + "\n")


def measure(trainer: Any, given: Any) -> None:
    """Trains with TRL, and keeps what held-out patients pay before and after, and each step's reward."""
    before = trainer.evaluate()
    trainer.train()
    after = trainer.evaluate()
    curve = [entry["reward"] for entry in trainer.state.log_history if "reward" in entry]
    told = {"seed": given.seed, "heldout": given.heldout, "before": before["eval_reward"], "after": after["eval_reward"]}
    keep(given.out, told, curve)
    print(json.dumps(told))
