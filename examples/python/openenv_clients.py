"""OpenEnv's own clients, unmodified, against `bedside serve`: async, sync, and tools over MCP.

pip install ./src/server/python openenv==0.10.0
python examples/python/openenv_clients.py
"""

import asyncio

from openenv import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient

import bedside


async def consult(address: str) -> None:
    async with GenericEnvClient(base_url=address) as env:
        result = await env.reset(seed=7, tier="standard")
        for action in ("Do you have a fever?", "Order: ECG", "Diagnosis: pneumonia"):
            print(result.observation["message"])
            result = await env.step({"message": action})
        print("reward", result.reward, result.observation["score"]["parts"])


async def call_tools(address: str) -> None:
    async with MCPToolClient(base_url=address) as env:
        print([tool.name for tool in await env.list_tools()])
        await env.reset(seed=7)
        print(await env.call_tool("ask_patient", question="Do you have a fever?"))


def consult_without_asyncio(address: str) -> None:
    with GenericEnvClient(base_url=address).sync() as env:
        print(env.reset(seed=7, split="heldout", index=3).observation["message"])
        print(env.step({"message": "", "order": "Full blood count"}).observation["message"])


with bedside.serve() as server:
    # These clients send no header: the token stands in the address.
    place = f"{server.url}/t/{server.token}"
    asyncio.run(consult(place))
    asyncio.run(call_tools(place))
    consult_without_asyncio(place)
