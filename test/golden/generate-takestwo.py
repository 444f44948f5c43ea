"""Runs the rewards of MrlX-TakesTwo on our own consultations and writes takestwo.json.

python generate-takestwo.py <checkout of AQ-MedAI/MrlX>   needs jieba 0.42.1 and numpy, nothing else

The numbers are those of the checkout's own reward classes and rollout, run as written. Put in place: slime, openai,
transformers and pydantic by empty modules, the judge by its words, the tokenizer by one that counts nothing, and
waiting between retries by none. MAX_TURNS is 10, as in the published scripts.
"""

import asyncio
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import jieba

from takestwo_consultations import ABORTED, CONSULTATIONS, JUDGED

HERE = Path(__file__).parent.resolve()
if len(sys.argv) != 2:
    sys.exit("usage: generate-takestwo.py <checkout of AQ-MedAI/MrlX>")
CHECKOUT = Path(sys.argv[1]).resolve()
os.environ |= {"MAX_TURNS": "10", "DATABASE_SERVER_IP": "127.0.0.1", "KEY_SUFFIX": "golden"}
jieba.setLogLevel(60)

for name in ["slime", "slime.rollout", "slime.rollout.sglang_rollout", "slime.utils", "slime.utils.http_utils",
             "slime.utils.types", "openai", "pydantic", "transformers", "requests"]:
    sys.modules[name] = MagicMock()
sys.path.insert(0, str(CHECKOUT / "MrlX-TakesTwo"))
output, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="utf-8")  # the published code prints as it goes

import doctor_multiturn  # noqa: E402
import patient_reward  # noqa: E402
from doctor_reward import MedRewardMultiturn  # noqa: E402


async def no_wait(_):
    return None


asyncio.sleep = no_wait


def messages_of(turns):
    messages = [{"role": "user", "content": "My stomach hurts."}]
    for turn in turns:
        messages.append({"role": "assistant", "content": turn["doctor"]})
        if turn["patient"] is not None:
            messages.append({"role": "user", "content": turn["patient"]})
    return messages


def doctor(consultation):
    found = asyncio.run(MedRewardMultiturn().calculate_rewards(messages_of(consultation["turns"]), consultation["gold"]))
    return {"accuracy": found["accuracy_reward"], "information": found["information_reward"],
            "compliance": found["compliance_reward"], "score": found["score"]}


def patient(item):
    """The score by the given words, and the dialogue the judge was shown; or the error that is raised."""
    roles = {"assistant": "user", "user": "assistant"}
    messages = [{"role": "system", "content": "You are a patient."}]
    messages += [{**message, "role": roles[message["role"]]} for message in messages_of(item["turns"])[1:]]
    shown = []
    inner = patient_reward.convert_messages_to_dialogue

    def convert(lines):
        shown[:] = [{"role": line["role"], "text": inner([line])} for line in lines]
        return inner(lines)

    async def create(**_):
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=item["judged"]))])

    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    patient_reward.AsyncOpenAI = lambda **_: client
    patient_reward.convert_messages_to_dialogue = convert
    sample = SimpleNamespace(metadata={"messages": messages, "self_report": "", "diagnosis": "", "recommendation": ""})
    try:
        details, _ = asyncio.run(patient_reward.compute_score(sample))
    except (KeyError, TypeError) as error:
        return {"error": type(error).__name__}
    finally:
        patient_reward.convert_messages_to_dialogue = inner
    # Roles and marks are the reward's own; only the texts behind them are ours.
    dialogue = [{"role": "doctor" if line["role"] == "user" else "patient", "text": line["text"].split("：", 1)[1]}
                for line in shown]
    # NaN is no JSON.
    return {"score": details["score"] if details["score"] == details["score"] else "NaN", "dialogue": dialogue}


def aborted(item):
    replies = iter(item["replies"])

    async def generate_response(*_):
        reply = next(replies)
        last = reply == item["replies"][-1]
        return {"text": reply, "meta_info": {"finish_reason": {"type": item["finish"] if last else "stop"}}}

    async def answer(request, _):
        request.add_user_message("Under my ribs.")
        return True, None

    async def init_tools(*_):
        return {}

    tokenizer = MagicMock()
    tokenizer.apply_chat_template = lambda *_, **__: []
    sample = SimpleNamespace(metadata={}, prompt=messages_of([]), tokens=[], status=None, reward=None)
    asyncio.run(doctor_multiturn.multi_turn_generate(
        None, sample, {}, SimpleNamespace(init_tools=init_tools, execute_user_simulation=answer),
        SimpleNamespace(generate_response=generate_response), tokenizer))
    return {"reward": sample.reward, "tokens": len(sample.tokens)}


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
    found = {
        "source": "AQ-MedAI/MrlX",
        "commit": commit,
        "versions": {"jieba": version("jieba")},
        "functions": {
            "doctor": "doctor_reward.MedRewardMultiturn.calculate_rewards",
            "patient": "patient_reward.compute_score",
            "aborted": "doctor_multiturn.multi_turn_generate",
        },
        "maxTurns": 10,
        "cases": [{**item, "outputs": doctor(item)} for item in CONSULTATIONS],
        "judged": [{**item, "outputs": patient(item)} for item in JUDGED],
        "aborted": [{**item, "outputs": aborted(item)} for item in ABORTED],
    }
    path = HERE / "takestwo.json"
    path.write_text(written(found), encoding="utf-8")
    print(f"{len(CONSULTATIONS)} consultations, {len(JUDGED)} judged -> {path.name}", file=output)


if __name__ == "__main__":
    main()
