"""What each token of a statement weighs in its confidence: for who wants to look at them.

Source: Mothilal et al., arXiv:2506.19113, Eqs. 1 to 4. Nothing is asked of a model: the pairs were
compared for the confidences.
"""

from __future__ import annotations

from collections.abc import Sequence

from services.haf.contract import HafRequest
from services.haf.gather import Alike, decision_target
from services.haf.measures import relevances
from services.haf.report import StagePart
from services.haf.spoken import Spoken
from services.haf.token_messages import TokenValue
from services.haf.transcript import Exchange, Transcript


def with_token_values(
    request: HafRequest, told: Transcript, g: Alike, stages: Sequence[StagePart]
) -> tuple[StagePart, ...]:
    """The same stages, each reason and each decision with the values of its tokens."""
    exchanges = (told.justify, *told.later)
    pairs = zip(exchanges, stages, strict=True)
    return tuple(_stage(request, g, exchange, part) for exchange, part in pairs)


def token_values(g: Alike, said: Spoken, target: str) -> tuple[TokenValue, ...]:
    """(N,) of a statement's pieces, in their order; relevant to `target` as its confidence is."""
    relevant = relevances(g, said, target).tolist()
    return tuple(
        TokenValue(
            start=piece.start,
            end=piece.end,
            tokens=piece.tokens,
            logprob=0.0 - piece.nll,  # never -0.0
            relevance=relevance,
        )
        for piece, relevance in zip(said.pieces, relevant, strict=True)
    )


def _stage(request: HafRequest, g: Alike, exchange: Exchange, part: StagePart) -> StagePart:
    reasons = tuple(
        own.model_copy(update={"token_values": token_values(g, said, said.statement.text)})
        for said, own in zip(exchange.reasons, part.reasons, strict=True)
    )
    decision, said = part.decision, exchange.decision
    if decision is not None and said is not None:
        values = token_values(g, said, decision_target(request, exchange, said))
        decision = decision.model_copy(update={"token_values": values})
    return part.model_copy(update={"reasons": reasons, "decision": decision})
