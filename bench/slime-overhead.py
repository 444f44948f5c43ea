"""What session traffic costs a rollout: the same draws with `bedside serve` between them, and without.

python bench/slime-overhead.py TOKENIZER [--draw-ms 30] [--token-ms 0] [--sessions 256] [--rounds 3]

BEDSIDE_URL names the server. The engine is a process of its own that waits as long as a draw would take. Prints JSON:
seconds with and without the sessions, draws, and what one draw costs this process's processor either way.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

root = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(root / "test/python"), str(root / "src/trainers/python")]

from slime_rollouts import SeedSource, arguments, first_of, generate_rollout, run  # noqa: E402

from bedside_trainers.slime import engine as engines  # noqa: E402


Plain = engines.Engine


class Watched(Plain):
    """Remembers the draws of each consultation."""

    plays = {}

    async def draw(self, ids, sampling, *, key):
        reply = await super().draw(ids, sampling, key=key)
        # The same draw is to take as long again, whatever is drawn then.
        again = {**sampling, "waits_for_tokens": len(reply.tokens)}
        self.plays.setdefault(key, []).append((list(ids), again))
        return reply


async def alone(router, plays):
    """The same draws, without anything between them; by an engine that does not remember them, which would never end."""
    engine = Plain(router)

    async def play(key, draws):
        for ids, sampling in draws:
            await engine.draw(ids, sampling, key=key)

    started, busy = time.perf_counter(), time.process_time()
    await asyncio.gather(*(play(key, draws) for key, draws in plays.items()))
    spent = time.perf_counter() - started, time.process_time() - busy
    await engine._http.close()
    return spent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer")
    parser.add_argument("--draw-ms", type=float, default=30)
    parser.add_argument("--token-ms", type=float, default=0)
    parser.add_argument("--sessions", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    os.environ.setdefault("BEDSIDE_TOKENS", '{"max_tokens": 64, "context_length": 8192}')
    waits = [str(given.draw_ms / 1000), str(given.token_ms / 1000)]
    line = [sys.executable, str(root / "test/python/slime_router.py"), given.tokenizer, *waits]
    router = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    url = router.stdout.readline().strip()
    engines.Engine = Watched
    groups = given.sessions // 4
    args = arguments(
        argparse.Namespace(url=url),
        **{"rollout_batch_size": groups, "over_sampling_batch_size": groups, "global_batch_size": groups * 4},
    )
    source = SeedSource(args)
    generate_rollout(args, 0, source)
    rounds = []
    for number in range(given.rounds):
        Watched.plays.clear()
        started, before = time.perf_counter(), time.process_time()
        generate_rollout(args, number + 1, source)
        whole, busy = time.perf_counter() - started, time.process_time() - before
        draws = sum(map(len, Watched.plays.values()))
        bare, bare_busy = run(alone(url, dict(Watched.plays)))
        rounds.append({
            "seconds": whole, "without": bare, "draws": draws, "overhead": whole / bare - 1,
            "client_ms": 1000 * busy / draws, "client_ms_without": 1000 * bare_busy / draws,
        })
        print(json.dumps(rounds[-1]), file=sys.stderr, flush=True)
    router.terminate()
    overhead = statistics.median(one["overhead"] for one in rounds)
    print(json.dumps({"sessions": given.sessions, "draw_ms": given.draw_ms, "token_ms": given.token_ms, "rounds": rounds, "overhead": overhead}))
    sys.stdout.flush()
    os._exit(0)


main()
