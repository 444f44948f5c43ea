"""OpenEnv's official clients, unmodified, against a running server: run by test/server/python.slow.test.ts.

Reads {"address", "actions"} on stdin; the address holds the token. Writes what the async, the sync and the MCP client
were told.
"""

import asyncio
import json
import sys

given = json.load(sys.stdin)

from openenv import GenericEnvClient  # noqa: E402
from openenv.core.mcp_client import MCPToolClient  # noqa: E402

address = given["address"]


def told(result):
    return [result.observation["message"], result.reward, result.done]


async def generic():
    async with GenericEnvClient(base_url=address) as client:
        steps = [told(await client.reset(seed=given["seed"], tier="standard"))]
        for action in given["actions"]:
            steps.append(told(await client.step({"message": action})))
        state = await client.state()
        return steps, state if isinstance(state, dict) else state.model_dump()


async def wrong():
    async with GenericEnvClient(base_url=address) as client:
        errors = []
        for call in (lambda: client.reset(sead=1), lambda: client.step({"text": "x"})):
            try:
                await call()
            except RuntimeError as error:
                errors.append(str(error))
            await client.reset()
        return errors


async def mcp():
    async with MCPToolClient(base_url=address) as client:
        names = [tool.name for tool in await client.list_tools()]
        await client.reset(seed=given["seed"], tier="standard")
        return names, await client.call_tool("ask_patient", question=given["actions"][0])


def sync():
    with GenericEnvClient(base_url=address).sync() as client:
        steps = [told(client.reset(seed=given["seed"], tier="standard"))]
        steps += [told(client.step({"message": action})) for action in given["actions"]]
        return steps


steps, state = asyncio.run(generic())
names, called = asyncio.run(mcp())
json.dump(
    {
        "steps": steps,
        "state": state,
        "sync": sync(),
        "wrong": asyncio.run(wrong()),
        "tools": names,
        "called": called,
    },
    sys.stdout,
)
