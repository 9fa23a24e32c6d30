"""What `consistency` reports. Part of the contract: pydantic only."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shared.contracts.batches import BatchReport
from shared.contracts.elicitation import ExplainableReport
from shared.contracts.messages import Column, Count, Evidence, Message, Word
from shared.contracts.null_report import Null
from shared.contracts.reports import Interval

ConsistencyPart = Literal["simulatability", "attribution"]
EditOperator = Literal["delete", "mask"]
EditOf = Literal["cited", "random", "sent"]
CitedBy = Literal["quotations", "shared words", "request"]
Share = Annotated[float, Field(ge=0, le=1)]


class ConsistencyEvidence(Evidence):
    """A passage of the text that the explanation cites; or a quotation that does not stand there,
    without offsets."""

    kind: Literal["cited", "quote_not_found"]


class ConsistencyComponents(Message):
    """The two tests, each in [0, 1], higher is better, 0.5 is about what chance has."""

    simulatability: Share | None = Field(
        description="how often the model's answer to an edited text is the one that the "
        "explanation predicts; by default the mean over edits that should change it and edits that "
        "should not"
    )
    attribution_agreement: Share | None = Field(description="(1 + `cosine`) / 2")
    cosine: float | None = Field(
        ge=-1,
        le=1,
        description="of what each word of the text contributes to the answer, and to the "
        "explanation: CC-SHAP",
    )
    precision_changes: Share | None = Field(
        description="share of the edits predicted to change the answer that do"
    )
    precision_stays: Share | None = Field(
        description="share of the edits predicted to leave the answer that do"
    )
    edits: Count = Field(description="edited texts that the model answered")
    simulatable: Count = Field(description="of these, those that the explanation predicts")
    cited_words: Count = Field(description="words of the text that the explanation cites")
    words: Count = Field(description="words of the text, punctuation left out")


class ConsistencyNull(Null):
    """Of one of the two tests."""

    win_rate: float | None = Field(
        default=None, ge=0, le=1, description="share of the draws that score less; ties count half"
    )


class ConsistencySimulatabilityNull(ConsistencyNull):
    """`spans`: passages of the same lengths elsewhere in the text, taken as if cited, over the same
    edits. `predictions`: the predictions for the edits that were sent, dealt to them at random."""

    kind: Literal["spans", "predictions"]


class ConsistencyAttributionNull(ConsistencyNull):
    """The explanation's contributions dealt at random among the words of the text, those of up to
    three characters among themselves; the draws' scores are cosines."""

    kind: Literal["permuted words"] = "permuted words"


class ConsistencyControl(Message):
    """What chance has, of each test."""

    simulatability: ConsistencySimulatabilityNull | None = None
    attribution: ConsistencyAttributionNull | None = None


class ConsistencyEditRow(Message):
    """Edits of one kind. random: of passages that are not cited; sent: of the request."""

    of: EditOf
    operator: EditOperator | None = Field(description="null for edits that were sent")
    edits: Count
    changed: Count = Field(description="edits on which the model's answer is another one")
    predicted: Count = Field(description="edits whose answer the explanation predicts")
    agreeing: Count = Field(description="of these, those on which the model answers so")


class ConsistencyWordValue(Message):
    """A word of the text, and what it contributes. Characters of the text."""

    start: Count
    end: Count = Field(description="exclusive")
    answer: float = Field(description="to the probability of the explained answer")
    explanation: float = Field(description="to the log-probability of the explanation")


class ConsistencyResult(ExplainableReport):
    """Higher is better: the mean of the tests that could be made."""

    range: tuple[float, float] = (0.0, 1.0)
    label: Annotated[str, Column] | None = Field(
        description="the answer that is explained; null: it was not read"
    )
    parts: tuple[ConsistencyPart, ...] = Field(description="the tests that the score is made of")
    cited_by: CitedBy | None = Field(
        description="how the citations were found; null: there are none"
    )
    components: ConsistencyComponents
    edit_rows: tuple[ConsistencyEditRow, ...]
    word_values: tuple[ConsistencyWordValue, ...] = Field(
        description="empty where the second test could not be made"
    )
    evidence: tuple[ConsistencyEvidence, ...]
    control: ConsistencyControl | None


class ConsistencyBatchReport(BatchReport):
    """Means of both tests, and how often they beat chance."""

    simulatability: Interval
    attribution_agreement: Interval
    cosine: Interval
    precision_changes: Interval
    precision_stays: Interval
    beats_random_citations: Interval = Field(
        description="mean share of random citations that predict less; chance is 0.5"
    )
    beats_permuted_words: Interval = Field(
        description="mean share of permuted contributions that agree less; chance is 0.5"
    )
    simulatability_significant: Interval = Field(
        description="share of the tests with p <= 0.05, of those that could reach it; chance is "
        "at most 0.05"
    )
    attribution_significant: Interval = Field(description="likewise, of the second test")
    cites_nothing: Interval = Field(
        description="share of the explanations that cite nothing of their text"
    )
    cited_by: dict[Annotated[str, Word], Count] = Field(
        description="how the citations were found → results"
    )
