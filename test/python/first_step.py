"""The first step with an installed package, and a second env's: run by test/server/python.slow.test.ts."""

import json
import time
from pathlib import Path

import bedside


def first_step():
    started = time.perf_counter()
    env = bedside.make("consultation", tier="easy")
    env.reset(seed=7)
    message = env.step("Since when have you had it?")[0]
    return message, round(time.perf_counter() - started, 2)


message, first = first_step()
_, warm = first_step()
home = Path(bedside.__file__).parent
print(json.dumps({"message": message, "first": first, "warm": warm, "place": str(home), "typed": (home / "py.typed").is_file()}))
