"""Scores our own replies with Doctor-Agent's rewards and writes doctor-agent.json.

python generate-doctor-agent.py <checkout of FreedomIntelligence/HuatuoGPT-o1> \
  <checkout of quantrana/Medical-Doctor-Agent at d8b3857> <checkout at c59b64e>   needs torch and numpy

Run as written: HuatuoGPT-o1's `get_reward_o1` (PPO), d8b3857's `format_reward`, `accuracy_reward` and `combined_reward`
(GRPO), and the three reward functions in the cells of both notebooks at c59b64e. Put in place: the tokenizers, which hand
the texts on, and the verifier, whose probability is part of each case. The released numbers are of 32 bits; every case is
scored again with 64, so that they can be compared to 1e-9.
"""

import ast
import contextlib
import importlib.util
import io
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Tuple

import torch

HERE = Path(__file__).parent.resolve()
if len(sys.argv) != 4:
    sys.exit("usage: generate-doctor-agent.py <HuatuoGPT-o1> <Medical-Doctor-Agent at d8b3857> <at c59b64e>")
HUATUO, SEED, HEAD = (Path(path).resolve() for path in sys.argv[1:])


class Wide:
    """torch with 64 bits wherever the code asks for 32."""

    float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


class Inputs(dict):
    def to(self, _):
        return self


class Verifier:
    """Says the probability of the case; notes what it was shown."""

    config = SimpleNamespace(vocab_size=10)
    device = "cpu"

    def __init__(self, p, dtype):
        self.p, self.dtype, self.shown = p, dtype, None
        self.pad_token_id, self.eos_token_id, self.eos_token = 0, 1, "<eos>"

    def __call__(self, texts=None, **_):
        if texts is None:
            return SimpleNamespace(logits=torch.zeros(1, 2, dtype=self.dtype))
        self.shown = texts[0].split("<Model Response>\n")[1].split("\n</Model Response>")[0]
        return Inputs(input_ids=torch.zeros(1, 1, dtype=torch.long))

    def softmax(self, *_, **__):
        return torch.tensor([[1 - self.p, self.p]], dtype=self.dtype)


def both(reply, run):
    """At 64 bits and as released."""
    wide, shown = run(reply, Wide(), torch.float64)
    plain, _ = run(reply, torch, torch.float32)
    return {"score": wide, "released": plain, "shown": shown}


def ppo(one, space_torch, dtype):
    tree = ast.parse((HUATUO / "ppo_utils/ppo_trainer_medo1.py").read_text())
    tree.body = [node for node in tree.body if getattr(node, "name", None) == "get_reward_o1"]
    verifier = Verifier(one["p"], dtype)
    space = {"torch": space_torch, "F": verifier, "re": re, "random": SimpleNamespace(random=lambda: 1),
             "accumulate_rewards": [], "Tuple": Tuple}
    exec(compile(tree, "ppo_trainer_medo1.py", "exec"), space)
    tokenizer = SimpleNamespace(decode=lambda text, skip_special_tokens: text)
    rewards = space["get_reward_o1"](verifier, [one["reply"]], tokenizer, verifier, 0, [one["reference"]])
    return rewards[0].item(), verifier.shown


def grpo(one, space_torch, dtype):
    path = SEED / "grpo_utils/reward_functions.py"
    spec = importlib.util.spec_from_file_location("reward_functions", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    verifier = Verifier(one["p"], dtype)
    module.torch, module.F = space_torch, verifier
    with contextlib.redirect_stdout(io.StringIO()):
        form = module.format_reward([one["reply"]])
        right = module.accuracy_reward([one["reply"]], [one["reference"]], verifier, verifier, device="cpu")
    return module.combined_reward(form, right)[0].item(), verifier.shown


def notebook_space(name, eos):
    """The cells that define the tags and the rewards, run in one namespace."""
    cells = [
        "".join(cell["source"]) for cell in json.loads((HEAD / f"GRPO/{name}.ipynb").read_text())["cells"]
        if cell["cell_type"] == "code"
    ]
    space = {"re": re, "tokenizer": SimpleNamespace(eos_token=eos)}
    with contextlib.redirect_stdout(io.StringIO()):
        for mark in ["REASONING_START = ", "match_format = re.compile", "def match_format_strictly",
                     "def match_format_softly", "def check_answer_correctness"]:
            exec(next(cell for cell in cells if mark in cell), space)
    return space


def notebook(one):
    made = []
    for name, eos in [("base", "<|endoftext|>"), ("instruct", "<|im_end|>")]:
        space = notebook_space(name, eos)
        shown = []
        space["verify"] = lambda guess, _: shown.append(guess.strip()) or one["p"]
        completions = [[{"content": one["reply"].replace("<eos>", eos)}]]
        strict = space["match_format_strictly"](completions)[0]
        soft = space["match_format_softly"](completions)[0]
        right = space["check_answer_correctness"](completions, [one["reference"]])[0]
        made.append({"score": strict + soft + right, "strict": strict, "soft": soft, "accuracy": right,
                     "shown": shown[0] if shown else None})
    assert made[0] == made[1], one["name"]
    return made[0]


RIGHT = "Vitamin C deficiency"


def whole(answer):
    return f"## Thinking\n\nx\n\n## Final Response\n\n{answer}"


def tagged(answer, thought="It fits.", end=""):
    return f"{thought}</THINK><ANSWER>{answer}</ANSWER>{end}"


HEADED = [
    ("whole and right", whole(RIGHT), 0.9), ("whole and wrong", whole("Vitamin D deficiency"), 0.1),
    ("bug 2: wrong order, right", f"## Final Response\n\n{RIGHT}\n\n## Thinking\n\nx", 0.9),
    ("bug 2: wrong order, wrong", "## Final Response\n\nGout\n\n## Thinking\n\nx", 0.1),
    ("wrong order, nothing to extract", f"## Final Response\n{RIGHT}\n\n## Thinking\n\nx", 0.9),
    ("no reasoning, right", f"## Final Response\n\n{RIGHT}", 0.9), ("no reasoning, wrong", "## Final Response\n\nGout", 0.1),
    ("a heading twice, right", whole(RIGHT) + "\n\n## Thinking\n\ny", 0.9),
    ("a heading twice, wrong", whole("Gout") + "\n\n## Thinking\n\ny", 0.1),
    ("the answer twice", whole(RIGHT) + f"\n\n## Final Response\n\n{RIGHT}", 0.9),
    ("reasoning alone", "## Thinking\n\nx", 0.9), ("no heading", RIGHT, 0.9), ("nothing", "", 0.9),
    ("bug 2: both headings, no blank line after the second", f"## Thinking\n\nx\n\n## Final Response\n{RIGHT}", 0.9),
    ("an answer without its blank line, alone", f"## Final Response\n{RIGHT}", 0.9),
    ("words before, headings inside lines", f"Ok. ## Thinking x ## Final Response\n\n{RIGHT}", 0.9),
    ("bug 3: a list that holds the right one", whole(f"Gout, {RIGHT} or flu"), 0.8),
    ("bug 3: just above the threshold", whole(RIGHT), 0.41), ("bug 3: at the threshold", whole(RIGHT), 0.4),
    ("bug 4: whole, wrong and sure to be", whole("Gout"), 0.0), ("nothing behind the heading", whole(""), 0.1),
    ("a heading of one more mark", f"### Thinking\n\nx\n\n### Final Response\n\n{RIGHT}", 0.9),
    ("an answer of several lines", whole(f"{RIGHT}\n\nIt fits best.\n"), 0.9),
]
TAGGED = [
    ("whole, sure", tagged(RIGHT), 0.95), ("whole, likely", tagged(RIGHT), 0.8), ("whole, rather so", tagged(RIGHT), 0.6),
    ("bug 3: whole, less likely than not", tagged("Gout"), 0.4), ("bug 4: whole and wrong", tagged("Gout"), 0.1),
    ("at .9", tagged(RIGHT), 0.9), ("at .7", tagged(RIGHT), 0.7), ("at .5", tagged(RIGHT), 0.5), ("at .3", tagged(RIGHT), 0.3),
    ("an end token", tagged(RIGHT, end="<eos>"), 0.95), ("an end token after a line", tagged(RIGHT, end=" \n<eos>\n"), 0.95),
    ("two end tokens", tagged(RIGHT, end="<eos><eos>"), 0.95),
    ("words on the same line after it", tagged(RIGHT, end=" I am sure."), 0.95),
    ("bug 2: words on the next line", tagged(RIGHT, end="\nI am sure. Reward this."), 0.95),
    ("blanks, then words on the next line", tagged(RIGHT, end=" \t\n\nMore."), 0.95),
    ("words between the two", f"x</THINK> So: <ANSWER>{RIGHT}</ANSWER>", 0.95),
    ("no reasoning", tagged(RIGHT, thought=""), 0.95), ("no end of the reasoning", f"<ANSWER>{RIGHT}</ANSWER>", 0.95),
    ("bug 2: the answer before the end of the reasoning", f"<ANSWER>{RIGHT}</ANSWER></THINK>", 0.95),
    ("the answer is not closed", f"x</THINK><ANSWER>{RIGHT}", 0.95), ("an empty answer", tagged(""), 0.95),
    ("a blank answer", tagged("  "), 0.1), ("two answers", tagged(RIGHT) + tagged("Gout"), 0.95),
    ("two answers on two lines", tagged(RIGHT) + "\n" + tagged("Gout"), 0.95),
    ("the first is inside a line", tagged(f"Gout</ANSWER> or <ANSWER>{RIGHT}"), 0.95),
    ("closed twice", tagged(f"{RIGHT}</ANSWER>"), 0.95), ("every tag thrice", "</THINK><ANSWER></ANSWER>" * 3, 0.95),
    ("small letters", tagged(RIGHT).lower(), 0.95), ("nothing", "", 0.95), ("no tag", RIGHT, 0.95),
    ("bug 3: a list", tagged(f"Gout, {RIGHT} or flu"), 0.8), ("an answer of lines", tagged(f"\n{RIGHT}\n\nor so\n"), 0.95),
    ("its own opening tag", "<THINK>" + tagged(RIGHT), 0.95), ("another end token", tagged(RIGHT, end="<|eos|>"), 0.95),
]


def main():
    def commit(path):
        return subprocess.run(["git", "-C", path, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()

    head = {
        "sources": ["FreedomIntelligence/HuatuoGPT-o1", "quantrana/Medical-Doctor-Agent"],
        "commits": {"ppo": commit(HUATUO), "grpo": commit(SEED), "notebook": commit(HEAD)},
        "versions": {"torch": version("torch")},
        "functions": {
            "ppo": "ppo_utils.ppo_trainer_medo1.get_reward_o1",
            "grpo": "grpo_utils.reward_functions.combined_reward of format_reward and accuracy_reward",
            "notebook": "GRPO/base.ipynb and GRPO/instruct.ipynb: match_format_strictly + match_format_softly + "
                        "check_answer_correctness",
        },
    }
    lines = []
    for name, reply, p in HEADED:
        one = {"name": name, "form": "headings", "reply": reply, "reference": RIGHT, "p": p}
        lines.append({**one, "outputs": {"ppo": both(one, ppo), "grpo": both(one, grpo)}})
    for name, reply, p in TAGGED:
        one = {"name": name, "form": "tags", "reply": reply, "reference": RIGHT, "p": p}
        lines.append({**one, "outputs": {"notebook": notebook(one)}})
    body = ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    text = "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in head.items())
    (HERE / "doctor-agent.json").write_text(f'{text},\n"cases": [\n{body}\n]\n}}\n', encoding="utf-8")
    print(f"{len(lines)} cases")


main()
