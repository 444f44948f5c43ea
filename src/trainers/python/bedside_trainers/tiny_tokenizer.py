"""The tokenizer of a small language model: byte-level BPE learnt from texts, and ChatML."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

END_OF_TEXT, TURN, END_OF_TURN = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
CONTROLS = [END_OF_TEXT, TURN, END_OF_TURN]
# Tags of reasoning are added but not special, as Qwen3 has them.
TAGS = ["<think>", "</think>"]
# What the template writes around messages.
FRAME = "system\nuser\nassistant\n"

# ChatML without any look at what stands elsewhere in the conversation, so that it only ever appends.
TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

# Where no merge reaches across. `words` is Qwen's; `phrases` merges words too (SuperBPE, Liu et al. 2025).
PIECES = {
    "words": r" ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "phrases": r"\p{N}|[^\r\n\p{N}]+|[\r\n]+",
}


class TinyModelError(Exception):
    """The settings or the corpus cannot make a model."""


def read_corpus(path: Path) -> list[str]:
    """The `text` of every line. @raises TinyModelError naming the first line that has none"""
    texts = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            texts.append(json.loads(line)["text"])
        except (ValueError, TypeError, KeyError):
            texts.append(None)
        if not isinstance(texts[-1], str):
            raise TinyModelError(f'{path}:{number}: expected {{"text": "…"}}, got {line[:80]}')
    if not texts:
        raise TinyModelError(f"{path}: expected lines of {{\"text\": \"…\"}}, got none")
    return texts


def _bare(texts: Sequence[str]) -> Iterator[str]:
    """Texts without the control tokens they spell, which no merge may be learnt from."""
    for text in texts:
        for control in [*CONTROLS, *TAGS]:
            text = text.replace(control, "\n")
        yield text
        yield FRAME


def make_tokenizer(texts: Sequence[str], vocab: int, pieces: str = "words") -> Tokenizer:
    """A byte-level BPE of at most `vocab` tokens with controls; fewer where texts give no more merges."""
    # Threads would count words in an order of their own.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = pre_tokenizers.Split(Regex(PIECES[pieces]), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab - len(CONTROLS) - len(TAGS),
        min_frequency=2,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_bare(texts), trainer)
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in CONTROLS])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in TAGS])
    return tokenizer
