"""bedside.rewards and bedside.cases against a server they start: run by test/server/python.slow.test.ts.

Reads {"package", "command", "seed"} on stdin; writes scores of what was played and logged, and cases.
"""

import json
import os
import sys

given = json.load(sys.stdin)
sys.path.insert(0, given["package"])
os.environ["BEDSIDE_COMMAND"] = given["command"]

import bedside  # noqa: E402

with bedside.Client() as client:
    consultation = client.open(seed=given["seed"], tier="standard")
    consultation.say("Do you have a fever?")
    consultation.say("Order: ECG")
    unfinished = bedside.rewards.score([consultation.record()])
    played = consultation.say("Diagnosis: no such disease").observation["score"]
    record = json.loads(json.dumps(consultation.record()))

logged = [
    {
        "messages": [
            {"role": "user", "content": "I am always tired."},
            {"role": "assistant", "content": "Are you always cold?"},
            {"role": "user", "content": "Yes."},
            {"role": "assistant", "content": f"Diagnosis: {named}"},
        ],
        "diagnosis": "Hypothyroidism",
    }
    for named in ("hypothyroidism", "migraine")
]
refused = []
for episodes in ([record], logged):
    try:
        bedside.rewards.score(episodes, "no-such-reward")
    except bedside.BedsideError as error:
        refused.append(type(error).__name__)
try:
    bedside.cases.load(1)
    missing = "datasets is there"
except ImportError as error:
    missing = str(error)
rows = bedside.cases.rows(2, start=4, tier="standard")
tool = bedside.ToolEnvironment()

json.dump(
    {
        "played": played,
        "again": bedside.rewards.score([consultation, record]),
        "accuracy": bedside.rewards.score([record, *logged], "diagnosis-accuracy"),
        "unknown": [score["total"] for score in bedside.rewards.score(logged[:1], "default")],
        "unfinished": unfinished,
        "names": bedside.rewards.names(),
        "refused": refused,
        "cases": [case["id"] for case in bedside.cases.generate(2, tier="standard")],
        "rows": [{key: value for key, value in row.items() if key != "prompt"} for row in rows],
        "prompt": rows[0]["prompt"][-1]["content"],
        "heard": tool.reset(**rows[0]),
        "missing": missing,
    },
    sys.stdout,
)
