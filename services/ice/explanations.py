"""Converts a request and its explanations to the tokens or words that its model reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.ice.contract import IceRequest, Method, Spans, Values, label
from services.ice.kernel import Floats
from services.ice.quotations import QuotationMissing, has_word, locate
from services.ice.report import TEXTS, IceAttributedSpan, Of
from services.ice.variants import VARIANTS, IceVariant, Subset
from services.ice.words import WordReading
from shared.contracts.calls import AttributionMethod, Attributions, Example, Tokens
from shared.contracts.errors import BadInput, DegenerateInput
from shared.contracts.messages import ModelKind
from shared.process.cached import cached_property
from shared.text.language import Obstacle, find_language, requested_language

Positions = tuple[int, ...]  # of tokens in the example


def explanations(
    tokenized: TokenizedInput, answers: Sequence[Attributions]
) -> list[TestedExplanation]:
    """Return all explanations of a request, those computed by the service first. `answers` has the
    values of each computed method."""
    request, variant = tokenized.request, tokenized.variant
    by_size = request.options.rank_by == "magnitude" or variant.magnitude
    eligible = np.array(tokenized.eligible)
    computed = [
        TestedExplanation(label(method), np.array(answer.values)[eligible], magnitude=by_size)
        for method, answer in zip(request.methods, answers, strict=True)
    ]
    return [*computed, *_from_request(tokenized)]


def _from_request(tokenized: TokenizedInput) -> Iterator[TestedExplanation]:
    request = tokenized.request
    sent: list[tuple[str, Values | None, Spans | None, str]] = [
        ("attributions", request.attributions, None, "/attributions"),
        ("rationale", None, request.rationale, "/rationale"),
    ]
    for index, explanation in enumerate(request.explanations):
        pointer = f"/explanations/{index}/rationale"
        sent.append((explanation.name, explanation.attributions, explanation.rationale, pointer))
    for name, values, spans, pointer in sent:
        if values:
            ranked = request.options.rank_by == "magnitude"
            yield TestedExplanation(name, span_values(tokenized, values), magnitude=ranked)
        elif spans:
            yield TestedExplanation(name, marked=marked_tokens(tokenized, spans, pointer))


def attribution_method(method: Method, request: IceRequest, kind: ModelKind) -> AttributionMethod:
    """Return the method with all its options set. In the variant `reference`, attention of an
    encoder is taken from the last layer, as in the released code."""
    variant = VARIANTS[request.variant]
    if isinstance(method, AttributionMethod):
        calibrated = variant.calibrated or method.name != "lime"
        return method.model_copy(update={"calibrated": calibrated})
    last = variant.last_attention and kind == "classifier"
    return AttributionMethod(
        name=method,
        attention="last" if last else "mean",
        seed=request.seed if method == "lime" else 0,  # the one that draws
        calibrated=variant.calibrated or method != "lime",
    )


@dataclass(frozen=True)
class TestedExplanation:
    """An explanation: values of the E tokens that may be tested, or the positions of marked
    tokens."""

    name: str
    values: Floats | None = None
    marked: Subset | None = None
    magnitude: bool = False  # whether tokens rank by |value|

    @property
    def ranking_values(self) -> Floats | None:
        """Return the token values by which tokens are ranked, highest first, or None without
        values."""
        return np.abs(self.values) if self.magnitude and self.values is not None else self.values

    def rationale(self, k: float, rounding: float = 0.0) -> Subset:
        """Return the marked tokens, or else the max(1, floor(k * E)) highest-ranked of E tokens. On
        a tie the first token wins."""
        ranked = self.ranking_values
        if self.marked is not None or ranked is None:
            return self.marked or ()
        size = max(1, int(k * ranked.size + rounding))
        positions = np.argsort(-ranked, kind="stable")[:size]
        return tuple(sorted(positions.tolist()))


@dataclass(frozen=True)
class TokenizedInput:
    """A request in the form that its model reads, with the model's answer to the whole text."""

    request: IceRequest
    kind: ModelKind
    tokens: Tokens
    eligible: Positions  # (E,) ascending
    labels: tuple[str, ...]
    probabilities: Floats  # (L,)
    target: int  # its column
    words: WordReading | None = None  # of rows of words: `tokens` are words then
    prompt_sha256: str | None = None  # of the request's own prompt
    doubts: tuple[str, ...] = ()  # warnings about how its answers were read

    @property
    def unit(self) -> str:
        """Return "token" or "word"."""
        return "token" if self.words is None else "word"

    @property
    def variant(self) -> IceVariant:
        return VARIANTS[self.request.variant]

    @property
    def example(self) -> Example:
        return example_of(self.request) if self.words is None else self.words.example

    @property
    def full(self) -> float:
        """Return the model's probability of the target label for the complete text."""
        return float(self.probabilities[self.target])

    @property
    def scaffold(self) -> Positions:
        """Return the positions of tokens that every variation keeps: special tokens, and template
        tokens that are not tested."""
        eligible = set(self.eligible)
        return tuple(p for p in range(len(self.tokens.ids)) if p not in eligible)

    def characters_read(self, of: Of) -> int:
        """Return the number of characters of a text that the model reads."""
        ends = zip(self.tokens.parts, self.tokens.ends, strict=True)
        return max((end for part, end in ends if part == of and end is not None), default=0)

    def span_overlap(self, start: int, end: int, of: Of) -> NDArray[np.int64]:
        """Return how many characters of a span each of the E testable tokens contains."""
        starts, ends = self._token_bounds[of]
        shared: NDArray[np.int64] = np.minimum(ends, end) - np.maximum(starts, start)
        return shared.clip(min=0)

    @cached_property
    def _token_bounds(self) -> dict[Of, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the starts and ends of the E eligible tokens for each of the two texts. They are 0
        for tokens of the other text."""
        tokens = self.tokens
        bounds = {}
        for of in TEXTS:
            here = [
                (tokens.starts[p] or 0, tokens.ends[p] or 0) if tokens.parts[p] == of else (0, 0)
                for p in self.eligible
            ]
            both = np.array(here, dtype=np.int64)
            bounds[of] = both[:, 0], both[:, 1]
        return bounds


def example_of(request: IceRequest) -> Example:
    """Return the example: the text, its pair, and its template or prompt."""
    template, language = request.options.template, None
    if template is None:  # a prompt may name the language of the text as it was sent
        language = find_language(request.text, requested_language(request)).code
    return Example(
        text=request.text,
        text_pair=request.text_pair,
        template=template,
        prompt=request.options.prompt,
        language=language,
    )


def eligible_tokens(request: IceRequest, tokens: Tokens) -> Positions:
    """Return the tokens that an explanation may mark. Raises DegenerateInput if there are none."""
    rule = request.options.eligible or VARIANTS[request.variant].eligible
    parts = {*TEXTS, "template"} if rule == "all" else set(TEXTS)
    positions = tuple(p for p, part in enumerate(tokens.parts) if part in parts)
    if not any(tokens.parts[p] in TEXTS for p in positions):
        raise DegenerateInput("the model can read no token of the text", pointer="/text")
    return positions


def target_column(request: IceRequest, labels: Sequence[str], predicted: str) -> int:
    """Return the column of the label to explain: `decision`, or the predicted label. Raises
    BadInput for a label that the model does not have."""
    target = request.decision or predicted
    if target in labels:
        return labels.index(target)
    names = ", ".join(labels)
    raise BadInput(
        f"the model has no label {target!r}; its labels are {names}", pointer="/decision"
    )


def span_values(tokenized: TokenizedInput, spans: Sequence[IceAttributedSpan]) -> Floats:
    """Return one value for each of the E tokens that can be removed. A token takes the value of the
    span that shares most characters with the token, or 0 if no span does."""
    values = np.zeros(len(tokenized.eligible))
    most = np.zeros(len(tokenized.eligible), dtype=np.int64)
    for span in spans:
        shared = tokenized.span_overlap(span.start, span.end, span.of)
        better = shared > most
        values[better], most[better] = span.value, shared[better]
    return values


def unusable_rationale(request: IceRequest) -> Obstacle | None:
    """Return a problem if a rationale quotes words that are not in the text, or contains no word.
    Otherwise return None. Raises BadInput if a quotation in `human`, the annotators' passages, is
    not in the text."""
    try:
        locate(request.human or (), request)
    except QuotationMissing as error:
        raise BadInput(str(error), pointer="/human") from None
    named = [
        (f"explanation {n}: ", explanation.rationale)
        for n, explanation in enumerate(request.explanations, 1)
    ]
    for name, spans in [("", request.rationale), *named]:
        try:
            located = locate(spans or (), request)
        except QuotationMissing as error:
            return Obstacle("quote-not-found", f"{name}{error}")
        if located and not has_word(located, request):
            return Obstacle("no-words", f"{name}the rationale contains no word")
    return None


def marked_tokens(tokenized: TokenizedInput, spans: Spans, pointer: str) -> Subset:
    """Return the positions of the tokens that overlap with a span. Raises DegenerateInput if there
    are none."""
    positions = span_tokens(tokenized, spans)
    if not positions:
        detail = f"the spans contain no {tokenized.unit} that the model reads"
        raise DegenerateInput(detail, pointer=pointer)
    return positions


def span_tokens(tokenized: TokenizedInput, spans: Spans) -> Subset:
    """Return the positions of the testable tokens that overlap with a span."""
    hit = np.zeros(len(tokenized.eligible), dtype=bool)
    for span in locate(spans, tokenized.request):
        hit |= tokenized.span_overlap(span.start, span.end, span.of) > 0
    return tuple(np.flatnonzero(hit).tolist())
