"""Starts a server by playing, forks, prints its own and the server's process id, and waits: run by test/server/python.slow.test.ts."""

import json
import os
import sys
import time

import bedside
from bedside import _server

env = bedside.make(tier="easy")
env.reset(seed=1)
# A child that ends as a program does leaves the server to its parent, and knows that it runs.
child = os.fork()
if child == 0:
    bedside.make(tier="easy").reset(seed=2)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
env.step("Do you have a fever?")
print(json.dumps([os.getpid(), _server._shared._process.pid]), flush=True)
time.sleep(60)
