"""What a tiny model's script says of sizes and corpora that cannot be.

Reads a list of {"shape"} or {"corpus"} on stdin; writes the message of each refusal, null where there is none.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src" / "trainers" / "python"))
from bedside_trainers.tiny_tokenizer import TinyModelError, read_corpus
from bedside_trainers.tiny_weights import Shape


def refusal(shape=None, corpus=None):
    try:
        if shape is not None:
            Shape(**shape).check()
        else:
            Path("corpus.jsonl").write_text(corpus, encoding="utf-8")
            read_corpus(Path("corpus.jsonl"))
    except TinyModelError as error:
        return str(error)
    return None


given = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    messages = [refusal(**one) for one in given]
    os.chdir("/")
json.dump(messages, sys.stdout)
