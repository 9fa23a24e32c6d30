"""The result types of `sor`. Imports only pydantic."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from shared.contracts.batches import BatchReport
from shared.contracts.elicitation import ExplainableReport
from shared.contracts.messages import Count, Evidence, Id, Message, Share, Word
from shared.contracts.null_report import Null
from shared.contracts.reports import Interval

SorItemName = Literal[
    "restriction",
    "territorial_scope",
    "duration",
    "facts",
    "automated_detection",
    "automated_decision",
    "ground",
    "explanation",
    "redress",
]
SorPoint = Literal["measure", "automated_means", "grounds", "redress"]
SorRoute = Literal["internal_complaint", "out_of_court_settlement", "court"]
SorEvidenceKind = Literal[
    "restriction",
    "territorial_scope",
    "duration",
    "quote",
    "word",
    "quote_not_found",
    "automated_detection",
    "automated_decision",
    "ground",
    "explanation",
    "redress",
]
ITEMS: tuple[SorItemName, ...] = get_args(SorItemName)
ROUTES: tuple[SorRoute, ...] = get_args(SorRoute)
POINTS: dict[SorPoint, tuple[SorItemName, ...]] = {  # Article 17(3): (a), (c), (d) or (e), (f)
    "measure": ("restriction", "territorial_scope", "duration"),
    "automated_means": ("automated_detection", "automated_decision"),
    "grounds": ("ground", "explanation"),
    "redress": ("redress",),
}
Part = Annotated[float, Field(ge=0, le=1)]


class SorEvidence(Evidence):
    """A passage of the statement or of one of its fields.

    A `quote` and a `word` also have their place in the post.
    """

    kind: SorEvidenceKind
    field: Annotated[str, Word] = Field(
        description="the text that `start` and `end` refer to: `statement`, or one of its fields"
    )
    route: SorRoute | None = Field(default=None, description="the route of `redress`")
    post_start: Count | None = Field(default=None, description="character offset into `text`")
    post_end: Count | None = Field(
        default=None, description="character offset into `text`, exclusive"
    )


class SorComponents(Message):
    """The parts of the score, each in [0, 1]. Higher is better."""

    completeness: Part | None = Field(
        description="mean of all items except `facts`; items that the form has no field for do "
        "not count"
    )
    specificity: Part | None = Field(
        description="how far the statement names the facts of this post: 1 with a quotation, up "
        "to 0.95 for words of the post, minus what words of other posts would reach"
    )
    measure: Part | None = Field(description="Article 17(3)(a): restriction, where, how long")
    automated_means: Part | None = Field(description="Article 17(3)(c): detection, decision")
    grounds: Part | None = Field(
        description="Article 17(3)(d) or (e): the provision or clause, and why it applies"
    )
    redress: Part | None = Field(
        description="Article 17(3)(f): share of complaint, out-of-court settlement and court "
        "that is named; null for the database's fields, which lack it"
    )
    quotes: Count = Field(description="number of quotations of the post")
    quotes_not_found: Count = Field(
        description="number of quotations that are neither from the post nor from a rule"
    )
    post_words: Count = Field(
        description="number of different content words of the post in the statement"
    )
    faithfulness: Part | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="with a `model`: share of random other words of the post that support its "
        "decision less than the words that the statement names; chance is 0.5; not part of the "
        "score",
    )


class SorItem(Message):
    """One item required by Article 17(3) of the DSA."""

    name: SorItemName
    value: Part | None = Field(
        description="0: missing or too vague; `facts` is `specificity`; `redress`: share of its "
        "three ways; null: the form has no field for it"
    )


class SorNull(Null):
    """Scores of the same statement for other posts."""

    kind: Literal["other posts"] = "other posts"
    win_rate: Share | None = Field(
        default=None,
        description="share of other posts of which the statement names fewer facts; ties count "
        "half",
    )
    pool: Literal["request", "own"] = Field(description="source of the other posts")


class SorReaderUse(Message):
    """The language model that read the statement."""

    model: Annotated[str, Word]
    prompt: Annotated[str, Word] = Field(description="name and version")
    prompt_sha256: Annotated[str, Word]


class SorMaskNull(Null):
    """Drops of the decision's probability when random words of the post are deleted, in runs of
    the same lengths."""

    kind: Literal["other words"] = "other words"
    win_rate: Share | None = Field(
        default=None,
        description="share of random other words that change the model's probability less; ties "
        "count half",
    )


class SorFaithfulness(Message):
    """Does the model's decision rest on the words of the post that the statement names?"""

    decision: Annotated[str, Word] = Field(
        description="the explained decision: as sent, or else the model's own decision"
    )
    p: Part = Field(description="probability of the decision for the whole post")
    p_without: Part = Field(description="probability of the decision without the named words")
    drop: float = Field(
        ge=-1,
        le=1,
        description="`p` - `p_without`; higher: the named words support the decision more",
    )
    words: Count = Field(description="words of the post that were deleted")
    null: SorMaskNull


class SorResult(ExplainableReport):
    """The result for a statement of reasons. A higher score is better. The score does not
    judge legality."""

    range: tuple[float, float] = (0.0, 1.0)
    components: SorComponents
    items: tuple[SorItem, ...]
    missing: tuple[SorItemName, ...] = Field(description="items that are missing or too vague")
    routes: tuple[SorRoute, ...] = Field(description="ways of redress in the statement")
    ground_in_policy: bool | None = Field(
        description="true if `policy` contains the clause that the statement names; null without a "
        "policy or a clause"
    )
    evidence: tuple[SorEvidence, ...]
    control: SorNull | None = Field(description="the same statement, compared with other posts")
    reader: SorReaderUse | None = Field(
        default=None,
        exclude_if=lambda reader: reader is None,
        description="what read the items except `facts`; absent: the trained reader",
    )
    faithfulness: SorFaithfulness | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="whether the decision of `model` rests on the named facts; absent without a "
        "model, or if `reasons` gives a reason",
    )


class SorLikeness(Message):
    """A statement and the most similar other statement of the batch."""

    job: Id
    nearest: Id
    similarity: Part = Field(
        description="Jaccard similarity of runs of three words, without quotations and words of "
        "their posts"
    )


class SorBatchReport(BatchReport):
    """The share of statements without each item, and the share of boilerplate."""

    completeness: Interval
    specificity: Interval
    missing: dict[SorItemName, Interval] = Field(
        description="share of the statements that lack this item"
    )
    beats_other_posts: Interval = Field(
        description="mean share of other posts whose facts a statement names less; chance is 0.5"
    )
    boilerplate: Interval = Field(
        description="mean share of a statement's runs of three words that another statement of the "
        "batch has"
    )
    nearest_similarity: Interval = Field(
        description="mean similarity to the nearest other statement"
    )
    faithfulness: Interval = Field(
        description="with a `model`: mean share of random other words that support the decision "
        "less than the named facts; chance is 0.5"
    )
    copies: Interval = Field(
        description="share of statements with another of similarity 0.8 or more"
    )
    most_alike: tuple[SorLikeness, ...] = Field(
        max_length=50, description="the 50 most similar statements, most similar first"
    )
