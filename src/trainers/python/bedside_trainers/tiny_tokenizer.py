"""Tokenizer of a small language model: byte-level BPE trained on texts, with a ChatML template."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

END_OF_TEXT, TURN, END_OF_TURN = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
CONTROLS = [END_OF_TEXT, TURN, END_OF_TURN]
# Reasoning tags are added tokens but not special ones, as in Qwen3.
TAGS = ["<think>", "</think>"]
# Text that the template writes around messages.
FRAME = "system\nuser\nassistant\n"

# ChatML that renders each message independently of the others, so a growing conversation only appends tokens.
TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

# Pre-tokenization patterns; merges stay within a piece. `words` is Qwen's; `phrases` merges words too (SuperBPE,
# Liu et al. 2025).
PIECES = {
    "words": r" ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "phrases": r"\p{N}|[^\r\n\p{N}]+|[\r\n]+",
}


class TinyModelError(Exception):
    """Invalid settings or corpus."""


def read_corpus(path: Path) -> list[str]:
    """Reads the `text` of every line. @raises TinyModelError naming the first line without one"""
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


def _without_controls(texts: Sequence[str]) -> Iterator[str]:
    """Texts without control tokens, so that no merge is learnt from them."""
    for text in texts:
        for control in [*CONTROLS, *TAGS]:
            text = text.replace(control, "\n")
        yield text
        yield FRAME


def make_tokenizer(texts: Sequence[str], vocab: int, pieces: str = "words") -> Tokenizer:
    """Trains a byte-level BPE of at most `vocab` tokens, controls included; fewer if the texts give too few merges."""
    # With threads, words are counted in a varying order.
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
    tokenizer.train_from_iterator(_without_controls(texts), trainer)
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in CONTROLS])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in TAGS])
    return tokenizer
