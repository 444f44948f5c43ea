"""A stand-in router that draws texts and noise, until it is ended: prints its address.

slime_router.py TOKENIZER [SECONDS_A_DRAW SECONDS_A_TOKEN]
"""

import asyncio
import sys

from slime_rollouts import Drawing, StandInRouter


async def main():
    folder, *waits = sys.argv[1:]
    draw, token = map(float, waits or (0, 0))
    drawing = Drawing(folder, seed=0)

    async def slowly(ids, sampling, aborted):
        tokens, logprobs, ending = await drawing(ids, sampling, aborted)
        await asyncio.sleep(draw + token * sampling.get("waits_for_tokens", len(tokens)))
        return tokens, logprobs, ending

    async with StandInRouter(slowly) as router:
        print(router.url, flush=True)
        await asyncio.Event().wait()


asyncio.run(main())
