"""Plays our own replies through DiagAgent's rollout and reward and writes diagagent.json.

python generate-diagagent.py <checkout of MAGIC-AI4Med/DiagGym>   needs torch and numpy, nothing else

Run as written: `vLLMRolloutWithMultiTurn.generate_sequences` with `check_if_stop`, `extract_messages` and
`extract_examination_name`, the reward manager's `process_item` and `diagnose.compute_score`. Put in place: the tokenizer
(a character is a token, Qwen's marks are one each), the sampling engine (our replies), the simulator (our results), and
the judge (our replies, by what it is asked).
"""

import ast
import json
import subprocess
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, List, Union

import numpy as np
import torch

HERE = Path(__file__).parent.resolve()
if len(sys.argv) != 2:
    sys.exit("usage: generate-diagagent.py <checkout of MAGIC-AI4Med/DiagGym>")
CHECKOUT = Path(sys.argv[1]).resolve()
VERL = CHECKOUT / "DiagAgent/train/rl/verl/verl"


def stub_modules():
    """Empty packages whose modules are the checkout's; nothing of verl's own start is run."""
    for name in ["verl", "verl.utils", "verl.utils.reward_score", "verl.workers", "verl.workers.reward_manager"]:
        package = types.ModuleType(name)
        package.__path__ = [str(VERL.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    sys.modules["verl"].DataProto = SimpleNamespace
    sys.modules["openai"] = types.ModuleType("openai")
    sys.modules["openai"].OpenAI = None


stub_modules()
from verl.utils.reward_score import diagnose  # noqa: E402

sys.modules["verl.utils.reward_score"]._default_compute_score = None
from verl.workers.reward_manager.naive import process_item  # noqa: E402


def rollout_class():
    """The rollout's class with the methods that play, compiled alone: its module imports vLLM."""
    path = VERL / "workers/rollout/vllm_rollout/vllm_rollout_spmd.py"
    tree = ast.parse(path.read_text())
    functions = {"_pre_process_inputs", "_repeat_interleave", "get_response_mask_last_eos", "extract_examination_name"}
    methods = {"generate_sequences", "check_if_stop", "extract_messages"}
    kept = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in functions:
            kept.append(node)
        if isinstance(node, ast.ClassDef) and node.name == "vLLMRolloutWithMultiTurn":
            node.bases = []
            node.body = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name in methods]
            kept.append(node)
    tree.body = kept

    def pad(rows, padding, max_length):
        return torch.tensor([row + [padding] * (max_length - len(row)) for row in rows])

    space = {
        "torch": torch, "np": np, "List": List, "Union": Union, "Any": Any, "DataProto": SimpleNamespace,
        "TensorDict": lambda values, batch_size: values, "pad_2d_list_to_length": pad, "vllm_version": "0.8",
        "ThreadPoolExecutor": ThreadPoolExecutor,
    }
    exec(compile(tree, str(path), "exec"), space)
    return space["vLLMRolloutWithMultiTurn"]


class Tokenizer:
    """A character is a token; Qwen's two marks and the padding are one token each."""

    marks = ["<pad>", "<|im_start|>", "<|im_end|>"]
    eos_token_id = 2

    def encode(self, text):
        for i, mark in enumerate(self.marks):
            text = text.replace(mark, chr(i))
        return [ord(character) for character in text]

    def decode(self, ids, skip_special_tokens=False):
        text = "".join(chr(int(i)) if i > 2 else "" if skip_special_tokens else self.marks[int(i)] for i in ids)
        return text

    def apply_chat_template(self, messages, add_generation_prompt, tokenize):
        return "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)


Rollout = rollout_class()


def play(case):
    """One consultation through the published loop: what the reward manager is handed of it."""
    tokenizer = Tokenizer()
    replies, results = iter(case["replies"]), iter(case["results"])

    def generate(prompts, **_):
        return [SimpleNamespace(outputs=[SimpleNamespace(token_ids=tokenizer.encode(next(replies)))]) for _ in prompts]

    self = Rollout()
    self.tokenizer, self.pad_token_id, self.max_turns = tokenizer, 0, 12
    self.im_start, self.im_end = "<|im_start|>", "<|im_end|>"
    self.assistant_input_ids = tokenizer.encode("<|im_start|>assistant\n")
    self.sampling_params = SimpleNamespace(n=1)
    self.update_sampling_params = lambda **_: nullcontext()
    self.inference_engine = SimpleNamespace(generate=generate)
    self.config = SimpleNamespace(response_length=20_000, free_cache_engine=False)
    self.request_examination_result = lambda text, exam, past: next(results)
    prompt = torch.tensor([tokenizer.encode("<|im_start|>user\nA case.<|im_end|>\n<|im_start|>assistant\n")])
    given = SimpleNamespace(
        batch={"input_ids": prompt, "attention_mask": torch.ones_like(prompt),
               "position_ids": torch.arange(prompt.size(1)).unsqueeze(0)},
        non_tensor_batch={"ehr_text": np.array(["A record."], dtype=object)},
        meta_info={},
    )
    played = self.generate_sequences(given)
    batch = {name: rows[0] for name, rows in played.batch.items()}
    histories = played.non_tensor_batch["examination_histories"]
    return tokenizer, batch, list(histories[0]), int(played.non_tensor_batch["turn_counts"][0])


def score(case):
    asked = []

    def judge(prompt):
        kind = "verdict" if "[gt_diag]" in prompt else "recall" if "each item in the key exam list" in prompt else "precision"
        asked.append(kind)
        if kind == "verdict":
            tail = prompt.split("Below is the diagnosis result")[1]
            judged.append(tail.split("[pred_diag]\n")[1].split("\n\n[gt_diag]\n")[0])
        return case["judge"][kind]

    judged = []
    diagnose.call_localvllm = judge
    tokenizer, batch, history, turns = play(case)
    item = SimpleNamespace(batch=batch, non_tensor_batch={
        "reward_model": {"ground_truth": case["disease"]}, "data_source": "diagnose_dataset",
        "key_exam_names": case["keys"], "examination_histories": history, "turn_counts": turns,
    })
    seen = {}

    def compute(data_source, solution_str, ground_truth, extra_info):
        seen.update(exams=extra_info["examination_history"], turns=int(extra_info["turn_count"]))
        return diagnose.compute_score(solution_str, ground_truth, extra_info)

    done = process_item(0, [item], tokenizer, compute, "data_source")
    # The judge is asked ten times about a reply without a number; how often is nobody's score.
    return {**done["reward"], **seen, "transcript": done["response_str"], "judged": judged[:1]}


def order(exam, line="Based on the patient's presentation, the following investigation(s) should be performed: "):
    return f"Current diagnosis: unclear\n{line}{exam}.\nReason: to narrow it down."


def finish(diagnosis, reason="it fits."):
    return f"The available information is sufficient to make a diagnosis.\n\nDiagnosis: {diagnosis}\nReason: {reason}"


def case(name, replies, results=(), keys=("CBC", "Chest X-ray"), verdict="Correct", precision="2", recall="2",
         disease="Pneumonia"):
    return {"name": name, "disease": disease, "keys": list(keys), "replies": list(replies), "results": list(results),
            "judge": {"verdict": verdict, "precision": precision, "recall": recall}}


BOTH = [order("CBC"), order("Chest X-ray"), finish("Pneumonia")]
SHOWN = ["Value: 16", "An infiltrate."]
CASES = [
    case("right with both examinations", BOTH, SHOWN),
    case("wrong with both examinations", [*BOTH[:2], finish("Asthma")], SHOWN, verdict="Wrong"),
    case("right at once", [finish("Pneumonia")]),
    case("right with one of two examinations", [order("CBC"), finish("Pneumonia")], SHOWN, precision="1", recall="1"),
    case("bug 1: incorrect holds correct", [*BOTH[:2], finish("Asthma")], SHOWN, verdict="Incorrect"),
    case("bug 1: the echoed choice", [*BOTH[:2], finish("Asthma")], SHOWN, verdict="[Correct|Wrong]"),
    case("bug 1: not correct", BOTH, SHOWN, verdict="This is not CORRECT."),
    case("a verdict without either word", BOTH, SHOWN, verdict="Yes"),
    case("bug 2: the first integer is no count", BOTH, SHOWN, precision="There are 2 lists; 0 match", recall="2 lists, 0"),
    case("bug 2: more than there are", BOTH, SHOWN, precision="7", recall="9"),
    case("bug 2: precision and recall disagree", BOTH, SHOWN, precision="0", recall="2"),
    case("counts of nothing", BOTH, SHOWN, precision="none", recall="0"),
    case("both counts 0", BOTH, SHOWN, precision="0", recall="0"),
    case("a count in full-width digits", BOTH, SHOWN, precision="１ of ２", recall="1"),
    case("bug 5: no penalty for twelve turns", [*[order("CBC")] * 11, finish("Pneumonia")], ["16"] * 11,
         precision="11", recall="1"),
    case("twelve orders and no turn left", [order("CBC")] * 12, ["16"] * 12, precision="12", recall="1"),
    case("bug 6: a reply that orders nothing ends it", [order("CBC"), "Let me think."], SHOWN, precision="1", recall="1"),
    case("bug 8: dots of a name are gone", [order("25-OH vitamin D 1.25 (St. Jude)"), finish("Rickets")], ["low"],
         keys=["25-OH vitamin D 1.25 (St. Jude)"], precision="1", recall="1", disease="Rickets"),
    case("bug 8: a preamble ends it", ["Sure.\n\n" + order("CBC")], SHOWN),
    case("the other marker of an order", [order("CBC", "Further tests needed: "), finish("Pneumonia")], SHOWN,
         precision="1", recall="1"),
    case("both markers in one line", [order("performed: CBC", "needed: "), finish("Pneumonia")], SHOWN,
         precision="1", recall="1"),
    case("an order of nothing", [order(""), finish("Pneumonia")], ["?"], precision="0", recall="0"),
    case("a name that quotes the history", [order("CBC Exam results: fine"), finish("Pneumonia")], ["?"], precision="1",
         recall="1"),
    case("several in one order count as one", [order("CBC, Chest X-ray"), finish("Pneumonia")], SHOWN, precision="2",
         recall="2"),
    case("bug 12: the world says the phrase", [order("CBC"), "I give up."],
         ["The available information is sufficient to make a diagnosis. It is pneumonia."], precision="1", recall="1"),
    case("bug 12: what the world says is judged before the doctor", [order("CBC"), finish("Asthma")],
         ["The available information is sufficient to make a diagnosis. It is pneumonia. Reason: seen."],
         precision="1", recall="1"),
    case("the phrase without its dot", ["The available information is sufficient to make a diagnosis: flu"], keys=[]),
    case("the phrase without its dot in an order", [order("CBC. The available information is sufficient to make a "
         "diagnosis, nearly"), finish("Pneumonia")], SHOWN, precision="1", recall="1"),
    case("bug 13: the same again costs nothing", [order("CBC"), order("CBC"), order("CBC"), finish("Pneumonia")],
         ["16", "15", "17"], keys=["CBC"], precision="3", recall="1"),
    case("bug 14: a valid alternative lowers it", [order("CBC"), order("Chest CT"), finish("Pneumonia")], SHOWN,
         precision="1", recall="1"),
    case("both lists empty", [finish("Asthma")], keys=[], verdict="Wrong"),
    case("ordered though none was expected", [order("CBC"), finish("Pneumonia")], SHOWN, keys=[]),
    case("a list of diseases", [*BOTH[:2], finish("Pneumonia, asthma, gout, flu or a cold")], SHOWN),
    case("nothing behind the phrase", ["The available information is sufficient to make a diagnosis."], verdict="Wrong"),
    case("the phrase and an order in one reply", [order("CBC") + "\n" + finish("Pneumonia")]),
    case("a failed simulator", [order("CBC"), finish("Pneumonia")], [None], precision="1", recall="1"),
    case("nothing said", [""]),
]


def main():
    commit = subprocess.run(["git", "-C", CHECKOUT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    head = {
        "source": "MAGIC-AI4Med/DiagGym",
        "commit": commit.stdout.strip(),
        "versions": {"torch": version("torch"), "numpy": version("numpy")},
        "functions": {
            "play": "verl.workers.rollout.vllm_rollout.vllm_rollout_spmd.vLLMRolloutWithMultiTurn.generate_sequences",
            "score": "verl.utils.reward_score.diagnose.compute_score, by verl.workers.reward_manager.naive.process_item",
        },
    }
    lines = [json.dumps({**one, "outputs": score(one)}, ensure_ascii=False) for one in CASES]
    body = ",\n".join(lines)
    text = "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in head.items())
    (HERE / "diagagent.json").write_text(f'{text},\n"cases": [\n{body}\n]\n}}\n', encoding="utf-8")
    print(f"{len(CASES)} cases")


main()
