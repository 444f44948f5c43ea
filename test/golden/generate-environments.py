"""Reads the prompts of the published doctors and writes environments.json: facts of them, and none of their sentences.

python generate-environments.py <DiagGym> <DoctorAgent-RL> <MrlX> <GRPOdx>   checkouts; needs nothing beside Python

A fact is a role, a length, a hash, the order of the marks that replies and converters are read by, the number of turns,
or what stands around a patient's answer. GRPOdx is read at two commits, so its checkout needs its history.
"""

import ast
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent.resolve()
if len(sys.argv) != 5:
    sys.exit("usage: generate-environments.py <DiagGym> <DoctorAgent-RL> <MrlX> <GRPOdx>")
DIAGGYM, DOCTORAGENT, MRLX, GRPODX = (Path(one).resolve() for one in sys.argv[1:])

MARKS = {
    "diagagent": [
        "Current diagnosis:",
        "Based on the patient's initial presentation, the following investigation(s) should be performed:",
        "The available information is sufficient to make a diagnosis.",
        "\nDiagnosis:",
    ],
    "doctoragent-rl": [
        *["Response:", "\nQuestion:", "\nDiagnosis:", "\nRecommendation:"],
        *["Patient's description:", "Decide next action:", "Always output:"],
        *["<think>", "</think>", "<answer>", "</answer>"],
    ],
    "takes-two": [
        *["Response:", "\nQuestion:", "\nDiagnosis:", "\nRecommendation:"],
        *["Patient's description:", "Decide next action:"],
    ],
    "grpodx-readme": ["<reason>", "</reason>", "Final diagnosis:"],
    "grpodx": ["Final diagnosis:"],
}


def shown(checkout, commit, path):
    return subprocess.run(
        ["git", "-C", str(checkout), "show", f"{commit}:{path}"], capture_output=True, text=True, check=True
    ).stdout


def head(checkout):
    return subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()


def named(source, name):
    """The value that a name or attribute is first given; the variables of an f-string are left as {}."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Assign):
            continue
        target = node.targets[0]
        if name not in (getattr(target, "id", ""), getattr(target, "attr", "")):
            continue
        if isinstance(node.value, ast.Constant):
            return node.value.value
        if isinstance(node.value, ast.JoinedStr):
            return "".join(
                part.value if isinstance(part, ast.Constant) else "{}" for part in node.value.values
            )
    sys.exit(f"no {name}")


def facts(name, source, commit, messages, turns, **more):
    """Facts of the first messages of a dialogue."""
    text = "\n".join(content for _, content in messages)
    places = [(text.find(mark), mark) for mark in MARKS[name]]
    return {
        **{"source": source, "commit": commit, "roles": [role for role, _ in messages]},
        **{"characters": [len(content) for _, content in messages]},
        **{"sha256": [hashlib.sha256(content.encode()).hexdigest() for _, content in messages]},
        # The first place of each.
        **{"marks": [mark.strip() for at, mark in sorted(places) if at >= 0]},
        **{"missing": [mark.strip() for at, mark in places if at < 0]},
        **{"codeFences": text.count("```"), "turns": turns, **more},
    }


def main():
    rollout = DIAGGYM.joinpath(
        "DiagAgent/train/rl/verl/verl/workers/rollout/vllm_rollout/vllm_rollout_spmd.py"
    ).read_text()
    system = DIAGGYM.joinpath("DiagAgent/train/cold_start/diagnose.txt").read_text()
    report = re.search(r"f\"(Here is the test result: )\{", rollout) or re.search(
        r"f'(Here is the test result: )\{", rollout
    )
    script = DOCTORAGENT.joinpath(
        "ragen/env/medical_consultation/evaluation/inference_fast_for_patientllm.py"
    ).read_text()
    env = DOCTORAGENT.joinpath("ragen/env/medical_consultation/env_patient_llm.py").read_text()
    asked = named(script, "doctor_system_prompt") + named(script, "cur")
    turn = re.search(r"f\"\\n(Turn )\{self.current_turn\}(/)\{self.max_turns\}(\. )\"", env)
    [drawn] = set(re.findall(r"randint\((\d+), ?(\d+)\)", env))
    converter = MRLX.joinpath("MrlX-TakesTwo/data_preprocess/convert_mtmeddialog.py").read_text()
    patterns = [
        node.value
        for node in ast.walk(ast.parse(converter))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.match(r"Response:|\(Decide|Patient's", node.value)
    ]
    responses = next(one for one in patterns if one.startswith("Response:\\n(") )
    decide = next(one for one in patterns if one.startswith("(Decide"))
    described = next(one for one in patterns if one.startswith("Patient's"))
    converted = re.sub(
        responses, lambda _: f"Response:\n{named(converter, 'new_response_text')}\nRewards:", asked, flags=re.DOTALL
    )
    converted = re.sub(decide, r"\1", converted, flags=re.DOTALL)
    launch = MRLX.joinpath("MrlX-TakesTwo/run_qwen3_32B_doc.sh").read_text()
    turns = int(re.search(r"MAX_TURNS:-(\d+)", launch)[1])
    readme, last = (shown(GRPODX, commit, "medical_grpo.py") for commit in ("7a3666e", "c94d1bb"))
    made = {
        "diagagent": facts(
            *("diagagent", "MAGIC-AI4Med/DiagGym", head(DIAGGYM), [("system", system)]),
            *(int(re.search(r"self\.max_turns = (\d+)", rollout)[1]),),
            report=report[1],
        ),
        "doctoragent-rl": facts(
            *("doctoragent-rl", "JarvisUSTC/DoctorAgent-RL", head(DOCTORAGENT), [("user", asked)]),
            *([int(one) for one in drawn],),
            turnNotice="".join([turn[1], "{}", turn[2], "{}", turn[3]]).strip(),
        ),
        "takes-two": facts(
            *("takes-two", "AQ-MedAI/MrlX", head(MRLX), [("user", converted)], turns),
            description=described,
        ),
        "grpodx-readme": facts(
            *("grpodx-readme", "Legionof7/GRPOdx", "7a3666e"),
            *([("system", named(readme, "DOCTOR_SYSTEM_PROMPT"))], named(readme, "MAX_TURNS")),
        ),
        "grpodx": facts(
            *("grpodx", "Legionof7/GRPOdx", "c94d1bb", [("system", named(last, "SYSTEM_PROMPT"))]),
            *(named(last, "MAX_TURNS"),),
        ),
    }
    HERE.joinpath("environments.json").write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n")


main()
