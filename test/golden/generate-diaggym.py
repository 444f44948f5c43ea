"""Runs DiagGym's published clients with records of ours and writes diaggym.json: prompts and settings of requests.

python generate-diaggym.py <checkout of MAGIC-AI4Med/DiagGym>   needs nothing beside Python

Run as written: the context of `EHRGeneratorDataset`, `request_examination_result` and `call_openai_diaggym` of the
rollout with the history entries of `generate_sequences`, and `EHRGenerator.inference` of the two evaluations. Put in
place: the server, which keeps the request and answers with a result of ours.
"""

import ast
import hashlib
import json
import random
import subprocess
import sys
import types
from pathlib import Path
from types import SimpleNamespace
from typing import Optional

HERE = Path(__file__).parent.resolve()
if len(sys.argv) != 2:
    sys.exit("usage: generate-diaggym.py <checkout of MAGIC-AI4Med/DiagGym>")
CHECKOUT = Path(sys.argv[1]).resolve()
ROLLOUT = CHECKOUT / "DiagAgent/train/rl/verl/verl/workers/rollout/vllm_rollout/vllm_rollout_spmd.py"
EVALUATION = CHECKOUT / "DiagGym/eval/instance_wise_evaluation/DiagGym_inference.py"
DATASET = CHECKOUT / "DiagGym/train/Dataset.py"

REQUESTS = []
REPLY = "  Value: 14; Numeric Value: 14.0; Units: K/uL; Reference Range: 4.0 - 10.0\n"


class OpenAI:
    """A client that keeps what it is asked."""

    def __init__(self, **_):
        self.completions = SimpleNamespace(create=self.create)

    def create(self, **request):
        REQUESTS.append(request)
        return SimpleNamespace(choices=[SimpleNamespace(text=REPLY)])


def compiled(path, keep, more=()):
    """Some statements of a module, run in a namespace of their own."""
    tree = ast.parse(path.read_text())
    tree.body = [node for node in tree.body if keep(node)]
    names = {"OpenAI": OpenAI, "random": random, "Optional": Optional, **dict(more)}
    exec(compile(tree, str(path), "exec"), names)
    return names


def rollout():
    """The rollout's class with its calls of the simulator; its module imports vLLM."""
    kept = {"call_openai_diaggym", "request_examination_result"}
    tree = ast.parse(ROLLOUT.read_text())
    [node] = [one for one in tree.body if getattr(one, "name", "") == "vLLMRolloutWithMultiTurn"]
    node.bases = []
    source = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    node.body = [source[name] for name in sorted(kept)]
    names = {"OpenAI": OpenAI, "random": random}
    exec(compile(ast.Module([node], []), str(ROLLOUT), "exec"), names)
    made = object.__new__(names["vLLMRolloutWithMultiTurn"])
    # Its `__init__` makes an engine first; these two assignments of it are run as written.
    for statement in source["__init__"].body:
        if isinstance(statement, ast.Assign) and statement.targets[0].attr in ("SEP", "stop_tokens"):
            exec(compile(ast.Module([statement], []), str(ROLLOUT), "exec"), {"self": made})
    [entry] = [
        one.value
        for one in ast.walk(source["generate_sequences"])
        if isinstance(one, ast.Assign) and getattr(one.targets[0], "id", "") == "history_entry"
    ]
    line = compile(ast.Expression(entry), str(ROLLOUT), "eval")

    def history_entry(name, result):
        return eval(line, {"examination_name": name, "examination_result": result})

    return made, history_entry


def training_context(note, diagnosis):
    """The context that the data set makes of a note, with the header of `preprocess`."""
    tree = ast.parse(DATASET.read_text())
    [made] = [
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.Assign) and getattr(one.targets[0], "id", "") == "generator_context"
        and isinstance(one.value, ast.BinOp)
    ]
    names = {"discharge_note": note, "discharge_diagnosis": diagnosis}
    return eval(compile(ast.Expression(made), str(DATASET), "eval"), names)


RECORDS = [
    ["Blood Count", "White cells: Value: 14; Numeric Value: 14.0; Units: K/uL"],
    ["Chest X-Ray", "Consolidation in the right lower lobe.\nNo effusion."],
    ["C-Reactive Protein", "Value: 80; Numeric Value: 80.0; Units: mg/L; Reference Range: 0.0 - 5.0"],
]
NOTES = [
    ["Sex: F\n\nChief Complaint:\nCough\n\nPhysical Exam:\nRales.", "Pneumonia"],
    ["  Chief Complaint:\n咳嗽, fever\n\nPast Medical History:\nasthma; smoking\n\n", "Acute bronchitis"],
]


def main():
    player, history_entry = rollout()
    evaluation = compiled(
        EVALUATION,
        lambda node: getattr(node, "name", "") == "EHRGenerator" or isinstance(node, ast.Assign),
        {"os": types.SimpleNamespace(getenv=lambda _, default: default)}.items(),
    )
    evaluator = evaluation["EHRGenerator"]("EHRGenerator")
    cases = []
    for note, diagnosis in NOTES:
        context = training_context(note, diagnosis)
        for count in range(len(RECORDS)):
            past = RECORDS[:count]
            exam = RECORDS[count][0]
            REQUESTS.clear()
            result = player.request_examination_result(context, exam, [history_entry(*one) for one in past])
            header = "\nThe following summarizes the results from the patient's medical examination:\n"
            entries = [f"Exam name:\n{name}\nExam results:\n{text}" for name, text in past]
            evaluator.inference(context + header, entries, exam)
            trained, judged = REQUESTS
            assert trained["prompt"] == judged["prompt"]
            prompt = trained.pop("prompt")
            judged.pop("prompt")
            cases.append(
                {
                    **{"note": note, "diagnosis": diagnosis, "past": past, "exam": exam},
                    **{"prompt": prompt, "sha256": hashlib.sha256(prompt.encode()).hexdigest()},
                    **{"result": result, "rollout": trained, "evaluation": judged},
                }
            )
    commit = subprocess.run(
        ["git", "-C", str(CHECKOUT), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    made = {"source": "MAGIC-AI4Med/DiagGym", "commit": commit, "reply": REPLY, "cases": cases}
    HERE.joinpath("diaggym.json").write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n")


main()
