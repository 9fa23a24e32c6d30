"""What CoT2EL reports. Part of the contract: pydantic only.

Source: Chen et al., EMNLP 2025, section 4, Appendix C, Tables 3 and 8.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shared.contracts.batches import BatchReport
from shared.contracts.messages import Count, Evidence, Message, Report
from shared.contracts.questions import Key, Stance
from shared.contracts.reports import Interval

Share = Annotated[float, Field(ge=0, le=1)]
PolarityOutcome = Literal["kept", "contradicted", "unread"]
UnitSource = Literal["sentence", "clause", "connective", "given"]


class Cot2elRefinedPair(Evidence):
    """An explanation as it stands in the reasoning, and whose it is."""

    kind: Literal["explanation"] = "explanation"
    offsets_into: Literal["reasoning"] = "reasoning"
    label: Key
    stance: Stance
    value: Share = Field(description="similarity to what the parse said, [0, 1]")
    original: str = Field(description="what the parse said")
    unit_sources: tuple[UnitSource, ...] = Field(description="what found this unit")
    contradiction: Share | None = Field(
        default=None, description="P that the unit contradicts what the parse said; null: unread"
    )
    polarity: PolarityOutcome | None = Field(
        default=None,
        description="`kept`: the unit does not say the opposite; `unread`: nothing could tell; "
        "null: similarity alone decided",
    )


class Cot2elDropped(Message):
    """An explanation that no unit of the reasoning resembles, or whose unit says the opposite."""

    explanation: str
    label: Key
    stance: Stance
    similarity: Share | None = Field(description="to the nearest unit; null: there is no unit")
    contradiction: Share | None = Field(
        default=None, description="P that its unit contradicts it; null: unread"
    )
    polarity: PolarityOutcome | None = Field(
        default=None,
        description="`contradicted`: a unit resembles it and says the opposite; null: none does",
    )


class Cot2elUnplaced(Message):
    """A part of the structured parse that belongs to no option."""

    key: str
    statements: int


class Cot2elListedPair(Message):
    """A pair as it was found; empty where the text is not kept."""

    explanation: str
    label: Key
    stance: Stance


class Cot2elSets(Message):
    """The paper's ablation sets, each ready to be shown to a judge (`hlv`, `explanations`)."""

    el: tuple[Cot2elListedPair, ...] = Field(description="EL: as parsed")
    el_sup: tuple[Cot2elListedPair, ...] = Field(
        description="EL-sup: of these, the supporting ones"
    )
    el_opp: tuple[Cot2elListedPair, ...] = Field(description="EL-opp: the opposing ones")
    filtered: tuple[Cot2elListedPair, ...] = Field(
        description="EL filtered: aligned to the reasoning"
    )
    filtered_sup: tuple[Cot2elListedPair, ...]
    filtered_opp: tuple[Cot2elListedPair, ...]


class Cot2elSimilarities(Message):
    """Means over explanations with a human counterpart; null: not measured, or undefined."""

    lexical_1: Share | None
    lexical_2: Share | None
    lexical_3: Share | None
    syntactic_1: Share | None = None
    syntactic_2: Share | None = None
    syntactic_3: Share | None = None
    semantic_cosine: Share | None = None
    semantic_euclidean: Share | None = None
    levenshtein: Share | None


class Cot2elAgreement(Message):
    """S_instance (Eq. 12) in both directions."""

    precision: Share = Field(description="Eqs. 9-12 as printed: what was found, among what humans")
    recall: Share = Field(description="the other direction: what humans marked, among what found")
    f1: Share = Field(description="harmonic mean")
    support_precision: Share = Field(description="over supporting sets only")
    support_recall: Share
    support_f1: Share
    columns: Cot2elSimilarities = Field(description="Table 8, of the best matches")


class Cot2elValidation(Message):
    """The pairs against an annotator's."""

    metrics_used: tuple[Literal["lexical", "syntactic", "semantic", "levenshtein"], ...]
    group_mean: Cot2elAgreement = Field(
        description="best matches by the mean of the groups of similarities (`weight-avg`)"
    )
    column_mean: Cot2elAgreement = Field(
        description="best matches by the mean of all columns (`equal-avg`, which Table 3 prints)"
    )
    parsed: Cot2elAgreement = Field(
        description="EL before the alignment, by the mean of the groups"
    )


class Cot2elComponents(Message):
    """Counts and shares; null where there is nothing to count."""

    faithfulness: Share | None = Field(description="explanations kept / explanations parsed")
    mean_similarity: Share | None = Field(description="of all explanations to their nearest unit")
    parsed: int = Field(ge=0, description="explanations of the parse, repeated ones once")
    kept: int = Field(ge=0, description="of these, aligned above `min_similarity`")
    contradicted: int = Field(
        default=0,
        ge=0,
        description="aligned above `min_similarity`, but the unit says the opposite",
    )
    distinct: int = Field(ge=0, description="of these, different units of a label and stance")
    labels_with_support: int = Field(ge=0, description="options that have a supporting one")
    units: int = Field(ge=0, description="discourse units of the reasoning")


class Cot2elOtherItems(Message):
    """Chance: explanations of other items in place of these, aligned alike."""

    draws: int
    faithfulness: Share
    mean_similarity: Share


class Cot2elShuffledWords(Message):
    """Chance: the same explanations with their words in random order, aligned alike."""

    draws: int
    faithfulness: Share
    mean_similarity: Share
    other_items: Cot2elOtherItems | None = Field(
        default=None, description="beside it: explanations of other items, in random order"
    )


class Cot2elResult(Report):
    """The result. Score: the faithfulness of the parse."""

    status: Literal["ok", "no_reasoning", "parse_failed", "not_read"] = Field(
        description="`no_reasoning`: the model wrote no reasoning part; `parse_failed`: no valid "
        "JSON in three tries; `not_read`: its language is not known, see `reasons`. An empty list "
        "of pairs is then no finding"
    )
    components: Cot2elComponents
    evidence: tuple[Cot2elRefinedPair, ...] = Field(description="EL filtered, in the parse's order")
    dropped: tuple[Cot2elDropped, ...]
    unplaced: tuple[Cot2elUnplaced, ...] = ()
    sets: Cot2elSets
    reasoning: str | None = Field(description="the chain of thought that the offsets point into")
    parse: str | None = Field(description="CoT parser: the parse in the model's own words")
    validation: Cot2elValidation | None = Field(description="null where no human pairs were sent")
    control: Cot2elShuffledWords | None


class Cot2elValidated(Message):
    """S_instance over items (the paper's Table 3 and Table 8)."""

    items: int = Field(ge=0, description="with human pairs, and a parse that came through")
    precision: Interval
    recall: Interval
    f1: Interval
    columns: dict[str, Interval] = Field(description="Table 8, over items where it is measured")


class Cot2elExplanationCounts(Message):
    """The explanations of all parses, repeated ones of an item once."""

    kept: Count = Field(description="aligned with a unit of the reasoning")
    contradicted: Count = Field(description="dropped: a unit resembles it and says the opposite")
    unlike: Count = Field(description="dropped: no unit resembles it")


class Cot2elOptionCounts(Message):
    """The options of the results with a parse: what EL filtered says of them."""

    supported: Count = Field(description="options with a supporting explanation")
    opposed: Count = Field(description="options with opposing ones alone")
    unexplained: Count = Field(description="options with none")
    unknown: Count = Field(description="results whose options are not kept; not in the counts")


class Cot2elBatchReport(BatchReport):
    """How faithful parses are, and how close to annotators."""

    statuses: dict[str, int] = Field(description="of the results, by `status`")
    explanations: Cot2elExplanationCounts | None = Field(
        default=None, description="null in reports of earlier versions"
    )
    options: Cot2elOptionCounts | None = Field(default=None, description="null likewise")
    faithfulness: Interval = Field(description="over items; `pooled` is over explanations")
    faithfulness_pooled: Interval
    faithfulness_by_chance: Interval = Field(description="of explanations with shuffled words")
    faithfulness_of_others: Interval | None = Field(
        default=None, description="of explanations of other items; null in earlier reports"
    )
    contradicted: Interval | None = Field(
        default=None,
        description="share of explanations, over all items, whose unit says the opposite",
    )
    mean_similarity: Interval
    kept_per_item: Interval = Field(description="explanations after alignment and de-duplication")
    filtered: Cot2elValidated | None = Field(description="EL filtered against annotators")
    parsed: Cot2elValidated | None = Field(description="EL before alignment against annotators")
    refinement: Interval | None = Field(
        description="F1 of EL filtered minus F1 of EL, item by item"
    )
