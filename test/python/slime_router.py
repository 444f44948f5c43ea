"""A stand-in router that draws texts and noise, until it is ended: prints its address."""

import asyncio
import sys

from slime_rollouts import Drawing, StandInRouter


async def main():
    async with StandInRouter(Drawing(sys.argv[1], seed=0)) as router:
        print(router.url, flush=True)
        await asyncio.Event().wait()


asyncio.run(main())
