"""TRL's GRPOTrainer on consultations in plain text: `rollout_func` plays, and hands over the ids that were drawn.

python examples/python/trl/rollout_func.py --out runs/trl-text
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import small_clinic  # noqa: E402
import torch  # noqa: E402
from datasets import Dataset  # noqa: E402
from environment_factory import arguments, common  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed  # noqa: E402
from trl import GRPOTrainer  # noqa: E402

import bedside  # noqa: E402

#: Ids of one reply at most.
LONGEST_REPLY = 48
TURN, END = "<|im_start|>", "<|im_end|>"


class Seat:
    """One consultation and its ids: those of the prompt, and those since, each drawn (1) or heard (0)."""

    def __init__(self, consultation: bedside.Consultation, tokenizer: Any) -> None:
        self.consultation, self.tokenizer = consultation, tokenizer
        self.turn, self.end = tokenizer.convert_tokens_to_ids([TURN, END])
        self.prompt = [id for message in consultation.messages for id in self._frame(message)] + self._opened()
        self.ids: list[int] = []
        self.drawn: list[int] = []
        self.logprobs: list[float] = []

    def _text(self, text: str) -> list[int]:
        # What the world says is never read as control tokens.
        return self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]

    def _frame(self, message: dict[str, str]) -> list[int]:
        return [self.turn, *self._text(f"{message['role']}\n{message['content']}"), self.end, *self._text("\n")]

    def _opened(self) -> list[int]:
        return [self.turn, *self._text("assistant\n")]

    def take(self, ids: list[int], logprobs: list[float]) -> None:
        """Takes the model's ids as the reply, as they are, and hears the answer."""
        self._add(ids, 1, logprobs)
        reply = self.consultation.say(self.tokenizer.decode(ids, skip_special_tokens=True))
        if not reply.done:
            heard = [*self._text("\n"), *self._frame(self.consultation.messages[-1]), *self._opened()]
            self._add(heard, 0, [0.0] * len(heard))

    def _add(self, ids: list[int], drawn: int, logprobs: list[float]) -> None:
        self.ids += ids
        self.drawn += [drawn] * len(ids)
        self.logprobs += logprobs


@torch.no_grad()
def draw(model: Any, seats: list[Seat]) -> list[tuple[list[int], list[float]]]:
    """The next reply of each: ids to the end of the turn, and their log-probabilities."""
    rows = [seat.prompt + seat.ids for seat in seats]
    longest = max(map(len, rows))
    ids = torch.tensor([[0] * (longest - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    end = seats[0].end
    form = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "eos_token_id": end, "pad_token_id": end}
    out = model.generate(
        input_ids=ids, attention_mask=mask, max_new_tokens=LONGEST_REPLY, return_dict_in_generate=True, output_logits=True, **form
    )
    new = out.sequences[:, longest:]
    scores = torch.stack(out.logits, dim=1).log_softmax(-1).gather(-1, new[..., None])[..., 0]
    replies = []
    for row, score in zip(new.tolist(), scores.tolist()):
        length = row.index(end) + 1 if end in row else len(row)
        replies.append((row[:length], score[:length]))
    return replies


def make_rollout(client: bedside.Client, tokenizer: Any, seed: int) -> Any:
    """The function for the trainer. A prompt is the split and the number of a case; siblings are rows with the same one."""

    def rollout(prompts: list[str], trainer: GRPOTrainer) -> dict[str, list[Any]]:
        model = trainer.accelerator.unwrap_model(trainer.model)
        seats = []
        for prompt in prompts:
            split, index = prompt.split()
            number = seed * 1000 + int(index)
            opened = client.open(split=split, index=int(index), seed=number, **small_clinic.OPTIONS)
            seats.append(Seat(opened, tokenizer))
        while playing := [seat for seat in seats if not seat.consultation.last.done]:
            for seat, reply in zip(playing, draw(model, playing)):
                seat.take(*reply)
        for seat in seats:
            seat.consultation.close()
        return {
            "prompt_ids": [seat.prompt for seat in seats],
            "completion_ids": [seat.ids for seat in seats],
            "logprobs": [seat.logprobs for seat in seats],
            "env_mask": [seat.drawn for seat in seats],
            "paid": [seat.consultation.last.reward for seat in seats],
        }

    return rollout


def consultation_reward(paid: list[float | None], **_: Any) -> list[float | None]:
    """The reward that the consultation ended with; None, where it is not known, is left out by the trainer."""
    return paid


def main() -> None:
    given = arguments(__doc__)
    given.out.mkdir(parents=True, exist_ok=True)
    set_seed(given.seed)
    cases = given.out / "cases.jsonl"
    small_clinic.write_cases(cases, given.cases, given.heldout)
    with bedside.serve("--cases", str(cases)) as server, bedside.Client(server.url, server.token) as client:
        talks = small_clinic.demonstrate(client, given.cases, given.seed)
        folder = given.out / "model"
        small_clinic.make_model(folder, [message["content"] for talk in talks for message in talk], given.seed)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        imitated = [small_clinic.masked(tokenizer, talk) for talk in talks]
        small_clinic.imitate(model, imitated, steps=given.imitation_steps, seed=given.seed)
        trainer = GRPOTrainer(
            model,
            reward_funcs=consultation_reward,
            args=common(given),
            train_dataset=Dataset.from_dict({"prompt": [f"train {n}" for n in range(given.cases)]}),
            eval_dataset=Dataset.from_dict({"prompt": [f"heldout {n}" for n in range(given.heldout)]}),
            processing_class=tokenizer,
            rollout_func=make_rollout(client, tokenizer, given.seed),
        )
        small_clinic.measure(trainer, given)


if __name__ == "__main__":
    main()
