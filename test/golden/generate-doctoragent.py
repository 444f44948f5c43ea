"""Runs the environments and the evaluator of DoctorAgent-RL on our own consultations and writes doctoragent.json.

python generate-doctoragent.py <checkout of JarvisUSTC/DoctorAgent-RL>   needs jieba 0.42.1 and numpy, nothing else

The rewards are those of the checkout's own `execute_predictions`, `_postprocess_responses` and evaluator, run as
written. Put in place: torch, ray, verl, transformers and the like by empty modules, the language models by the words
of the consultation, and the loop of `run_llm_loop`, which moves tensors, by the one below. Beside an episode that is
not alone stands another that asks one question a step, so that its batch never ends before the loop does.
"""

import json
import os
import re
import subprocess
import sys
import types
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import jieba
import numpy as np

from doctoragent_consultations import CONSULTATIONS, EVALUATED, FRESH, ask

HERE = Path(__file__).parent.resolve()
if len(sys.argv) != 2:
    sys.exit("usage: generate-doctoragent.py <checkout of JarvisUSTC/DoctorAgent-RL>")
CHECKOUT = Path(sys.argv[1]).resolve()
LOOP = 10
jieba.setLogLevel(60)


def stub_modules():
    for name in ["torch.distributed", "torch.nn", "torch.nn.parallel", "torch.utils", "torch.utils.data",
                 "torch.utils.data.distributed", "transformers", "verl", "verl.utils", "verl.utils.model",
                 "verl.utils.tracking", "omegaconf", "ray", "rouge_score", "pandas", "tqdm", "ragen.utils",
                 "ragen.utils.plot", "ragen.workers", "ragen.workers.env_llm_worker"]:
        sys.modules[name] = MagicMock()
    sys.modules["torch"] = MagicMock(Tensor=type("Tensor", (), {}), no_grad=nullcontext)
    gym = types.ModuleType("gymnasium")
    gym.Env = type("Env", (), {"reset": lambda self, seed=None, options=None: None})
    sys.modules["gymnasium"] = gym
    # The packages' __init__ would import the other environments; only their paths are wanted.
    for name in ["ragen", "ragen.env", "ragen.env.medical_consultation", "ragen.llm_agent"]:
        package = types.ModuleType(name)
        package.__path__ = [str(CHECKOUT / name.replace(".", "/"))]
        sys.modules[name] = package


stub_modules()
sys.path.insert(0, str(CHECKOUT))
sys.path.insert(0, str(CHECKOUT / "ragen/env/medical_consultation/evaluation"))
os.chdir(CHECKOUT)  # the published code opens its prompt templates by relative paths

import evaluation_for_patientllm_category as evaluation  # noqa: E402
from ragen.env.medical_consultation.env import MedicalConsultationEnv as Match  # noqa: E402
from ragen.env.medical_consultation.env_patient_llm import (  # noqa: E402
    MedicalConsultationEnvWithPatientLLM as Patient,
)
from ragen.env.medical_consultation.env_patient_llm_rm import (  # noqa: E402
    MedicalConsultationEnvWithPatientLLMandRM as Judge,
)
from ragen.llm_agent.generation import LLMGenerationManager  # noqa: E402

VARIANTS = {"match": Match, "patient": Patient, "judge": Judge}


class Tokenizer:
    """Strings are their own tokens."""

    pad_token, pad_token_id, eos_token_id, padding_side = "<pad>", 0, 0, "left"

    def __call__(self, prompts, **_):
        return {"input_ids": prompts, "attention_mask": MagicMock()}

    def apply_chat_template(self, messages, **_):
        return "\n".join(message["content"] for message in messages)

    def decode(self, text, **_):
        return text

    def batch_decode(self, texts, **_):
        return texts


class Models:
    """All models of the environment; a prompt is known by the mark its environment put before it."""

    _world_size = 1

    def __init__(self):
        self.replies = {}

    def mark(self, env, name, reply):
        inner = getattr(env, name)

        def marked(*args):
            key = f"[[{len(self.replies)}]]"
            self.replies[key] = reply(*args)
            return key + inner(*args)

        setattr(env, name, marked)

    def generate_responses(self, data):
        keys = [re.match(r"\[\[\d+]]", prompt)[0] for prompt in data.batch["input_ids"]]
        return SimpleNamespace(batch={"responses": [self.replies[key] for key in keys]})


for module in (sys.modules[cls.__module__] for cls in VARIANTS.values()):
    module.DataProto = SimpleNamespace(from_dict=lambda batch: SimpleNamespace(batch=batch))

POSTPROCESS = LLMGenerationManager.__new__(LLMGenerationManager)
POSTPROCESS.tokenizer = Tokenizer()
POSTPROCESS.config = SimpleNamespace(
    state_masking=True, start_state_marker="<start-state>", end_state_marker="<end-state>", no_think_rl=False
)
POSTPROCESS._batch_tokenize = lambda texts: texts


def row(consultation):
    recorded = [
        {"doctor_question": np.array(line["question"], dtype=object),
         "patient_response": None if line["response"] is None else np.array(line["response"], dtype=object)}
        for line in consultation["recorded"]
    ]
    return {"target": consultation["gold"], "patient_information": recorded, "description": "A patient."}


def heard(env, question, seen):
    """What the judge of repeats was shown: the question, and those before it."""
    inner = type(env)._prepare_judge_prompt(env, question)
    earlier = re.search(r"questions:\n\[\n(.*?)\n]", inner, re.DOTALL)[1]
    asked = re.search(r"Current Question: (.*)\n<think>$", inner, re.DOTALL)[1]
    seen.append({"question": asked, "earlier": re.findall(r"Q\d+\. (.*?)\n(?=Q\d+\. |$)", earlier, re.DOTALL)})


def environment(cls, models, index, budget, step, scores, seen):
    env = cls(parquet_path="", env_llm_worker=models, tokenizer=Tokenizer(), max_turns=budget)
    env.reset(seed=index)
    if cls is Match:
        models.mark(env, "_prepare_patient_prompt", lambda question: step()["match"])
        return env

    def repeat(question):
        heard(env, question, seen)
        return step()["repeat"]

    models.mark(env, "_prepare_judge_prompt", repeat)
    models.mark(env, "_prepare_patient_prompt", lambda question: step()["patient"])
    if cls is Judge:
        models.mark(env, "_prepare_diagnosis_scoring_prompt", lambda *texts: scores[0])
        models.mark(env, "_prepare_recommendation_scoring_prompt", lambda *texts: scores[1])
    return env


def play(cls, consultation):
    """The reward an environment ends with, or the error it raises."""
    companion = ask("Is there anything else?", match="<answer>-1</answer>")
    cls._shared_data = Match._shared_data = [row(consultation), row({**consultation, "recorded": []})]
    cls._shared_seed_to_index = Match._shared_seed_to_index = {0: 0, 1: 1}
    models, steps, seen = Models(), list(consultation["steps"]), []
    current = [None]
    envs = [environment(cls, models, 0, consultation["budget"], lambda: current[0], consultation["scores"], seen)]
    if not consultation["alone"]:
        envs.append(environment(cls, models, 1, 99, lambda: companion, ["0", "0"], []))
    active = [True] * len(envs)
    try:
        for _ in range(LOOP):
            if not any(active):
                break
            if active[0]:
                # A doctor whose consultation is over for us goes on asking, where the loop lets it.
                current[0] = steps.pop(0) if steps else ask("And then, is there more?", repeat=FRESH)
            replies = [current[0]["reply"], companion["reply"]][: len(envs)]
            _, texts = POSTPROCESS._postprocess_responses([t for t, on in zip(replies, active) if on], envs)
            texts = iter(texts)
            texts = [next(texts) if on else "" for on in active]
            _, dones = cls.execute_predictions(envs, texts, texts, Tokenizer())
            active = [not done for done in dones]
    except (IndexError, AttributeError) as error:
        return {"error": type(error).__name__}
    found = {"reward": float(envs[0].reward), "steps": len(envs[0]._actions)}
    if cls is not Match:
        found |= {"diagnosis": float(envs[0].diagnosis_score), "recommendation": float(envs[0].recommandation_score)}
    if cls is Patient and not consultation["name"].startswith("D1 "):
        found["heard"] = seen
    return found


def evaluate(item):
    """What the evaluator makes of a final turn, with the words of its judge given."""
    words = iter(item["judged"])
    # Any tensor: its shape is only sliced off, and the texts come from batch_decode.
    evaluation.global_model_loaded, evaluation.global_model = True, MagicMock()
    evaluation.global_tokenizer = MagicMock()
    evaluation.global_tokenizer.batch_decode = lambda *_, **__: [next(words)]
    content = f"Diagnosis: {item['diagnosis']}\nRecommendation: {item['recommendation']}"
    turns = [{"role": "doctor", "content": "Where?", "tokens": count} for count in item["tokens"]]
    turns[-1] |= {"content": content, "is_diagnosis": True}
    gold = item["gold"]
    evaluator = evaluation.MedicalDiagnosisEvaluator({
        "self_report": "", "simulation_dialogue": turns, "total_turns": len(turns),
        "true_diagnosis": gold["diagnosis"], "true_recommendation": gold["recommendation"],
    })
    diagnosis, recommendation, _ = evaluator.extract_model_outputs()
    semantic = []
    for pair, said in zip([(diagnosis, gold["diagnosis"]), (recommendation, gold["recommendation"])], item["judged"]):
        words = iter([said])
        semantic += evaluation.calculate_semantic_similarity_score_batch([pair])
    combined = evaluator.calculate_metrics(*semantic)["combined_score"]
    _, average, count = evaluator.calculate_interaction_efficiency()
    dei = evaluator.calculate_diagnostic_efficiency_index(combined, count, average)
    return {"semantic": semantic, "combined": combined, "averageTokens": average, "dei": dei}


def written(found):
    """JSON with a line for each entry of a list."""
    fields = []
    for name, value in found.items():
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in value) if isinstance(value, list) else None
        fields.append(f"{json.dumps(name)}: " + (json.dumps(value) if lines is None else f"[\n{lines}\n]"))
    return "{\n" + ",\n".join(fields) + "\n}\n"


def main():
    commit = subprocess.run(
        ["git", "-C", str(CHECKOUT), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    output = sys.stdout
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # the published code prints what it cannot read
    cases = [
        {**consultation, "outputs": {name: play(cls, consultation) for name, cls in VARIANTS.items()}}
        for consultation in CONSULTATIONS
    ]
    evaluated = [{**item, "outputs": evaluate(item)} for item in EVALUATED]
    sys.stdout = output
    found = {
        "source": "JarvisUSTC/DoctorAgent-RL",
        "commit": commit,
        "versions": {"jieba": version("jieba")},
        "functions": {
            **{name: f"{cls.__module__}.{cls.__name__}.execute_predictions" for name, cls in VARIANTS.items()},
            "dei": "evaluation_for_patientllm_category.MedicalDiagnosisEvaluator.calculate_diagnostic_efficiency_index",
        },
        "cases": cases,
        "evaluated": evaluated,
    }
    path = HERE / "doctoragent.json"
    path.write_text(written(found), encoding="utf-8")
    print(f"{len(cases)} consultations, {len(evaluated)} evaluations -> {path.name}")


if __name__ == "__main__":
    main()
