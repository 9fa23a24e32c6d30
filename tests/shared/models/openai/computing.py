"""Doubles of servers that compute with weights of ours, so that every reading must find their P.

A language model's double has the endpoints of its `style`: vLLM (`/tokenize`, `prompt_logprobs`,
`/generative_scoring`), SGLang (`/tokenize`, `/v1/score`), llama-cpp-python (a text's echo), a
server that only chats, one that lists nothing. A classifier's double speaks vLLM's, SGLang's,
TEI's, infinity's or KServe's protocol.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tests.shared.models.openai.stub import Reply

Style = Literal["vllm", "vllm-prompt", "sglang", "tgi", "llama-cpp-python", "chat", "silent"]
Kind = Literal["vllm", "vllm-old", "sglang", "tei", "infinity", "infinity-old", "kserve"]
Floats = NDArray[np.float64]
Logits = Callable[[Sequence[str]], Floats]


class LanguageModelDouble:
    """A causal model's folder behind a style of server; its chat template is the content alone."""

    def __init__(self, folder: Path, style: Style, listed: int = 20) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.style, self.listed = style, listed
        self.asked: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.words = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder).float().eval()

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        self.asked.append((path, body, headers))
        known = {"/v1/chat/completions": self.chat}
        if self.style in ("vllm", "vllm-prompt", "sglang"):
            known |= {"/tokenize": self.tokenize, "/v1/completions": self.completion}
        if self.style == "llama-cpp-python":
            known["/v1/completions"] = self.echo
        if self.style == "tgi":
            known["/generate"] = self.generate
        if self.style == "vllm":
            known["/generative_scoring"] = self.generative_scoring
        if self.style == "sglang":
            known["/v1/score"] = self.score
        if path == "/v1/models":
            return 200, {}, {"data": [{"id": "m", "owned_by": self.style}]}
        if path not in known:
            return 404, {}, {"detail": "Not Found"}
        return known[path](body)

    def logprobs(self, ids: Sequence[int]) -> Any:
        """(T, V) of what comes after each token."""
        import torch

        with torch.no_grad():
            return torch.log_softmax(self.model(torch.tensor([ids])).logits[0].double(), dim=-1)

    def ids(self, text: str) -> list[int]:
        found: list[int] = self.words(text)["input_ids"]
        return found

    def tokenize(self, body: dict[str, Any]) -> Reply:
        text = body["prompt"] if "prompt" in body else body["messages"][-1]["content"]
        special = body.get("add_special_tokens", True)
        tokens = self.words(text, add_special_tokens=special)["input_ids"]
        return 200, {}, {"tokens": tokens, "count": len(tokens), "max_model_len": 96}

    def completion(self, body: dict[str, Any]) -> Reply:
        ids = body["prompt"] if isinstance(body["prompt"], list) else self.ids(body["prompt"])
        made: dict[str, Any] = {"text": "", "finish_reason": "length", "logprobs": None}
        if "prompt_logprobs" in body and self.style != "sglang":
            table = self.logprobs(ids)
            made["prompt_logprobs"] = [None] + [
                {str(token): {"logprob": float(table[place, token]), "decoded_token":
                              self.words.decode([token])}}
                for place, token in enumerate(ids[1:])
            ]  # fmt: skip
        return 200, {}, {"choices": [made]}

    def echo(self, body: dict[str, Any]) -> Reply:
        """llama-cpp-python's (0.3.36, `Llama._create_completion`): of what is repeated, the n-th
        token has what was predicted at the n-th place, whether or not <s> comes first."""
        import torch

        ids = self.ids(body["prompt"])
        table = self.logprobs(ids)
        written = int(table[-1].argmax())
        echo = bool(body.get("echo"))
        begins = ids[0] == self.words.bos_token_id
        tokens = [*ids[1 if begins else 0 :], written] if echo else [written]
        rows = list(zip(tokens, table if echo else table[-1:], strict=False))
        spelled = [self.words.decode([token]) for token, _ in rows]
        told: list[float | None] = [float(row[token]) for token, row in rows]
        tops = [
            {self.words.decode([int(top)]): float(row[int(top)])
             for top in torch.topk(row, body.get("logprobs") or 1).indices}
            for _, row in rows
        ]  # fmt: skip
        text = (body["prompt"] if echo else "") + self.words.decode([written])
        told[:1] = [None] if echo else told[:1]
        logprobs = {"tokens": spelled, "token_logprobs": told, "top_logprobs": tops}
        made = {"text": text, "finish_reason": "length", "index": 0, "logprobs": logprobs}
        return 200, {}, {"choices": [made]}

    def generate(self, body: dict[str, Any]) -> Reply:
        """text-generation-inference's, with what it has read."""
        if not body["parameters"].get("decoder_input_details"):
            return 200, {}, {"generated_text": ""}
        ids = self.ids(body["inputs"])
        table = self.logprobs(ids)
        told = [None, *(float(table[place, token]) for place, token in enumerate(ids[1:]))]
        prefill = [
            {"id": token, "text": self.words.decode([token]), "logprob": value}
            for token, value in zip(ids, told, strict=True)
        ]
        details = {"finish_reason": "length", "generated_tokens": 1, "prefill": prefill}
        return 200, {}, {"generated_text": "", "details": details}

    def chat(self, body: dict[str, Any]) -> Reply:
        import torch

        table = self.logprobs(self.ids(body["messages"][-1]["content"]))[-1]
        tops = torch.topk(table, max(1, body.get("top_logprobs", 1)))
        listed = [self.entry(int(token), table) for token in tops.indices[: self.listed]]
        choice: dict[str, Any] = {"message": {"role": "assistant", "content": listed[0]["token"]}}
        if self.style != "silent" and body.get("logprobs"):
            choice["logprobs"] = {"content": [{**listed[0], "top_logprobs": listed}]}
        return 200, {}, {"choices": [{"finish_reason": "length", **choice}]}

    def entry(self, token: int, table: Any) -> dict[str, Any]:
        return {"token": self.words.decode([token]), "logprob": float(table[token])}

    def generative_scoring(self, body: dict[str, Any]) -> Reply:
        shares = self.shares(body)
        first = shares[0] / sum(shares) if body["apply_softmax"] else shares[0]
        return 200, {}, {"data": [{"index": 0, "object": "score", "score": first}]}

    def score(self, body: dict[str, Any]) -> Reply:
        shares = self.shares(body)
        total = sum(shares) if body["apply_softmax"] else 1
        return 200, {}, {"object": "scoring", "scores": [[share / total for share in shares]]}

    def shares(self, body: dict[str, Any]) -> list[float]:
        table = self.logprobs([*body["query"], *body["items"][0]])[-1]
        return [float(table[token].exp()) for token in body["label_token_ids"]]


class ClassifierDouble:
    """Logits behind a protocol. names: the server's own, in order; exclusive: its head's kind."""

    def __init__(
        self, kind: Kind, logits: Logits, names: Sequence[str], *, exclusive: bool = True
    ) -> None:
        self.kind, self.logits, self.names, self.exclusive = kind, logits, names, exclusive
        self.asked: list[tuple[str, dict[str, Any], dict[str, str]]] = []

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        self.asked.append((path, body, headers))
        kind = self.kind.removesuffix("-old")
        if not body:
            return self.described(path, kind)
        known: Mapping[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
            ("vllm", "/classify"): lambda body: self.probs(body, raw=not body["use_activation"]),
            ("sglang", "/v1/classify"): lambda body: self.probs(body, raw=False),
            ("tei", "/predict"): self.predicted,
            ("infinity", "/classify"): lambda body: {"data": self.named(body["input"], body)},
            ("kserve", "/v2/models/m/infer"): self.inferred,
        }
        if (kind, path) not in known:
            return 404, {}, {"detail": "Not Found"}
        return 200, {}, json.loads(json.dumps(known[kind, path](body)))

    def described(self, path: str, kind: str) -> Reply:
        if kind == "tei" and path == "/info":
            ids = {str(place): name for place, name in enumerate(self.names)}
            return 200, {}, {"model_type": {"classifier": {"id2label": ids}}, "version": "1.8"}
        if path == ("/models" if kind == "infinity" else "/v1/models") and kind != "tei":
            return 200, {}, {"data": [{"id": "m", "owned_by": kind}]}
        return 404, {}, {"detail": "Not Found"}

    def values(self, texts: Sequence[str], *, raw: bool) -> Floats:
        logits = self.logits(texts)
        if raw and not self.kind.endswith("-old"):
            return logits
        if self.exclusive or self.kind in ("tei", "sglang"):
            shares: Floats = np.exp(logits - logits.max(axis=1, keepdims=True))
            return np.asarray(shares / shares.sum(axis=1, keepdims=True))
        return np.asarray(1 / (1 + np.exp(-logits)))

    def probs(self, body: dict[str, Any], *, raw: bool) -> Any:
        rows = self.values(body["input"], raw=raw).tolist()
        return {
            "data": [{"index": 0, "label": "x", "probs": row, "num_classes": 3} for row in rows]
        }

    def predicted(self, body: dict[str, Any]) -> Any:
        assert body["truncate"] is False
        return self.named([one[0] for one in body["inputs"]], body)

    def named(self, texts: Sequence[str], body: dict[str, Any]) -> Any:
        rows = self.values(texts, raw=body["raw_scores"])
        answers = [
            [{"label": name, "score": value} for name, value in zip(self.names, row, strict=True)]
            for row in rows.tolist()
        ]
        return [sorted(row, key=lambda one: -one["score"]) for row in answers]

    def inferred(self, body: dict[str, Any]) -> Any:
        rows = self.values(body["inputs"][0]["data"], raw=True)
        data = rows.ravel().tolist()
        return {"outputs": [{"name": "logits", "shape": list(rows.shape), "data": data}]}
