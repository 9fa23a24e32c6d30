"""The classifier calls of HateXScore: original, masked and control texts of many requests at once.

One call a model, every text once; a model's row does not depend on the others, so that a
request scores the same alone and in a batch (shared.models.ports).

The control is our own, after the null of arXiv:2603.18579 (ICE): random spans of the same lengths
as the quoted ones, in the same text. A quotation that moves P(hateful) no more than they do is no
evidence. Placements are uniform over all that do not overlap, the quoted one excluded; the
generator is keyed by seed, text and quotes, so that batches and order do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from shared.language import ModelLanguages, Obstacle
from shared.metric import Collected
from shared.models.calls import Example, text_cut
from shared.models.ports import models
from shared.statistics.seeds import generator_1_0

HATEFUL = "hateful"  # the label whose probability counts
NO_CONTROL = "no control: "  # so begins the warning that says why
UNAVAILABLE = "probability unavailable: QF needs P(hateful) of the text and of the masked text"


@dataclass(frozen=True, slots=True, kw_only=True)
class HatexscoreCollected(Collected):
    """P(hateful) with and without the quotes. control: of the control texts, (R,), or None.

    no_probability: why there is none, though QF needs it."""

    parsed: ParsedExplanation
    original: float | None
    masked: float | None
    control: Floats | None = None
    no_probability: Obstacle | None = None


@dataclass(frozen=True, slots=True)
class ClassifierTexts:
    """The texts of one request that its model classifies."""

    model: str
    text: str
    masked: str
    control: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.text, self.masked, *self.control)


def ask_classifiers(
    requests: Sequence[HatexscoreRequest], parsed: Sequence[ParsedExplanation]
) -> list[HatexscoreCollected]:
    """The probabilities of every request. Raises BadInput for a model without the label."""
    pairs = list(zip(requests, parsed, strict=True))
    obstacles = [_untrained(*pair) for pair in pairs]
    texts = [
        _classifier_texts(*pair) if obstacle is None else None
        for pair, obstacle in zip(pairs, obstacles, strict=True)
    ]
    answers = {
        name: _Probabilities(name, [each for each in texts if each and each.model == name])
        for name in dict.fromkeys(each.model for each in texts if each)
    }
    return [
        answers[own.model].collected(own, explanation)
        if own
        else _without_model(request, explanation, obstacle)
        for request, explanation, own, obstacle in zip(
            requests, parsed, texts, obstacles, strict=True
        )
    ]


def _untrained(request: HatexscoreRequest, parsed: ParsedExplanation) -> Obstacle | None:
    """Why the model must not be asked about this text, even where nothing is quoted: a part that is
    0 for some texts of a language and null for the others has a mean that says nothing."""
    if request.probabilities is not None or request.accept_untrained_languages:
        return None
    name = request.model or DEFAULT_MODEL
    known = ModelLanguages(name, models().classifier(name).languages)
    return known.obstacle(parsed.languages.found_text)


def _classifier_texts(
    request: HatexscoreRequest, parsed: ParsedExplanation
) -> ClassifierTexts | None:
    """None where nothing is quoted or the caller sent probabilities."""
    quoting = parsed.quoting
    if request.probabilities is not None or not quoting.counts or quoting.masked is None:
        return None
    name = request.model or DEFAULT_MODEL
    why = VARIANTS[request.variant].why_no_control
    if why is None and request.control_draws == 0:
        why = "no draws were requested"
    why = why or why_no_control(request.text, quoting.spans)
    if why is not None:
        warnings = (f"{NO_CONTROL}{why}",)
        return ClassifierTexts(name, request.text, quoting.masked, warnings=warnings)
    drawn = random_placements(request.text, quoting.spans, request.seed, request.control_draws)
    control = tuple(mask_spans(request.text, spans) for spans in checking(drawn))
    return ClassifierTexts(name, request.text, quoting.masked, control)


def _without_model(
    request: HatexscoreRequest, parsed: ParsedExplanation, obstacle: Obstacle | None
) -> HatexscoreCollected:
    """What the caller measured, or nothing where nothing is needed or the model cannot tell."""
    sent = request.probabilities
    original = sent.original if sent else None
    masked = sent.masked if sent else None
    if obstacle is not None:
        why = "the model was not called"
    elif parsed.quoting.trivial:
        why = "the quotation is the text itself"
    elif parsed.quoting.masked is None:
        why = "nothing is quoted"
    else:
        why = "the probabilities were sent, no model was called"
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


class _Probabilities:
    """One model's P(hateful) of all texts of the requests that name it: one call."""

    def __init__(self, name: str, requested: Sequence[ClassifierTexts]) -> None:
        self._model = models().classifier(name)
        if HATEFUL not in self._model.labels:
            raise BadInput(f"the model {name} has no label {HATEFUL!r}", pointer="/model")
        texts = list(dict.fromkeys(text for each in requested for text in each.texts))
        rows = self._model.probabilities(texts)
        column = self._model.labels.index(HATEFUL)
        self._probability = dict(zip(texts, rows[:, column].tolist(), strict=True))
        pairs = list(dict.fromkeys(text for each in requested for text in (each.text, each.masked)))
        self._share_read = self._shares(pairs)

    def _shares(self, texts: Sequence[str]) -> dict[str, float]:
        """Of the texts that are too long, the share that the model reads."""
        long = zip(texts, self._model.truncated(texts), strict=True)
        cut = [Example(text=text) for text, is_cut in long if is_cut]
        tokens = self._model.tokens(cut) if cut else []
        return {
            example.text: read.read_share(example)
            for example, read in zip(cut, tokens, strict=True)
        }

    def collected(self, texts: ClassifierTexts, parsed: ParsedExplanation) -> HatexscoreCollected:
        null = [self._probability[text] for text in texts.control]
        return HatexscoreCollected(
            parsed=parsed,
            original=self._probability[texts.text],
            masked=self._probability[texts.masked],
            control=np.array(null, dtype=np.float64) if null else None,
            models=(self._model.use,),
            warnings=(*parsed.warnings, *texts.warnings, *self._doubts(texts, parsed)),
        )

    def _doubts(self, texts: ClassifierTexts, parsed: ParsedExplanation) -> Iterator[str]:
        """Why the probabilities may mean less than they seem to."""
        known = ModelLanguages(texts.model, self._model.languages)
        yield from known.doubts(parsed.languages.found_text)
        shares = [self._share_read.get(text, 1.0) for text in (texts.text, texts.masked)]
        if min(shares) < 1:
            yield text_cut(texts.model, min(shares))


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
    characters); each a list of spans of the text. Requires that `why_no_control` is None."""
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
