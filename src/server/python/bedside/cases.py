"""Cases: generated ones with all that is known of the patient, and rows of consultations to play."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._command import run
from .consultation import Client

if TYPE_CHECKING:
    import datasets


def generate(
    count: int,
    *,
    tier: str = "easy",
    split: str = "train",
    clinic: Sequence[str] | None = None,
    seed: int = 0,
    language: str | None = None,
) -> list[dict[str, Any]]:
    """Generates cases, truth included: what `bedside cases generate` prints, one dict each.

    Case `index` of a server without a file is the case at that place here, for the same tier, split, clinic and
    `case_seed`.

    seed: of the generator.
    language: keeps the texts of one language; without it both.
    """
    options = ["--cases", str(count), "--tier", tier, "--split", split, "--seed", str(seed)]
    groups = ["--clinic", *clinic] if clinic else []
    spoken = ["--lang", language] if language else []
    lines = run("cases", "generate", "--quiet", *options, *spoken, *groups).splitlines()
    return [json.loads(line) for line in lines]


def rows(
    count: int, *, start: int = 0, url: str | None = None, token: str | None = None, **options: Any
) -> list[dict[str, Any]]:
    """Rows of consultations to play, as `load` has them."""
    with Client(url, token) as client:
        made = []
        for number in range(start, start + count):
            chosen = {**options, "seed": number, "index": number}
            with client.open(**chosen) as consultation:
                made.append({"prompt": consultation.messages, **chosen})
        return made


def load(
    count: int, *, start: int = 0, url: str | None = None, token: str | None = None, **options: Any
) -> datasets.Dataset:
    """Consultations to play, as a `datasets.Dataset`: one row each, with what the doctor reads first and how to open it.

    Columns: `prompt` (chat messages: the rules, and the patient's complaint), `seed`, `index`, and the options given.
    Every column but `prompt` is an option of a consultation: `ToolEnvironment` and `Client.open` take them. There is no
    diagnosis in a row; `generate` has it.

    count, start: rows, and the number of the first; a row's number is its seed and the number of its case in the split.
    url, token: of a server, as in `make`.
    options: tier, split, language, clinic, persona, reward, max_turns, money, minutes, case_seed.
    Raises ImportError without the package `datasets`.
    """
    try:
        from datasets import Dataset
    except ImportError as error:
        raise ImportError("Expected the package datasets: pip install datasets") from error
    return Dataset.from_list(rows(count, start=start, url=url, token=token, **options))
