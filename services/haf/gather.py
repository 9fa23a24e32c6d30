"""Which pairs go to which similarity: all of all samples of all requests, each once.

One call a model (split only where the port's limit demands it). A pair's value does not depend on
the others (shared.models.ports), so that a request scores the same alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.haf.affordable import affordable
from services.haf.contract import HafRequest
from services.haf.deciding import (
    TEMPLATES,
    Shares,
    asks_nli,
    by_entailment,
    by_similarity,
    entailed,
    nli,
    undecided,
)
from services.haf.parsed import Verdict
from services.haf.spoken import Spoken
from services.haf.transcript import Exchange, Transcript
from services.haf.variants import variant_of
from shared.contracts import ModelUse
from shared.errors import pointing_to
from shared.job_context import checking
from shared.metric import Collected
from shared.models.calls import MOST, Pair
from shared.models.ports import Similarity, models

Texts = tuple[str, str]
Named = tuple[str, str, str]  # the model, and two texts


@dataclass(frozen=True)
class Alike:
    """g(a, b) of one model, [0, 1], looked up."""

    values: dict[Texts, float]
    same_is_one: bool

    def __call__(self, a: str, b: str) -> float:
        """Higher: more similar; 1 for equal texts, where the variant says so."""
        return 1.0 if a == b and self.same_is_one else self.values[a, b]


@dataclass(frozen=True, slots=True, kw_only=True)
class HafCollected(Collected):
    """What models answered for one request: its transcripts, and what compares them."""

    g: Alike
    verdicts: dict[str, Verdict]  # of the decision sentences that a model had to read
    pairs: int  # distinct
    transcripts: Sequence[Transcript] = ()


@dataclass(frozen=True)
class Answers:
    """A request's pairs among everything that was answered."""

    pairs: dict[Named, None]
    values: dict[Named, float]
    entailed: dict[tuple[str, str], Shares]  # by model and sentence

    def of(self, name: str, *, same_is_one: bool) -> Alike:
        """One model's similarities, for this request's pairs."""
        own = {(a, b): self.values[model, a, b] for model, a, b in self.pairs if model == name}
        return Alike(own, same_is_one)


def gather(
    requests: Sequence[HafRequest], told: Sequence[Sequence[Transcript]]
) -> list[HafCollected]:
    """The similarities and decisions of every request."""
    wanted = [
        _wanted(request, transcripts) for request, transcripts in zip(requests, told, strict=True)
    ]
    answers = _compared([pair for each in wanted for pair in each])
    read = _entailed(requests, told)
    return [
        _gathered(request, transcripts, Answers(dict.fromkeys(pairs), answers, read))
        for request, transcripts, pairs in zip(requests, told, wanted, strict=True)
    ]


def _wanted(request: HafRequest, told: Sequence[Transcript]) -> list[Named]:
    """The pairs of one request; equal texts are not asked about where they are 1 anyway."""
    affordable(request, told)
    way = variant_of(request)
    pairs = [
        (request.similarity, a, b)
        for transcript in told
        for a, b in pairs_of(request, transcript)
        if not (a == b and way.same_is_one)
    ]
    if asks_nli(request):
        return pairs
    name = request.decision_model or request.similarity
    sentences = [text for transcript in told for text in undecided(way, transcript)]
    return pairs + [(name, text, known) for text in sentences for known in TEMPLATES]


def pairs_of(request: HafRequest, transcript: Transcript) -> Iterator[Texts]:
    """Relevance of tokens (Eq. 3), support (Eqs. 5, 6), and the stages against JUSTIFY."""
    for exchange in checking(transcript.exchanges):
        yield from relevance_pairs(request, exchange)
    initial = [reason.statement.text for reason in transcript.justify.reasons]
    for place, text in enumerate(checking(initial)):
        yield request.text, text
        yield from ((text, other) for other in initial[place + 1 :])
    again = [each.internal for each in transcript.orders if each.internal is not None]
    for exchange in (*transcript.later, *again):
        for reason in checking(exchange.reasons):
            against = compared_with(exchange, initial)
            yield from ((reason.statement.text, other) for other in against)


def compared_with(exchange: Exchange, initial: Sequence[str]) -> list[str]:
    """The JUSTIFY reasons that a stage's new reasons are compared with."""
    if exchange.stage == "necessity":
        return [text for place, text in enumerate(initial) if place == exchange.reason]
    return [text for place, text in enumerate(initial) if place != exchange.reason]


def relevance_pairs(request: HafRequest, exchange: Exchange) -> Iterator[Texts]:
    """Each statement against itself without each of its tokens."""
    for reason in exchange.reasons:
        yield from ((reason.statement.text, masked) for masked in reason.masked)
    if exchange.decision is not None:
        target = decision_target(request, exchange, exchange.decision)
        yield from ((target, masked) for masked in exchange.decision.masked)


def decision_target(request: HafRequest, exchange: Exchange, decision: Spoken) -> str:
    """What a decision's tokens are relevant to: itself (Eq. 3), or the released code's label."""
    chosen = request.decision_target or variant_of(request).decision_target
    return decision.statement.text if chosen == "sentence" else exchange.decision_label


def _compared(wanted: Sequence[Named]) -> dict[Named, float]:
    """Each distinct pair asked once, in as few calls as the port's limit allows."""
    found: dict[Named, float] = {}
    for name in dict.fromkeys(name for name, _, _ in wanted):
        pairs = list(dict.fromkeys(pair for pair in wanted if pair[0] == name))
        model = similarity(name)
        for first in range(0, len(pairs), MOST):
            some = pairs[first : first + MOST]
            values = model.similarities([Pair(a=a, b=b) for _, a, b in some])
            found.update(zip(some, values.tolist(), strict=True))
    return found


def _entailed(
    requests: Sequence[HafRequest], told: Sequence[Sequence[Transcript]]
) -> dict[tuple[str, str], Shares]:
    """One call an NLI model, for all sentences that are left to it."""
    asked: dict[str, list[str]] = {}
    for request, transcripts in zip(requests, told, strict=True):
        if request.decision_model is not None and asks_nli(request):
            sentences = asked.setdefault(request.decision_model, [])
            for transcript in transcripts:
                sentences += undecided(variant_of(request), transcript)
    return {
        (name, sentence): shares
        for name, sentences in asked.items()
        for sentence, shares in entailed(name, sentences).items()
    }


def _gathered(
    request: HafRequest, transcripts: Sequence[Transcript], answers: Answers
) -> HafCollected:
    way = variant_of(request)
    sentences = dict.fromkeys(text for each in transcripts for text in undecided(way, each))
    used = list(dict.fromkeys(name for name, _, _ in answers.pairs))
    uses = [similarity(name).use for name in used]
    decider = request.decision_model or request.similarity
    if sentences and asks_nli(request):
        uses.append(nli(decider).use)
        verdicts = {text: by_entailment(answers.entailed[decider, text]) for text in sentences}
    else:
        g = answers.of(decider, same_is_one=False)
        verdicts = {text: by_similarity(way, text, g) for text in sentences}
    return HafCollected(
        transcripts=transcripts,
        g=answers.of(request.similarity, same_is_one=way.same_is_one),
        verdicts=verdicts,
        models=(*_writer(request), *uses),
        pairs=len(answers.pairs),
    )


def _writer(request: HafRequest) -> list[ModelUse]:
    return [] if request.model is None else [models().writer(request.model).use]


def similarity(name: str) -> Similarity:
    """The model of a request's `similarity`. Raises BadInput that points there."""
    with pointing_to("/similarity"):
        return models().similarity(name)
