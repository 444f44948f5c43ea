"""NeMo Gym's own gymnasium agent and its HTTP client, unmodified, against a running server: run by
test/server/python.slow.test.ts.

Reads {"host", "port", "token", "options", "texts", "calls"} on stdin. A model server of this process says what it is
told to. Writes the rollout of a policy that writes text, and of one that calls tools.
"""

import asyncio
import json
import sys

given = json.load(sys.stdin)

import os  # noqa: E402

os.environ.setdefault("WANDB_MODE", "disabled")
sys.path.insert(0, os.path.join(sys.prefix, "nemo-gym"))

from aiohttp import web  # noqa: E402
from fastapi import Request  # noqa: E402
from nemo_gym.config_types import BaseServerConfig, ModelServerRef, ResourcesServerRef  # noqa: E402
from nemo_gym.server_utils import (  # noqa: E402
    GlobalAIOHTTPAsyncClientConfig,
    ServerClient,
    set_global_aiohttp_client,
)
from omegaconf import OmegaConf  # noqa: E402
from responses_api_agents.gymnasium_agent.app import (  # noqa: E402
    GymnasiumAgent,
    GymnasiumAgentConfig,
    GymnasiumAgentRunRequest,
)


def response(output):
    return {
        "id": "r",
        "created_at": 0.0,
        "model": "m",
        "object": "response",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def said(text):
    part = {"annotations": [], "text": text, "type": "output_text"}
    message = {"id": "m", "content": [part], "role": "assistant", "status": "completed"}
    return response([{**message, "type": "message"}])


def called(name, arguments, number):
    call = {"name": name, "arguments": json.dumps(arguments), "call_id": f"c{number}"}
    return response([{**call, "type": "function_call"}])


async def rollout(outputs, params, options):
    """Plays one row; gives the agent's result and what the model was shown."""
    shown = []
    left = list(outputs)

    async def answer(request):
        shown.append((await request.json())["input"])
        return web.json_response(left.pop(0))

    app = web.Application()
    app.router.add_post("/v1/responses", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    # Its client makes addresses of a host and a port and sends no headers: the token goes into the path.
    servers = {
        "patients": {
            "resources_servers": {
                "patients": {"host": given["host"], "port": f"{given['port']}/t/{given['token']}"}
            }
        },
        "policy": {"responses_api_models": {"policy": {"host": "127.0.0.1", "port": port}}},
    }
    client = ServerClient(
        head_server_config=BaseServerConfig(host="127.0.0.1", port=1),
        global_config_dict=OmegaConf.create(servers),
    )
    agent = GymnasiumAgent(
        config=GymnasiumAgentConfig(
            host="127.0.0.1",
            port=1,
            entrypoint="app.py",
            name="agent",
            resources_server=ResourcesServerRef(type="resources_servers", name="patients"),
            model_server=ModelServerRef(type="responses_api_models", name="policy"),
            max_steps=8,
        ),
        server_client=client,
    )
    row = {"responses_create_params": params, "consultation": options}
    request = Request({"type": "http", "headers": []})
    result = await agent.run(request, GymnasiumAgentRunRequest.model_validate(row))
    await runner.cleanup()
    return result.model_dump(), shown


async def main():
    set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig())
    options = given["options"]
    text, shown = await rollout(
        [said(one) for one in given["texts"]], {"input": [{"role": "user", "content": "Begin."}]}, options
    )
    tool = {"type": "function", "strict": False, "parameters": {"type": "object"}}
    names = ["ask_patient", "order_exam", "diagnose"]
    tools, _ = await rollout(
        [called(name, arguments, n) for n, (name, arguments) in enumerate(given["calls"])],
        {"input": [], "tools": [{**tool, "name": name} for name in names]},
        options,
    )
    return {
        "shown": shown,
        "text": {key: text[key] for key in ("reward", "terminated", "truncated", "info")},
        "tools": {key: tools[key] for key in ("reward", "terminated", "truncated", "info")},
        "heard": [
            one["output"] for one in tools["response"]["output"] if one["type"] == "function_call_output"
        ],
    }


out = sys.stdout
sys.stdout = sys.stderr
told = asyncio.run(main())
json.dump(told, out)
