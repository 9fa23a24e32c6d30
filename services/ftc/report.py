"""The result types of FTC. Imports only pydantic. Source: Sia et al., AAAI 2023, arXiv:2205.12469,
section 2; sections 3.3, 3.4 and 6.4 for studies; Tables 4 to 6 and 10 for the tables."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shared.contracts.batches import BatchReport, BatchReportRequest
from shared.contracts.elicitation import ExplainableReport
from shared.contracts.messages import Count, Evidence, Message, Share, Word
from shared.contracts.null_report import Null, PValue
from shared.contracts.reports import Interval

NliLabel = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[NliLabel, ...] = ("entailment", "neutral", "contradiction")
Kind = Literal["substituted", "a", "b"]
PhraseType = Literal["noun", "verb", "preposition", "adjective", "clause"]
Inputs = Literal["all", "hypothesis", "premise", "label", "another_item"]
PhraseNull = Literal["phrases", "any"]
Case = Literal["contradiction", "entailment", "neutral", "neutral a", "neutral b"]
Statistic = Literal["delta", "k", "w", "w_normalized"]
Votes = Annotated[tuple[NliLabel, ...], Field(min_length=1, max_length=100)]

SUM_TOLERANCE = 1e-6
# Table 10: how often the majority of three people gave the counterfactual the derived label.
HUMAN_CEILING: dict[Case, float] = {
    "contradiction": 0.534, "entailment": 0.867, "neutral a": 0.756, "neutral b": 0.790,
}  # fmt: skip


class FtcDistribution(Message):
    """Probabilities of the three labels; they sum to 1."""

    entailment: Share
    neutral: Share
    contradiction: Share

    @model_validator(mode="after")
    def _check_sum(self) -> Self:
        if abs(self.entailment + self.neutral + self.contradiction - 1) > SUM_TOLERANCE:
            raise ValueError("the three probabilities must sum to 1")
        return self


class FtcSatisfaction(Message):
    """Agreement of an answer with the target; higher is better in every field."""

    delta: Share = Field(description="1 if the model's likeliest label is the target, else 0")
    k: float = Field(le=1, description="1 - KL(target || answer), natural logarithm")
    w: Share = Field(description="1 - Wasserstein-1 distance, as printed in the paper")
    w_normalized: Share = Field(
        description="`w` with the distance divided by the largest distance that the target allows"
    )
    geometric_mean_p: Share = Field(
        description="exp(k - 1): the answer's probability of a hard target; over several "
        "answers, their geometric mean"
    )


class FtcComponents(Message):
    """Means over the counterfactuals; all null if the metric abstains."""

    delta: Share | None = Field(description="share of answers whose likeliest label is the target")
    k: float | None = Field(le=1, description="1 - KL(target || answer), natural logarithm")
    w: Share | None = Field(description="1 - Wasserstein-1 distance, as printed in the paper")
    w_normalized: Share | None = Field(
        description="`w` with the distance divided by the largest distance that the target allows"
    )
    geometric_mean_p: Share | None = Field(description="exp(k - 1)")
    gain: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="mean of w_normalized minus that of random phrases, over counterfactuals that "
        "have random phrases; chance is 0",
    )


class FtcSpanEvidence(Evidence):
    """Span A or B of the explanation, or the span of the hypothesis that was replaced."""

    kind: Literal["a", "b", "replaced"] = Field(
        description="`a`, `b`: the two sides of the relation that the explanation states; "
        "`replaced`: the span that one of them replaces"
    )
    offsets_into: Literal["explanation", "hypothesis"]
    phrase: PhraseType | None = Field(description="null if the type is not known")


class FtcNull(Null):
    """Scores of random phrases that replace the explanation's phrase."""

    kind: PhraseNull = Field(
        default="any",
        description="`phrases`: phrases of the same type with the same share of words in the "
        "premise; `any`: phrases of the same type, also used if fewer than 19 such `phrases` exist",
    )
    draws: int = Field(ge=1, description="number of different random substitutions, M")
    premise_overlap: Share | None = Field(
        default=None,
        description="share of the content words of the explanation's phrase that occur in the "
        "premise. Random `phrases` have the same class of this share: none, at most half, more, "
        "or all",
    )
    statistic: Literal["w_normalized"] = "w_normalized"
    observed: Share = Field(description="score of the counterfactual")
    mean: Share = Field(description="mean score of the draws")
    win_rate: Share = Field(
        description="share of draws that score lower; ties count half; chance is 0.5"
    )
    p_value: PValue = Field(
        description="one-sided p-value: how often a draw scores at least as high; computed by "
        "stage-wise ordering if the draws were extended in steps"
    )
    satisfaction: FtcSatisfaction = Field(description="mean of the draws' scores")


class FtcCounterfactual(Message):
    """A hypothesis built from the explanation, its target label, and the model's answer."""

    kind: Kind = Field(
        description="`substituted` for entailment and contradiction; `a` and `b` for neutral:"
        " the hypotheses that state A without B, and B"
    )
    text: str
    target: FtcDistribution = Field(
        description="the label distribution that the explanation's logic demands"
    )
    answer: FtcDistribution = Field(description="the model's probabilities")
    predicted: NliLabel | None = Field(description="label of the answer; null if two labels tie")
    satisfaction: FtcSatisfaction
    floored: bool = Field(
        description="whether the probability is below `epsilon`, which k then uses instead"
    )
    blank_premise: FtcSatisfaction | None = Field(
        description="agreement with the target when the premise is empty; shows how much the "
        "hypothesis alone reveals"
    )
    null: FtcNull | None = Field(description="null if undefined; see `warnings`")


class FtcBaselines(Message):
    """Scores of answers that ignore the explanation."""

    always_entailment: FtcSatisfaction = Field(
        description="the score of a model that always answers entailment"
    )
    uniform: FtcSatisfaction = Field(
        description="the score of a model that gives each label one third"
    )
    unedited: FtcSatisfaction | None = Field(
        description="the model's answer to the original hypothesis; null if no model was called"
    )
    blank_premise: FtcSatisfaction | None = Field(
        description="the model's answers to the counterfactuals without the premise"
    )
    null_win_rate: Share | None = Field(
        description="mean win rate over the counterfactuals that have random phrases; chance is 0.5"
    )
    null_p_value: float | None = Field(
        gt=0,
        le=1,
        description="p-value of the counterfactuals' mean score, compared with that of each draw",
    )
    null_attainable_p: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="the smallest possible null_p_value; if it is above 0.05, no explanation of "
        "this pair can rule out chance",
    )


class FtcExtraction(Message):
    """The origin of the counterfactuals."""

    extractor: Literal["rules", "llm", "supplied"]
    rule: Annotated[str, Word] | None = Field(
        description="the pattern that matched; null unless rules built the counterfactuals"
    )
    transformation: Annotated[str, Word] | None = Field(
        description="the way the hypothesis was changed"
    )
    completions: tuple[str, ...] = Field(
        default=(), description="the language model's answers, in the order of the steps"
    )


class FtcResult(ExplainableReport):
    """The result. Higher is better. The metric abstains if it gets no usable counterfactual."""

    range: tuple[float, float] = (0.0, 1.0)
    components: FtcComponents
    evidence: tuple[FtcSpanEvidence, ...]
    control: FtcBaselines | None
    decision: NliLabel | None = Field(
        description="the explained decision: as sent, else the model's own; null if no model was "
        "called"
    )
    decision_source: Literal["request", "model"]
    original: FtcDistribution | None = Field(
        description="the model's answer to the original hypothesis; null if no model was called"
    )
    abstained: Annotated[str, Word] | None = Field(
        description="reason why there is no score; null if there is a score"
    )
    extraction: FtcExtraction
    counterfactuals: tuple[FtcCounterfactual, ...] = Field(max_length=2)


class FtcSimulation(Message):
    """Predictions of the model's label by a simulator that was trained with explanations."""

    from_input: NliLabel = Field(description="prediction from premise and hypothesis")
    from_input_and_explanation: NliLabel = Field(
        description="prediction from premise, hypothesis and explanation"
    )
    from_explanation: NliLabel | None = Field(
        default=None, description="prediction from the explanation alone; needed for LAS"
    )


class FtcPerturbation(Message):
    """The same item with noise on the model's input embeddings."""

    variance: float = Field(
        ge=0, le=1e6, description="variance of the Gaussian noise, whose mean is 0"
    )
    label: NliLabel = Field(description="the model's label under noise")
    simulated: NliLabel | None = Field(
        default=None,
        description="the simulator's label for the noisy input together with the explanation "
        "generated from it; needed for the stability form of LRA",
    )


class FtcStudy(Message):
    """Additional data for a study of this explanation."""

    simulation: FtcSimulation | None = None
    perturbations: tuple[FtcPerturbation, ...] = Field(default=(), max_length=32)
    human_labels: dict[Kind, Votes] = Field(
        default_factory=dict, description="people's labels of (premise, counterfactual)"
    )
    inputs: Inputs | None = Field(
        default=None,
        description="the input that the explanation was generated from; `another_item`: "
        "another pair of sentences",
    )


class FtcScores(Message):
    """Means over results, with intervals; higher is better."""

    delta: Interval
    k: Interval
    w: Interval
    w_normalized: Interval
    geometric_mean_p: float | None = Field(description="exp(mean k - 1)")


class FtcCaseScores(Message):
    """Mean scores for one original label, or for one counterfactual label of neutral pairs."""

    case: Case
    coverage: Interval = Field(description="share of this label's results that have a score")
    scores: FtcScores
    human_ceiling: float | None = Field(
        description="the delta of human annotators in the paper (Table 10), which even a perfect "
        "model is not expected to exceed; null for the mean of both"
    )
    null_win_rate: Interval = Field(description="mean over results; chance is 0.5")


class FtcBaselineScores(Message):
    """Scores of an answer that ignores the explanation."""

    name: Literal["always_entailment", "majority", "uniform", "unedited", "blank_premise"]
    delta: float
    k: float
    w: float
    w_normalized: float


class FtcAgainstRandom(Message):
    """Compares explanations with random phrases, over results with both. Counterfactuals are
    averaged first, then results. The chance level depends on the texts."""

    results: Count
    explanations: FtcScores
    random_phrases: FtcScores
    difference: dict[Statistic, Interval] = Field(
        description="mean difference between explanations and random phrases, computed for each "
        "result; 0 is chance"
    )


class FtcLas(Message):
    """Leakage-adjusted simulatability (Hase et al., 2020)."""

    las: Interval = Field(description="mean of the groups with and without leakage, [-1, 1]")
    leaking: float | None = Field(description="items where the explanation alone reveals the label")
    not_leaking: float | None
    of_leaking: int
    of_not_leaking: int


class FtcLra(Message):
    """Label-rationale association (Wiegreffe et al., 2020) at one strength of noise."""

    variance: float
    literal: Interval = Field(
        description="LRA as printed in the paper: the label is stable exactly if the simulator "
        "gains"
    )
    stability: Interval = Field(
        description="share of items where both are stable or both are not; null without `simulated`"
    )


class FtcSimulatability(Message):
    """Tests whether scores predict where people agree with the model's label of a
    counterfactual."""

    case: Case
    statistic: Statistic
    rho: Share | None = Field(
        description="probability that a score where they agree exceeds one where they do not; ties "
        "count half: U/(n m)"
    )
    p_value: Share | None = Field(description="Wilcoxon rank-sum, two-sided")
    p_adjusted: Share | None = Field(
        default=None, description="p-value after Holm over all cases and statistics of the report"
    )
    agreeing: int
    disagreeing: int
    dropped: int = Field(description="counterfactuals whose votes tie")


class FtcInputScores(Message):
    """The scores of explanations generated from `inputs`."""

    inputs: Inputs
    results: int
    coverage: Interval
    scores: FtcScores
    difference: dict[Statistic, Interval] = Field(
        description="mean of `all` minus that of this row, over the items (premise, hypothesis) "
        "that both cover"
    )


UnexplainedAnswer = Literal[
    "always_entailment",
    "always_neutral",
    "always_contradiction",
    "uniform",
    "unedited",
    "blank_premise",
]


class FtcSkill(Message):
    """The gain of explanations over the best score without them, for one label or all three."""

    label: Literal["macro", "entailment", "neutral", "contradiction"]
    skill: float | None = Field(
        le=1,
        description="(score - baseline_score) / (1 - baseline_score): 1 is perfect, 0 no better "
        "than the baseline, below 0 worse; null if the baseline is above 0.95, see `reason`",
    )
    score: Share = Field(description="mean w_normalized of the results with a score")
    baseline: UnexplainedAnswer = Field(description="the best answer without the explanation")
    baseline_score: Share = Field(description="mean score of this best answer on the same targets")
    difference: Interval = Field(
        description="score - baseline_score, paired, with its interval over texts, [-1, 1]"
    )
    p_value: PValue | None = Field(
        description="two-sided p-value for a mean difference of 0, by sign flips of whole texts"
    )
    reason: Annotated[str, Word] | None = Field(description="why skill is null")


class FtcBatchReport(BatchReport):
    """The batch report of FTC: scores by label, with macro and micro means."""

    skill: tuple[FtcSkill, ...] = Field(
        default=(),
        description="the main comparison, with answers without the explanation; empty if no result "
        "has a score",
    )
    gain: Interval | None = Field(
        default=None,
        description="mean of the labels' means of `gain`: w_normalized minus that of random "
        "phrases; chance is 0",
    )
    coverage: Interval = Field(description="share of results that have a score")
    cases: tuple[FtcCaseScores, ...]
    macro: FtcScores = Field(
        description="mean of the original labels' means; the main number of the report"
    )
    micro: FtcScores = Field(description="mean over results")
    baselines: tuple[FtcBaselineScores, ...]
    null_win_rate: Interval
    against_random: FtcAgainstRandom | None = Field(
        default=None, description="null if no result has random phrases"
    )
    null_significant: Interval = Field(
        description="share of results with p <= 0.05, among results where such a p is possible "
        "(`of`: their number); 0.05 is expected by chance"
    )
    rules: dict[str, int] = Field(description="pattern that matched → results")
    transformations: dict[str, int] = Field(description="way the hypothesis was changed → results")
    abstentions: dict[str, int] = Field(description="reason → results")
    las: FtcLas | None = Field(description="null unless results contain `study.simulation`")
    lra: tuple[FtcLra, ...] = Field(
        description="empty unless results contain `study.perturbations`"
    )
    simulatability: tuple[FtcSimulatability, ...] = Field(
        description="empty unless results contain `study.human_labels`"
    )
    sensitivity: tuple[FtcInputScores, ...] = Field(
        description="empty unless results contain `study.inputs`"
    )


class FtcBatchReportRequest(BatchReportRequest):
    """Selects the results to report."""
