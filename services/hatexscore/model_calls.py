"""Calls the classifier of HateXScore on original, masked and control texts of many requests at
once.

The first call reads P(hateful) with and without the quotes. The next calls read random passages of
the same lengths (the control, after ICE, arXiv:2603.18579), until the test stops
(shared.statistics.group_sequential). If few passages exist,
all are taken and the comparison is exact. No text depends on others, so a request gets the same
score alone and in a batch (shared.models.ports).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from services.hatexscore import kernel
from services.hatexscore.contract import (
    DEFAULT_MODEL,
    HATEFUL,
    HatexscoreRequest,
    judge_labels,
)
from services.hatexscore.explanation import ParsedExplanation
from services.hatexscore.kernel import DECIDING, Floats
from services.hatexscore.quotes import count_units, mask_spans, overlap_words
from services.hatexscore.report import (
    HatexscoreCategoryEvidence,
    HatexscorePostWords,
    HatexscoreProbabilityReading,
    Label,
    side_of_label,
)
from services.hatexscore.variants import VARIANTS
from services.hatexscore.vocabulary import SIDES, other_side
from services.hatexscore.words import Span
from shared.contracts.calls import Example
from shared.contracts.errors import BadInput, pointing_to
from shared.contracts.judgement import Judgement, low_mass, text_cut
from shared.contracts.messages import ModelUse
from shared.contracts.prompt_table import OF_THE_MODEL
from shared.models.ports import models
from shared.queue.job_context import check_each
from shared.reports.metric import Collected
from shared.statistics import ranks
from shared.statistics.draws import others
from shared.statistics.group_sequential import LOOKS, GroupSequential, looks_up_to, one_look
from shared.statistics.placements import Places, Runs, runs_of
from shared.statistics.seeds import generator
from shared.text.language import ModelLanguages, Obstacle, assume_language

ONE = 1 + 1e-6  # a sum of exclusive outputs, and what rounding adds to it
NO_CONTROL = "no control: "  # so begins the warning that says why
OTHER_DECISION = "the model does not make the explained decision itself"
NO_DECISION = "the explained decision is unknown"
UNREAD_QUOTES = Obstacle(
    "quote-unread",
    "the model reads only the beginning of the text, and all quotations are after that part",
)
NOT_READ = "P(hateful) could not be read for the text with the quotes or for the text without them"
Asked = tuple[str, str | None]  # a model, and a request's prompt for it
UNAVAILABLE = "QF needs P(hateful) of the text and of the masked text, but one of them is missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class HatexscoreCollected(Collected):
    """The classifier's answers for one request: P(hateful) with and without the quotes, and for
    control texts.

    `control` has R probabilities of control texts in the order in which they were drawn, or is
    None. `no_probability` is the reason why P is missing. `reading` is the method that obtained P
    if the model has no classification head."""

    parsed: ParsedExplanation
    original: float | None
    masked: float | None
    control: Floats | None = None
    placements: RandomPlacements | None = None
    rule: GroupSequential | None = None  # decided how many control texts were tested
    no_probability: Obstacle | None = None
    reading: HatexscoreProbabilityReading | None = None
    categories: tuple[HatexscoreCategoryEvidence, ...] = ()
    deciding: float = DECIDING  # P(hateful) from which the asked model decides so
    post_words: HatexscorePostWords | None = None


@dataclass(slots=True)
class ClassifierTexts:
    """The texts of one request for the classifier.

    `hateful` has the model's labels that mean hateful. `rule` decides how many control texts are
    tested; it is None without a control, and `why_none` then has the reason. `control` has the
    masked texts drawn so far."""

    request: HatexscoreRequest
    parsed: ParsedExplanation
    masked: str
    hateful: tuple[str, ...]
    placements: RandomPlacements
    rule: GroupSequential | None
    why_none: str | None
    control: tuple[str, ...] = ()

    @property
    def asked(self) -> Asked:
        """Return the model and the prompt of the request."""
        prompt = self.request.options.prompt
        own_prompt = prompt.model_dump_json(exclude_unset=True) if prompt else None
        return self.request.model or DEFAULT_MODEL, own_prompt

    @property
    def language(self) -> str | None:
        """Return the language of all texts."""
        return self.parsed.languages.found_text.code

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.request.text, self.masked, *self.control)

    def draw(self, rule: GroupSequential) -> None:
        """Draw the control texts up to the next look of the rule."""
        most = rule.next_look(len(self.control))
        drawn = self.placements.draws(self.request.seed, most, rule.first)
        text = self.request.text
        self.control = tuple(mask_spans(text, spans) for spans in check_each(drawn))

    def leave_out_control(self, why: str) -> None:
        self.rule, self.why_none = None, why


def ask_classifiers(
    requests: Sequence[HatexscoreRequest], parsed: Sequence[ParsedExplanation]
) -> list[HatexscoreCollected]:
    """Return the probabilities for each request. Raises BadInput for a model without the needed
    label."""
    entries: list[ClassifierTexts | HatexscoreCollected] = []
    groups: dict[Asked, list[ClassifierTexts]] = {}
    for request, explanation in zip(requests, map(_with_language, requests, parsed), strict=True):
        obstacle = _obstacle(request, explanation)
        texts = None if obstacle else _classifier_texts(request, explanation)
        if texts:
            groups.setdefault(texts.asked, []).append(texts)
        entries.append(texts or _without_model(request, explanation, obstacle))
    answers = {asked: _Judgements(group) for asked, group in groups.items()}
    return [
        answers[entry.asked].collected(entry) if isinstance(entry, ClassifierTexts) else entry
        for entry in entries
    ]


def _with_language(request: HatexscoreRequest, parsed: ParsedExplanation) -> ParsedExplanation:
    """Return the explanation. If the language of its post is undecided, it is assumed to be a
    language that the model learned."""
    language = parsed.languages.found_text
    if request.probabilities is not None or language.by != "undecided":
        return parsed
    learned = models().judge(request.model or DEFAULT_MODEL).languages
    languages = replace(parsed.languages, found_text=assume_language(language, learned=learned))
    return replace(parsed, languages=languages)


def _obstacle(request: HatexscoreRequest, parsed: ParsedExplanation) -> Obstacle | None:
    """Return the reason why the model must not judge the text, or None if it may: the language, or
    a decision for whose class the model has no label."""
    if request.probabilities is not None:
        return None
    name = request.model or DEFAULT_MODEL
    if not request.accept_untrained_languages:
        languages = ModelLanguages(name, models().judge(name).languages)
        if obstacle := languages.obstacle(parsed.languages.found_text):
            return obstacle
    if parsed.label in (None, *SIDES):
        return None
    labels = _labels_of(request)
    if judge_labels(request, labels, parsed.label):
        return None
    detail = f"the judge has no label {parsed.label}; its labels are {', '.join(labels)}"
    return Obstacle("judge-has-no-such-label", detail)


def _classifier_texts(
    request: HatexscoreRequest, parsed: ParsedExplanation
) -> ClassifierTexts | None:
    """Return the texts to classify, or None if nothing is quoted or the request has
    probabilities."""
    quoting = parsed.quoting
    if request.probabilities is not None or not quoting.counts or quoting.masked is None:
        return None
    hateful = _judge_labels(request, parsed.label)
    variant = VARIANTS[request.variant]
    placements = RandomPlacements.of(request.text, quoting.spans)
    why = variant.why_no_control
    if why is None and request.most_draws == 0:
        why = "the request asks for no random draws"
    if why is None and variant.decision_aware and parsed.label is None:
        why = NO_DECISION
    why = why or placements.why_none
    rule = None
    if why is None:
        most = min(request.most_draws, placements.others)
        # whether harmless words matter is not asked
        few = min(most, LOOKS[0]) if variant.decision_aware else most
        rule = looks_up_to(most) if one_sided(request, parsed) else one_look(few)
    return ClassifierTexts(request, parsed, quoting.masked, hateful, placements, rule, why)


def one_sided(request: HatexscoreRequest, parsed: ParsedExplanation) -> bool:
    """Return True if only a drop of P(hateful) counts in the comparison with random spans, and
    False if any change counts."""
    return VARIANTS[request.variant].decision_aware and side_of_label(parsed.label) == HATEFUL


def _labels_of(request: HatexscoreRequest) -> Sequence[str]:
    with pointing_to("/model", only=OF_THE_MODEL):
        example = Example(text=request.text, prompt=request.options.prompt)
        return models().judge(request.model or DEFAULT_MODEL).labels_of(example)


def _judge_labels(request: HatexscoreRequest, decision: Label | None) -> tuple[str, ...]:
    """Return the model's labels whose probabilities add up to P(hateful), or to P(class) for a
    decision of another class. Raises BadInput if the model has no such label."""
    name, labels = request.model or DEFAULT_MODEL, _labels_of(request)
    selected = judge_labels(request, labels, decision)
    if not selected:
        raise BadInput(
            f"the model {name} has no label for {HATEFUL!r}; its labels are {', '.join(labels)}",
            pointer="/model",
        )
    return selected


def _without_model(
    request: HatexscoreRequest, parsed: ParsedExplanation, obstacle: Obstacle | None
) -> HatexscoreCollected:
    """Return the caller's probabilities, or no probabilities if none are needed or available."""
    sent = request.probabilities
    original = sent.original if sent else None
    masked = sent.masked if sent else None
    if obstacle is not None:
        why = "the model was not called"
    elif parsed.quoting.trivial:
        why = _no_rest(request.text, parsed.quoting.spans)
    elif parsed.quoting.masked is None:
        why = "the explanation quotes nothing that is in the post"
    else:
        why = "the request sent the probabilities, so no model was called"
    warnings = [f"{NO_CONTROL}{why}"]
    if obstacle is not None:
        warnings.append(obstacle.detail)
    elif parsed.quoting.counts and (original is None or masked is None):
        obstacle = Obstacle("probability-missing", UNAVAILABLE)
        warnings.append(UNAVAILABLE)
    return HatexscoreCollected(
        parsed=parsed,
        original=original,
        masked=masked,
        warnings=(*parsed.warnings, *warnings),
        no_probability=obstacle,
    )


def _no_rest(text: str, quoted: Sequence[Span]) -> str:
    """Return the reason why the quotes are not compared with random passages. The reason is that
    the quotes cover all or almost all of the text (Q = {T})."""
    placements = RandomPlacements.of(text, quoted)
    covered, words = len(placements.observed), len(placements.units)
    if covered >= words:
        return "the quotation is the whole text"
    return (
        f"the quotes cover {covered} of the text's {words} words, which counts as the whole text: "
        "too little is left for a comparison"
    )


class _Judgements:
    """One model's judgements of the texts in all requests with the same prompt. Control texts are
    added until the test of each request has stopped."""

    def __init__(self, requested: Sequence[ClassifierTexts]) -> None:
        request = requested[0].request
        self._model = models().judge(request.model or DEFAULT_MODEL)
        self._prompt = request.options.prompt
        self._found: dict[tuple[str, str | None], Judgement] = {}
        self._ask(requested)
        while any([self._extend(texts) for texts in requested]):  # a list, to extend every request
            self._ask(requested)

    def _ask(self, requested: Sequence[ClassifierTexts]) -> None:
        """Judge these texts in one call. Texts that were judged before are left out."""
        texts = dict.fromkeys((text, each.language) for each in requested for text in each.texts)
        unanswered = [text for text in texts if text not in self._found]
        if unanswered:
            sent = {each.request.text for each in requested}
            examples = [
                Example(text=text, prompt=self._prompt, language=language, categories=text in sent)
                for text, language in unanswered
            ]
            judgements = self._model.judgements(examples)
            self._found |= {
                text: read.fine() for text, read in zip(unanswered, judgements, strict=True)
            }

    def _of(self, texts: ClassifierTexts) -> list[Judgement]:
        """Return the judgements of the text, of the masked text, and of the control texts."""
        return [self._found[text, texts.language] for text in texts.texts]

    def _extend(self, texts: ClassifierTexts) -> bool:
        """Add the control texts that the sequential test needs next. Return False if it needs none:
        it has stopped, the quotes' effect (QF) is undefined, or the model disagrees with the
        decision."""
        rule = texts.rule
        if rule is None or len(texts.control) == rule.most:
            return False
        original, masked, *control = (_hateful(each, texts.hateful) for each in self._of(texts))
        if original is None or masked is None:
            texts.leave_out_control(NOT_READ)
            return False
        aware = VARIANTS[texts.request.variant].decision_aware
        signed = one_sided(texts.request, texts.parsed)
        if aware and not signed and original >= _deciding(self._model.use):
            texts.leave_out_control(OTHER_DECISION)
            return False
        probabilities = np.array([p for p in control if p is not None], dtype=np.float64)
        if probabilities.size < len(control):
            return False  # one of them was not read: there is no control
        ranked = kernel.compared(original - masked, original - probabilities, signed=signed)
        if rule.stopped(ranks.reaching(*ranked)) is not None:
            return False
        texts.draw(rule)
        return True

    def collected(self, texts: ClassifierTexts) -> HatexscoreCollected:
        original, masked, *control = self._of(texts)
        parsed, model = texts.parsed, texts.request.model or DEFAULT_MODEL
        obstacle = None
        for which, judgement in (("text", original), ("masked text", masked)):
            if judgement.unread and obstacle is None:
                detail = f"P(hateful) of the {which} could not be read: {judgement.unread.detail}"
                obstacle = Obstacle(judgement.unread.code, detail)
        read_to = original.read_share * len(texts.request.text)
        if obstacle is None and parsed.quoting.spans and parsed.quoting.spans[0][0] >= read_to:
            obstacle = UNREAD_QUOTES
        warnings = [*parsed.warnings]
        if texts.why_none is not None:
            warnings.append(f"{NO_CONTROL}{texts.why_none}")
        unread = [judgement.unread for judgement in control if judgement.unread]
        if unread:  # the other texts are no random sample
            warnings.append(
                f"{NO_CONTROL}{len(unread)} of {len(control)} randomly masked texts could not be "
                f"read: {unread[0].detail}"
            )
        warnings += self._validity_warnings(model, parsed, original, masked)
        warnings += [obstacle.detail] if obstacle else []
        null = [] if unread else [_hateful(judgement, texts.hateful) for judgement in control]
        return HatexscoreCollected(
            parsed=parsed,
            original=_hateful(original, texts.hateful),
            masked=_hateful(masked, texts.hateful),
            control=np.array(null, dtype=np.float64) if null else None,
            placements=texts.placements,
            rule=texts.rule,
            no_probability=obstacle,
            reading=_reading([original, masked]),
            categories=tuple(
                HatexscoreCategoryEvidence(category=name, text=words, model=model)
                for name, words in original.categories.items()
            ),
            deciding=_deciding(self._model.use),
            models=(self._use(original),),
            warnings=tuple(warnings),
        )

    def _use(self, judged: Judgement) -> ModelUse:
        """Return the record of the model's use, with the request's prompt."""
        use = self._model.use
        brought = judged.prompt_sha256
        return use if brought is None else use.model_copy(update={"prompt_sha256": brought})

    def _validity_warnings(
        self, model: str, parsed: ParsedExplanation, *both: Judgement
    ) -> Iterator[str]:
        languages = ModelLanguages(model, self._model.languages)
        yield from languages.get_warnings(parsed.languages.found_text)
        if (share := min(judgement.read_share for judgement in both)) < 1:
            yield text_cut(model, share)
        low = [
            judgement.mass
            for judgement in both
            if judgement.mass is not None and judgement.low_mass
        ]
        if low:
            yield low_mass(model, min(low))


def _hateful(judgement: Judgement, labels: Sequence[str]) -> float | None:
    """Return the summed probability of these labels. Return their largest probability for a
    multi-label model, whose probabilities may add up to more than 1."""
    if judgement.probabilities is None:
        return None
    values = [judgement.probabilities[judgement.labels.index(label)] for label in labels]
    total = math.fsum(values)
    return min(total, 1.0) if total <= ONE else max(values)


def _deciding(use: ModelUse) -> float:
    """Return the lowest P(hateful) at which the model decides hateful: the entry's threshold, 1
    minus the other label's threshold, or 0.5."""
    least, other = use.thresholds, other_side(HATEFUL)
    return least.get(HATEFUL, 1 - least[other] if other in least else DECIDING)


def _reading(found: Sequence[Judgement]) -> HatexscoreProbabilityReading | None:
    """Return the method, label mass and uncertainty of a model's probabilities for the text and the
    masked text. Return None for a classification head."""
    readings = [judgement.reading for judgement in found if judgement.reading not in (None, "head")]
    if not readings:
        return None
    masses = [judgement.mass for judgement in found if judgement.mass is not None]
    return HatexscoreProbabilityReading(
        reading=readings[0],
        mass=min(masses, default=None),
        uncertainty=max(judgement.uncertainty for judgement in found),
    )


@dataclass(frozen=True, slots=True)
class RandomPlacements:
    """The possible positions of random passages as long as the quoted ones. Adjacent quoted
    words form one passage. `others` is the number of positions other than that of the quotes.
    `why_none` is the reason why there are none, or None."""

    text: str
    units: tuple[Span, ...]
    observed: Places

    @classmethod
    def of(cls, text: str, quoted: Sequence[Span]) -> RandomPlacements:
        units = count_units(text)
        touched = overlap_words(units, quoted)
        places = (index for first, last in touched for index in range(first, last))
        return cls(text, tuple(units), tuple(places))

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(sorted(end - start for start, end in runs_of(self.observed)))

    @property
    def space(self) -> Runs:
        return Runs(len(self.units), self.lengths)

    @property
    def others(self) -> int:
        return self.space.count - 1

    @property
    def why_none(self) -> str | None:
        if not self.observed:
            return "the quoted spans contain no word"
        if len(self.observed) == len(self.units):
            return "the quotes cover every word of the text, which leaves no other position"
        if self.others:
            return None
        return (
            f"the quotes cover {len(self.observed)} of the text's {len(self.units)} words, which "
            "leaves no other position for the quotes"
        )

    def draws(self, seed: int, most: int, first: int | None = None) -> list[list[Span]]:
        """Return at most `most` distinct random passages, each as a list of spans of the text."""
        return [self.spans(places) for places in self.drawn(seed, most, first)]

    def drawn(self, seed: int, most: int, first: int | None = None) -> list[Places]:
        """Return distinct random passages as word positions, never the quoted passage. If at most
        `most` passages exist, all are returned, else `most` uniform draws. If at most `first` exist
        (default `most`), their order is that of the text."""
        random = generator(seed, "null", "spans", self.text, self.lengths)
        drawn = others(self.space, self.observed, random, most if first is None else first)
        return list(check_each(islice(drawn, min(most, self.others))))

    def spans(self, places: Places) -> list[Span]:
        """Return the words of random passages as spans of the text."""
        return [(self.units[first][0], self.units[last - 1][1]) for first, last in runs_of(places)]
