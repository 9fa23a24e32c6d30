"""The edge of the world: a server that answers in the recorded shapes of vLLM and of OpenAI.

Its model is arithmetic: a token is a word with the space before it, its log-probability follows
from it and the token before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from threading import Thread
from typing import Any, Literal, Protocol

from tests.fakes import share
from tests.http_server import HttpServer

Style = Literal["vllm", "openai", "newer", "bare"]  # newer: neither echo nor ids
Reply = tuple[int, dict[str, str], Any]
LIKELY = (" yes", " no", " maybe", " it", " so")
WORD = re.compile(r"\s?\S+|\s")


class Answering(Protocol):
    """What a server says."""

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        """To this request; the body is empty for a GET."""


class Stub:
    """What was asked, what the next answers are instead of the usual ones, and the usual ones."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.words: list[str] = ["<s>"]
        self.asked: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.instead: list[Reply] = []  # for the next posts
        self.written = " it was"

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        self.asked.append((path, body, headers))
        if path == "/v1/models":
            return 200, {}, {"data": [{"id": "m", "owned_by": self.style}]}
        if self.instead:
            return self.instead.pop(0)
        known: dict[str, Callable[[dict[str, Any]], Reply]] = {"/v1/completions": self.completion}
        if self.style == "vllm":
            known["/tokenize"] = self.tokenize
        if path not in known:
            return 404, {}, {"detail": "Not Found"}
        return known[path](body)

    def ids(self, text: str) -> list[int]:
        for word in WORD.findall(text):
            if word not in self.words:
                self.words.append(word)
        return [self.words.index(word) for word in WORD.findall(text)]

    def logprob(self, ids: list[int], place: int) -> float:
        return -share(f"{ids[place - 1]}>{ids[place]}")

    def tokenize(self, body: dict[str, Any]) -> Reply:
        first = [0] if body["add_special_tokens"] else []
        tokens = [*first, *self.ids(body["prompt"])]
        return 200, {}, {"count": len(tokens), "max_model_len": 99, "tokens": tokens}

    def completion(self, body: dict[str, Any]) -> Reply:
        prompt = body["prompt"]
        ids = prompt if isinstance(prompt, list) else [0, *self.ids(prompt)]
        if self.style == "bare":
            wrong = {"echo", "logprobs", "prompt_logprobs"} & set(body)
            return 422, {}, {"detail": f"Unsupported fields in the request: {wrong}"}
        if self.style == "newer" and {"echo", "prompt_logprobs"} & set(body):
            return 400, {}, {"error": {"message": "Setting 'echo' is not supported"}}
        if body.get("logprobs", 0) > 5:
            return 400, {}, {"error": {"message": "logprobs must be at most 5"}}
        made = {"text": self.written, "index": 0, "finish_reason": "stop", "logprobs": None}
        if self.style == "vllm" and "prompt_logprobs" in body:
            made["prompt_logprobs"] = self.of_prompt(ids)
        if self.style == "openai" and "prompt_logprobs" in body:
            return 400, {}, {"error": {"message": "Unrecognized request argument"}}
        if "logprobs" in body:
            made["logprobs"] = self.legacy(ids, echo=bool(body.get("echo")))
            made["text"] = ("".join(prompt) if body.get("echo") else "") + self.written
        return 200, {}, {"object": "text_completion", "choices": [made]}

    def of_prompt(self, ids: list[int]) -> list[Any]:
        return [None] + [
            {
                str(ids[place]): {
                    "logprob": self.logprob(ids, place),
                    "rank": 1,
                    "decoded_token": self.words[ids[place]],
                }
            }
            for place in range(1, len(ids))
        ]

    def legacy(self, ids: list[int], *, echo: bool) -> dict[str, Any]:
        whole = [*ids, *self.ids(self.written)]
        first = 1 if echo else len(ids)
        tokens = [self.words[one] for one in whole[first:]]
        values: list[float | None] = [
            self.logprob(whole, place) for place in range(first, len(whole))
        ]
        if echo:
            values[0] = None
        starts = [sum(map(len, tokens[:place])) for place in range(len(tokens))]
        likely = {word: self.logprob([*ids, *self.ids(word)], len(ids)) for word in LIKELY}
        tops = {"text_offset": starts, "top_logprobs": [likely] * len(tokens)}
        return {"tokens": tokens, "token_logprobs": values, **tops}


@contextmanager
def listening(stub: Answering, port: int = 0) -> Iterator[str]:
    """Its base URL. port: 0: a free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send({})

        def do_POST(self) -> None:
            self.send(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def send(self, body: dict[str, Any]) -> None:
            status, headers, said = stub.answer(self.path, body, dict(self.headers))
            raw = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(raw)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)
            self.close_connection = self.close_connection or "Content-Length" in headers

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = HttpServer(("127.0.0.1", port), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
