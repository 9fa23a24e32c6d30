"""Consistency: does a model's explanation predict its answers, and do the same words drive both?
Source: Chen et al. (2023), arXiv:2307.08678 (simulatability); Parcalabescu & Frank, ACL 2024,
arXiv:2311.07466 (CC-SHAP). See docs/methods/consistency.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from services.consistency.report import (
    ConsistencyBatchReport,
    ConsistencyPart,
    ConsistencyResult,
    ConsistencyWordValue,
    EditOperator,
)
from services.consistency.variants import VARIANTS, Contributions
from services.consistency.verdict import PROBLEMS, finding
from shared.contracts.elicitation import ExplainableRequest
from shared.contracts.explanation_fields import fields_in
from shared.contracts.messages import (
    MAX_TEXT,
    Count,
    Input,
    Message,
    ModelName,
    Parameter,
    RequiredText,
    Visible,
)
from shared.contracts.prompt_table import PromptKeys, parse_template
from shared.contracts.request_cost import Size, Work, words_of
from shared.contracts.service import (
    ElicitedExplanation,
    FactPaths,
    FormField,
    MetricContract,
)

MOST_EDITS = 500
MOST_CITED = 200
PLACEHOLDERS = ("text", "label")
PARTS: tuple[ConsistencyPart, ...] = ("simulatability", "attribution")
SECONDS_A_CHARACTER = 1e-5  # of text and explanation
SECONDS_A_ROW = 5e-5  # to draw, send and receive it

LabelText = Annotated[str, StringConstraints(min_length=1, max_length=64), Visible]
Content = Annotated[str, StringConstraints(max_length=MAX_TEXT)]


class ConsistencySpan(Message):
    """A passage of the text, as offsets in characters (Unicode code points)."""

    start: Count
    end: int = Field(ge=1, description="exclusive")


class ConsistencyEdit(Message):
    """An edited text of your own."""

    text: RequiredText
    expected: Literal["changes", "stays"] | None = Field(
        default=None,
        description="the answer that someone who reads the explanation would expect; absent: "
        "`reader` predicts it, and its rules check which of the cited words are missing",
    )


class ConsistencyPredictions(Message):
    """Answers of a model that you ran yourself."""

    answer: LabelText = Field(description="the model's answer to `text`")
    edits: tuple[LabelText, ...] = Field(
        default=(),
        max_length=MOST_EDITS,
        description="the model's answers to `edits`, one for each",
    )
    words: tuple[ConsistencyWordValue, ...] = Field(
        default=(),
        max_length=MAX_TEXT,
        description="contributions of the words of `text` to answer and explanation",
    )


class ConsistencyTurn(Message):
    """One message of the conversation that asked for the explanation."""

    role: Literal["system", "user", "assistant"]
    content: Content = Field(
        description="`{text}` and `{label}` are replaced by the text and the decision; write a "
        "literal brace as `{{`"
    )

    @field_validator("content")
    @classmethod
    def _known(cls, content: str) -> str:
        parse_template(content, PLACEHOLDERS)
        return content


class ConsistencyPrompt(Message):
    """The prompt that asked the model for its explanation."""

    turns: tuple[ConsistencyTurn, ...] = Field(min_length=1, max_length=64)
    style: Literal["chat", "raw"] = Field(
        default="chat",
        description="`chat`: the model's own template; `raw`: the turns joined into one text, for "
        "a model without a template",
    )

    @model_validator(mode="after")
    def _shows_the_text(self) -> Self:
        names = {
            piece.inserted
            for turn in self.turns
            for piece in parse_template(turn.content, PLACEHOLDERS)
        }
        if "text" not in names:
            raise ValueError("no turn contains the placeholder {text}; add it to one turn")
        return self


def _without_default(schema: dict[str, Any]) -> None:
    """Remove the default from the schema, since the service rejects an explicit empty
    explanation."""
    del schema["default"]


class ConsistencyRequest(ExplainableRequest):
    """A text, a model's explanation of its answer, and the model or its precomputed answers."""

    text: Annotated[RequiredText, Input] = Field(description="the text that the model judged")
    explanation: Annotated[RequiredText, Input] = Field(
        default="",
        exclude_if=lambda text: not text,
        json_schema_extra=_without_default,
        description="explanation of the model's answer; required unless `explain` is set",
    )
    decision: Annotated[LabelText | None, Parameter] = Field(
        default=None,
        description="the explained decision, one of the model's labels; absent: the model's own "
        "answer. If the model answers differently, there is no score",
    )
    cited: Annotated[tuple[ConsistencySpan, ...], Input] = Field(
        default=(),
        max_length=MOST_CITED,
        description="passages that the explanation cites; absent: its quotations. For an English "
        "explanation without quotations, the content words that it shares with the text",
    )
    edits: Annotated[tuple[ConsistencyEdit, ...], Input] = Field(
        default=(),
        max_length=MOST_EDITS,
        description="your own edited texts; absent: the metric removes the cited words and, for "
        "comparison, other passages of the same length",
    )
    predictions: Annotated[ConsistencyPredictions | None, Input] = Field(
        default=None, description="your own model's answers; the service then calls no model"
    )
    parts: tuple[ConsistencyPart, ...] = Field(
        default=PARTS,
        min_length=1,
        max_length=2,
        description="tests to run; `attribution` needs a language model that returns "
        "log-probabilities of a text",
    )
    operators: tuple[EditOperator, ...] = Field(
        default=("delete", "mask"),
        min_length=1,
        max_length=2,
        description="how words are removed: `delete`, or `mask` with the model's mask token",
    )
    draws: int = Field(
        default=99,
        ge=19,
        le=999,
        description="maximum number of other passages that are removed for comparison",
    )
    contributions: Contributions | None = Field(
        default=None,
        description="how the contribution of a word to answer and explanation is measured. "
        "`occlusion`: the drop in probability without the word. `shapley`: its mean marginal "
        "contribution over `orders`. Absent: `occlusion`, or `shapley` for variants `paper` and "
        "`reference`",
    )
    orders: int = Field(
        default=10,
        ge=1,
        le=1_000,
        description="number of random word orders that `shapley` samples",
    )
    permutations: int = Field(
        default=999,
        ge=19,
        le=9_999,
        description="permutations of the contributions that form the chance baseline",
    )
    prompt: Annotated[PromptKeys | None, Parameter] = Field(
        default=None,
        description="replaces keys of the model entry's `prompt`, if the entry has "
        "`allow_request_prompt`. For causal models and chat servers",
    )
    explanation_prompt: Annotated[ConsistencyPrompt | None, Parameter] = Field(
        default=None,
        description="the prompt that the model answered with the explanation; absent: a built-in "
        "question",
    )
    preceding: Annotated[str, Input] = Field(
        default="",
        max_length=MAX_TEXT,
        description="text that the model wrote after that prompt and before the explanation",
    )
    reader: Literal["rules", "model"] = Field(
        default="rules",
        description="how the answers to the edits are predicted from the explanation. `rules`: by "
        "rules; `model`: by `reader_model`, which reads the explanation with each edited text",
    )
    reader_model: ModelName | None = Field(
        default=None,
        description="configured language model that predicts answers if `reader` is `model`",
    )

    @field_validator("parts", "operators")
    @classmethod
    def _once_each(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(names)) < len(names):
            raise ValueError("a name is listed twice; list each name once")
        return names

    @field_validator("cited")
    @classmethod
    def _inside(cls, cited: tuple[ConsistencySpan, ...], info: Any) -> tuple[ConsistencySpan, ...]:
        length = len(info.data.get("text", ""))
        if any(not span.start < span.end <= length for span in cited):
            raise ValueError("a passage is outside the text; check its offsets")
        return cited

    @model_validator(mode="after")
    def _model_or_predictions(self) -> Self:
        if self.explain is not None and self.predictions is not None:
            raise ValueError(
                "`predictions` cannot be combined with `explain`; leave out one of them"
            )
        if self.explain is None and (self.model is None) == (self.predictions is None):
            raise ValueError("give either `model` or `predictions`")
        if (self.reader == "model") != (self.reader_model is not None):
            raise ValueError("give `reader_model` if, and only if, `reader` is `model`")
        if self.predictions is None:
            return self
        if len(self.predictions.edits) != len(self.edits):
            raise ValueError("`predictions.edits` must have one answer for each entry of `edits`")
        if not (self.predictions.edits or self.predictions.words):
            raise ValueError("`predictions` has neither `edits` nor `words`; give one of them")
        if self.reader == "model":
            raise ValueError("`predictions` need no model; set `reader` to `rules`")
        return self

    @model_validator(mode="after")
    def _words_in_order(self) -> Self:
        end = 0
        for word in self.predictions.words if self.predictions else ():
            if not end <= word.start < word.end <= len(self.text):
                raise ValueError("`predictions.words` must be in ascending order within `text`")
            end = word.end
        return self

    @property
    def way(self) -> Contributions:
        """Return how word contributions are computed: as the request says, or else as the variant
        does."""
        return self.contributions or VARIANTS[self.variant].contributions


_TEXT = "Those immigrants are ruining our lovely old town again"
_CLASSIFIER = {
    "text": _TEXT,
    "explanation": 'It says "immigrants are ruining our lovely old town", which blames a '
    "group of people for what goes wrong.",
    "model": "embedded-hate",
    "draws": 19,
}
_PREDICTIONS = {
    "text": "The film was slow, but the ending was wonderful",
    "explanation": 'I call the review positive because it says "wonderful".',
    "edits": [
        {"text": "The film was slow, but the ending was there"},
        {"text": "The film was slow"},
        {"text": "The film was long, but the ending was wonderful"},
        {"text": "The ending was wonderful"},
        {"text": "The film was slow, but the ending was not"},
        {"text": "The film was slow, but its ending was wonderful"},
    ],
    "predictions": {
        "answer": "positive",
        "edits": ["negative", "negative", "positive", "positive", "negative", "positive"],
        "words": [
            {"start": 0, "end": 3, "answer": 0.01, "explanation": 0.02},
            {"start": 4, "end": 8, "answer": 0.02, "explanation": 0.2},
            {"start": 9, "end": 12, "answer": -0.01, "explanation": -0.05},
            {"start": 13, "end": 17, "answer": -0.2, "explanation": -0.6},
            {"start": 19, "end": 22, "answer": 0.03, "explanation": 0.25},
            {"start": 23, "end": 26, "answer": 0.0, "explanation": 0.05},
            {"start": 27, "end": 33, "answer": 0.05, "explanation": 0.4},
            {"start": 34, "end": 37, "answer": -0.02, "explanation": -0.1},
            {"start": 38, "end": 47, "answer": 0.6, "explanation": 4.1},
        ],
    },
    "language": "en",
}
_EXPECTED = {
    "text": "Please send the invoice again, the last one was damaged",
    "explanation": "The writer asks for something to be done, so I call it a request.",
    "edits": [
        {"text": "The last invoice was damaged", "expected": "changes"},
        {"text": "The invoice was fine", "expected": "changes"},
        {"text": "Please send the photo again, the last one was damaged", "expected": "stays"},
        {"text": "Please send the invoice again", "expected": "stays"},
        {"text": "The last one was damaged", "expected": "changes"},
        {"text": "Please send it again, the last one was damaged", "expected": "stays"},
    ],
    "predictions": {
        "answer": "request",
        "edits": ["statement", "statement", "request", "request", "statement", "request"],
    },
    "language": "en",
}


def cost(request: ConsistencyRequest, reads: int) -> Sequence[Work]:
    """Estimate the cost of a request: reading edited texts and computing word contributions."""
    texts = sum(len(edit.text) for edit in request.edits)
    characters = len(request.text) + len(request.explanation) + texts
    return (
        Work((Size("characters", characters),), "characters", seconds_each=SECONDS_A_CHARACTER),
        *(_rows(request, reads) if request.model is not None else ()),
    )


def _rows(request: ConsistencyRequest, reads: int) -> Iterator[Work]:
    words = max(1, min(words_of(request.text), reads))
    a_row = Size("tokens of `text`", words, "/text")
    if "simulatability" in request.parts:
        rows = Size(
            "edited texts (`draws`, `operators`)",
            len(request.edits) or (1 + request.draws) * len(request.operators),
            "/draws",
        )
        readers = Size("models that read the edited texts", 2 if request.reader == "model" else 1)
        yield Work((rows, readers, a_row), certain=False)
    if "attribution" in request.parts:
        explanation = max(1, min(words_of(request.explanation), reads))
        rows = Size(
            "variations of `text` (`orders`, `contributions`)", _contribution_rows(request, words)
        )
        tokens = Size("tokens per variation (2 × `text` + `explanation`)", 2 * words + explanation)
        yield Work((rows, tokens))


def _contribution_rows(request: ConsistencyRequest, words: int) -> int:
    return words + 1 if request.way == "occlusion" else request.orders * (words + 1)


def server_cost(request: ConsistencyRequest, reads: int) -> Sequence[Work]:
    """Estimate the cost for a model on a server, which gets one request per text."""
    words = max(1, min(words_of(request.text), reads))
    rows = 1
    if "attribution" in request.parts:
        rows += 2 * _contribution_rows(request, words)
    if request.edits and "simulatability" in request.parts:
        rows += len(request.edits)
    size = Size("variations of `text` (`orders`, `contributions`)", rows, "/text")
    unit = "requests to the model's server"
    works = cost(request, reads)
    return (Work((size,), unit, seconds_each=SECONDS_A_ROW, at_server=True), *works)


def needs(request: ConsistencyRequest) -> tuple[str, ...]:
    """Return the abilities that the model needs. Without log-probabilities the attribution test is
    skipped."""
    return () if request.model is None else ("judge", "word_rows")


def elicited(explanation: ElicitedExplanation) -> dict[str, Any]:
    """Return a request to score a generated explanation, with its model and prompt."""
    text = explanation.inputs.get("text")
    fields: dict[str, Any] = {
        "text": text,
        "explanation": explanation.explanation or None,
        "model": explanation.model,
    }
    if not explanation.judge_labels or explanation.decision in explanation.judge_labels:
        fields["decision"] = explanation.decision
    if explanation.turns:
        turns = [turn.model_dump() for turn in explanation.turns]
        fields["explanation_prompt"] = {"turns": turns, "style": explanation.style}
        fields["preceding"] = explanation.answer.partition(explanation.explanation)[0]
    parsed = fields_in(explanation.explanation)
    if parsed is not None and parsed.quotes:
        starts = [((text or "").find(quote), len(quote)) for quote in parsed.quotes]
        fields["cited"] = [
            {"start": start, "end": start + size} for start, size in starts if size and start >= 0
        ]
    return fields


CONTRACT = MetricContract(
    name="consistency",
    version="1.0",
    summary="Does a model's explanation predict its answers, and rest on the same words?",
    request=ConsistencyRequest,
    report=ConsistencyResult,
    explained="decision",
    model_kinds=("causal", "classifier"),
    default_model=None,
    model_optional=True,
    cost=cost,
    server_cost=server_cost,
    needs=needs,
    writers=("reader_model",),
    examples={
        "your own predictions": _PREDICTIONS,
        "edits with a reader's expected answers": _EXPECTED,
        "a classifier, which writes no explanation": _CLASSIFIER,
    },
    batch_report=ConsistencyBatchReport,
    batch_summary="Mean results of both tests with intervals, and how often they beat chance",
    batch_intervals=12,
    form=(
        FormField(name="text", label="Text", hint="the model's answer"),
        FormField(name="explanation", label="Explanation", hint="in the model's own words"),
    ),
    finding=finding,
    problems=PROBLEMS,
    elicited=elicited,
    facts=FactPaths(
        passages=("cited",),
        chance="control.simulatability.win_rate",
        decision_stated="decision",
        decision_sent="decision",
        chance_score=0.5,
        rivals=("They predict the model's answers", "random citations do"),
    ),
)
