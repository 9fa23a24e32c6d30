"""Score many posts, fifty at a time."""

import asyncio

from touchstone_client import AsyncTouchstone

POST = {"text": "Cyclists everywhere again.", "explanation": "A complaint. Not hateful."}


async def main() -> None:
    gate = asyncio.Semaphore(50)
    async with AsyncTouchstone() as ts:

        async def score(seed: int) -> float | None:
            async with gate:
                return (await ts.hatexscore(POST, seed=seed)).score

        print(await asyncio.gather(*map(score, range(60))))


asyncio.run(main())
