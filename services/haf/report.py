"""The result types of HAF. Imports only pydantic. Source: Mothilal et al., arXiv:2506.19113, Eqs. 1
to 12; Tables 1 to 5 and Figure 3 for many results."""

from __future__ import annotations

from operator import not_
from typing import Annotated, Literal

from pydantic import Field

from shared.contracts.batches import BatchReport, BatchReportRequest
from shared.contracts.elicitation import ExplainableReport
from shared.contracts.messages import Count, Evidence, Message, MetadataKey, Share, Word
from shared.contracts.reports import Interval

Offset = Annotated[int, Field(ge=0, description="character offset into the stage's response")]

UNNAMED = "(unnamed)"
ONLY_IF_REQUESTED = "absent unless the request's `token_values` asks for it"


Stage = Literal["justify", "internal", "external", "sufficiency", "necessity"]
Stance = Literal["toxic", "maybe", "non-toxic", "unclear"]
Answer = Literal["sufficient", "insufficient", "doubtful", "irrelevant", "unclear"]
DecidedBy = Literal["reader", "similarity", "rules", "nli"]  # the last two: before 1.2


class HafTokenValue(Message):
    """A token of a statement. Tokens sharing a character are merged."""

    start: Offset  # the first token of a statement may begin before it (" It")
    end: Offset
    tokens: int = Field(
        ge=1,
        description="number of the model's tokens that are merged into this one; more than 1 if "
        "they share a character",
    )
    logprob: float = Field(
        le=0, description="natural logarithm of the probability, summed over `tokens`"
    )
    relevance: Share = Field(
        description="Eq. 3: 1 - g(statement, statement without it); for a decision see "
        "`decision_target`. Not normalised; Eq. 2 divides by the statement's sum"
    )


class HafComponents(Message):
    """The six metrics, each in [0, 1]; null if undefined, with the reason in `warnings`."""

    sos: Share | None = Field(description="Strength of Support (Eq. 5); higher is better")
    dis: Share | None = Field(description="Diversity in Support (Eq. 6); higher is better")
    uii: Share | None = Field(description="Unused Internal Information (Eq. 7); LOWER is better")
    uei: Share | None = Field(description="Unused External Information; LOWER is better")
    rs: Share | None = Field(
        description="Reason Sufficiency (Eq. 9), mean over reasons; for toxic and maybe stances"
    )
    rn: Share | None = Field(
        description="Reason Necessity (Eq. 11), mean over reasons; for non-toxic stances"
    )


class HafExtras(Message):
    """Further metrics of the released code, if the request sets `extras`."""

    dis_dpp: float | None = Field(description="det(g_ij C_j) of the reasons; higher: more diverse")
    internal_del_pe: float | None = Field(
        description="mean uncertainty of the internal stage's reasons minus the initial ones', nats"
    )
    external_del_pe: float | None = Field(description="the same difference for the external stage")


class HafReasonEvidence(Evidence):
    """A reason of the first stage; its value is its confidence."""

    kind: Literal["reason"] = "reason"
    offsets_into: Literal["justify"] = "justify"
    start: Count | None = Field(description="character offset into the JUSTIFY response")
    end: Count | None = Field(description="character offset, exclusive")
    value: Share | None = Field(default=None, description="confidence C (Eq. 4), (0, 1]")


class HafReasonPart(Message):
    """The values of one reason, such as its confidence."""

    text: str
    start: Offset | None = Field(
        description="character offset; null if the reason does not occur literally in the response"
    )
    end: Offset | None
    tokens: Count = Field(description="number of tokens in its confidence")
    confidence: Share | None = Field(description="C (Eq. 4), (0, 1]")
    confidence_uniform: Share | None = Field(
        description="control value: the confidence if every token had equal weight"
    )
    similarity: Share | None = Field(
        description="similarity g to the text (JUSTIFY) or to the left-out reason (necessity); "
        "null in other stages"
    )
    diversity: Share | None = Field(
        description="diversity (Eq. 8) from the JUSTIFY reasons; in sufficiency, from the other "
        "JUSTIFY reasons"
    )
    value: Share | None = Field(
        description="the reason's term in SoS, UII, UEI or the informativeness"
    )
    token_values: tuple[HafTokenValue, ...] = Field(
        default=(), exclude_if=not_, description=ONLY_IF_REQUESTED
    )


class HafDecisionPart(Message):
    """The decision sentence of a stage. C(Y) is the model's confidence. `certainty` is that of the
    method that read the answer."""

    text: str
    start: Offset | None
    end: Offset | None
    tokens: Count
    confidence: Share | None = Field(description="C(Y) (Eq. 4), (0, 1]")
    confidence_uniform: Share | None
    answer: Answer | None = Field(description="in later stages: the answer about the reasons")
    judge: DecidedBy | None = Field(description="the method that read the answer from the sentence")
    certainty: Share | None = Field(
        description="for the method `reader`, the probability of the answer; for `similarity`, "
        "the share of the winning side in the sum of both"
    )
    token_values: tuple[HafTokenValue, ...] = Field(
        default=(), exclude_if=not_, description=ONLY_IF_REQUESTED
    )


class HafStagePart(Message):
    """One response with its reasons, decision and values."""

    stage: Stage
    reason: int | None = Field(
        description="index of the JUSTIFY reason that the response is about, from 0; else null"
    )
    response: str
    refusal: bool
    irrelevant: bool = Field(description="a decision that does not answer the question (Table 5)")
    decision: HafDecisionPart | None
    reasons: tuple[HafReasonPart, ...]
    weight: Share | None = Field(default=None, description="w_S or w_N of the answer")
    informativeness: Share | None = Field(default=None, description="I_S (Eq. 10), I_N (Eq. 12)")
    value: Share | None = Field(
        default=None, description="RS (sufficiency) or RN (necessity) of this reason"
    )


class HafCounts(Message):
    """Counts of the work for this request."""

    responses: Count
    reasons: Count = Field(description="reasons of the JUSTIFY stage")
    refusals: Count
    irrelevant: Count = Field(description="number of decisions that do not answer their question")
    tokens: Count = Field(description="tokens of all responses")
    pairs: Count = Field(description="number of different pairs whose similarity was computed")


class HafControls(Message):
    """The metrics computed without token weights, and computed without confidences."""

    uniform_relevance: HafComponents = Field(
        description="values if every token of a reason has the same weight"
    )
    unweighted: HafComponents = Field(
        description="values if every confidence is 1, so that only similarity counts"
    )


class HafSpread(Message):
    """The spread of one metric."""

    mean: float | None
    sd: float | None = Field(
        ge=0, description="standard deviation, n - 1; null for fewer than two values"
    )
    low: float | None = Field(description="the smallest")
    high: float | None
    of: Count = Field(description="number of generations in which the value is defined")


class HafRepetition(Message):
    """The spread of every metric over `samples` generations. The other fields of the report
    describe the first one."""

    samples: int = Field(ge=2)
    sos: HafSpread
    dis: HafSpread
    uii: HafSpread
    uei: HafSpread
    rs: HafSpread
    rn: HafSpread
    stances: dict[Stance, int] = Field(description="number of generations with each stance")


class HafChange(Message):
    """The values of one metric when the reasons are reordered."""

    original: Share | None
    values: tuple[Share | None, ...] = Field(description="one value for each order")
    mean_change: float | None = Field(description="mean of the values minus the original value")
    largest_change: float | None = Field(ge=0, description="largest absolute change")


class HafPermutation(Message):
    """The effect of the order of the reasons."""

    orders: tuple[tuple[int, ...], ...] = Field(
        description="orders of the JUSTIFY reasons, as indices from 0"
    )
    dis: HafChange = Field(description="DiS of the JUSTIFY response, rewritten in each order")
    uii: HafChange = Field(description="UII, with the internal stage prompted again for each order")


class HafResult(ExplainableReport):
    """The result. `score` is not defined by the HAF paper. It is the mean of the defined values of
    SoS, DiS, 1 - UII, 1 - UEI, RS and RN."""

    range: tuple[float, float] = (0.0, 1.0)
    warnings: tuple[Annotated[str, Word], ...] = ()  # ours: they repeat no words of the caller
    components: HafComponents
    evidence: tuple[HafReasonEvidence, ...]
    control: HafControls | None
    stance: Stance | None = Field(
        description="stance of the JUSTIFY response; null if it could not be read"
    )
    refusal: bool = Field(description="whether the JUSTIFY response refuses the task")
    stages: tuple[HafStagePart, ...] = Field(description="stages in the order of the prompts")
    counts: HafCounts
    extras: HafExtras | None
    repetition: HafRepetition | None
    permutation: HafPermutation | None
    similarities: tuple[tuple[Share, ...], ...] = Field(
        default=(),
        description="(R, R) similarities g of the JUSTIFY reasons, as DiS uses them: computed"
        " once per pair, the earlier reason first, and mirrored; 1 on the "
        "diagonal. Empty for more than 64 reasons",
    )

    @property
    def unasked(self) -> frozenset[str]:
        """Return the metrics that do not apply to the stance. Sufficiency applies to toxic or
        maybe, necessity to non-toxic."""
        if self.stance is None or self.stance == "unclear":
            return frozenset()
        return frozenset(["rs" if self.stance == "non-toxic" else "rn"])


class HafReportOptions(Message):
    """Metadata keys that state the origin of HAF results."""

    model_key: MetadataKey = Field(
        default="model",
        description="metadata key whose value names the model of responses that the request sent",
    )
    dataset_key: MetadataKey = Field(
        default="dataset", description="metadata key whose value names the data set"
    )


class HafBatchReportRequest(BatchReportRequest):
    """Selects the results to report."""

    options: HafReportOptions = HafReportOptions()


class HafMeans(Message):
    """The mean of each metric over results (Tables 1 and 4 of the HAF paper)."""

    sos: Interval
    dis: Interval
    uii: Interval
    uei: Interval
    rs: Interval
    rn: Interval


class HafIndividual(Message):
    """The factors of sufficiency and necessity, averaged within each result (Table 3)."""

    rs_decision: Interval = Field(description="w_S C(Y)")
    rs_informativeness: Interval = Field(description="I_S (Eq. 10)")
    rn_decision: Interval = Field(description="w_N C(Y)")
    rn_informativeness: Interval = Field(description="I_N (Eq. 12)")


class HafShares(Message):
    """The mean share of one kind of decision in each stage."""

    internal: Interval
    external: Interval
    sufficiency: Interval
    necessity: Interval


class HafStanceScores(Message):
    """Every metric by stance (Figure 3 of the HAF paper)."""

    stance: Stance
    results: int = Field(ge=1)
    score: Interval
    means: HafMeans


class HafStageCounts(Message):
    """Counts of a stage's results."""

    reached: Count = Field(description="results with a response in this stage")
    refused: Count = Field(description="results whose responses all refuse the task")
    scored: Count = Field(description="results with a value for the part that this stage measures")


class HafGroup(Message):
    """The results of one model on one data set."""

    model: str = Field(description="the model that the request names, else the one in its metadata")
    dataset: str
    of_model: str | None = Field(
        default=None,
        description="with `of_metadata`, a filter for a report's request that matches only this "
        "group's results; both null if there is none",
    )
    of_metadata: dict[str, str] | None = None
    results: int = Field(ge=1)
    score: Interval
    means: HafMeans
    individual: HafIndividual
    sufficient: HafShares = Field(description="Table 2: decisions that say `sufficient`")
    irrelevant: HafShares = Field(description="Table 5: decisions that do not answer the question")
    refused: Interval = Field(description="share of results that refuse in the JUSTIFY stage")
    by_stance: tuple[HafStanceScores, ...]
    stages: dict[Stage, HafStageCounts] = Field(description="counts for each stage, in order")


class HafBatchReport(BatchReport):
    """Results by model and data set."""

    groups: tuple[HafGroup, ...]
    variants: tuple[str, ...] = Field(description="variants with which the results were scored")
