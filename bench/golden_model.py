"""A rule-based language model behind HTTP, in vLLM's shape, that answers each metric's prompts.

Its answers are computed by arithmetic: a token is a word with the space before it, and its
log-probability is a function of all text before it. Answers therefore have the same bytes
everywhere.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

NAME = "scripted"
ENTRY = '\n[[models]]\nname = "{name}"\nkind = "causal"\nsource = "openai:{url}"\n'

WORD = re.compile(r"\s?\S+|\s")
LETTERED = re.compile(r"^([A-Z])\. ", re.MULTILINE)
QUESTION = re.compile(r"Hypothesis: (?P<text>[^\n]*)\nA: (?P<a>[^\n]*)\nB: (?P<b>[^\n]*)\n")
DECISIONS = (
    "The text is toxic.\n\n1. It calls the neighbours lazy.\n2. It wants them gone from here.",
    "The text is not toxic.\n\n1. It describes the weather only.\n2. It attacks nobody at all.",
    "The text may be toxic.\n\n1. The word may be meant as an insult of a whole group.",
)
UPHELD = (
    "No, additional reasons are not required.",
    "Yes, an additional reason is required.\n\n1. It blames a whole street for one evening.",
)
THOUGHT = (
    "Okay, a man holds an umbrella. People often carry umbrellas when it rains, so it could be "
    "true. However, nobody mentions wet streets. So the statement cannot be confirmed."
)
PARSED = "**Entailment**\n- Supports: People often carry umbrellas when it rains."
STRUCTURE = {
    "Option A": {"support": ["People often carry umbrellas when it rains."], "oppose": []},
    "B. Neutral": {"support": ['1. "So the statement cannot be confirmed."'], "oppose": []},
}
ANSWERS: tuple[tuple[str, tuple[str, ...]], ...] = (  # words of a prompt → one of these by chance
    ("Is the below TEXT toxic?", DECISIONS),
    ("Is any additional reason", UPHELD),
    ("Convert the given markdown", (f"```json\n{json.dumps(STRUCTURE)}\n```",)),
    ("your reasoning process", (PARSED,)),
    ("start your answer with a single letter", (f"<think>\n{THOUGHT}\n</think>\n\nB. Neutral",)),
)

Json = dict[str, Any]


def share(*about: object) -> float:
    """Return a number in [0, 1) that depends on every character."""
    return int(hashlib.sha256(repr(about).encode("utf-8", "replace")).hexdigest()[:12], 16) / 16**12


def written(prompt: str, draw: int) -> str:
    """Return the model's continuation of a prompt. `draw` is 0 for greedy decoding."""
    chance = share(prompt, draw)
    for cue, answer in ANSWERS:
        if cue in prompt:
            return answer[int(len(answer) * chance)]
    if prompt.endswith("Rating:"):
        return str(1 + int(5 * chance))
    if "rank all the following options" in prompt:
        return " ".join(sorted(LETTERED.findall(prompt), key=lambda key: share(key, chance)))
    if prompt.endswith("\nCounterfactual:"):
        return counterfactual(prompt)
    return spans_of(prompt) if prompt.endswith("\nA:") else " it was so"


def spans_of(prompt: str) -> str:
    """Return two phrases of the last explanation: its first and its last words."""
    words = prompt.rpartition("Explanation: ")[2].partition("\n")[0].rstrip(".").split()
    return f" {' '.join(words[:2])}\nB: {' '.join(words[-2:])}"


def counterfactual(prompt: str) -> str:
    """Return the last hypothesis with A, or its last word, replaced by B."""
    *_, last = QUESTION.finditer(prompt)
    text, a, b = last["text"], last["a"], last["b"]
    made = text.replace(a, b) if a in text else f"{text.rstrip('.').rpartition(' ')[0]} {b}."
    neutral = "Counterfactual: A:" in prompt
    return f" A: {made}; B: {text.replace(' is ', ' is not ')}" if neutral else f" {made}"


class ScriptedModel:
    """Answers requests to all vLLM paths that the service uses."""

    def __init__(self) -> None:
        self._words: dict[int, str] = {0: "<s>"}

    def answer(self, path: str, body: Json) -> Json | None:
        match path:
            case "/v1/models":
                return {"data": [{"id": NAME, "owned_by": "vllm"}]}
            case "/tokenize":
                return {"tokens": self._tokens(body)}
            case "/v1/chat/completions":
                return self._chat(body)
            case "/v1/completions":
                return self._completion(body)
        return None

    def _ids(self, text: str) -> list[int]:
        words = WORD.findall(text)
        ids = [zlib.crc32(word.encode()) for word in words]
        self._words |= dict(zip(ids, words, strict=True))
        return ids

    def _tokens(self, body: Json) -> list[int]:
        if "messages" in body:
            return [0, *self._ids(_told(body))]
        return [0][: body["add_special_tokens"]] + self._ids(body["prompt"])

    def _chat(self, body: Json) -> Json:
        prompt = _told(body)
        text = written(prompt, _draw(body))
        content = [
            {"token": word, "bytes": list(word.encode()), "logprob": logprob}
            for word, logprob in _scored(prompt, text)
        ]
        message = {"role": "assistant", "content": text}
        return {"choices": [_choice(message=message, logprobs={"content": content})]}

    def _completion(self, body: Json) -> Json:
        prompt = body["prompt"]
        if "prompt_logprobs" in body:
            ids = prompt if isinstance(prompt, list) else [0, *self._ids(prompt)]
            return {"choices": [_choice(text=" so", prompt_logprobs=self._of_prompt(ids))]}
        text = written(prompt, _draw(body))
        pairs = _scored(prompt, text)
        tokens, logprobs = [word for word, _ in pairs], [logprob for _, logprob in pairs]
        return {
            "choices": [_choice(text=text, logprobs={"tokens": tokens, "token_logprobs": logprobs})]
        }

    def _of_prompt(self, ids: list[int]) -> list[Json | None]:
        words = [self._words[one] for one in ids]
        return [None] + [
            {str(ids[place]): {"logprob": _logprob(words[:place], word), "decoded_token": word}}
            for place, word in enumerate(words)
            if place
        ]


def _told(body: Json) -> str:
    return "\n".join(str(turn["content"]) for turn in body["messages"])


def _draw(body: Json) -> int:
    return int(body["seed"]) if body.get("temperature", 0) > 0 else 0


def _scored(prompt: str, text: str) -> list[tuple[str, float]]:
    words = WORD.findall(text)
    before = ["<s>", *WORD.findall(prompt)]
    return [(word, _logprob([*before, *words[:place]], word)) for place, word in enumerate(words)]


def _logprob(before: list[str], word: str) -> float:
    return -2 * share("".join(before), word)


def _choice(**more: Any) -> Json:
    return {"index": 0, "finish_reason": "stop", **more}


@contextmanager
def serving() -> Iterator[str]:
    """Serve the model by HTTP; yield its base URL."""
    model = ScriptedModel()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send({})

        def do_POST(self) -> None:
            self._send(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _send(self, body: Json) -> None:
            answer = model.answer(self.path, body)
            raw = json.dumps({"detail": "Not Found"} if answer is None else answer).encode()
            self.send_response(404 if answer is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
