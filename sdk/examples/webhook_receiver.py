"""Receives webhooks when jobs or batches have ended: uvicorn webhook_receiver:app"""

import os

from fastapi import FastAPI, Request

from touchstone_client import webhooks

app = FastAPI()


@app.post("/hooks", status_code=204)
async def receive(request: Request) -> None:
    print(webhooks.verify(await request.body(), request.headers, os.environ["WEBHOOK_SECRET"]))
