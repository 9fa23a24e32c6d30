"""Log-probabilities of a given text, and of labels, in the first way that the server offers.

1. `prompt_logprobs` (vLLM): one request, tokens as ids.
2. `echo` with `logprobs` (OpenAI's older models, vLLM, llama-cpp-python): one request.
3. `decoder_input_details` of text-generation-inference, on its own path: one request.
4. One token forced at a time by `logit_bias` (llama.cpp): one request a token. Only where the
   server reports log-probabilities from before the bias, which is tried out first.

Of servers that give no more than the most likely first tokens, labels are read from those: one
request an example, where every verbalizer is one token among them; then the softmax over the labels
is the same as from their log-probabilities.
"""

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
VOCABULARY = 1_000_000  # log-probabilities asked for: more than any vocabulary has
FORCE = 100  # the largest bias that the API allows
SAME = 0.01  # natural logarithm; a bias of 100 moves a log-probability by far more
PROBE = TokenizedPrompt("The weather is", " good", None)


class ScoringMethod(Protocol):
    """How a server is asked for the log-probabilities of a given text."""

    def build_requests(self, asked: TokenizedPrompt) -> list[Json]:
        """The requests for one text."""

    def read_tokens(
        self, asked: TokenizedPrompt, choices: Sequence[ServerChoice]
    ) -> list[ServerToken]:
        """(T,) the completion's tokens. Raises ScoringError where the server did not answer it."""

    def complete(
        self, connection: Connection, served: str, bodies: Sequence[Json]
    ) -> list[ServerChoice]:
        """The answers to these requests, in order."""


class Completions:
    """Requests to `/v1/completions`."""

    def complete(
        self, connection: Connection, served: str, bodies: Sequence[Json]
    ) -> list[ServerChoice]:
        return complete(connection, served, bodies)


class PromptLogprobs(Completions):
    """vLLM's own field."""

    def build_requests(self, asked: TokenizedPrompt) -> list[Json]:
        """One request. 0: of the chosen tokens alone, so that the answer stays small."""
        return [{"prompt": _token_ids(asked), "max_tokens": 1, "prompt_logprobs": 0}]

    def read_tokens(
        self, asked: TokenizedPrompt, choices: Sequence[ServerChoice]
    ) -> list[ServerToken]:
        """Read from the prompt's end on."""
        found = choices[0].prompt_logprobs
        before, after = asked.ids or ((), ())
        if found is None or len(found) != len(before) + len(after):
            raise AnswerUnread("the server gives no prompt_logprobs")
        made = []
        for token, entries in zip(after, found[len(before) :], strict=True):
            entry = (entries or {}).get(str(token))
            if entry is None:
                raise AnswerUnread("the server's prompt_logprobs are of other tokens")
            made.append(ServerToken(encoded(entry.decoded_token or ""), entry.logprob, token))
        return made


class Echo(Completions):
    """The prompt is repeated in the answer, with its log-probabilities."""

    def build_requests(self, asked: TokenizedPrompt) -> list[Json]:
        """One request, of token ids where they are known."""
        prompt = _token_ids(asked) if asked.ids else (asked.before or "") + asked.written
        return [{"prompt": prompt, "max_tokens": 1, "echo": True, "logprobs": 1}]

    def read_tokens(
        self, asked: TokenizedPrompt, choices: Sequence[ServerChoice]
    ) -> list[ServerToken]:
        """By count where ids are known, else by the offsets of what is repeated.

        Raises ScoringError where a token was written and none is listed behind the prompt: so
        answers llama-cpp-python (0.3.36) for a model that puts no token before a text, and each of
        its log-probabilities is then that of the token's next place.
        """
        found = choices[0].pieces or []
        if _lacks_what_was_written(asked, choices[0]):
            raise AnswerUnread("the server's log-probabilities are of other places")
        if asked.ids is not None:
            before, after = asked.ids
            chosen = found[len(before) : len(before) + len(after)]
            if len(found) < len(before) + len(after):
                raise AnswerUnread("the server does not repeat the prompt")
            ids = zip(chosen, after, strict=True)
            return [ServerToken(piece.spelled, piece.logprob, token) for piece, token in ids]
        return _completion_tokens(asked, found)


def _lacks_what_was_written(asked: TokenizedPrompt, choice: ServerChoice) -> bool:
    prompt = len(((asked.before or "") + asked.written).encode())
    if len((choice.text or "").encode()) <= prompt:
        return False
    ends = accumulate(len(piece.spelled) for piece in choice.pieces or [])
    return not any(end >= prompt for end in list(ends)[:-1])


class Prefill:
    """text-generation-inference's `/generate`: what it read, with its log-probabilities.

    Source: its `docs/openapi.json` (3.3), PrefillToken; the first token has none.
    """

    def build_requests(self, asked: TokenizedPrompt) -> list[Json]:
        """One request, of the text: it takes no tokens."""
        wanted = {"max_new_tokens": 1, "decoder_input_details": True, "details": True}
        return [{"inputs": (asked.before or "") + asked.written, "parameters": wanted}]

    def read_tokens(
        self, asked: TokenizedPrompt, choices: Sequence[ServerChoice]
    ) -> list[ServerToken]:
        """By the offsets of what was read."""
        return _completion_tokens(asked, choices[0].pieces or [])

    def complete(
        self, connection: Connection, served: str, bodies: Sequence[Json]
    ) -> list[ServerChoice]:
        """Without `served`: such a server has one model. Read as an echo."""
        answers = connection.post_at_root("/generate", bodies)
        return [parse_response(_to_openai(answer)).choices[0] for answer in answers]


def _to_openai(answer: Any) -> Any:
    """In OpenAI's shape; an answer of another shape as it is."""
    with suppress(AttributeError, KeyError, TypeError):
        read = answer["details"]["prefill"]
        logprobs = {
            "tokens": [token["text"] for token in read],
            "token_logprobs": [token["logprob"] for token in read],
        }
        return {"choices": [{"text": answer["generated_text"], "logprobs": logprobs}]}
    return answer


def _completion_tokens(asked: TokenizedPrompt, found: Sequence[ServerToken]) -> list[ServerToken]:
    """The tokens of the completion. Raises BadInput where one is of the prompt, too."""
    border = len(asked.before or "")
    places = spans([piece.spelled for piece in found], (asked.before or "") + asked.written)
    if any(place and place[0] < border < place[1] for place in places):
        raise BadInput(
            "the prompt's end and the completion's beginning are one token: move the space",
            pointer="/completions",
        )
    pairs = zip(found, places, strict=True)
    return [piece for piece, place in pairs if place and place[0] >= border]


class Forced(Completions):
    """Each token of the completion after all before it.

    llama.cpp leaves tokens out that hold a part of a character only. Their log-probability is
    looked up among those of the whole vocabulary, beside `whole`, a token of whole characters.
    """

    def __init__(self, whole: int) -> None:
        self._whole = whole

    def build_requests(self, asked: TokenizedPrompt) -> list[Json]:
        """One request a token."""
        before, after = asked.ids or ((), ())
        return [
            {
                "prompt": [*before, *after[:place]],
                "max_tokens": 1,
                "logprobs": VOCABULARY if place in asked.parts else 1,
                "logit_bias": {str(self._whole if place in asked.parts else token): FORCE},
            }
            for place, token in enumerate(after)
        ]

    def read_tokens(
        self, asked: TokenizedPrompt, choices: Sequence[ServerChoice]
    ) -> list[ServerToken]:
        """Raises where another token came than the forced one."""
        _, after = asked.ids or ((), ())
        made = []
        for place, (token, found) in enumerate(zip(after, choices, strict=True)):
            content = (found.logprobs and found.logprobs.content) or []
            entries = content[:1]
            if place in asked.parts and content:
                entries = [entry for entry in content[0].top_logprobs if entry.id == token]
            if not entries or entries[0].id != token:
                raise AnswerUnread("the server does not write the tokens that are forced")
            made.append(entries[0].to_token)
        return made


def find_scoring_method(
    connection: Connection, served: str, probe: TokenizedPrompt
) -> ScoringMethod | None:
    """The first way that this server offers; `probe`: PROBE, with its tokens if they are known.

    None where there is none. Raises Unavailable where the server is away.
    """
    ways: list[ScoringMethod] = [PromptLogprobs()] if probe.ids else []
    ways.append(Echo())
    for method in ways:
        if _is_supported(connection, served, method, probe):
            return method
    with suppress(Unavailable):  # a gateway's 5xx for a path that it does not know
        if _is_supported(connection, served, prefill := Prefill(), probe):
            return prefill
    if probe.ids and _has_raw_logprobs(connection, served, probe):
        return Forced(probe.ids[1][0])
    return None


def complete(connection: Connection, served: str, bodies: Sequence[Json]) -> list[ServerChoice]:
    """The choices for requests to `/v1/completions`, at temperature 0."""
    whole = [{"model": served, "temperature": 0, **body} for body in bodies]
    return [parse_response(answer).choices[0] for answer in connection.post(PATH, whole)]


def _is_supported(
    connection: Connection, served: str, method: ScoringMethod, probe: TokenizedPrompt
) -> bool:
    try:
        pieces = method.read_tokens(
            probe, method.complete(connection, served, method.build_requests(probe))
        )
    except Unavailable:  # to be away is another matter than not to be able
        raise
    except ScoringError:
        return False
    return bool(pieces) and all(piece.logprob is not None for piece in pieces)


def _has_raw_logprobs(connection: Connection, served: str, probe: TokenizedPrompt) -> bool:
    """Whether a forced token's log-probability is the one that it had unforced."""
    before = list((probe.ids or ((), ()))[0])
    free = {"prompt": before, "max_tokens": 1, "logprobs": 2}
    try:
        [found] = complete(connection, served, [free])
        content = (found.logprobs and found.logprobs.content) or []
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


MOST = (20, 5)  # tokens: vLLM's default limit, and that of OpenAI's /v1/completions


def first_tokens(
    connection: Connection, served: str, texts: Sequence[str], words: Sequence[Sequence[str]]
) -> list[list[float]]:
    """For each text (L,) the log-probability of each of its words as the next token.

    Raises BadInput for a word that is not among them, and where the server tells none.
    """
    few = [{"prompt": text, "max_tokens": 1, "logprobs": MOST[1]} for text in texts]
    try:
        choices = complete(connection, served, [{**body, "logprobs": MOST[0]} for body in few])
    except BadInput:  # more than it gives, or a fault that the second request has too
        choices = complete(connection, served, few)
    return [_word_logprobs(found, some) for found, some in zip(choices, words, strict=True)]


def _word_logprobs(found: ServerChoice, words: Sequence[str]) -> list[float]:
    likely = {piece.spelled: piece.logprob for piece in _top_tokens(found)}
    values = [likely.get(word.encode()) for word in words]
    missing = [word for word, value in zip(words, values, strict=True) if value is None]
    if missing:
        raise BadInput(
            f"the server gives the {len(likely)} most likely next tokens only, and "
            f"{', '.join(map(repr, missing))} are not among them: our own inference worker can",
            pointer="/template/verbalizers",
        )
    return [value for value in values if value is not None]


def _top_tokens(found: ServerChoice) -> list[ServerToken]:
    logprobs = found.logprobs
    if logprobs is None:
        return []
    if logprobs.content:
        return [entry.to_token for entry in logprobs.content[0].top_logprobs]
    tops = (logprobs.top_logprobs or [None])[0] or {}
    return [ServerToken(token.encode(), logprob) for token, logprob in tops.items()]


def softmax(scores: Floats) -> Floats:
    """(L,) log-probabilities to probabilities over these labels alone, of sum 1."""
    shares = np.exp(scores - scores.max())
    return np.asarray(shares / shares.sum())


def check_unique(verbalizers: Sequence[tuple[int, ...]]) -> None:
    """Raises BadInput where the model cannot tell two labels apart."""
    if len(set(verbalizers)) < len(verbalizers) or not all(verbalizers):
        raise BadInput(
            "two labels have verbalizers of the same tokens, or one has none",
            pointer="/template/verbalizers",
        )
