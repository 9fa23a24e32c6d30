"""Responses that the caller brought: a server's tokens, put back onto the text's characters."""

from __future__ import annotations

from services.haf.responses import ChatLogprobs, CompletionLogprobs, Response
from services.haf.spoken import Written, merged
from shared.errors import BadInput
from shared.models.calls import Completion


def of_completion(completion: Completion) -> Written:
    """What a model of ours wrote."""
    tokens = ((token.start, token.end, token.logprob) for token in completion.tokens)
    return Written(completion.text, merged(tokens), cut=completion.finish == "length")


def of_response(response: Response, pointer: str) -> Written:
    """What the caller's model wrote. Raises BadInput where the tokens do not spell the text."""
    if response.tokens is not None:
        tokens = [(token.start, token.end, token.logprob) for token in response.tokens]
        if tokens != sorted(tokens, key=lambda token: token[0]):
            raise BadInput("the tokens are not in order", pointer=f"{pointer}/tokens")
        return _covered(Written(response.text, merged(tokens)), pointer)
    if response.logprobs is None:
        return Written(response.text, ())
    pieces, logprobs = _spelled(response.logprobs)
    spans = _placed(response.text, pieces)
    if spans is None:
        raise BadInput(
            "the tokens do not spell the text: joined, they do not contain it; for characters of "
            "several tokens give `bytes`",
            pointer=f"{pointer}/logprobs",
        )
    named = zip(spans, logprobs, strict=True)
    return Written(
        response.text,
        merged((span[0], span[1], logprob) for span, logprob in named if span is not None),
    )


def _covered(written: Written, pointer: str) -> Written:
    """The same. Raises BadInput where more than blanks of the text belong to no token."""
    ends = [0, *(piece.end for piece in written.pieces)]
    starts = [*(piece.start for piece in written.pieces), len(written.text)]
    for end, start in zip(ends, starts, strict=True):
        if written.text[end:start].strip():
            raise BadInput(
                f"the characters {end} to {start} of the text belong to no token: their "
                "log-probabilities are missing",
                pointer=f"{pointer}/tokens",
            )
    return written


def _spelled(logprobs: ChatLogprobs | CompletionLogprobs) -> tuple[list[bytes], list[float]]:
    """The tokens' bytes and log-probabilities."""
    if isinstance(logprobs, CompletionLogprobs):
        return [_bytes(token) for token in logprobs.tokens], list(logprobs.token_logprobs)
    spelled = [
        bytes(token.bytes) if token.bytes is not None else _bytes(token.token)
        for token in logprobs.content
    ]
    return spelled, [token.logprob for token in logprobs.content]


def _placed(text: str, pieces: list[bytes]) -> list[tuple[int, int] | None] | None:
    """Each token's characters in the text; None for one outside (an end mark, a leading blank).

    None altogether where the text is not a part of the joined tokens.
    """
    joined, wanted = b"".join(pieces), _bytes(text)
    shift = joined.find(wanted)
    if shift < 0:
        return None
    character = [place for place, letter in enumerate(text) for _ in _bytes(letter)]
    spans: list[tuple[int, int] | None] = []
    here = -shift
    for piece in pieces:
        start, end = max(0, here), min(len(wanted), here + len(piece))
        here += len(piece)
        inside = start < end
        spans.append((character[start], character[end - 1] + 1) if inside else None)
    return spans


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
