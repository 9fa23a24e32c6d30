"""Ollama's own API, where its OpenAI-compatible one tells no log-probabilities.

`/api/chat` and `/api/generate` have `logprobs` and `top_logprobs` since 0.12.11; builds differ in
whether `/v1` hands them on. Bodies and answers are translated, so that nothing else knows
of it. Source: ollama `api/types.go`; ollama-python pull request 601.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from shared.contracts.errors import ScoringError, Unavailable
from shared.models.server_connection import Connection, Json

NATIVE = {"/chat/completions": "/api/chat", "/completions": "/api/generate"}
OPTIONS = {  # OpenAI's names → Ollama's
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "stop": "stop",
    "max_completion_tokens": "num_predict",
    "max_tokens": "num_predict",
}
SAME = ("model", "messages", "prompt", "logprobs", "top_logprobs")


def is_ollama(connection: Connection) -> bool:
    """Whether the server says so. Raises Unavailable where it is away."""
    try:
        said = connection.get_at_root("/api/version")
    except Unavailable:
        raise
    except ScoringError:
        return False
    return isinstance(said, dict) and isinstance(said.get("version"), str)


def native_body(body: Json) -> Json:
    """A request of OpenAI's as Ollama's own. A last turn of the assistant, and a raw text, are
    continued as they are."""
    made: Json = {name: body[name] for name in SAME if name in body}
    if "prompt" in body:  # `logprobs` of a completion is how many are listed
        listed = made.pop("logprobs", 0)
        made |= {"raw": True, "logprobs": True, "top_logprobs": listed}
    made["options"] = {own: body[name] for name, own in OPTIONS.items() if name in body}
    if "response_format" in body:
        made["format"] = body["response_format"]["json_schema"]["schema"]
    thinks = body.get("chat_template_kwargs", {}).get("enable_thinking")
    return {**made, "stream": False, **({} if thinks is None else {"think": thinks})}


def to_openai(answer: Any) -> Any:
    """Ollama's answer as OpenAI's; one of another shape as it is."""
    with suppress(AttributeError, KeyError, TypeError):
        message = answer.get("message") or {"content": answer["response"]}
        told = answer.get("logprobs")
        choice = {
            "message": {"content": message.get("content"), "reasoning": message.get("thinking")},
            "finish_reason": answer.get("done_reason"),
            "logprobs": {"content": told} if told else None,
        }
        return {"choices": [choice], "usage": {"prompt_tokens": answer.get("prompt_eval_count")}}
    return answer
