"""Labels from the most likely first tokens: for servers that tell no more than those.

One request an example. It serves where every verbalizer is one token among the most likely ones;
then the softmax over the labels is the same as from their log-probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence

from shared.errors import BadInput
from shared.openai.answers import Choice, Piece
from shared.openai.connection import Connection
from shared.openai.scoring import ask

MOST = (20, 5)  # tokens: vLLM's default limit, and that of OpenAI's /v1/completions


def first_tokens(
    connection: Connection, served: str, texts: Sequence[str], words: Sequence[Sequence[str]]
) -> list[list[float]]:
    """For each text (L,) the log-probability of each of its words as the next token.

    Raises BadInput for a word that is not among them, and where the server tells none.
    """
    choices = _asked(connection, served, texts)
    return [_of(found, some) for found, some in zip(choices, words, strict=True)]


def _asked(connection: Connection, served: str, texts: Sequence[str]) -> list[Choice]:
    few = [{"prompt": text, "max_tokens": 1, "logprobs": MOST[1]} for text in texts]
    try:
        return ask(connection, served, [{**body, "logprobs": MOST[0]} for body in few])
    except BadInput:  # more than it gives, or a fault that the second request has too
        return ask(connection, served, few)


def _of(found: Choice, words: Sequence[str]) -> list[float]:
    likely = {piece.spelled: piece.logprob for piece in _likely(found)}
    values = [likely.get(word.encode()) for word in words]
    missing = [word for word, value in zip(words, values, strict=True) if value is None]
    if missing:
        raise BadInput(
            f"the server tells the {len(likely)} most likely next tokens only, and "
            f"{', '.join(map(repr, missing))} are not among them: our own inference worker can",
            pointer="/template/verbalizers",
        )
    return [value for value in values if value is not None]


def _likely(found: Choice) -> list[Piece]:
    told = found.logprobs
    if told is None:
        return []
    if told.content:
        return [entry.piece for entry in told.content[0].top_logprobs]
    return [piece for tops in (told.top_logprobs or [])[:1] for piece in _pieces(tops or {})]


def _pieces(tops: dict[str, float]) -> list[Piece]:
    return [Piece(token.encode(), logprob) for token, logprob in tops.items()]
