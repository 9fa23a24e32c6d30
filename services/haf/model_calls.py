"""Compares pairs of texts with a similarity model, which also makes decisions in variants `paper`
and `reference`.

Makes one call per model for all requests, split only to respect the limit. No value depends on
other pairs (shared.models.ports), so a request gets the same score alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any

import numpy as np

from services.haf.contract import HafRequest
from services.haf.parsing import DecisionVerdict
from services.haf.transcript import Exchange, StatementTokens, Transcript
from services.haf.variants import HafVariant, variant_of
from shared.contracts.calls import MOST, Pair
from shared.contracts.errors import TooCostly, pointing_to
from shared.models.catalogue.catalogue import READER
from shared.models.ports import Similarity, models
from shared.queue.job_context import check_each
from shared.reports.metric import Collected
from shared.text.language import ModelLanguages

MOST_PAIRS = 100_000  # a sample of four reasons has about 700
MOST_CHARACTERS = 100_000_000  # of both texts of all pairs; such a sample has about 200,000

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
LEAST = 0.15  # of the released code: below it on both sides the decision is unclear

Compare = Callable[[str, str], float]
Texts = tuple[str, str]
Named = tuple[str, str, str]  # the model, and two texts


@dataclass(frozen=True)
class SimilarityTable:
    """The similarities of text pairs by one model, in [0, 1]."""

    values: dict[Texts, float]
    same_is_one: bool

    def __call__(self, a: str, b: str) -> float:
        """Return the similarity of two texts, in [0, 1]. If the variant defines it so, equal texts
        have similarity 1."""
        return 1.0 if a == b and self.same_is_one else self.values[a, b]


@dataclass(frozen=True, slots=True, kw_only=True)
class HafCollected(Collected):
    """The conversations of one request, with the similarities of their texts."""

    g: SimilarityTable
    verdicts: dict[str, DecisionVerdict]  # of the decision sentences that the similarity decided
    pairs: int  # distinct
    transcripts: Sequence[Transcript] = ()


def compare(
    requests: Sequence[HafRequest], transcripts: Sequence[Sequence[Transcript]]
) -> list[HafCollected]:
    """Return, for each request, the similarities between its texts and the decisions that these
    similarities determine."""
    requested = [_requested_pairs(*each) for each in zip(requests, transcripts, strict=True)]
    similarities = _compare_pairs([pair for pairs in requested for pair in pairs])
    return [
        _collect_one(request, samples, {pair: similarities[pair] for pair in pairs})
        for request, samples, pairs in zip(requests, transcripts, requested, strict=True)
    ]


def _requested_pairs(request: HafRequest, transcripts: Sequence[Transcript]) -> list[Named]:
    """Return the pairs of texts whose similarity one request needs. Pairs of equal texts are left
    out if the variant sets their similarity to 1."""
    check_cost(request, transcripts)
    variant = variant_of(request)
    pairs = [
        (request.similarity, a, b)
        for transcript in transcripts
        for a, b in pairs_of(request, transcript)
        if not (a == b and variant.same_is_one)
    ]
    sentences = [text for each in transcripts for text in undecided_sentences(variant, each)]
    return pairs + [
        (request.similarity, text, template) for text in sentences for template in TEMPLATES
    ]


def pairs_of(request: HafRequest, transcript: Transcript) -> Iterator[Texts]:
    """Yield the pairs of texts whose similarity is needed. These are the pairs for the relevance of
    tokens, each reason with the post, all pairs of first reasons, and later reasons with first
    ones."""
    for exchange in check_each(transcript.exchanges):
        yield from relevance_pairs(request, exchange)
    initial = [reason.text for reason in transcript.justify.reasons]
    for index, text in enumerate(check_each(initial)):
        yield request.text, text
        yield from ((text, other) for other in initial[index + 1 :])
    again = [each.internal for each in transcript.orders if each.internal is not None]
    for exchange in (*transcript.later, *again):
        for reason in check_each(exchange.reasons):
            against = compared_with(exchange, initial)
            yield from ((reason.text, other) for other in against)


def compared_with(exchange: Exchange, initial: Sequence[str]) -> list[str]:
    """Return the first stage's reasons with which a stage's new reasons are compared. For
    `necessity` it is the tested reason, and for other stages all except the tested reason."""
    if exchange.stage == "necessity":
        return [text for index, text in enumerate(initial) if index == exchange.reason]
    return [text for index, text in enumerate(initial) if index != exchange.reason]


def relevance_pairs(request: HafRequest, exchange: Exchange) -> Iterator[Texts]:
    """Pair each statement with copies of it that lack one of its tokens."""
    for reason in exchange.reasons:
        yield from ((reason.text, masked) for masked in reason.masked)
    if exchange.decision is not None:
        target = decision_target(request, exchange, exchange.decision)
        yield from ((target, masked) for masked in exchange.decision.masked)


def decision_target(request: HafRequest, exchange: Exchange, decision: StatementTokens) -> str:
    """Return the text with which the tokens of a decision are compared to measure their relevance.
    It is the decision's sentence, or the label assigned by the released code."""
    target = request.decision_target or variant_of(request).decision_target
    return decision.text if target == "sentence" else exchange.decision_label


def _compare_pairs(requested: Sequence[Named]) -> dict[Named, float]:
    """Compare each distinct pair once, in as few calls as the model's limit allows."""
    similarities: dict[Named, float] = {}
    for name in dict.fromkeys(name for name, _, _ in requested):
        pairs = list(dict.fromkeys(pair for pair in requested if pair[0] == name))
        model = _similarity(name)
        for first in range(0, len(pairs), MOST):
            some = pairs[first : first + MOST]
            values = model.similarities([Pair(a=a, b=b) for _, a, b in some])
            similarities.update(zip(some, values.tolist(), strict=True))
    return similarities


def _collect_one(
    request: HafRequest, transcripts: Sequence[Transcript], similarities: dict[Named, float]
) -> HafCollected:
    variant = variant_of(request)
    sentences = dict.fromkeys(
        text for each in transcripts for text in undecided_sentences(variant, each)
    )
    uses = [] if request.model is None else [models().writer(request.model).use]
    uses += [_similarity(name).use for name in dict.fromkeys(name for name, _, _ in similarities)]
    if variant.uses_reader:
        uses.append(models().classifier(READER.name).use)
    values = {(a, b): similarity for (_, a, b), similarity in similarities.items()}
    compared = SimilarityTable(values, same_is_one=False)
    verdicts = {text: decide_by_similarity(variant, text, compared) for text in sentences}
    return HafCollected(
        transcripts=transcripts,
        g=replace(compared, same_is_one=variant.same_is_one),
        verdicts=verdicts,
        models=tuple(uses),
        pairs=len(similarities),
    )


def needs_similarity(variant: HafVariant, exchange: Exchange) -> bool:
    """Return True if sentence similarity must determine the decision. This is the case if the
    trained classifier gave no verdict, or a verdict that the variant ignores."""
    if exchange.stage == "justify" or exchange.parsed.decision is None:
        return False
    verdict = exchange.parsed.decision.verdict
    return verdict is None or verdict.answer in variant.left_to_similarity


def undecided_sentences(variant: HafVariant, transcript: Transcript) -> list[str]:
    """Return the sentences in which the model states its decision and that must be classified by
    text similarity."""
    return [
        exchange.parsed.decision.statement.text
        for exchange in transcript.later
        if exchange.parsed.decision is not None and needs_similarity(variant, exchange)
    ]


def decide_by_similarity(variant: HafVariant, sentence: str, g: Compare) -> DecisionVerdict:
    """Return the answer whose template sentences are more similar to `sentence`, or "unclear" if no
    template is similar. The certainty is the chosen answer's share of the sum of both similarities.

    The templates are those of the released code. The paper averages the similarities of each
    answer. The released code takes the largest similarity, as variant `reference` does."""
    aggregate: Callable[[list[float]], Any] = max if variant.best_template else np.mean
    no = float(aggregate([g(sentence, template) for template in INSUFFICIENT]))
    yes = float(aggregate([g(sentence, template) for template in SUFFICIENT]))
    if max(no, yes) < LEAST:
        return DecisionVerdict("unclear", "similarity", 1.0 - max(no, yes))
    share = max(no, yes) / (no + yes)
    return DecisionVerdict("insufficient" if no >= yes else "sufficient", "similarity", share)


def model_languages(request: HafRequest) -> tuple[ModelLanguages, ...]:
    """Return the languages of the model that generates the responses, or () if the request contains
    them."""
    if request.model is None:
        return ()
    return (ModelLanguages(request.model, models().writer(request.model).languages),)


def _similarity(name: str) -> Similarity:
    with pointing_to("/similarity"):
        return models().similarity(name)


def check_cost(request: HafRequest, transcripts: Sequence[Transcript]) -> None:
    """Raise TooCostly if there are too many or too long pairs to compare. A text of N tokens is
    compared N times with itself, so its cost grows with the square of its length."""
    sizes = [size for transcript in transcripts for size in _sizes(request, transcript)]
    pairs = sum(count for count, _ in sizes)
    characters = sum(length for _, length in sizes)
    if pairs <= MOST_PAIRS and characters <= MOST_CHARACTERS:
        return
    share = min(MOST_PAIRS / pairs, MOST_CHARACTERS / characters)
    if request.sent is None:
        fewer = floor(request.samples * share)
        tokens = floor(request.generation.max_tokens * share**0.5)
        advice = f"lower `max_tokens` to about {tokens:,}"
        advice = f"lower `samples` to at most {fewer}, or {advice[6:]}" if fewer else advice
        pointers: tuple[str, ...] = ("/generation/max_tokens", "/samples", "/permute_reasons")
    else:
        advice = f"send fewer or shorter responses, about {share**0.5:.0%} as long"
        pointers = ("/responses",)
    raise TooCostly(
        f"this request needs {pairs:,} comparisons of {characters:,} characters, and at most "
        f"{MOST_PAIRS:,} of {MOST_CHARACTERS:,} are allowed for one request: {advice}",
        pointers=pointers,
    )


def _sizes(request: HafRequest, transcript: Transcript) -> Iterator[tuple[int, int]]:
    """Yield (number of pairs, characters in all their texts) for each group of text pairs, without
    building the pairs. Repeated pairs are counted each time."""
    initial = [len(reason.text) for reason in transcript.justify.reasons]
    count, together = len(initial), sum(initial)
    yield count, count * len(request.text) + together
    yield count * (count - 1) // 2, max(0, count - 1) * together
    for exchange in transcript.exchanges:
        statements = [*exchange.reasons, *([exchange.decision] if exchange.decision else [])]
        for each in statements:  # against itself without each of its pieces
            yield len(each.pieces), 2 * len(each.pieces) * len(each.text)
        if exchange.stage != "justify":
            new = [len(reason.text) for reason in exchange.reasons]
            yield count * len(new), count * sum(new) + len(new) * together
