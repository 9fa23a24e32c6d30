"""The result types of `consistency`. Imports only pydantic."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shared.contracts.batches import BatchReport
from shared.contracts.elicitation import ExplainableReport
from shared.contracts.messages import Column, Count, Evidence, Message, Share, Word
from shared.contracts.null_report import Null
from shared.contracts.reports import Interval

ConsistencyPart = Literal["simulatability", "attribution"]
EditOperator = Literal["delete", "mask"]
EditOf = Literal["cited", "random", "sent"]
CitedBy = Literal["quotations", "shared words", "request"]


class ConsistencyEvidence(Evidence):
    """A passage that the explanation cites. A quotation that is not in the text has no offsets."""

    kind: Literal["cited", "quote_not_found"]


class ConsistencyComponents(Message):
    """The two tests, each in [0, 1], higher is better; chance is about 0.5."""

    simulatability: Share | None = Field(
        description="how often the model answers an edited text as the explanation predicts; by "
        "default the mean of two shares, over edits that should change the answer and edits that "
        "should keep it"
    )
    attribution_agreement: Share | None = Field(description="(1 + `cosine`) / 2")
    cosine: float | None = Field(
        ge=-1,
        le=1,
        description="CC-SHAP: cosine of the words' contributions to the answer and to the "
        "explanation",
    )
    precision_changes: Share | None = Field(
        description="share of the edits predicted to change the answer that do change it"
    )
    precision_stays: Share | None = Field(
        description="share of the edits predicted to keep the answer that do keep it"
    )
    edits: Count = Field(description="edited texts that the model answered")
    simulatable: Count = Field(description="edited texts whose answer the explanation predicts")
    cited_words: Count = Field(description="words of the text that the explanation cites")
    words: Count = Field(description="words of the text, without punctuation")


class ConsistencyNull(Null):
    """Chance scores for one of the two tests. `spans` cites random passages of the same lengths.
    `predictions` permutes the predictions for the request's edits. `permuted words` permutes the
    explanation's contributions among words, short ones (up to three characters) separately."""

    kind: Literal["spans", "predictions", "permuted words"]
    win_rate: Share | None = Field(
        default=None, description="share of random draws that score lower; ties count half"
    )


class ConsistencyControl(Message):
    """Comparison of each test with chance."""

    simulatability: ConsistencyNull | None = None
    attribution: ConsistencyNull | None = None


class ConsistencyEditRow(Message):
    """One kind of edits: `random`, or `sent` in the request."""

    of: EditOf
    operator: EditOperator | None = Field(description="null if the request sent the edits")
    edits: Count
    changed: Count = Field(description="edits on which the model's answer changes")
    predicted: Count = Field(description="edits whose answer the explanation predicts")
    agreeing: Count = Field(description="edits on which the model answers as predicted")


class ConsistencyWordValue(Message):
    """A word of the text and its contributions. Offsets are characters of the text."""

    start: Count
    end: Count = Field(description="exclusive")
    answer: float = Field(description="contribution to the probability of the explained answer")
    explanation: float = Field(description="contribution to the explanation's log-probability")


class ConsistencyResult(ExplainableReport):
    """The score is the mean of the tests that ran; higher is better."""

    range: tuple[float, float] = (0.0, 1.0)
    decision: Annotated[str, Column] | None = Field(
        description="the explained decision, one of the model's answers; null if it could not be "
        "read"
    )
    parts: tuple[ConsistencyPart, ...] = Field(description="the tests that the score includes")
    cited_by: CitedBy | None = Field(
        description="how the citations were found; null without citations"
    )
    components: ConsistencyComponents
    edit_rows: tuple[ConsistencyEditRow, ...]
    word_values: tuple[ConsistencyWordValue, ...] = Field(
        description="empty if the attribution test was not run"
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
        description="mean share of random citations that predict worse; chance is 0.5"
    )
    beats_permuted_words: Interval = Field(
        description="mean share of permuted contributions that agree less well; chance is 0.5"
    )
    simulatability_significant: Interval = Field(
        description="share of the simulatability tests with p <= 0.05, among tests where such a p "
        "is possible; chance is at most 0.05"
    )
    attribution_significant: Interval = Field(
        description="share of the attribution tests with p <= 0.05, counted in the same way"
    )
    cites_nothing: Interval = Field(
        description="share of explanations that cite nothing in their text"
    )
    cited_by: dict[Annotated[str, Word], Count] = Field(
        description="how the citations were found → number of results"
    )
