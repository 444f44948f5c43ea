"""OpenReward's official client, and TRL's OpenRewardSpec on it, unmodified, against a running server: run by
test/server/python.slow.test.ts.

Reads {"address", "token", "index", "options", "calls"} on stdin. Writes what each was told.
"""

import json
import os
import sys

given = json.load(sys.stdin)
address = given["address"]
os.environ["OPENREWARD_API_KEY"] = given["token"]
os.environ["OPENREWARD_API_URL"] = address
os.environ["OPENREWARD_SESSION_URL"] = address
os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

from openreward import OpenReward  # noqa: E402
from openreward.api.environments.client import Task, ToolCallError  # noqa: E402


def told(output):
    text = "".join(block.text for block in output.blocks)
    return [text, output.reward, output.finished]


def play(session):
    return [told(session.call_tool(name, arguments)) for name, arguments in given["calls"]]


def client():
    with OpenReward(base_url=address) as ors:
        env = ors.environments.get("consultation")
        task = env.get_task("heldout", 3)
        with env.session(split="train", index=given["index"]) as session:
            prompt = session.get_prompt()[0].text
            tools = [tool.name for tool in session.list_tools()]
            steps = play(session)
            try:
                session.call_tool("ask_patient", {"question": "More?"})
                after = None
            except ToolCallError as error:
                after = error.reason
        with env.session(task=task) as session:
            wrong = []
            for name, arguments in [("sing", {}), ("ask_patient", {"q": 1})]:
                try:
                    session.call_tool(name, arguments)
                except ToolCallError as error:
                    wrong.append([error.reason, str(error)])
        chosen = Task(
            server_name="x", environment_name="consultation", task_spec=given["options"], namespace=None
        )
        with env.session(task=chosen) as session:
            options = play(session)
        return {
            "splits": env.list_splits(),
            "count": env.num_tasks("train"),
            "task": task.task_spec,
            "prompt": prompt,
            "tools": tools,
            "steps": steps,
            "after": after,
            "wrong": wrong,
            "options": options,
        }


def trl():
    from trl.experimental.openreward import OpenRewardSpec

    spec = OpenRewardSpec(address, num_tasks=given["index"] + 1, api_key=given["token"])
    env = spec.environment_factory()
    rows = spec.train_dataset
    prompt = env.reset(task_index=rows[given["index"]]["task_index"])
    heard = [getattr(env, name)(**arguments) for name, arguments in given["calls"]]
    reward = spec.reward_funcs(environments=[env])
    env._close()
    return {"rows": len(rows), "prompt": prompt, "heard": heard, "reward": reward}


json.dump({"client": client(), "trl": trl()}, sys.stdout)
