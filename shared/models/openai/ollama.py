"""Ollama's own API, for builds whose OpenAI-compatible API has no log-probabilities.

`/api/chat` and `/api/generate` have `logprobs` and `top_logprobs` since 0.12.11; not all builds
pass them on in `/v1`. Only this module converts bodies and answers. Source: ollama `api/types.go`;
ollama-python pull request 601.
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
    """Return True if the server identifies itself as Ollama. Raises Unavailable if it is
    unreachable."""
    try:
        answer = connection.get_at_root("/api/version")
    except Unavailable:
        raise
    except ScoringError:
        return False
    return isinstance(answer, dict) and isinstance(answer.get("version"), str)


def native_body(body: Json) -> Json:
    """Convert an OpenAI request to Ollama's format. The model continues a raw text, or a
    conversation whose last turn is an unfinished one of the assistant."""
    native: Json = {name: body[name] for name in SAME if name in body}
    if "prompt" in body:  # `logprobs` of a completion is the number listed
        listed = native.pop("logprobs", 0)
        native |= {"raw": True, "logprobs": True, "top_logprobs": listed}
    native["options"] = {option: body[name] for name, option in OPTIONS.items() if name in body}
    if "response_format" in body:
        native["format"] = body["response_format"]["json_schema"]["schema"]
    thinks = body.get("chat_template_kwargs", {}).get("enable_thinking")
    return {**native, "stream": False, **({} if thinks is None else {"think": thinks})}


def to_openai(answer: Any) -> Any:
    """Convert Ollama's answer to OpenAI's format. Other answers stay unchanged."""
    with suppress(AttributeError, KeyError, TypeError):
        message = answer.get("message") or {"content": answer["response"]}
        logprobs = answer.get("logprobs")
        choice = {
            "message": {"content": message.get("content"), "reasoning": message.get("thinking")},
            "finish_reason": answer.get("done_reason"),
            "logprobs": {"content": logprobs} if logprobs else None,
        }
        return {"choices": [choice], "usage": {"prompt_tokens": answer.get("prompt_eval_count")}}
    return answer
