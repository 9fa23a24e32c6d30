"""How many comparisons one request may cause: a clear refusal, before any of them is made.

A statement of N tokens is compared N times with itself, so that long statements cost their square.

Who reads a decision that the rules cannot read: sentences of known meaning, or an NLI model.

Source of the sentences: the released code's lists, as the paper's Eqs. 9 and 11 need a class of
every decision. Deviates: the paper takes the mean similarity of each side, its code the largest;
`reference` follows the code.

Which pairs go to which similarity: all of all samples of all requests, each once.

One call a model (split only where the port's limit demands it). A pair's value does not depend on
the others (shared.models.ports), so that a request scores the same alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np

from services.haf.contract import HafRequest
from services.haf.parsing import DecisionVerdict
from services.haf.report import Answer
from services.haf.transcript import Exchange, StatementTokens, Transcript
from services.haf.variants import HafVariant, variant_of
from shared.contracts import ModelUse
from shared.errors import BadInput, TooCostly, pointing_to
from shared.job_context import checking
from shared.metric import Collected
from shared.models.calls import MOST, Example, Pair
from shared.models.ports import Judge, Similarity, models

MOST_PAIRS = 100_000  # a sample of four reasons has about 700
MOST_CHARACTERS = 100_000_000  # of both texts of all pairs; such a sample has about 200,000


def check_cost(request: HafRequest, told: Sequence[Transcript]) -> None:
    """Raises TooCostly where the pairs are too many, or too long."""
    sizes = [size for transcript in told for size in _sizes(request, transcript)]
    pairs = sum(count for count, _ in sizes)
    characters = sum(length for _, length in sizes)
    if pairs <= MOST_PAIRS and characters <= MOST_CHARACTERS:
        return
    share = min(MOST_PAIRS / pairs, MOST_CHARACTERS / characters)
    if request.responses is None:
        fewer = floor(request.samples * share)
        tokens = floor(request.generation.max_tokens * share**0.5)
        advice = f"lower `max_tokens` to about {tokens:,}"
        advice = f"lower `samples` to at most {fewer}, or {advice[6:]}" if fewer else advice
        pointers: tuple[str, ...] = ("/generation/max_tokens", "/samples", "/permute_reasons")
    else:
        advice = f"bring fewer or shorter responses, about {share**0.5:.0%} as long"
        pointers = ("/responses",)
    raise TooCostly(
        f"this takes {pairs:,} comparisons of {characters:,} characters, and at most "
        f"{MOST_PAIRS:,} of {MOST_CHARACTERS:,} are made for one request: {advice}",
        pointers=pointers,
    )


def _sizes(request: HafRequest, told: Transcript) -> Iterator[tuple[int, int]]:
    """(pairs, characters of both texts), counted without making them; repeated ones included."""
    initial = [len(said.statement.text) for said in told.justify.reasons]
    count, together = len(initial), sum(initial)
    yield count, count * len(request.text) + together
    yield count * (count - 1) // 2, max(0, count - 1) * together
    for exchange in told.exchanges:
        said = [*exchange.reasons, *([exchange.decision] if exchange.decision else [])]
        yield from map(_own, said)
        if exchange.stage != "justify":
            new = [len(reason.statement.text) for reason in exchange.reasons]
            yield count * len(new), count * sum(new) + len(new) * together


def _own(said: StatementTokens) -> tuple[int, int]:
    """A statement against itself without each of its pieces."""
    return len(said.pieces), 2 * len(said.pieces) * len(said.statement.text)


INSUFFICIENT = (
    "yes additional reasons are required",
    "there are additional reasons",
    "provided reasons are insufficient",
)
SUFFICIENT = (
    "no additional reasons are required",
    "additional reasons are not required",
    "there are no additional reasons",
    "provided reasons are sufficient",
)
TEMPLATES = (*INSUFFICIENT, *SUFFICIENT)
LEAST = 0.15  # of the released code: below it on both sides nothing is said
HYPOTHESES = ("Additional reasons are required.", "No additional reasons are required.")
ENTAILMENT = "entailment"

Compare = Callable[[str, str], float]
Shares = tuple[float, float]  # P(insufficient), P(sufficient), each in [0, 1]


def needs_model(way: HafVariant, exchange: Exchange) -> bool:
    """Whether the rules' answer, or its absence, is left to a model."""
    if exchange.stage == "justify" or exchange.parsed.decision is None:
        return False
    found = exchange.parsed.decision.verdict
    return (found.answer if found else None) in way.left_to_model


def undecided_sentences(way: HafVariant, transcript: Transcript) -> list[str]:
    """The decision sentences that a model must read."""
    return [
        exchange.parsed.decision.statement.text
        for exchange in transcript.later
        if exchange.parsed.decision is not None and needs_model(way, exchange)
    ]


def decide_by_similarity(way: HafVariant, sentence: str, g: Compare) -> DecisionVerdict:
    """The side whose sentences are more similar; unclear where neither is.

    Its certainty is its share of both sides' similarities.
    """
    together: Callable[[list[float]], Any] = max if way.best_template else np.mean
    no = float(together([g(sentence, known) for known in INSUFFICIENT]))
    yes = float(together([g(sentence, known) for known in SUFFICIENT]))
    if max(no, yes) < LEAST:
        return DecisionVerdict("unclear", "similarity", 1.0 - max(no, yes))
    share = max(no, yes) / (no + yes)
    answer: Answer = "insufficient" if no >= yes else "sufficient"
    return DecisionVerdict(answer if share >= way.least_share else "unclear", "similarity", share)


def decide_by_entailment(shares: Shares) -> DecisionVerdict:
    """The hypothesis that the sentence entails; unclear where it entails neither."""
    no, yes = shares
    if max(no, yes) < 0.5:
        return DecisionVerdict("unclear", "nli", 1.0 - max(no, yes))
    return DecisionVerdict("insufficient" if no >= yes else "sufficient", "nli", max(no, yes))


def entailment_of(name: str, sentences: Sequence[str]) -> dict[str, Shares]:
    """For each distinct sentence P(entailment) of both hypotheses: one call."""
    distinct = list(dict.fromkeys(sentences))
    if not distinct:
        return {}
    model = nli(name)
    examples = [Example(text=text, text_pair=known) for text in distinct for known in HYPOTHESES]
    if ENTAILMENT not in (labels := model.labels_of(examples[0])):
        raise BadInput(f"the model {name} has no label {ENTAILMENT!r}", pointer="/decision_model")
    column = labels.index(ENTAILMENT)
    values = [float(row[column]) for row in model.judge(examples)]
    return dict(zip(distinct, zip(values[::2], values[1::2], strict=True), strict=True))


def nli(name: str) -> Judge:
    """The classifier of this name. Raises BadInput that points at `decision_model`."""
    with pointing_to("/decision_model"):
        return models().classifier(name)


def uses_nli(request: HafRequest) -> bool:
    """Whether the request's decision model is a classifier."""
    name = request.decision_model
    if name is None:
        return False
    with pointing_to("/decision_model"):
        return models().kind(name) == "classifier"


Texts = tuple[str, str]
Named = tuple[str, str, str]  # the model, and two texts


@dataclass(frozen=True)
class SimilarityTable:
    """g(a, b) of one model, [0, 1], looked up."""

    values: dict[Texts, float]
    same_is_one: bool

    def __call__(self, a: str, b: str) -> float:
        """Higher: more similar; 1 for equal texts, where the variant says so."""
        return 1.0 if a == b and self.same_is_one else self.values[a, b]


@dataclass(frozen=True, slots=True, kw_only=True)
class HafCollected(Collected):
    """What models answered for one request: its transcripts, and what compares them."""

    g: SimilarityTable
    verdicts: dict[str, DecisionVerdict]  # of the decision sentences that a model had to read
    pairs: int  # distinct
    transcripts: Sequence[Transcript] = ()


@dataclass(frozen=True)
class PairAnswers:
    """A request's pairs among everything that was answered."""

    pairs: dict[Named, None]
    values: dict[Named, float]
    entailed: dict[tuple[str, str], Shares]  # by model and sentence

    def of(self, name: str, *, same_is_one: bool) -> SimilarityTable:
        """One model's similarities, for this request's pairs."""
        own = {(a, b): self.values[model, a, b] for model, a, b in self.pairs if model == name}
        return SimilarityTable(own, same_is_one)


def compare(
    requests: Sequence[HafRequest], told: Sequence[Sequence[Transcript]]
) -> list[HafCollected]:
    """The similarities and decisions of every request."""
    wanted = [
        _wanted(request, transcripts) for request, transcripts in zip(requests, told, strict=True)
    ]
    answers = _compared([pair for each in wanted for pair in each])
    read = _entailed(requests, told)
    return [
        _gathered(request, transcripts, PairAnswers(dict.fromkeys(pairs), answers, read))
        for request, transcripts, pairs in zip(requests, told, wanted, strict=True)
    ]


def _wanted(request: HafRequest, told: Sequence[Transcript]) -> list[Named]:
    """The pairs of one request; equal texts are not asked about where they are 1 anyway."""
    check_cost(request, told)
    way = variant_of(request)
    pairs = [
        (request.similarity, a, b)
        for transcript in told
        for a, b in pairs_of(request, transcript)
        if not (a == b and way.same_is_one)
    ]
    if uses_nli(request):
        return pairs
    name = request.decision_model or request.similarity
    sentences = [text for transcript in told for text in undecided_sentences(way, transcript)]
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


def decision_target(request: HafRequest, exchange: Exchange, decision: StatementTokens) -> str:
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
        if request.decision_model is not None and uses_nli(request):
            sentences = asked.setdefault(request.decision_model, [])
            for transcript in transcripts:
                sentences += undecided_sentences(variant_of(request), transcript)
    return {
        (name, sentence): shares
        for name, sentences in asked.items()
        for sentence, shares in entailment_of(name, sentences).items()
    }


def _gathered(
    request: HafRequest, transcripts: Sequence[Transcript], answers: PairAnswers
) -> HafCollected:
    way = variant_of(request)
    sentences = dict.fromkeys(
        text for each in transcripts for text in undecided_sentences(way, each)
    )
    used = list(dict.fromkeys(name for name, _, _ in answers.pairs))
    uses = [similarity(name).use for name in used]
    decider = request.decision_model or request.similarity
    if sentences and uses_nli(request):
        uses.append(nli(decider).use)
        verdicts = {
            text: decide_by_entailment(answers.entailed[decider, text]) for text in sentences
        }
    else:
        g = answers.of(decider, same_is_one=False)
        verdicts = {text: decide_by_similarity(way, text, g) for text in sentences}
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
