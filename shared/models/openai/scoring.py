"""Log-probabilities of given text and of labels. The first of these methods that the server
supports is used.

1. `prompt_logprobs` (vLLM): one request, tokens as ids.
2. `echo` with `logprobs` (OpenAI's older models, vLLM, llama-cpp-python): one request.
3. `decoder_input_details` of text-generation-inference, on its own path: one request.
4. One token at a time, forced by `logit_bias` (llama.cpp): one request per token. The
   server must report log-probabilities from before the bias, which is tested first.

Servers that only list the most likely first tokens need one request per example, and every
verbalizer must be a listed token. The label probabilities are then the same."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any, Protocol

import numpy as np

from shared.contracts.errors import BadInput, ScoringError, Unavailable
from shared.models.openai.protocol import ServerChoice, ServerToken, encoded, parse_response
from shared.models.openai.text import TokenizedPrompt, spans
from shared.models.ports import Floats
from shared.models.server_connection import AnswerUnread, Connection, Json

PATH = "/completions"
VOCABULARY = 1_000_000  # log-probabilities requested: more than any vocabulary has
FORCE = 100  # the largest bias that the API allows
SAME = 0.01  # of a natural logarithm; a bias of 100 changes it by far more
PROBE = TokenizedPrompt("The weather is", " good", None)


class ScoringMethod(Protocol):
    """A way to get the log-probabilities of a given text."""

    def build_requests(self, asked: TokenizedPrompt) -> list[Json]:
        """Return the requests for one text."""

    def read_tokens(
        self, asked: TokenizedPrompt, choices: Sequence[ServerChoice]
    ) -> list[ServerToken]:
        """Return the tokens of the completion. Raises ScoringError if they are missing."""

    def complete(
        self, connection: Connection, served: str, bodies: Sequence[Json]
    ) -> list[ServerChoice]:
        """Return the answers to these requests, in order."""


class Completions:
    """Base class of the scoring methods that use the server's endpoint `/v1/completions`."""

    def complete(
        self, connection: Connection, served: str, bodies: Sequence[Json]
    ) -> list[ServerChoice]:
        return complete(connection, served, bodies)


class PromptLogprobs(Completions):
    """Scores text with vLLM's `prompt_logprobs`."""

    def build_requests(self, asked: TokenizedPrompt) -> list[Json]:
        """Return one request. With `prompt_logprobs` 0 the server returns the log-probability of
        each prompt token and no alternatives."""
        return [{"prompt": _token_ids(asked), "max_tokens": 1, "prompt_logprobs": 0}]

    def read_tokens(
        self, asked: TokenizedPrompt, choices: Sequence[ServerChoice]
    ) -> list[ServerToken]:
        """Read the tokens after the prompt."""
        entries_of_tokens = choices[0].prompt_logprobs
        before, after = asked.ids or ((), ())
        if entries_of_tokens is None or len(entries_of_tokens) != len(before) + len(after):
            raise AnswerUnread("the server returns no prompt_logprobs")
        tokens = []
        for token, entries in zip(after, entries_of_tokens[len(before) :], strict=True):
            entry = (entries or {}).get(str(token))
            if entry is None:
                raise AnswerUnread("the server's prompt_logprobs belong to other tokens")
            tokens.append(ServerToken(encoded(entry.decoded_token or ""), entry.logprob, token))
        return tokens


class Echo(Completions):
    """Scores text with the option `echo`: the server repeats the prompt with the log-probabilities
    of its tokens."""

    def build_requests(self, asked: TokenizedPrompt) -> list[Json]:
        """Return one request, which sends the prompt as token ids if they are known, else as
        text."""
        prompt = _token_ids(asked) if asked.ids else (asked.before or "") + asked.written
        return [{"prompt": prompt, "max_tokens": 1, "echo": True, "logprobs": 1}]

    def read_tokens(
        self, asked: TokenizedPrompt, choices: Sequence[ServerChoice]
    ) -> list[ServerToken]:
        """Return the completion's tokens. With known token ids, they are found by counting tokens,
        otherwise by character offsets in the echoed text. Raises ScoringError if no token is listed
        after the prompt."""
        pieces = choices[0].pieces or []
        if _lacks_what_was_written(asked, choices[0]):
            raise AnswerUnread("the server's log-probabilities belong to other positions")
        if asked.ids is not None:
            before, after = asked.ids
            completion = pieces[len(before) : len(before) + len(after)]
            if len(pieces) < len(before) + len(after):
                raise AnswerUnread("the server does not return the prompt with its answer")
            ids = zip(completion, after, strict=True)
            return [ServerToken(piece.spelled, piece.logprob, token) for piece, token in ids]
        return _completion_tokens(asked, pieces)


def _lacks_what_was_written(asked: TokenizedPrompt, choice: ServerChoice) -> bool:
    prompt = len(((asked.before or "") + asked.written).encode())
    if len((choice.text or "").encode()) <= prompt:
        return False
    ends = accumulate(len(piece.spelled) for piece in choice.pieces or [])
    return not any(end >= prompt for end in list(ends)[:-1])


class Prefill:
    """Scores text with text-generation-inference's `/generate`, which lists the tokens that it
    read. Source: its `docs/openapi.json` (3.3), PrefillToken; the first token has no
    log-probability."""

    def build_requests(self, asked: TokenizedPrompt) -> list[Json]:
        """Return one request with the text, because the server accepts no tokens."""
        wanted = {"max_new_tokens": 1, "decoder_input_details": True, "details": True}
        return [{"inputs": (asked.before or "") + asked.written, "parameters": wanted}]

    def read_tokens(
        self, asked: TokenizedPrompt, choices: Sequence[ServerChoice]
    ) -> list[ServerToken]:
        """Return the completion's tokens, found by their character offsets. Raises BadInput if one
        token spans the end of the prompt."""
        return _completion_tokens(asked, choices[0].pieces or [])

    def complete(
        self, connection: Connection, served: str, bodies: Sequence[Json]
    ) -> list[ServerChoice]:
        """Send the requests without the model's name, because such a server has only one model."""
        answers = connection.post_at_root("/generate", bodies)
        return [parse_response(_to_openai(answer)).choices[0] for answer in answers]


def _to_openai(answer: Any) -> Any:
    with suppress(AttributeError, KeyError, TypeError):
        read = answer["details"]["prefill"]
        logprobs = {
            "tokens": [token["text"] for token in read],
            "token_logprobs": [token["logprob"] for token in read],
        }
        return {"choices": [{"text": answer["generated_text"], "logprobs": logprobs}]}
    return answer


def _completion_tokens(asked: TokenizedPrompt, pieces: Sequence[ServerToken]) -> list[ServerToken]:
    """Return the tokens of the completion. Raises BadInput if one token contains both the end of
    the prompt and the start of the completion."""
    border = len(asked.before or "")
    offsets = spans([piece.spelled for piece in pieces], (asked.before or "") + asked.written)
    if any(span and span[0] < border < span[1] for span in offsets):
        raise BadInput(
            "the end of the prompt and the start of the completion form one token; put "
            "the space between them at the start of the completion",
            pointer="/completions",
        )
    pairs = zip(pieces, offsets, strict=True)
    return [piece for piece, span in pairs if span and span[0] >= border]


class Forced(Completions):
    """Scores text by forcing the server to generate each token of the completion after the tokens
    before it. llama.cpp does not list tokens that are only part of a character. For these, the
    token `whole` is forced, and the log-probability is read from the list of the whole vocabulary.
    """

    def __init__(self, whole: int) -> None:
        self._whole = whole

    def build_requests(self, asked: TokenizedPrompt) -> list[Json]:
        """Return one request for each token of the completion."""
        before, after = asked.ids or ((), ())
        return [
            {
                "prompt": [*before, *after[:index]],
                "max_tokens": 1,
                "logprobs": VOCABULARY if index in asked.parts else 1,
                "logit_bias": {str(self._whole if index in asked.parts else token): FORCE},
            }
            for index, token in enumerate(after)
        ]

    def read_tokens(
        self, asked: TokenizedPrompt, choices: Sequence[ServerChoice]
    ) -> list[ServerToken]:
        """Return the forced tokens with their log-probabilities. Raises AnswerUnread if the server
        returned a different token."""
        _, after = asked.ids or ((), ())
        tokens = []
        for index, (token, choice) in enumerate(zip(after, choices, strict=True)):
            content = (choice.logprobs and choice.logprobs.content) or []
            entries = content[:1]
            if index in asked.parts and content:
                entries = [entry for entry in content[0].top_logprobs if entry.id == token]
            if not entries or entries[0].id != token:
                raise AnswerUnread("the server does not write the tokens that the request forces")
            tokens.append(entries[0].to_token)
        return tokens


def find_scoring_method(
    connection: Connection, served: str, probe: TokenizedPrompt
) -> ScoringMethod | None:
    """Return the first method that works, or None. `probe` is a short test text, with its tokens if
    known. Raises Unavailable if the server is unreachable."""
    methods: list[ScoringMethod] = [PromptLogprobs()] if probe.ids else []
    methods.append(Echo())
    for method in methods:
        if _is_supported(connection, served, method, probe):
            return method
    with suppress(Unavailable):  # a gateway's 5xx for a path that it does not know
        if _is_supported(connection, served, prefill := Prefill(), probe):
            return prefill
    if probe.ids and _has_raw_logprobs(connection, served, probe):
        return Forced(probe.ids[1][0])
    return None


def complete(connection: Connection, served: str, bodies: Sequence[Json]) -> list[ServerChoice]:
    """Return the choices for requests to `/v1/completions`, at temperature 0."""
    requests = [{"model": served, "temperature": 0, **body} for body in bodies]
    return [parse_response(answer).choices[0] for answer in connection.post(PATH, requests)]


def _is_supported(
    connection: Connection, served: str, method: ScoringMethod, probe: TokenizedPrompt
) -> bool:
    try:
        pieces = method.read_tokens(
            probe, method.complete(connection, served, method.build_requests(probe))
        )
    except Unavailable:  # away is not the same as unable
        raise
    except ScoringError:
        return False
    return bool(pieces) and all(piece.logprob is not None for piece in pieces)


def _has_raw_logprobs(connection: Connection, served: str, probe: TokenizedPrompt) -> bool:
    """Return True if forcing a token does not change its reported log-probability."""
    before = list((probe.ids or ((), ()))[0])
    free = {"prompt": before, "max_tokens": 1, "logprobs": 2}
    try:
        [choice] = complete(connection, served, [free])
        content = (choice.logprobs and choice.logprobs.content) or []
        second = content[0].top_logprobs[1] if content and content[0].top_logprobs[1:] else None
        if second is None or second.id is None:
            return False
        target = TokenizedPrompt(probe.before, "", (tuple(before), (second.id,)))
        forced = Forced(second.id)
        [piece] = forced.read_tokens(
            target, complete(connection, served, forced.build_requests(target))
        )
    except Unavailable:
        raise
    except ScoringError:
        return False
    return piece.logprob is not None and abs(piece.logprob - second.logprob) < SAME


def _token_ids(asked: TokenizedPrompt) -> list[int]:
    before, after = asked.ids or ((), ())
    return [*before, *after]


MOST = (20, 5)  # listed tokens: limits of vLLM's default and of OpenAI's /v1/completions


def first_tokens(
    connection: Connection, served: str, texts: Sequence[str], words: Sequence[Sequence[str]]
) -> list[list[float]]:
    """Return, for each text, the log-probabilities of its `words` as the next token. Raises
    BadInput if the server returns no log-probabilities, or none for one of the words."""
    few = [{"prompt": text, "max_tokens": 1, "logprobs": MOST[1]} for text in texts]
    try:
        choices = complete(connection, served, [{**body, "logprobs": MOST[0]} for body in few])
    except BadInput:  # over its limit, or an error that the second request has too
        choices = complete(connection, served, few)
    return [_word_logprobs(choice, strings) for choice, strings in zip(choices, words, strict=True)]


def _word_logprobs(choice: ServerChoice, words: Sequence[str]) -> list[float]:
    likely = {piece.spelled: piece.logprob for piece in _top_tokens(choice)}
    values = [likely.get(word.encode()) for word in words]
    missing = [word for word, value in zip(words, values, strict=True) if value is None]
    if missing:
        raise BadInput(
            f"the server returns only its {len(likely)} most likely next tokens, which do not "
            f"include {', '.join(map(repr, missing))}; use the inference worker instead",
            pointer="/template/verbalizers",
        )
    return [value for value in values if value is not None]


def _top_tokens(choice: ServerChoice) -> list[ServerToken]:
    logprobs = choice.logprobs
    if logprobs is None:
        return []
    if logprobs.content:
        return [entry.to_token for entry in logprobs.content[0].top_logprobs]
    tops = (logprobs.top_logprobs or [None])[0] or {}
    return [ServerToken(token.encode(), logprob) for token, logprob in tops.items()]


def softmax(scores: Floats) -> Floats:
    """Convert the labels' log-probabilities to probabilities with sum 1."""
    shares = np.exp(scores - scores.max())
    return np.asarray(shares / shares.sum())


def check_unique(verbalizers: Sequence[tuple[int, ...]]) -> None:
    """Raise BadInput if two labels have the same tokens, or a label has no tokens."""
    if len(set(verbalizers)) < len(verbalizers) or not all(verbalizers):
        raise BadInput(
            "a verbalizer has no tokens, or two labels have verbalizers with the same "
            "tokens; change the verbalizers",
            pointer="/template/verbalizers",
        )
