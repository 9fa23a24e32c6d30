"""What `sor` reports. Part of the contract: pydantic only."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from shared.contracts.batches import BatchReport
from shared.contracts.elicitation import ExplainableReport
from shared.contracts.messages import Count, Evidence, Id, Message, Word
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
    """Where something stands. Offsets are into the statement or one of its fields; of a `quote` and
    a `word` into the post too."""

    kind: SorEvidenceKind
    field: Annotated[str, Word] = Field(
        description="what `start` and `end` are offsets into: `statement`, or a field of it"
    )
    route: SorRoute | None = Field(default=None, description="of `redress`")
    post_start: Count | None = Field(default=None, description="offset into `text`")
    post_end: Count | None = Field(default=None, description="offset into `text`, exclusive")


class SorComponents(Message):
    """Parts, each in [0, 1], higher is better."""

    completeness: Part | None = Field(
        description="mean of the items beside `facts`; what the form has no place for is left out"
    )
    specificity: Part | None = Field(
        description="whether the facts of this post are named: 1 where it is quoted, up to 0.95 "
        "where its words are used, less what other posts would have"
    )
    measure: Part | None = Field(description="Article 17(3)(a): restriction, where, how long")
    automated_means: Part | None = Field(description="Article 17(3)(c): in detection, in decision")
    grounds: Part | None = Field(
        description="Article 17(3)(d) or (e): the provision or clause, and why it applies"
    )
    redress: Part | None = Field(
        description="Article 17(3)(f): share of complaint, out-of-court settlement and court; null "
        "for the database's fields, which have no place for it"
    )
    quotes: Count = Field(description="quotations that stand in the post")
    quotes_not_found: Count = Field(description="quotations that stand neither there nor in a rule")
    post_words: Count = Field(description="different content words of the post that it uses")
    faithfulness: Part | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="of a `model`: share of other words of the post that carry its decision less "
        "than those that the statement names; chance is 0.5; no part of the score",
    )


class SorItem(Message):
    """One thing that Article 17(3) asks for."""

    name: SorItemName
    value: Part | None = Field(
        description="0: not there, or too vague to count; `facts` as `specificity`; `redress`: "
        "share of its three ways; null: the form has no place for it"
    )


class SorNull(Null):
    """The same statement beside other posts: `facts` is compared."""

    kind: Literal["other posts"] = "other posts"
    win_rate: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="share of the other posts whose facts it names less; ties count half",
    )
    pool: Literal["request", "own"] = Field(description="whose posts these are")


class SorReaderUse(Message):
    """The language model that read the statement in the place of the trained reader."""

    model: Annotated[str, Word]
    prompt: Annotated[str, Word] = Field(description="name and version")
    prompt_sha256: Annotated[str, Word]


class SorMaskNull(Null):
    """As many words of the post elsewhere, in runs of the same lengths: the drop is compared."""

    kind: Literal["other words"] = "other words"
    win_rate: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="share of the other words that move the model less; ties count half",
    )


class SorFaithfulness(Message):
    """Whether the model's decision rests on the words of the post that the statement names."""

    label: Annotated[str, Word] = Field(description="of the request, else the model's own")
    p: Part = Field(description="P of the label, of the whole post")
    p_without: Part = Field(description="the same without the words that are named")
    drop: float = Field(ge=-1, le=1, description="`p` - `p_without`; higher: they carry more of it")
    words: Count = Field(description="words of the post that were taken away")
    null: SorMaskNull


class SorResult(ExplainableReport):
    """Higher is better. No statement about legal compliance."""

    range: tuple[float, float] = (0.0, 1.0)
    components: SorComponents
    items: tuple[SorItem, ...]
    missing: tuple[SorItemName, ...] = Field(description="items that are absent or too vague")
    routes: tuple[SorRoute, ...] = Field(description="ways of redress that are named")
    ground_in_policy: bool | None = Field(
        description="whether the named clause is found in `policy`; null without either"
    )
    evidence: tuple[SorEvidence, ...]
    control: SorNull | None = Field(description="the same facts beside other posts")
    reader: SorReaderUse | None = Field(
        default=None,
        exclude_if=lambda reader: reader is None,
        description="what read the items, `facts` apart; absent: the trained reader",
    )
    faithfulness: SorFaithfulness | None = Field(
        default=None,
        exclude_if=lambda found: found is None,
        description="whether the facts carry the decision of the request's `model`; absent without "
        "one, and where `reasons` says why",
    )


class SorLikeness(Message):
    """A statement and the other of the batch that is most like it."""

    job: Id
    nearest: Id
    similarity: Part = Field(
        description="Jaccard: shared runs of three words over all, quotations and words of their "
        "posts left out"
    )


class SorBatchReport(BatchReport):
    """Which items are missing how often, and how much of the statements is boilerplate."""

    completeness: Interval
    specificity: Interval
    missing: dict[SorItemName, Interval] = Field(
        description="share of the statements without this item"
    )
    beats_other_posts: Interval = Field(
        description="mean share of other posts whose facts a statement names less; chance is 0.5"
    )
    boilerplate: Interval = Field(
        description="mean share of a statement's runs of three words that another statement of the "
        "batch has too"
    )
    nearest_similarity: Interval = Field(description="mean likeness to the nearest other")
    faithfulness: Interval = Field(
        description="mean share of other words that carry the decision less than the facts, of "
        "results with a `model`; chance is 0.5"
    )
    copies: Interval = Field(description="share of statements with another at least 0.8 alike")
    most_alike: tuple[SorLikeness, ...] = Field(
        max_length=50, description="the 50 statements with the nearest other, most alike first"
    )
