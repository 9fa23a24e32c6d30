"""Statement of reasons: does it contain what Article 17 DSA requires, and is it about this post?
Source: Regulation (EU) 2022/2065, Article 17; the DSA Transparency Database's documentation,
version 2. See docs/methods/sor.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from services.sor.fields import SorFields
from services.sor.report import SorBatchReport, SorResult
from services.sor.verdict import PROBLEMS, finding
from shared.contracts.elicitation import ExplainableRequest
from shared.contracts.explanation_fields import Explanation, written_out
from shared.contracts.messages import (
    MAX_TEXT,
    Input,
    ModelName,
    Parameter,
    RequiredText,
    Visible,
    check_visible,
)
from shared.contracts.request_cost import Size, Work, words_of
from shared.contracts.service import (
    ElicitedExplanation,
    FactPaths,
    FormField,
    MetricContract,
)

MOST_POSTS = 200
READER_TOKENS = 1_500  # of the reader's prompt and answer
SECONDS_A_CHARACTER = 1e-5  # of post, statement and policy
SECONDS_A_CHARACTER_READ = 1e-4  # of the statement, by the trained reader
Post = Annotated[str, StringConstraints(min_length=1, max_length=2_000), Visible]


class SorRequest(ExplainableRequest):
    """A post and the statement of reasons about it, as text or as DSA database fields."""

    explained_field: ClassVar[str | None] = None  # `statement`, or `fields`

    text: Annotated[RequiredText, Input] = Field(description="the post that the decision is about")
    statement: Annotated[Explanation | None, Input] = Field(
        default=None,
        description="the statement as its recipient received it, or an explanation as fields",
    )
    fields: Annotated[SorFields | None, Input] = Field(
        default=None,
        description="instead of `statement`: fields of the DSA Transparency Database (version 2)",
    )
    policy: Annotated[str | None, Input] = Field(
        default=None,
        max_length=MAX_TEXT,
        description="the rules that the statement refers to; the clause that it names is "
        "searched for in them",
    )
    other_posts: Annotated[tuple[Post, ...], Input] = Field(
        default=(),
        max_length=MOST_POSTS,
        description="other posts, to which the statement is also compared; absent: built-in posts",
    )

    reader: Literal["auto", "rules", "llm"] = Field(
        default="auto",
        description="what reads a plain statement. `rules`: the trained reader, for English and "
        "German. `llm`: the `reader_model`. `auto`: the trained reader if it knows the "
        "language, else the `reader_model` if there is one",
    )
    reader_model: ModelName | None = Field(
        default=None,
        description="configured language model that reads the statement; its quotes must occur "
        "in the statement word for word",
    )
    decision: Annotated[str | None, Parameter] = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="the explained decision, a label of `model`; absent: the model's own",
    )
    faithfulness_draws: int = Field(
        default=99,
        ge=19,
        le=999,
        description="with a `model`: number of random draws of other words of the post, in runs "
        "of the same lengths, with which the facts are compared",
    )

    @field_validator("statement")
    @classmethod
    def _is_not_empty(cls, statement: Explanation | None) -> Explanation | None:
        return check_visible(statement) if isinstance(statement, str) else statement

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = (self.statement, self.fields, self.explain)
        if sum(form is not None for form in forms) != 1:
            raise ValueError("give exactly one of `statement`, `fields` and `explain`")
        if self.variant != "robust":
            raise ValueError("this metric has no published method; set `variant` to `robust`")
        if self.reader == "llm" and (self.reader_model is None or self.fields is not None):
            raise ValueError("the reader `llm` needs a `reader_model` and a plain `statement`")
        if self.decision is not None and self.model is None and self.explain is None:
            raise ValueError("`decision` is a label of a `model`; send `model` too")
        return self

    def documents(self) -> dict[str, str]:
        """Return a mapping from `statement`, or from each field, to its text."""
        if self.fields is not None:
            return self.fields.texts()
        return {"statement": written_out(self.statement or "")}


_TICKETS = {
    "text": "Two tickets for Saturday's final, 180 euros each instead of 60. First come, first "
    "served, cash only!",
    "statement": "We removed your listing. It asks \u201c180 euros each instead of 60\u201d for "
    "tickets to the final. Section 4.2 of our Marketplace Rules (resale of tickets) forbids prices "
    "above face value; since three times that price is asked, the listing falls under it. Our "
    "price filter detected the listing and a member of staff took the decision. The removal "
    "applies in all countries of the European Union and is permanent. You may complain to us "
    "within six months, turn to a certified out-of-court dispute settlement body, or go to court.",
}
_BOILERPLATE = {
    "text": "Two tickets for Saturday's final, 180 euros each instead of 60. First come, first "
    "served, cash only!",
    "statement": "Your content was removed because it violates our Community Guidelines. Please "
    "read our rules before you post again. Thank you for helping us to keep our community safe.",
}
_FIELDS = {
    "text": "Handmade vanilla e-liquid with nicotine, 10 ml, no label, ships tomorrow.",
    "fields": {
        "decision_visibility": ["DECISION_VISIBILITY_CONTENT_DISABLED"],
        "decision_ground": "DECISION_GROUND_ILLEGAL_CONTENT",
        "illegal_content_legal_ground": "Directive 2014/40/EU, Article 20(4)",
        "illegal_content_explanation": "The bottle is offered without the label that a liquid with "
        "nicotine must bear.",
        "content_type": ["CONTENT_TYPE_PRODUCT"],
        "category": "STATEMENT_CATEGORY_UNSAFE_AND_PROHIBITED_PRODUCTS",
        "territorial_scope": ["DE", "AT"],
        "application_date": "2026-03-02",
        "decision_facts": "The product page offers 10 ml of vanilla e-liquid \u201cno label\u201d.",
        "source_type": "SOURCE_VOLUNTARY",
        "automated_detection": "Yes",
        "automated_decision": "AUTOMATED_DECISION_NOT_AUTOMATED",
    },
}


def cost(request: SorRequest, reads: int) -> Sequence[Work]:
    """Return the work of a request. Every text is read once."""
    statement = tuple(request.documents().values())
    texts = (request.text, request.policy or "", *statement, *request.other_posts)
    every = Size("characters", sum(map(len, texts)), "/text")
    read = Size("characters of the statement", sum(map(len, statement)), "/statement")
    works = [
        Work((every,), "characters", seconds_each=SECONDS_A_CHARACTER),
        Work((read,), "characters", seconds_each=SECONDS_A_CHARACTER_READ),
    ]
    if request.reader_model is not None and request.reader != "rules":
        tokens = sum(map(words_of, statement)) + READER_TOKENS
        size = Size("tokens of the reader's prompt and answer", tokens)
        works.append(Work((size,), certain=False))
    if request.model is not None:
        edited = Size(
            "edited texts (`faithfulness_draws` + 2)",
            2 + request.faithfulness_draws,
            "/faithfulness_draws",
        )
        tokens = max(1, min(words_of(request.text), reads))
        works.append(Work((edited, Size("tokens of `text`", tokens, "/text")), certain=False))
    return works


def needs(request: SorRequest) -> tuple[str, ...]:
    """Return the ability `judge` if the request names a model."""
    return () if request.model is None else ("judge",)


def elicited(explanation: ElicitedExplanation) -> dict[str, Any]:
    """Return the explanation as if it were the statement to the poster."""
    return {"text": explanation.inputs.get("text"), "statement": explanation.explanation}


CONTRACT = MetricContract(
    name="sor",
    version="2.0",
    summary="Does a statement of reasons contain what Article 17 DSA requires, and is it about "
    "this post?",
    request=SorRequest,
    report=SorResult,
    model_kinds=("classifier", "causal"),
    default_model=None,
    model_optional=True,
    cost=cost,
    needs=needs,
    writers=("reader_model",),
    examples={
        "a specific statement": _TICKETS,
        "boilerplate": _BOILERPLATE,
        "fields of the database": _FIELDS,
    },
    batch_report=SorBatchReport,
    batch_summary="What statements of reasons lack, and how many are near copies of each other",
    batch_needs_text=True,
    batch_intervals=16,
    form=(
        FormField(name="text", label="Post"),
        FormField(
            name="statement", label="Statement of reasons", hint="as the recipient received it"
        ),
        FormField(
            name="policy",
            label="Policy",
            hint="the rules that the statement refers to",
            required=False,
        ),
    ),
    finding=finding,
    problems=PROBLEMS,
    elicited=elicited,
    facts=FactPaths(
        chance="control.win_rate",
        rivals=("They fit their own post", "other posts"),
    ),
)
