"""HateXScore parses the explanation, classifies the text with and without its quotes, and computes
the score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from services.hatexscore import kernel
from services.hatexscore.batch_report import Row, Statistics, batch_report
from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.explanation import (
    LABEL_UNKNOWN,
    ParsedExplanation,
    applicable_weights,
    detect_languages,
    not_applicable,
    total_score,
)
from services.hatexscore.lexicon import group_name
from services.hatexscore.model_calls import (
    HatexscoreCollected,
    ask_classifiers,
    one_sided,
)
from services.hatexscore.post_words import read_post_words
from services.hatexscore.quotes import quotations
from services.hatexscore.reader import read_by_model
from services.hatexscore.report import (
    NO_EXPLANATION,
    NO_WITNESS,
    HatexscoreBatchReport,
    HatexscoreComponents,
    HatexscoreConclusion,
    HatexscoreRandomSpans,
    HatexscoreReason,
    HatexscoreResult,
    Part,
    side_of_label,
)
from services.hatexscore.variants import VARIANTS, HatexscoreVariant, read_stated
from services.hatexscore.vocabulary import SIDES
from shared.contracts.errors import BadInput
from shared.contracts.judgement import ece_perturbed
from shared.contracts.messages import Languages, Variant
from shared.models.ports import models
from shared.reports.metric import Collected, Metric, StatedDecision
from shared.reports.short_texts import calibrated_fields
from shared.statistics import ranks
from shared.statistics.placements import overlaps
from shared.text.language import Obstacle, assumption

MOST_QUOTATIONS = 200  # different ones in one explanation
PARTS: tuple[Part, ...] = ("htc", "qf", "tgi", "cc")
MOST_TOLD = 10**15  # placements; more are not counted out

CONTRADICTED = "the explanation concludes {stated}, the decision is {sent}"
DISAGREES = (
    "the judge gives P(hateful) = {p}{threshold} and thus does not make the explained decision, "
    "so QF is undefined"
)
OPPOSING = "the quotes speak against the decision, because P(hateful) is higher without them"


class HateXScore(
    Metric[HatexscoreRequest, HatexscoreCollected, HatexscoreResult, HatexscoreVariant]
):
    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[HatexscoreRequest]) -> list[HatexscoreCollected]:
        for request in requests:
            if self.variant(request).reads_quotation_marks:
                _check_quotations(request)
        read = _read_all(requests)
        pairs = zip(requests, read, strict=True)
        if any(one.options.reader_model or own.is_unread for one, own in pairs):
            read = read_by_model(requests, read)
        collected = list(map(_with_languages, ask_classifiers(requests, read)))
        about = read_post_words(requests, [entry.parsed for entry in collected])
        return [
            replace(entry, post_words=words) for entry, words in zip(collected, about, strict=True)
        ]

    def stated_decision(self, text: str, answer: str, language: str) -> StatedDecision | None:
        return read_stated(HatexscoreRequest(text=text, explanation="", language=language), answer)

    def undefined(self, request: HatexscoreRequest, collected: Collected) -> HatexscoreResult:
        """Return a result without values, for a model's answer that has no decision."""
        languages = detect_languages(request)
        return HatexscoreResult(
            **self.envelope(request, collected),
            score=None,
            components=HatexscoreComponents(htc=None, qf=None, tgi=None, cc=None),
            language=languages.found_text.code,
            explanation_language=languages.explanation_code,
        )

    def report(
        self, request: HatexscoreRequest, collected: HatexscoreCollected
    ) -> HatexscoreResult:
        parsed = collected.parsed
        label, original, masked = side_of_label(parsed.label), collected.original, collected.masked
        agrees = None
        if label is not None and original is not None:
            agrees = kernel.agrees(label, original, collected.deciding)
        obstacle = self._obstacle(request, collected, agrees)
        components = self._components(request, collected, obstacle)
        reasons = tuple(_reasons(request, parsed, components, obstacle))
        control = self._control(request, collected, components.qf)
        sent, stated, quoting = request.decision_class, parsed.stated_decision, parsed.quoting
        return HatexscoreResult(
            **self.envelope(
                request, collected, self._validity_warnings(request, collected, obstacle)
            ),
            score=total_score(request, parsed, components),
            components=components,
            not_applicable=not_applicable(parsed),
            reasons=reasons,
            evidence=(*quoting.evidence, *parsed.groups, *collected.categories),
            hallucinated_quotes=quoting.hallucinated,
            other_quotations=quoting.other,
            quotes_unsearched=quoting.unsearched,
            masked_text=quoting.masked,
            probability_original=original,
            probability_masked=masked,
            probability_reading=collected.reading,
            model_agrees=agrees,
            signed_drop=None if original is None or masked is None else original - masked,
            decision=parsed.label,
            stated_decision=stated,
            decision_match=sent == stated if sent and stated else None,
            conclusion=_conclusion(request, parsed),
            reader=parsed.reader,
            language=parsed.languages.found_text.code,
            explanation_language=parsed.languages.explanation_code,
            groups=_counting_groups(request, parsed),
            text_groups=parsed.text_groups,
            post_words=collected.post_words,
            control=control,
        )

    def _obstacle(
        self, request: HatexscoreRequest, collected: HatexscoreCollected, agrees: bool | None
    ) -> Obstacle | None:
        """Return the reason why the faithfulness of quotations (QF) is undefined, or None if it is
        defined. QF is also defined for an explanation without quotes."""
        if collected.no_probability is not None or not collected.parsed.quoting.counts:
            return collected.no_probability
        if collected.parsed.label is None:
            return Obstacle("label-unknown", LABEL_UNKNOWN)
        original = collected.original
        if original is None or agrees is not False or not self.variant(request).decision_aware:
            return None
        return _disagreement(original, collected.deciding)

    def _components(
        self,
        request: HatexscoreRequest,
        collected: HatexscoreCollected,
        obstacle: Obstacle | None,
    ) -> HatexscoreComponents:
        parsed, aware = collected.parsed, self.variant(request).decision_aware
        qf = None if obstacle is not None else _faithfulness(collected, aware=aware)
        if aware and contradicted(request, parsed):
            return HatexscoreComponents(htc=0.0, qf=qf, tgi=parsed.tgi, cc=0.0)
        cc = self._coherence(request, parsed, qf, obstacle)
        return HatexscoreComponents(htc=parsed.htc, qf=qf, tgi=parsed.tgi, cc=cc)

    def _coherence(
        self,
        request: HatexscoreRequest,
        parsed: ParsedExplanation,
        qf: float | None,
        obstacle: Obstacle | None,
    ) -> float | None:
        """Return the consistency (Eq. 5) of decision, evidence and named groups, by the request's
        or the variant's rule. Return None if it depends on an unknown value, or by a published
        rule if any value is unknown."""
        row = self.variant(request)
        rule = request.options.consistency_rule or row.consistency_rule
        tau = request.options.tau if row.tau is None else row.tau
        groups = _named_groups(parsed)
        published = not row.decision_aware or rule != "causal"
        if published and (qf is None or groups is None):
            return None
        if not published and obstacle is not None and obstacle.code in NO_WITNESS:
            return None
        return kernel.consistency(rule, side_of_label(parsed.label), qf, groups, tau)

    def _validity_warnings(
        self,
        request: HatexscoreRequest,
        collected: HatexscoreCollected,
        obstacle: Obstacle | None,
    ) -> Iterator[str]:
        parsed = collected.parsed
        if not request.explanation_text.strip():
            yield NO_EXPLANATION
        if not self.variant(request).decision_aware:
            return
        if collected.masked is not None and collected.models:
            hidden = sum(end - start for start, end in parsed.quoting.spans)
            left = 1 - hidden / len(request.text)  # share of the characters
            yield from ece_perturbed(collected.models[0], [("mask", left)])
        if contradicted(request, parsed):
            yield CONTRADICTED.format(stated=parsed.stated_decision, sent=request.decision_class)
        if obstacle is not None and obstacle.code == "model-disagrees":
            yield obstacle.detail
        elif side_of_label(parsed.label) == "hateful" and parsed.quoting.counts:
            original, masked = collected.original, collected.masked
            risen = 0.0 if original is None or masked is None else masked - original
            if risen > ranks.TIE and risen >= request.options.tau - ranks.TIE:
                yield OPPOSING

    def _control(
        self, request: HatexscoreRequest, collected: HatexscoreCollected, qf: float | None
    ) -> HatexscoreRandomSpans | None:
        original, masked, control = collected.original, collected.masked, collected.control
        placements, rule = collected.placements, collected.rule
        if control is None or original is None or masked is None or not placements or not rule:
            return None
        signed, observed = original - control, original - masked
        drops = np.abs(signed)
        only_drops = one_sided(request, collected.parsed)
        observed_value, null = kernel.compared(observed, signed, signed=only_drops)
        drawn = placements.drawn(request.seed, drops.size, rule.first)
        above, below = rule.tails(observed_value, null) or (None, None)
        label, expected = side_of_label(collected.parsed.label), None
        if qf is not None and label is not None:  # the mean QF of the random quotes
            aware = self.variant(request).decision_aware
            moved = float(np.mean(np.maximum(signed, 0.0) if aware else drops))
            expected = kernel.quotation_faithfulness(label, min(1.0, moved))
        exact = drops.size == placements.others
        calibrated = {}
        if exact and only_drops:
            calibrated = calibrated_fields(
                np.array([masked, *control]),
                max(placements.lengths),
                collected.models[0].sha256 if collected.models else None,
                collected.parsed.languages.found_text.code,
            )
        return HatexscoreRandomSpans(
            draws=drops.size,
            win_rate_draws=min(drops.size, rule.first),
            placements=placements.others if placements.others <= MOST_TOLD else None,
            exact=exact,
            overlap=float(np.mean(overlaps(placements.observed, drawn))),
            p_value=above,
            **calibrated,
            p_anti=below,
            p_two_sided=ranks.two_sided(above, below),
            attainable_p=rule.attainable_p,
            quoted_drop=abs(observed),
            rank=1 + int(np.count_nonzero(ranks.reaching(observed_value, null))),
            share_beaten=kernel.share_beaten(observed_value, null[: rule.first]),
            ties=ranks.tie_rate(observed_value, null),
            qf_mean=expected,
            qf_excess=None if qf is None or expected is None else qf - expected,
            mean_drop=float(np.mean(drops)),
            sd_drop=float(np.std(drops, ddof=1)) if drops.size > 1 else None,
            drops=tuple(drops.tolist()),
            signed_drops=tuple(signed.tolist()),
            **ranks.null_summary(null),
        )

    def in_force(
        self, request: HatexscoreRequest, collected: HatexscoreCollected
    ) -> Mapping[str, Any]:
        fixed_tau = self.variant(request).tau
        labels = request.vocabulary.name or request.options.labels
        tau = request.options.tau if fixed_tau is None else fixed_tau
        return {
            "tau": tau,
            "vocabulary": labels,
            "control_draws": request.most_draws,
            "deciding": collected.deciding,
        }

    def summarize(self, rows: Sequence[Row], over: Statistics) -> HatexscoreBatchReport:
        return batch_report(rows, over)


def _read_all(requests: Sequence[HatexscoreRequest]) -> list[ParsedExplanation]:
    """Read the explanations. The requests of each variant form one batch."""
    places: dict[Variant, list[int]] = {}
    for index, request in enumerate(requests):
        places.setdefault(request.variant, []).append(index)
    read_by_index: dict[int, ParsedExplanation] = {}
    for name, own in places.items():
        read = VARIANTS[name].read([requests[index] for index in own])
        read_by_index.update(zip(own, read, strict=True))
    return [read_by_index[index] for index in range(len(requests))]


def _with_languages(collected: HatexscoreCollected) -> HatexscoreCollected:
    """Add the languages of text and explanation. If a language model read the explanation, add it
    to the models."""
    languages, reader = collected.parsed.languages, collected.parsed.reader
    model = reader.model if reader and reader.by == "llm" else None
    used = (models().writer(model).use,) if model else ()
    return replace(
        collected,
        models=(*collected.models, *used),
        warnings=(*collected.warnings, *assumption(languages.found_text)),
        languages=Languages(text=languages.found_text, explanation=languages.found_explanation),
    )


def _faithfulness(collected: HatexscoreCollected, *, aware: bool) -> float:
    """Return quotation faithfulness QF (Eq. 3), or 0 if undefined. `aware` is True if the variant
    uses the direction of the change."""
    label = side_of_label(collected.parsed.label)
    original, masked = collected.original, collected.masked
    if not collected.parsed.quoting.counts or label is None or original is None or masked is None:
        return 0.0  # nothing, or everything, is quoted
    moved = kernel.carried if aware else kernel.drop
    return kernel.quotation_faithfulness(label, moved(original, masked))


def _reasons(
    request: HatexscoreRequest,
    parsed: ParsedExplanation,
    components: HatexscoreComponents,
    obstacle: Obstacle | None,
) -> Iterator[HatexscoreReason]:
    """Yield the reasons why components are undefined. The score's reasons are those of its
    undefined components with a positive weight. `obstacle` is the reason why QF is undefined."""
    coherent = (parsed.no_tgi, obstacle)
    if not any(coherent):
        coherent = (Obstacle("label-unknown", LABEL_UNKNOWN), None)
    obstacles: dict[Part, tuple[Obstacle | None, ...]] = {
        "htc": (parsed.no_htc,),
        "qf": (obstacle,),
        "tgi": (parsed.no_tgi,),
        "cc": coherent,
    }
    weights = applicable_weights(request, parsed)
    null = [part for part in weights if getattr(components, part) is None]
    every = {
        **{part: obstacles[part] for part in null},
        "score": tuple(
            obstacle for part in null if weights[part] > 0 for obstacle in obstacles[part]
        ),
    }
    for component, details in every.items():
        for why in dict.fromkeys(filter(None, details)):
            yield HatexscoreReason(component=component, code=why.code, detail=why.detail)


def contradicted(request: HatexscoreRequest, parsed: ParsedExplanation) -> bool:
    """Return True if the explanation concludes the opposite of the decision in the request."""
    sent, stated = request.decision_class, parsed.stated_decision
    return sent is not None and stated is not None and sent != stated


def _disagreement(original: float, deciding: float) -> Obstacle:
    """Return the reason for not scoring when the model contradicts the explanation's decision. The
    message gives P(hateful) with enough digits to show whether P reaches the threshold."""
    side = original >= deciding
    digits = next((n for n in range(3, 17) if (float(f"{original:.{n}g}") >= deciding) == side), 17)
    threshold = "" if deciding == kernel.DECIDING else f" and decides so from {deciding:.3g}"
    return Obstacle(
        "model-disagrees", DISAGREES.format(p=f"{original:.{digits}g}", threshold=threshold)
    )


def _check_quotations(request: HatexscoreRequest) -> None:
    """Raise BadInput if there are too many different quotations."""
    different = len({quotation.text for quotation in quotations(request.explanation_text)})
    if different > MOST_QUOTATIONS:
        raise BadInput(
            f"the explanation quotes {different:,} different passages, but at most "
            f"{MOST_QUOTATIONS} are allowed; quote fewer passages",
            pointer="/explanation",
        )


def _counting_groups(request: HatexscoreRequest, parsed: ParsedExplanation) -> tuple[str, ...]:
    """Return the distinct groups whose mentions count. Groups of a built-in policy get a standard
    name. Groups of the caller's list keep their names."""
    named = group_name if isinstance(request.options.policy, str) else str
    return tuple(sorted({named(mention.group) for mention in parsed.groups if mention.counts}))


def _named_groups(parsed: ParsedExplanation) -> kernel.NamedGroups | None:
    """Return two flags: a group is named, and a group is attacked. Return None if the explanation
    was not read. For other decisions than hateful and non-hateful, the flags are True and False,
    since they need no group."""
    if parsed.label not in (None, *SIDES):
        return kernel.NamedGroups(named=True, attacked=False)
    if parsed.no_tgi is not None:
        return None
    is_named = parsed.tgi == 1
    return kernel.NamedGroups(is_named, is_named if parsed.attacked is None else parsed.attacked)


def _conclusion(
    request: HatexscoreRequest, parsed: ParsedExplanation
) -> HatexscoreConclusion | None:
    statement = parsed.statement
    if statement is None:
        return None
    return HatexscoreConclusion(
        start=statement.start,
        end=statement.end,
        text=request.explanation_text[statement.start : statement.end],
        by=statement.by,
        label=statement.label,
        probability=statement.probability,
    )


SERVICE = HateXScore()
