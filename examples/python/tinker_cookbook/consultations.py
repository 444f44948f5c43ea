"""Consultations as environments of tinker-cookbook's RL loop, trained by any server of the Tinker wire: our sidecar, say.

    npx bedside sidecar serve --model MODEL --token-file token
    python examples/python/tinker_cookbook/consultations.py --address http://127.0.0.1:PORT --token-file token --model MODEL
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chz
from tinker_cookbook import renderers
from tinker_cookbook.renderers.base import Message, ensure_text
from tinker_cookbook.rl import train
from tinker_cookbook.rl.message_env import EnvFromMessageEnv, MessageEnv, MessageStepResult
from tinker_cookbook.rl.types import Env, EnvGroupBuilder, RLDataset, RLDatasetBuilder
from tinker_cookbook.tokenizer_utils import get_tokenizer, register_tokenizer

import bedside


class UnknownScore(Exception):
    """The score of a consultation is not known (a judge failed): the rollout is left out, and is not worth 0."""


class ConsultationMessages(MessageEnv):
    """One consultation: the policy's replies are the doctor's."""

    def __init__(self, client: bedside.AsyncClient, options: dict[str, Any]) -> None:
        self._client = client
        self._options = options

    async def initial_observation(self) -> list[Message]:
        self._consultation = await self._client.open(**self._options)
        return self._messages()

    async def step(self, message: Message) -> MessageStepResult:
        reply = await self._consultation.say(ensure_text(message["content"]))
        if reply.done and reply.reward is None:
            raise UnknownScore(str(reply.observation.get("score")))
        return MessageStepResult(reply.reward or 0.0, reply.done, self._messages(), {})

    def _messages(self) -> list[Message]:
        return [Message(role=said["role"], content=said["content"]) for said in self._consultation.messages]


class ConsultationGroup(EnvGroupBuilder):
    """Siblings: consultations with one patient, who is the same to each of them."""

    def __init__(self, model: str, renderer: str, size: int, options: dict[str, Any]) -> None:
        # Plain values alone, so that a group can be sent to another process.
        self._model, self._renderer, self._size, self._options = model, renderer, size, options
        self._client: bedside.AsyncClient | None = None

    async def make_envs(self) -> Sequence[Env]:
        renderer = renderers.get_renderer(self._renderer, get_tokenizer(self._model))
        self._client = await bedside.AsyncClient().__aenter__()
        client = self._client
        # A reply that is cut is said as it is: what it is worth, the consultation decides.
        form = {"failed_parse_reward": 0.0, "terminate_on_parse_error": False}
        return [EnvFromMessageEnv(renderer, ConsultationMessages(client, self._options), **form) for _ in range(self._size)]

    async def cleanup(self) -> None:
        if self._client is not None:
            await self._client.__aexit__()
            self._client = None

    def logging_tags(self) -> list[str]:
        return ["consultation"]


class ConsultationDataset(RLDataset):
    """Batches of groups; the number of a case is its seed."""

    def __init__(self, builder: ConsultationDatasetBuilder) -> None:
        self._builder = builder

    def get_batch(self, index: int) -> Sequence[EnvGroupBuilder]:
        given = self._builder
        first = given.first_case + index * given.batch_size
        return [
            ConsultationGroup(
                given.model_name_for_tokenizer,
                given.renderer_name,
                given.group_size,
                {**given.options, "seed": case, "index": case},
            )
            for case in range(first, first + given.batch_size)
        ]

    def __len__(self) -> int:
        return self._builder.batches


@chz.chz
class ConsultationDatasetBuilder(RLDatasetBuilder):
    """Consultations for `tinker_cookbook.rl.train`. `options` are those of a consultation: tier, split, reward, …"""

    batch_size: int
    group_size: int
    batches: int
    model_name_for_tokenizer: str
    renderer_name: str
    options: dict[str, Any] = chz.field(default_factory=dict)
    first_case: int = 0

    async def __call__(self) -> tuple[RLDataset, None]:
        return ConsultationDataset(self), None


def configure(given: argparse.Namespace) -> train.Config:
    """The loop's settings."""
    dataset = ConsultationDatasetBuilder(
        batch_size=given.batch_size,
        group_size=given.group_size,
        batches=given.steps,
        model_name_for_tokenizer=given.tokenizer or given.model,
        renderer_name=given.renderer,
        options=json.loads(given.options),
    )
    return train.Config(
        log_path=str(given.out),
        model_name=given.model,
        recipe_name="bedside",
        dataset_builder=dataset,
        learning_rate=given.learning_rate,
        max_tokens=given.max_tokens,
        lora_rank=given.rank,
        load_checkpoint_path=given.checkpoint,
        save_every=given.steps,
        eval_every=0,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", required=True, help="of a server of the Tinker wire")
    parser.add_argument("--token-file", type=Path, required=True)
    parser.add_argument("--model", required=True, help="its name at the server")
    parser.add_argument("--tokenizer", help="its folder, where the name is none")
    parser.add_argument("--renderer", default="qwen3_instruct")
    parser.add_argument("--checkpoint", help="a tinker:// path to begin from")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--options", default='{"tier": "easy"}', help="of a consultation, as JSON")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--group-size", type=int, default=16)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    given = parser.parse_args()
    os.environ |= {
        "TINKER_BASE_URL": given.address,
        "TINKER_API_KEY": given.token_file.read_text().strip(),
        "TINKER_TELEMETRY": "0",
    }
    if given.tokenizer:
        register_tokenizer(given.model, lambda: get_tokenizer(given.tokenizer))
    asyncio.run(train.main(configure(given)))


if __name__ == "__main__":
    main()
