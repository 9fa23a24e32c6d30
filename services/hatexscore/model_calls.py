"""Which texts go to which model: originals, masked and control texts of many requests at once.

One call a model, every text once; a model's row does not depend on the others, so that a
request scores the same alone and in a batch (shared.models.ports).

The control: random spans of the same lengths as the quoted ones, in the same text.

Our own, after the null of arXiv:2603.18579 (ICE): a quotation that moves P(hateful) no more than
random words do is no evidence. Placements are uniform over all that do not overlap, the quoted one
excluded; the generator is keyed by seed, text and quotes, so that batches and order do not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.hatexscore.contract import DEFAULT_MODEL, HatexscoreRequest
from services.hatexscore.explanation import ParsedExplanation
from services.hatexscore.kernel import Floats
from services.hatexscore.quotes import count_units, mask_spans, touched_words
from services.hatexscore.variants import VARIANTS
from services.hatexscore.words import Span
from shared.errors import BadInput
from shared.job_context import check, checking
from shared.metric import Collected
from shared.models.ports import Classifier, models
from shared.statistics.seeds import generator_1_0

HATEFUL = "hateful"  # the label whose probability is asked for
NO_CONTROL = "no control: "  # so begins the warning that says why
UNAVAILABLE = "probability unavailable: QF needs P(hateful) of the text and of the masked text"


@dataclass(frozen=True, slots=True, kw_only=True)
class HatexscoreCollected(Collected):
    """What the explanation says, and P(hateful) with and without the quotes.

    control: of the control texts, (R,), or None.
    """

    reading: ParsedExplanation
    original: float | None
    masked: float | None
    control: Floats | None = None


@dataclass(frozen=True, slots=True)
class ClassifierTexts:
    """The texts of one request that a model is asked about."""

    model: str
    text: str
    masked: str
    control: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """All of them, the original first."""
        return (self.text, self.masked, *self.control)


def ask_classifiers(
    requests: Sequence[HatexscoreRequest], readings: Sequence[ParsedExplanation]
) -> list[HatexscoreCollected]:
    """The probabilities of every request. Raises BadInput for a model without the label."""
    questions = [_question(*pair) for pair in zip(requests, readings, strict=True)]
    answers = {
        name: _Answers(name, [q for q in questions if q is not None and q.model == name])
        for name in dict.fromkeys(q.model for q in questions if q is not None)
    }
    return [
        _sent(request, reading)
        if question is None
        else answers[question.model].of(question, reading)
        for request, reading, question in zip(requests, readings, questions, strict=True)
    ]


def _question(request: HatexscoreRequest, reading: ParsedExplanation) -> ClassifierTexts | None:
    """What to ask for this request; None where nothing is quoted or the caller measured."""
    quoting = reading.quoting
    if request.probabilities is not None or not quoting.counts or quoting.masked is None:
        return None
    name = request.model or DEFAULT_MODEL
    obstacle = _obstacle(request, reading)
    if obstacle is not None:
        return ClassifierTexts(name, request.text, quoting.masked, (), (f"{NO_CONTROL}{obstacle}",))
    drawn = random_placements(request.text, quoting.spans, request.seed, request.control_draws)
    texts = tuple(mask_spans(request.text, spans) for spans in checking(drawn))
    return ClassifierTexts(name, request.text, quoting.masked, texts, ())


def _obstacle(request: HatexscoreRequest, reading: ParsedExplanation) -> str | None:
    why = VARIANTS[request.variant].why_no_control
    if why is not None:
        return why
    if request.control_draws == 0:
        return "no draws were asked for"
    return why_no_control(request.text, reading.quoting.spans)


def _sent(request: HatexscoreRequest, reading: ParsedExplanation) -> HatexscoreCollected:
    """What the caller measured, or nothing where nothing is needed."""
    sent = request.probabilities
    original = sent.original if sent else None
    masked = sent.masked if sent else None
    warnings = [f"{NO_CONTROL}{_why_unasked(reading)}"]
    if reading.quoting.counts and (original is None or masked is None):
        warnings.append(UNAVAILABLE)
    return HatexscoreCollected(
        reading=reading,
        original=original,
        masked=masked,
        warnings=(*reading.warnings, *warnings),
    )


def _why_unasked(reading: ParsedExplanation) -> str:
    if reading.quoting.trivial:
        return "the quotation is the text itself"
    if reading.quoting.masked is None:
        return "nothing is quoted"
    return "the probabilities were sent, no model was asked"


class _Answers:
    """One model's answers to all questions that name it: asked once, looked up by text."""

    def __init__(self, name: str, questions: Sequence[ClassifierTexts]) -> None:
        self._model = models().classifier(name)
        column = _hateful_column(self._model, name)
        texts = list(dict.fromkeys(text for question in questions for text in question.texts))
        rows = self._model.probabilities(texts)
        self._probability = dict(zip(texts, rows[:, column].tolist(), strict=True))
        pairs = list(dict.fromkeys(text for q in questions for text in (q.text, q.masked)))
        self._cut = dict(zip(pairs, self._model.truncated(pairs), strict=True))

    def of(self, question: ClassifierTexts, reading: ParsedExplanation) -> HatexscoreCollected:
        """The answers to one question."""
        null = [self._probability[text] for text in question.control]
        return HatexscoreCollected(
            reading=reading,
            original=self._probability[question.text],
            masked=self._probability[question.masked],
            control=np.array(null, dtype=np.float64) if null else None,
            models=(self._model.use,),
            warnings=(*reading.warnings, *question.warnings, *self._doubts(question, reading)),
        )

    def _doubts(self, question: ClassifierTexts, reading: ParsedExplanation) -> list[str]:
        """Why the probabilities may mean less than they seem to."""
        doubts: list[str] = []
        spoken = reading.languages.text
        if spoken not in self._model.languages:
            known = ", ".join(self._model.languages)
            doubts.append(f"the text's language is {spoken}; {question.model} learned {known}")
        if self._cut[question.text] or self._cut[question.masked]:
            doubts.append(f"{question.model} read only the beginning: the text is too long for it")
        return doubts


def _hateful_column(model: Classifier, name: str) -> int:
    if HATEFUL not in model.labels:
        raise BadInput(f"the model {name} has no label {HATEFUL!r}", pointer="/model")
    return model.labels.index(HATEFUL)


def why_no_control(text: str, quoted: Sequence[Span]) -> str | None:
    """Why there is no other placement of the quoted spans, or None if there is one."""
    counted = count_units(text)
    blocks = touched_words(counted, quoted)
    if not blocks:
        return "the quoted spans hold no word"
    if sum(last - first for first, last in blocks) == len(counted):
        return "the quotes leave no word of the text for another placement"
    return None


def random_placements(text: str, quoted: Sequence[Span], seed: int, draws: int) -> list[list[Span]]:
    """`draws` random placements of blocks as long as the quoted ones, in words (Chinese:
    characters); each a list of spans of the text. Requires that there is no `obstacle`."""
    counted = count_units(text)
    blocks = touched_words(counted, quoted)
    lengths = np.array([last - first for first, last in blocks])
    generator = generator_1_0(seed, str(sorted(quoted)), text)
    drawn: list[list[Span]] = []
    while len(drawn) < draws:
        check()
        placed = _place(lengths, len(counted), generator)
        if placed != blocks:
            drawn.append([(counted[first][0], counted[last - 1][1]) for first, last in placed])
    return drawn


def _place(lengths: np.ndarray, count: int, generator: np.random.Generator) -> list[Span]:
    """One uniform placement: shuffle the blocks, then choose their slots among the free units."""
    order = generator.permutation(lengths)
    free = count - int(order.sum())
    slots = np.sort(generator.choice(free + len(order), size=len(order), replace=False))
    before = np.concatenate(([0], np.cumsum(order - 1)[:-1]))
    starts = slots + before
    return [(int(start), int(start + length)) for start, length in zip(starts, order, strict=True)]
