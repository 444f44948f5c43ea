"""Creates a small Qwen3 language model: a tokenizer trained on texts, and random weights.

python -m bedside_trainers.tiny_model --corpus texts.jsonl --out folder

The same corpus, settings and seed give the same bytes. Neither torch nor transformers is needed:
the folder is written in the format they read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from safetensors.numpy import save

from .tiny_tokenizer import (
    END_OF_TEXT,
    END_OF_TURN,
    PIECES,
    TEMPLATE,
    TinyModelError,
    make_tokenizer,
    read_corpus,
)
from .tiny_weights import Shape, model_config, weights

MAX_PARAMETERS = 50_000_000


def _settings(shape: Shape, ids: Mapping[str, int]) -> dict[str, dict[str, object]]:
    """Contents of the JSON files beside the weights, by file name."""
    vocab = max(ids.values()) + 1
    special = {"eos_token": END_OF_TURN, "pad_token": END_OF_TEXT}
    ends = [ids[END_OF_TURN], ids[END_OF_TEXT]]
    return {
        "config.json": model_config(shape, vocab, ids),
        "generation_config.json": {
            "do_sample": True,
            "eos_token_id": ends,
            "pad_token_id": ids[END_OF_TEXT],
        },
        "special_tokens_map.json": special,
        "tokenizer_config.json": {
            **special,
            "add_prefix_space": False,
            "clean_up_tokenization_spaces": False,
            "model_max_length": shape.context,
            "tokenizer_class": "PreTrainedTokenizerFast",
        },
    }


def make_tiny_model(
    texts: Sequence[str], out: Path, shape: Shape, *, seed: int = 0, pieces: str = "words"
) -> int:
    """Writes a model folder and returns the number of parameters.
    @raises TinyModelError for more than 50 million parameters, sizes that do not fit, or a non-empty folder"""
    shape.check()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise TinyModelError(f"{out}: expected no folder, or an empty one, to write the model to")
    tokenizer = make_tokenizer(texts, shape.vocab, pieces)
    ids = tokenizer.get_vocab()
    tensors = weights(shape, len(ids), seed)
    parameters = sum(tensor.size for tensor in tensors.values())
    if parameters > MAX_PARAMETERS:
        raise TinyModelError(
            f"Expected at most {MAX_PARAMETERS:,} parameters, got {parameters:,}: "
            "take a smaller vocab or width, or fewer layers"
        )
    out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(out / "tokenizer.json"))
    (out / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8", newline="\n")
    for name, value in _settings(shape, ids).items():
        text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
        (out / name).write_text(f"{text}\n", encoding="utf-8", newline="\n")
    (out / "model.safetensors").write_bytes(save(tensors, metadata={"format": "pt"}))
    return parameters


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bedside_trainers.tiny_model", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help='JSONL of {"text"}')
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pieces", choices=sorted(PIECES), default="words")
    parser.add_argument("--hidden", type=int, help="width of the feed-forward layers [3 widths]")
    parser.add_argument("--untied", action="store_true", help="an output layer of its own")
    for name in ["vocab", "layers", "width", "heads", "kv_heads", "context", "init_range"]:
        value = getattr(Shape, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; prints one JSON line."""
    given = _arguments(argv)
    hidden = given.hidden if given.hidden is not None else 3 * given.width
    names = ["vocab", "layers", "width", "heads", "kv_heads", "context", "init_range"]
    shape = Shape(
        **{name: getattr(given, name) for name in names}, hidden=hidden, tied=not given.untied
    )
    try:
        texts = read_corpus(given.corpus)
        count = make_tiny_model(texts, given.out, shape, seed=given.seed, pieces=given.pieces)
    except (TinyModelError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps({"out": str(given.out), "parameters": count}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
