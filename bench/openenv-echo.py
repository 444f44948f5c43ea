"""OpenEnv's own server with an env that echoes, for bench/server.js: openenv-echo.py PORT."""

import sys

import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class EchoAction(Action):
    message: str


class EchoObservation(Observation):
    message: str = ""


class EchoEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._state = State(episode_id="e", step_count=0)

    def reset(self, seed=None, episode_id=None, **_):
        self._state = State(episode_id=episode_id or "e", step_count=0)
        return EchoObservation(message="hello", done=False, reward=None)

    def step(self, action, timeout_s=None, **_):
        self._state.step_count += 1
        return EchoObservation(message=action.message, done=False, reward=0.0)

    @property
    def state(self):
        return self._state


app = create_fastapi_app(EchoEnvironment, EchoAction, EchoObservation, max_concurrent_envs=4096)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", ws_max_size=2**20)
