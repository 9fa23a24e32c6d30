"""The result types of CoT2EL. Imports only pydantic. Source: Chen et al., EMNLP 2025, section 4,
Appendix C, Tables 3 and 8."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shared.contracts.batches import BatchReport
from shared.contracts.messages import Count, Evidence, Message, Report, Share
from shared.contracts.questions import Key, Stance
from shared.contracts.reports import Interval

PolarityOutcome = Literal["kept", "contradicted", "unread"]
UnitSource = Literal["sentence", "clause", "connective", "given"]


class Cot2elRefinedPair(Evidence):
    """An explanation in the words of the reasoning, with its label and stance."""

    kind: Literal["explanation"] = "explanation"
    offsets_into: Literal["reasoning"] = "reasoning"
    label: Key
    stance: Stance
    value: Share = Field(description="similarity to the parse's wording, [0, 1]")
    original: str = Field(description="the parse's wording")
    unit_sources: tuple[UnitSource, ...] = Field(description="rules that found this unit")
    contradiction: Share | None = Field(
        default=None,
        description="probability that the unit contradicts the parse's wording; null: not computed",
    )
    polarity: PolarityOutcome | None = Field(
        default=None,
        description="`kept`: the unit does not say the opposite; `unread`: this could not be "
        "decided; null: it was not checked",
    )


class Cot2elDropped(Message):
    """A dropped explanation: no unit is similar, or the unit says the opposite."""

    explanation: str
    label: Key
    stance: Stance
    similarity: Share | None = Field(
        description="similarity to the nearest unit; null: there is no unit"
    )
    contradiction: Share | None = Field(
        default=None, description="probability that its unit contradicts it; null: not computed"
    )
    polarity: PolarityOutcome | None = Field(
        default=None,
        description="`contradicted`: a similar unit says the opposite; null: no similar unit",
    )


class Cot2elUnplaced(Message):
    """The number of statements under a key that matches no option."""

    key: str
    statements: int


class Cot2elListedPair(Message):
    """An explanation, empty if texts are not stored, with its label and stance."""

    explanation: str
    label: Key
    stance: Stance


class Cot2elSets(Message):
    """The paper's ablation sets, in the form of the field `explanations` of `hlv`."""

    el: tuple[Cot2elListedPair, ...] = Field(description="EL (explanation list): all parsed pairs")
    el_sup: tuple[Cot2elListedPair, ...] = Field(description="EL-sup: the supporting pairs of EL")
    el_opp: tuple[Cot2elListedPair, ...] = Field(description="EL-opp: the opposing pairs of EL")
    filtered: tuple[Cot2elListedPair, ...] = Field(
        description="EL filtered: the pairs that could be aligned to the reasoning"
    )
    filtered_sup: tuple[Cot2elListedPair, ...]
    filtered_opp: tuple[Cot2elListedPair, ...]


class Cot2elSimilarities(Message):
    """Means over explanations with a human counterpart; null if unmeasured or undefined."""

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
    """Agreement of extracted and human explanations."""

    precision: Share = Field(
        description="precision (Eqs. 9-12 as printed): best match of each parsed explanation among "
        "the human ones"
    )
    recall: Share = Field(
        description="recall: best match of each human explanation among the parsed ones"
    )
    f1: Share = Field(description="harmonic mean")
    support_precision: Share = Field(description="`precision` over supporting explanations only")
    support_recall: Share
    support_f1: Share
    columns: Cot2elSimilarities = Field(
        description="the similarities of Table 8, for the best matches"
    )


class Cot2elValidation(Message):
    """The agreement with the annotator's (explanation, label) pairs."""

    metrics_used: tuple[Literal["lexical", "syntactic", "semantic", "levenshtein"], ...]
    group_mean: Cot2elAgreement = Field(
        description="best matches by the mean of the groups of similarities (`weight-avg`)"
    )
    column_mean: Cot2elAgreement = Field(
        description="best matches by the mean of all columns (`equal-avg`, which Table 3 prints)"
    )
    parsed: Cot2elAgreement = Field(
        description="EL before the alignment, matched by the mean of the groups of similarities"
    )


class Cot2elComponents(Message):
    """Counts and shares of explanations. A share is null if there is nothing to count."""

    faithfulness: Share | None = Field(
        description="number of explanations kept, divided by the number parsed"
    )
    mean_similarity: Share | None = Field(description="mean similarity to the nearest unit")
    parsed: Count = Field(description="number of different explanations in the parse")
    kept: Count = Field(description="explanations aligned above `min_similarity`")
    contradicted: Count = Field(
        default=0,
        description="explanations aligned above `min_similarity` whose unit says the opposite",
    )
    distinct: Count = Field(
        description="different units of the aligned explanations, counted per label and stance"
    )
    labels_with_support: Count = Field(description="options with a supporting explanation")
    units: Count = Field(description="discourse units of the reasoning")


class Cot2elOtherItems(Message):
    """The chance level, from explanations of other items."""

    draws: int
    faithfulness: Share
    mean_similarity: Share


class Cot2elShuffledWords(Message):
    """The chance level, from the same explanations with shuffled words."""

    draws: int
    faithfulness: Share
    mean_similarity: Share
    other_items: Cot2elOtherItems | None = Field(
        default=None, description="control with the explanations of other items"
    )


class Cot2elResult(Report):
    """The result of CoT2EL. The score is the faithfulness of the explanations."""

    status: Literal["ok", "no_reasoning", "parse_failed", "not_read"] = Field(
        description="`no_reasoning`: the model wrote no reasoning part; `parse_failed`: no valid "
        "JSON in three tries; `not_read`: unknown language, see `reasons`. Unless the status is "
        "`ok`, an empty list of pairs has no meaning"
    )
    components: Cot2elComponents
    evidence: tuple[Cot2elRefinedPair, ...] = Field(description="EL filtered, in the parse's order")
    dropped: tuple[Cot2elDropped, ...]
    unplaced: tuple[Cot2elUnplaced, ...] = ()
    sets: Cot2elSets
    reasoning: str | None = Field(description="the chain of thought, into which the offsets point")
    parse: str | None = Field(description="the parse as the model wrote it")
    validation: Cot2elValidation | None = Field(description="null without `human_pairs`")
    control: Cot2elShuffledWords | None


class Cot2elValidated(Message):
    """Agreement over items, as in the paper's Tables 3 and 8."""

    items: Count = Field(description="items with human pairs and a parse")
    precision: Interval
    recall: Interval
    f1: Interval
    columns: dict[str, Interval] = Field(
        description="the similarities of Table 8, over the items where they are measured"
    )


class Cot2elExplanationCounts(Message):
    """Counts of parsed explanations. An item's repeats count once."""

    kept: Count = Field(description="explanations that match a unit of the reasoning")
    contradicted: Count = Field(
        description="explanations dropped because a similar unit says the opposite"
    )
    unlike: Count = Field(description="explanations dropped because no unit is similar")


class Cot2elOptionCounts(Message):
    """Counts of options, by the kind of explanation that remains after filtering."""

    supported: Count = Field(description="options with a supporting explanation")
    opposed: Count = Field(description="options with opposing explanations only")
    unexplained: Count = Field(description="options without explanations")
    unknown: Count = Field(
        description="results that the counts leave out, because their options are not stored"
    )


class Cot2elBatchReport(BatchReport):
    """The batch report of CoT2EL: faithfulness, and agreement with annotators."""

    statuses: dict[str, int] = Field(description="results by `status`")
    explanations: Cot2elExplanationCounts
    options: Cot2elOptionCounts
    faithfulness: Interval = Field(
        description="mean over items; `pooled` is the mean over all explanations"
    )
    faithfulness_pooled: Interval
    faithfulness_by_chance: Interval = Field(
        description="faithfulness of explanations with shuffled words"
    )
    faithfulness_of_others: Interval = Field(
        description="faithfulness of other items' explanations"
    )
    contradicted: Interval | None = Field(
        default=None,
        description="share of all explanations whose unit says the opposite",
    )
    mean_similarity: Interval
    kept_per_item: Interval = Field(
        description="explanations per item after alignment and de-duplication"
    )
    filtered: Cot2elValidated | None = Field(description="agreement of EL filtered with annotators")
    parsed: Cot2elValidated | None = Field(description="agreement of EL with annotators")
    refinement: Interval | None = Field(
        description="F1 of EL filtered minus F1 of EL, item by item"
    )
