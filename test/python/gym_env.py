"""The Python package bedside, with a server that it starts itself: run by test/server/python.slow.test.ts.

Reads {"package", "command", "seeds", "actions"} on stdin; writes transcripts of Gymnasium's interface, of the chat form,
of asyncio and of a vector env, what was refused, and what was left behind.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
import warnings

given = json.load(sys.stdin)
sys.path.insert(0, given["package"])
os.environ["BEDSIDE_COMMAND"] = given["command"]

import gymnasium  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

import bedside  # noqa: E402
from bedside import _server, aio, consultation as wire  # noqa: E402


def transcript(step, first):
    """Message, reward and end of each step."""
    told = [[first, None, False, False]]
    for action in given["actions"]:
        message, reward, terminated, truncated = step(action)
        told.append([message, reward, terminated, truncated])
        if terminated or truncated:
            break
    return told


def play_gym(env, seed):
    first, _ = env.reset(seed=seed)
    return transcript(lambda action: env.step(action)[:4], first)


def play_chat(client, seed):
    with client.open(tier="standard", seed=seed) as consultation:
        def step(action):
            reply = consultation.say(action)
            return [reply.message, reply.reward or 0.0, reply.terminated, reply.truncated]

        told = transcript(step, consultation.first.message)
        return told, [message["role"] for message in consultation.messages]


async def play_async(seeds):
    async def one(client, seed):
        async with await client.open(tier="standard", seed=seed) as consultation:
            told = [[consultation.first.message, None, False, False]]
            for action in given["actions"]:
                reply = await consultation.step(action)
                told.append([reply.message, reply.reward or 0.0, reply.terminated, reply.truncated])
                if reply.done:
                    break
            return told

    async with bedside.AsyncClient() as client:
        return await asyncio.gather(*[one(client, seed) for seed in seeds])


def refusals():
    found = []
    for options in ({"teir": "easy"}, {"reward": "defualt"}, {"tier": "easiest"}):
        try:
            bedside.make(**options)
        except bedside.Refused as error:
            found.append([error.code, str(error)])
    return found


def of_other_release():
    """What a client of another series of releases is told, with and without asyncio."""

    async def ask():
        async with bedside.AsyncClient() as client:
            await client.open()

    found = []
    wire.__version__ = aio.__version__ = "99.0.0"
    for opened in (lambda: bedside.Client().open(), lambda: asyncio.run(ask())):
        try:
            opened()
        except bedside.Refused as error:
            found.append([error.code, error.details["server"]])
    wire.__version__ = aio.__version__ = bedside.__version__
    return found


def lost_server(seed):
    """The server is killed in the middle; the next step goes on at another, with the actions before."""
    with bedside.serve() as one:
        client = bedside.Client(one.url, one.token)
        consultation = client.open(tier="standard", seed=seed)
        told = [consultation.step(given["actions"][0]).message]
        port = one.url.rsplit(":", 1)[1]
        one._process.kill()
        one._process.wait()
        with bedside.serve("--port", port) as other:
            client._token = other.token
            told += [consultation.step(action).message for action in given["actions"][1:]]
    return told


with warnings.catch_warnings():
    warnings.simplefilter("error")
    started = time.perf_counter()
    env = bedside.make("consultation", tier="standard")
    assert isinstance(env, gymnasium.Env)
    check_env(env.unwrapped, skip_render_check=True)
transcripts = [play_gym(env, seed) for seed in given["seeds"]]
again = [play_gym(env, seed) for seed in given["seeds"]]
env.close()
with bedside.Client() as client:
    chats = [play_chat(client, seed) for seed in given["seeds"]]
    tools = [tool["function"]["name"] for tool in client.tools()]
    splits = client.splits()
vector = bedside.make_vec(8, tier="easy")
_, _ = vector.reset(seed=list(range(8)))
messages = vector.step(["Do you have a fever?"] * 8)[0]
vector.close()


def in_processes():
    """Whether Gymnasium's own processes play as one process does, and what they say of text in shared memory."""
    envs = [lambda: bedside.make(tier="easy", language="zh")] * 2
    try:
        gymnasium.vector.AsyncVectorEnv(envs)
    except ValueError as error:
        refused = str(error.__cause__)
    asked = ["你发烧吗？"] * 2
    played = []
    for vector in (gymnasium.vector.AsyncVectorEnv(envs, shared_memory=False), gymnasium.vector.SyncVectorEnv(envs)):
        played.append([vector.reset(seed=0)[0], vector.step(asked)[0]])
        vector.close()
    return [one == other for one, other in zip(*played)], refused


processes, shared_memory = in_processes()

environment = bedside.ToolEnvironment()
opened = environment.reset(tier="easy", seed=3, prompt="left alone")
heard = environment.ask_patient("Do you have a fever?")
environment.diagnose("influenza", "rest")
reward = environment.get_reward()

other = of_other_release()
lost = lost_server(given["seeds"][0])
shared = _server._shared
assert shared is not None
shared.close()
left = subprocess.run(["ps", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True).stdout

json.dump(
    {
        "transcripts": transcripts,
        "again": again,
        "chats": [told for told, _ in chats],
        "roles": chats[0][1],
        "tools": tools,
        "splits": splits,
        "vector": [isinstance(message, str) and len(message) > 0 for message in messages],
        "processes": processes,
        "shared": shared_memory,
        "tool": {"opened": opened, "heard": heard, "reward": reward},
        "lost": lost,
        "refusals": refusals(),
        "version": bedside.__version__,
        "other": other,
        "left": [line for line in left.splitlines() if "serve" in line],
        "asyncio": asyncio.run(play_async(given["seeds"])),
    },
    sys.stdout,
)
