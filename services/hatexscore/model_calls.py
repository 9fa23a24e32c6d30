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
from shared.contracts.prompt_table import OF_THE_MODEL, PromptKeys
from shared.models.ports import models
from shared.queue.job_context import check_each
from shared.reports.metric import Collected
from shared.statistics import ranks
from shared.statistics.draws import others
from shared.statistics.group_sequential import LOOKS, GroupSequential, looks_up_to, one_look
from shared.statistics.placements import Places, Runs, overlaps, runs_of
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
    None. `others` is the number of possible control texts. `overlap` is the mean overlap of
    their words with the quoted words. `rule` decided how many control texts were tested.
    `no_probability` is the reason why P is missing. `reading` is the method that obtained P if
    the model has no classification head."""

    parsed: ParsedExplanation
    original: float | None
    masked: float | None
    control: Floats | None = None
    others: int = 0
    overlap: float | None = None
    rule: GroupSequential | None = None
    no_probability: Obstacle | None = None
    reading: HatexscoreProbabilityReading | None = None
    categories: tuple[HatexscoreCategoryEvidence, ...] = ()
    deciding: float = DECIDING  # P(hateful) from which the asked model decides so
    post_words: HatexscorePostWords | None = None


@dataclass(frozen=True, slots=True)
class RandomNull:
    """The random passages of one request. `signed` is True if only a drop of P(hateful) counts."""

    placements: RandomPlacements
    seed: int
    rule: GroupSequential
    signed: bool

    def texts(self, most: int) -> tuple[str, ...]:
        """Return up to `most` masked texts. A larger `most` only appends texts."""
        drawn = self.placements.draws(self.seed, most, self.rule.first)
        return tuple(mask_spans(self.placements.text, spans) for spans in check_each(drawn))

    def overlap(self, most: int) -> float | None:
        """Return the mean overlap (intersection over union) of the quoted words with random
        ones."""
        drawn = self.placements.drawn(self.seed, most, self.rule.first)
        shares = overlaps(self.placements.observed, drawn)
        return float(np.mean(shares)) if shares else None


@dataclass(frozen=True, slots=True)
class ClassifierTexts:
    """The texts of one request for the classifier.

    `hateful` has the model's labels that mean hateful. `null` is None without a control, and
    `warnings` then has the reason. `control` has the masked texts drawn so far. `harmless` is
    True if the explained decision is non-hateful. The control is then used only if the model
    decides the same."""

    model: str
    text: str
    masked: str
    hateful: tuple[str, ...]
    null: RandomNull | None = None
    control: tuple[str, ...] = ()
    harmless: bool = False
    warnings: tuple[str, ...] = ()
    prompt: PromptKeys | None = None  # of the request
    language: str | None = None  # of the text: what is masked of it has the same

    @property
    def asked(self) -> Asked:
        """Return the model and the prompt of the request."""
        own_prompt = self.prompt.model_dump_json(exclude_unset=True) if self.prompt else None
        return self.model, own_prompt

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.text, self.masked, *self.control)

    def without_control(self, why: str) -> ClassifierTexts:
        return replace(self, null=None, warnings=(f"{NO_CONTROL}{why}",))


def ask_classifiers(
    requests: Sequence[HatexscoreRequest], parsed: Sequence[ParsedExplanation]
) -> list[HatexscoreCollected]:
    """Return the probabilities for each request. Raises BadInput for a model without the needed
    label."""
    pairs = [
        (request, _with_language(request, explanation))
        for request, explanation in zip(requests, parsed, strict=True)
    ]
    obstacles = [_language_obstacle(*pair) or _class_obstacle(*pair) for pair in pairs]
    texts = [
        _classifier_texts(*pair) if obstacle is None else None
        for pair, obstacle in zip(pairs, obstacles, strict=True)
    ]
    answers = {
        question: _Judgements([each for each in texts if each and each.asked == question])
        for question in dict.fromkeys(each.asked for each in texts if each)
    }
    texts = [each and answers[each.asked].with_samples(each) for each in texts]
    for _ in range(1 + len(LOOKS)):
        for question, judged in answers.items():
            judged.ask([each for each in texts if each and each.asked == question])
        texts = [each and answers[each.asked].with_more_samples(each) for each in texts]
    return [
        answers[texts_of.asked].collected(texts_of, explanation)
        if texts_of
        else _without_model(request, explanation, obstacle)
        for (request, explanation), texts_of, obstacle in zip(pairs, texts, obstacles, strict=True)
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


def _language_obstacle(request: HatexscoreRequest, parsed: ParsedExplanation) -> Obstacle | None:
    """Return the reason why the model must not judge a text in this language, or None if it may."""
    if request.probabilities is not None or request.accept_untrained_languages:
        return None
    name = request.model or DEFAULT_MODEL
    languages = ModelLanguages(name, models().judge(name).languages)
    return languages.obstacle(parsed.languages.found_text)


def _class_obstacle(request: HatexscoreRequest, parsed: ParsedExplanation) -> Obstacle | None:
    """Return an obstacle if the model has no label for the class of the decision, otherwise
    None."""
    if request.probabilities is not None or parsed.label in (None, *SIDES):
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
    name = request.model or DEFAULT_MODEL
    hateful = _judge_labels(request, parsed.label)
    why = VARIANTS[request.variant].why_no_control
    if why is None and request.most_draws == 0:
        why = "the request asks for no random draws"
    aware = VARIANTS[request.variant].decision_aware
    if why is None and aware and parsed.label is None:
        why = NO_DECISION
    placements = RandomPlacements.of(request.text, quoting.spans)
    why = why or placements.why_none
    texts = ClassifierTexts(
        name, request.text, quoting.masked, hateful, prompt=request.options.prompt,
        language=parsed.languages.found_text.code,
        harmless=aware and side_of_label(parsed.label) != HATEFUL,
    )  # fmt: skip
    if why is not None:
        return texts.without_control(why)
    most = min(request.most_draws, placements.others)
    signed = one_sided(request, parsed)
    few = min(most, LOOKS[0]) if aware else most  # whether harmless words matter is not asked
    rule = looks_up_to(most) if signed else one_look(few)
    return replace(texts, null=RandomNull(placements, request.seed, rule, signed))


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
        why = "the explanation quotes nothing"
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
    units = count_units(text)
    covered = sum(last - first for first, last in overlap_words(units, quoted))
    if covered >= len(units):
        return "the quotation is the whole text"
    return (
        f"the quotes cover {covered} of the text's {len(units)} words, which counts as the whole "
        "text: too little is left for a comparison"
    )


class _Judgements:
    """One model's judgements of the texts in all requests with the same prompt."""

    def __init__(self, requested: Sequence[ClassifierTexts]) -> None:
        self._model, self._prompt = models().judge(requested[0].model), requested[0].prompt
        self._found: dict[tuple[str, str | None], Judgement] = {}
        self.ask(requested)

    def ask(self, requested: Sequence[ClassifierTexts]) -> None:
        """Judge these texts in one call. Texts that were judged before are left out."""
        texts = dict.fromkeys((text, each.language) for each in requested for text in each.texts)
        unanswered = [text for text in texts if text not in self._found]
        if unanswered:
            sent = {each.text for each in requested}
            examples = [
                Example(text=text, prompt=self._prompt, language=language, categories=text in sent)
                for text, language in unanswered
            ]
            judgements = self._model.judgements(examples)
            self._found |= {
                text: read.fine() for text, read in zip(unanswered, judgements, strict=True)
            }

    def _of(self, texts: ClassifierTexts, text: str) -> Judgement:
        return self._found[text, texts.language]

    def with_samples(self, texts: ClassifierTexts) -> ClassifierTexts:
        """Add the first texts with random spans masked, to compare the quotes with chance. Add none
        if the quotes' effect (QF) is undefined or the model disagrees with the decision."""
        null = texts.null
        if null is None:
            return texts
        original, masked = (
            _hateful(self._of(texts, text), texts.hateful) for text in (texts.text, texts.masked)
        )
        if original is None or masked is None:
            return texts.without_control(NOT_READ)
        if texts.harmless and original >= _deciding(self._model.use):
            return texts.without_control(OTHER_DECISION)
        return replace(texts, control=null.texts(null.rule.first))

    def with_more_samples(self, texts: ClassifierTexts) -> ClassifierTexts:
        """Add the random spans that the sequential test needs next, unless the test has stopped."""
        null = texts.null
        if null is None or len(texts.control) == null.rule.most:
            return texts
        original, masked, *control = (
            _hateful(self._of(texts, text), texts.hateful) for text in texts.texts
        )
        probabilities = [p for p in control if p is not None]
        if original is None or masked is None or len(probabilities) < len(control):
            return texts  # one of them was not read: there is no control
        signed = original - np.array(probabilities, dtype=np.float64)
        ranked = kernel.compared(original - masked, signed, signed=null.signed)
        if null.rule.stopped(ranks.reaching(*ranked)) is not None:
            return texts
        return replace(texts, control=null.texts(null.rule.next_look(len(control))))

    def collected(self, texts: ClassifierTexts, parsed: ParsedExplanation) -> HatexscoreCollected:
        both = {
            "text": self._of(texts, texts.text),
            "masked text": self._of(texts, texts.masked),
        }
        unread = [
            (which, judgement.unread) for which, judgement in both.items() if judgement.unread
        ]
        obstacle = None
        if unread:
            which, why = unread[0]
            detail = f"P(hateful) of the {which} could not be read: {why.detail}"
            obstacle = Obstacle(why.code, detail)
        elif parsed.quoting.spans and parsed.quoting.spans[0][0] >= both["text"].read_share * len(
            texts.text
        ):
            obstacle = UNREAD_QUOTES
        control, why_none = self._control(texts)
        warnings = [
            *parsed.warnings,
            *texts.warnings,
            *why_none,
            *self._validity_warnings(texts, parsed),
        ]
        return HatexscoreCollected(
            parsed=parsed,
            original=_hateful(both["text"], texts.hateful),
            masked=_hateful(both["masked text"], texts.hateful),
            control=control,
            others=texts.null.placements.others if texts.null else 0,
            overlap=texts.null.overlap(len(texts.control)) if texts.null else None,
            rule=texts.null.rule if texts.null else None,
            no_probability=obstacle,
            reading=_reading(list(both.values())),
            categories=tuple(
                HatexscoreCategoryEvidence(category=name, text=words, model=texts.model)
                for name, words in both["text"].categories.items()
            ),
            deciding=_deciding(self._model.use),
            models=(self._use(both["text"]),),
            warnings=(*warnings, *([obstacle.detail] if obstacle else [])),
        )

    def _use(self, judged: Judgement) -> ModelUse:
        """Return the record of the model's use, with the request's prompt."""
        use = self._model.use
        brought = judged.prompt_sha256
        return use if brought is None else use.model_copy(update={"prompt_sha256": brought})

    def _control(self, texts: ClassifierTexts) -> tuple[Floats | None, tuple[str, ...]]:
        """Return P(hateful) for R texts with random words masked, and warnings. Return None in
        place of the values if a text could not be read, since the other texts are no random sample.
        """
        judgements = [self._of(texts, text) for text in texts.control]
        unread = [judgement.unread for judgement in judgements if judgement.unread]
        if unread:
            why = (
                f"{len(unread)} of {len(judgements)} randomly masked texts could not be read: "
                f"{unread[0].detail}"
            )
            return None, (f"{NO_CONTROL}{why}",)
        null = [
            p for judgement in judgements if (p := _hateful(judgement, texts.hateful)) is not None
        ]
        return (np.array(null, dtype=np.float64) if null else None), ()

    def _validity_warnings(
        self, texts: ClassifierTexts, parsed: ParsedExplanation
    ) -> Iterator[str]:
        languages = ModelLanguages(texts.model, self._model.languages)
        yield from languages.get_warnings(parsed.languages.found_text)
        both = [self._of(texts, text) for text in (texts.text, texts.masked)]
        if (share := min(judgement.read_share for judgement in both)) < 1:
            yield text_cut(texts.model, share)
        low = [
            judgement.mass
            for judgement in both
            if judgement.mass is not None and judgement.low_mass
        ]
        if low:
            yield low_mass(texts.model, min(low))


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
