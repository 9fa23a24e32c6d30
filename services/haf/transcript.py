"""The responses of all stages of one conversation, and the tokens of their statements.

Every token that overlaps with a statement belongs to it. Tokens that overlap with each other (the
bytes of one letter) form one piece. Variant `reference` only counts tokens that lie completely
inside a statement, like the released code."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from services.haf import parsing_reference
from services.haf.contract import (
    MOST_REASONS,
    HafChatLogprobs,
    HafCompletionLogprobs,
    HafRequest,
    HafResponse,
)
from services.haf.kernel import Floats
from services.haf.parsing import ParsedResponse, ParsedStatement
from services.haf.reading import read_responses
from services.haf.report import Stage, Stance
from services.haf.variants import variant_of
from shared.contracts.calls import Completion
from shared.contracts.errors import BadInput

UNCLEAR = "the JUSTIFY response takes no clear stance, so later stages cannot ask about it"
REFUSED = "the JUSTIFY response refuses the task"
NO_REASONS = "no reasons were found in the JUSTIFY response"
TOO_MANY = f"the JUSTIFY response gives more than {MOST_REASONS} reasons, too many to prompt about"
NOT_PROVIDED = "the response of its stage was not sent"
NO_LOGPROBS = "its confidence needs log-probabilities, but none were sent"
NO_TOKENS = f"{NO_LOGPROBS}; `control.unweighted` has the values of the texts alone"
SINGLE = "there is only one reason, so nothing remains when it is left out"


@dataclass(frozen=True)
class Exchange:
    """A parsed response of one stage. `reason` is the index of the first-stage reason that it
    concerns."""

    stage: Stage
    reason: int | None
    response: ResponseTokens
    parsed: ParsedResponse
    decision: StatementTokens | None
    reasons: tuple[StatementTokens, ...]

    @property
    def decision_label(self) -> str:
        """Return the label that the released code gives the decision sentence."""
        decision = self.parsed.decision
        stance = (
            parsing_reference.stance_as_released(decision.statement.text) if decision else "unclear"
        )
        return parsing_reference.NONE if stance == "unclear" else stance


@dataclass(frozen=True)
class ReorderedJustify:
    """The first response with its reasons in another order, and new probabilities of its tokens.
    `internal` is the answer when the internal stage (is a reason missing?) was prompted with this
    order."""

    order: tuple[int, ...]
    justify: Exchange
    internal: Exchange | None


@dataclass(frozen=True)
class Transcript:
    """All stages of one conversation, and the repetitions with reordered reasons. `individual` has
    one entry for each reason of the first stage, None where that stage was not run."""

    justify: Exchange
    internal: Exchange | None = None
    external: Exchange | None = None
    individual: tuple[Exchange | None, ...] = ()
    absent: dict[str, str] = field(default_factory=dict)  # metric → why its stage is missing
    orders: tuple[ReorderedJustify, ...] = ()  # the original order first; empty: none requested

    @property
    def stance(self) -> Stance:
        return self.justify.parsed.stance

    @property
    def later(self) -> tuple[Exchange, ...]:
        each = (self.internal, self.external, *self.individual)
        return tuple(exchange for exchange in each if exchange is not None)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Return the exchanges of all stages, including those with reasons in another order."""
        more = (part for each in self.orders for part in (each.justify, each.internal))
        return (self.justify, *self.later, *(part for part in more if part is not None))


def parse_responses(responses: Sequence[tuple[HafRequest, Stage, str]]) -> list[ParsedResponse]:
    """Parse each response by the rules of its request's variant. The trained text classifier is
    called once for all responses."""
    by_reader = iter(
        read_responses(
            [(text, stage) for request, stage, text in responses if variant_of(request).uses_reader]
        )
    )
    return [
        next(by_reader)
        if variant_of(request).uses_reader
        else parsing_reference.parse_as_released(text, stage)
        for request, stage, text in responses
    ]


def make_exchange(
    request: HafRequest,
    stage: Stage,
    response: ResponseTokens,
    parsed: ParsedResponse,
    reason: int | None = None,
) -> Exchange:
    """Return the response of one stage with the tokens of its decision and reasons."""
    whole = variant_of(request).whole_tokens
    decision = parsed.decision
    return Exchange(
        stage=stage,
        reason=reason,
        response=response,
        parsed=parsed,
        decision=tokens_of(response, decision.statement, whole_tokens=whole) if decision else None,
        reasons=tuple(tokens_of(response, each, whole_tokens=whole) for each in parsed.reasons),
    )


def individual_stage(stance: Stance) -> Stage | None:
    """Return the stage for single reasons: sufficiency for a toxic stance, necessity for a
    non-toxic one."""
    if stance == "unclear":
        return None
    return "necessity" if stance == "non-toxic" else "sufficiency"


def why_no_later_stage(justify: Exchange) -> str | None:
    """Return the reason why later stages cannot be run, or None if they can."""
    if justify.parsed.refusal:
        return REFUSED
    if not justify.reasons:
        return NO_REASONS
    if len(justify.reasons) > MOST_REASONS:
        return TOO_MANY
    return UNCLEAR if justify.parsed.stance == "unclear" else None


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Neighbouring tokens within a span of a response. `nll` is in nats."""

    start: int
    end: int
    nll: float
    tokens: int = 1


@dataclass(frozen=True, slots=True)
class ResponseTokens:
    """A response with its tokens, in order."""

    text: str
    pieces: tuple[TokenSpan, ...]
    truncated: bool = False  # it ended at the most tokens that were allowed

    @property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in self.pieces)

    @property
    def lacks_tokens(self) -> bool:
        """Return True if the response has text but no token probabilities."""
        return not self.pieces and bool(self.text.strip())


@dataclass(frozen=True, slots=True)
class StatementTokens:
    """A statement as the model wrote it. `pieces` has its N tokens, with offsets into the
    response."""

    statement: ParsedStatement
    pieces: tuple[TokenSpan, ...] = ()

    @property
    def text(self) -> str:
        return self.statement.text

    @property
    def nll(self) -> Floats:
        """The negative log-likelihoods -log p of the statement's N tokens, in nats."""
        return np.array([piece.nll for piece in self.pieces], dtype=np.float64)

    @property
    def masked(self) -> tuple[str, ...]:
        """N versions of the statement, each without one of its N tokens. These texts are not
        stored, because they take N times the memory of the statement."""
        begin = self.statement.span[0] if self.statement.span else 0
        text = self.statement.text
        return tuple(
            text[: max(0, piece.start - begin)] + text[max(0, piece.end - begin) :]
            for piece in self.pieces
        )

    @property
    def tokens(self) -> int:
        return sum(piece.tokens for piece in self.pieces)


def merge_tokens(tokens: Iterable[tuple[int, int, float]]) -> tuple[TokenSpan, ...]:
    """Merge overlapping tokens, given in order as (start, end, log-probability), into pieces that
    do not overlap."""
    pieces: list[TokenSpan] = []
    pending = TokenSpan(0, 0, 0.0, 0)  # tokens without characters go with the next ones
    for start, end, logprob in tokens:
        nll, count = pending.nll + max(0.0, -logprob), pending.tokens + 1
        if end <= start:
            pending = TokenSpan(0, 0, nll, count)
            continue
        pending = TokenSpan(0, 0, 0.0, 0)
        if pieces and start < pieces[-1].end:
            last = pieces.pop()
            start, end = last.start, max(end, last.end)
            nll, count = nll + last.nll, count + last.tokens
        pieces.append(TokenSpan(start, end, nll, count))
    if pending.tokens and pieces:
        last = pieces.pop()
        both = (last.nll + pending.nll, last.tokens + pending.tokens)
        pieces.append(TokenSpan(last.start, last.end, *both))
    return tuple(pieces)


def tokens_of(
    response: ResponseTokens, statement: ParsedStatement, *, whole_tokens: bool
) -> StatementTokens:
    """Return the statement with the response's tokens that overlap it, or only those inside it if
    `whole_tokens` is True. There are no tokens if the statement's position is unknown."""
    if statement.span is None:
        return StatementTokens(statement)
    start, end = statement.span
    first = bisect_right(response.pieces, start, key=lambda piece: piece.end)
    last = bisect_left(response.pieces, end, key=lambda piece: piece.start)
    tokens = (
        piece
        for piece in response.pieces[first:last]
        if not (whole_tokens and (piece.start < start or piece.end > end))
    )
    return StatementTokens(statement, tuple(tokens))


def from_completion(completion: Completion) -> ResponseTokens:
    tokens = ((token.start, token.end, token.logprob) for token in completion.tokens)
    return ResponseTokens(
        completion.text, merge_tokens(tokens), truncated=completion.finish == "length"
    )


def from_response(response: HafResponse, pointer: str) -> ResponseTokens:
    """Return the tokens that the request gives for a response, aligned to its text. Raises BadInput
    if the tokens do not spell the text."""
    if response.tokens is not None:
        tokens = [(token.start, token.end, token.logprob) for token in response.tokens]
        if tokens != sorted(tokens, key=lambda token: token[0]):
            raise BadInput(
                "the tokens are not in order; sort them by `start`", pointer=f"{pointer}/tokens"
            )
        return _check_coverage(ResponseTokens(response.text, merge_tokens(tokens)), pointer)
    if response.logprobs is None:
        return ResponseTokens(response.text, ())
    pieces, logprobs = _decode_tokens(response.logprobs)
    spans = _token_spans(response.text, pieces)
    if spans is None:
        raise BadInput(
            "the joined tokens do not match the text; if several tokens share a character, send "
            "`bytes`",
            pointer=f"{pointer}/logprobs",
        )
    named = zip(spans, logprobs, strict=True)
    return ResponseTokens(
        response.text,
        merge_tokens((span[0], span[1], logprob) for span, logprob in named if span is not None),
    )


def _check_coverage(response: ResponseTokens, pointer: str) -> ResponseTokens:
    """Return the response unchanged. Raises BadInput if characters other than white space belong to
    no token."""
    ends = [0, *(piece.end for piece in response.pieces)]
    starts = [*(piece.start for piece in response.pieces), len(response.text)]
    for end, start in zip(ends, starts, strict=True):
        if response.text[end:start].strip():
            raise BadInput(
                f"no token covers characters {end} to {start} of the text; send the missing tokens "
                "with log-probabilities",
                pointer=f"{pointer}/tokens",
            )
    return response


def _decode_tokens(
    logprobs: HafChatLogprobs | HafCompletionLogprobs,
) -> tuple[list[bytes], list[float]]:
    if isinstance(logprobs, HafCompletionLogprobs):
        return [_bytes(token) for token in logprobs.tokens], list(logprobs.token_logprobs)
    spelled = [
        bytes(token.bytes) if token.bytes is not None else _bytes(token.token)
        for token in logprobs.content
    ]
    return spelled, [token.logprob for token in logprobs.content]


def _token_spans(text: str, pieces: list[bytes]) -> list[tuple[int, int] | None] | None:
    """Return each token's span in the text, or None for a token outside it, such as an end mark.
    Return None if the joined tokens do not contain the text."""
    encoded = _bytes(text)
    shift = b"".join(pieces).find(encoded)
    if shift < 0:
        return None
    character = [index for index, letter in enumerate(text) for _ in _bytes(letter)]
    spans: list[tuple[int, int] | None] = []
    here = -shift
    for piece in pieces:
        start, end = max(0, here), min(len(encoded), here + len(piece))
        here += len(piece)
        inside = start < end
        spans.append((character[start], character[end - 1] + 1) if inside else None)
    return spans


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
