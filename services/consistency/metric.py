"""`consistency`: two published tests of a model's explanation of its own answer.

Source: Chen et al. (2023), arXiv:2307.08678; Parcalabescu & Frank, ACL 2024, arXiv:2311.07466.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from services.consistency import kernel
from services.consistency.batch_report import Row, Statistics, batch_report
from services.consistency.contract import CONTRACT, ConsistencyRequest
from services.consistency.edits import (
    Simulated,
    shares_of,
    simulated_by_reader,
    simulated_by_rules,
)
from services.consistency.kernel import Bools, Floats, Predictions
from services.consistency.model_calls import Answers, ConsistencyCollected, ask_models, prompt_of
from services.consistency.report import (
    ConsistencyBatchReport,
    ConsistencyComponents,
    ConsistencyControl,
    ConsistencyEditRow,
    ConsistencyEvidence,
    ConsistencyNull,
    ConsistencyPart,
    ConsistencyResult,
    ConsistencyWordValue,
    EditOf,
    EditOperator,
)
from services.consistency.variants import VARIANTS, ConsistencyVariant
from shared.contracts.messages import Languages
from shared.models.ports import models
from shared.reports.metric import Collected, Metric
from shared.statistics import ranks
from shared.statistics.placements import runs_of
from shared.statistics.seeds import generator
from shared.text.language import (
    LanguageCoverage,
    ModelLanguages,
    find_language,
    model_coverage,
    requested_language,
)
from shared.text.word_segmentation import words_obstacle


@dataclass(frozen=True)
class Agreement:
    """Agreement between the words' contributions to the answer and to the explanation."""

    cosine: float | None  # None if a side has no contributions
    null: Floats  # (M,) cosines
    placements: int  # of the contributions, without the observed one
    most: int  # draws requested


MOST_REPORTED = 10**15  # a larger count of placements is reported as null
NOTHING = ConsistencyComponents(
    simulatability=None,
    attribution_agreement=None,
    cosine=None,
    precision_changes=None,
    precision_stays=None,
    edits=0,
    simulatable=0,
    cited_words=0,
    words=0,
)


class Consistency(
    Metric[ConsistencyRequest, ConsistencyCollected, ConsistencyResult, ConsistencyVariant]
):
    """Measures if a model's explanation predicts its answers, and if the same words drive both."""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[ConsistencyRequest]) -> list[ConsistencyCollected]:
        return ask_models(requests)

    def coverage(self, request: ConsistencyRequest) -> LanguageCoverage:
        """Return which languages the models support, and if the text can be split into words."""
        requested = requested_language(request)
        text = find_language(request.text, requested)
        languages = Languages(text=text, explanation=find_language(request.explanation, requested))
        names = [name for name in (request.model, request.reader_model) if name is not None]
        languages_of_models = [
            ModelLanguages(name, models().judge(name).languages) for name in names
        ]
        return model_coverage(
            request, languages, languages_of_models, (words_obstacle(request.text, text),)
        )

    def report(
        self, request: ConsistencyRequest, collected: ConsistencyCollected
    ) -> ConsistencyResult:
        answers = collected.answers
        simulated = self._simulated(request, answers)
        agreed = _agreed(request, answers)
        precision = None if simulated is None else simulated.precision
        cosine = None if agreed is None else agreed.cosine
        components = ConsistencyComponents(
            simulatability=precision.value if precision else None,
            attribution_agreement=kernel.agreement(cosine),
            cosine=cosine,
            precision_changes=precision.changes if precision else None,
            precision_stays=precision.stays if precision else None,
            edits=0 if answers.changed is None else answers.changed.size,
            simulatable=precision.predicted if precision else 0,
            cited_words=len(answers.cited.words),
            words=len(answers.text),
        )
        scores: dict[ConsistencyPart, float | None] = {
            "simulatability": components.simulatability,
            "attribution": components.attribution_agreement,
        }
        score = kernel.mean(list(scores.values()))
        reasons = list(answers.reasons)
        if score is None:
            reasons += [row.model_copy(update={"component": "score"}) for row in answers.reasons]
        control = ConsistencyControl(
            simulatability=_simulatability_null(answers, simulated),
            attribution=None
            if agreed is None or agreed.cosine is None or not agreed.null.size
            else ConsistencyNull(
                kind="permuted words",
                **_null_fields(agreed.cosine, agreed.null, agreed.placements, agreed.most),
            ),
        )
        return ConsistencyResult(
            **self.envelope(request, collected, _warnings(answers, simulated, agreed)),
            score=score,
            decision=answers.label or None,
            parts=tuple(part for part, value in scores.items() if value is not None),
            cited_by=answers.cited.by,
            components=components,
            edit_rows=tuple(_edit_rows(request, answers, simulated)),
            word_values=tuple(_word_values(answers)),
            evidence=tuple(_evidence(request, answers)),
            control=None if control == ConsistencyControl() else control,
            reasons=tuple(reasons),
        )

    def _simulated(self, request: ConsistencyRequest, answers: Answers) -> Simulated | None:
        changed, balanced = answers.changed, self.variant(request).balanced
        if changed is None:
            return None
        if answers.predicted is not None:
            predicted, changed_rows = answers.predicted, changed.reshape(-1)
            return simulated_by_reader(
                predicted, changed_rows, request.permutations, request.seed, balanced=balanced
            )
        if answers.passages is None:
            return None
        return simulated_by_rules(answers.passages, changed, balanced=balanced)

    def undefined(self, request: ConsistencyRequest, collected: Collected) -> ConsistencyResult:
        return ConsistencyResult(
            **self.envelope(request, collected),
            score=None,
            decision=None,
            parts=(),
            cited_by=None,
            components=NOTHING,
            edit_rows=(),
            word_values=(),
            evidence=(),
            control=None,
        )

    def in_force(
        self, request: ConsistencyRequest, collected: ConsistencyCollected
    ) -> Mapping[str, Any]:
        """Return the prompt that asked the model for the explanation, built-in or from the request.
        Return {} if the request contains the predictions."""
        if request.predictions is not None:
            return {}
        return {"explanation_prompt": prompt_of(request).model_dump(mode="json")}

    def summarize(self, rows: Sequence[Row], over: Statistics) -> ConsistencyBatchReport:
        return batch_report(rows, over)


def _agreed(request: ConsistencyRequest, answers: Answers) -> Agreement | None:
    """Compare each word's contribution to the answer with its contribution to the explanation. The
    null distribution permutes the explanation's contributions separately among short words (up to
    three characters) and longer ones. Without this split, a text with a few important words would
    agree with every explanation."""
    answer, explanation = answers.answer, answers.explanation
    if answer is None or explanation is None or "attribution" not in request.parts:
        return None
    text, most = answers.values_of, request.permutations
    observed, strata = kernel.cosine(answer, explanation), text.strata()
    placements = kernel.permutation_count(strata) - 1
    null = np.empty(0)
    if observed is not None and placements:
        random = generator(request.seed, "consistency", "permutations", text.text)
        orders = kernel.permuted(strata, random, most)
        null = kernel.cosines(answer, explanation[orders])
    return Agreement(observed, null, placements, most)


def _simulatability_null(answers: Answers, simulated: Simulated | None) -> ConsistencyNull | None:
    if simulated is None or simulated.precision.value is None or not simulated.null.size:
        return None
    by_rules = answers.predicted is None and answers.passages is not None
    overlap = None
    if by_rules and answers.passages is not None:
        overlap = float(np.mean(list(shares_of(answers.passages.taken))))
    return ConsistencyNull(
        kind="spans" if by_rules else "predictions",
        overlap=overlap,
        **_null_fields(
            simulated.precision.value, simulated.null, simulated.placements, simulated.most
        ),
    )


def _null_fields(observed: float, null: Floats, placements: int, most: int) -> dict[str, Any]:
    return {
        **ranks.null_fields(observed, null),
        "placements": placements if placements <= MOST_REPORTED else None,
        "exact": null.size == placements,
        "attainable_p": ranks.attainable_p(min(most, placements)),
    }


def _edit_rows(
    request: ConsistencyRequest, answers: Answers, simulated: Simulated | None
) -> Iterator[ConsistencyEditRow]:
    if simulated is None or answers.changed is None:
        return
    predicted, changed = simulated.predicted, answers.changed
    if answers.passages is None:
        yield _edit_row("sent", None, predicted, changed.reshape(-1))
        return
    predictions = np.broadcast_to(predicted.reshape(-1, changed.shape[1]), changed.shape)
    for number, operator in enumerate(request.operators):
        yield _edit_row("cited", operator, predictions[number, :1], changed[number, :1])
        yield _edit_row("random", operator, predictions[number, 1:], changed[number, 1:])


def _edit_row(
    of: EditOf, operator: EditOperator | None, predicted: Predictions, changed: Bools
) -> ConsistencyEditRow:
    return ConsistencyEditRow(
        of=of,
        operator=operator,
        edits=changed.size,
        changed=int(changed.sum()),
        predicted=int((predicted != kernel.UNKNOWN).sum()),
        agreeing=int(kernel.agreeing(predicted, changed).sum()),
    )


def _word_values(answers: Answers) -> Iterator[ConsistencyWordValue]:
    if answers.answer is None or answers.explanation is None:
        return
    for (start, end), answer, explanation in zip(
        answers.values_of.spans,
        answers.answer.tolist(),
        answers.explanation.tolist(),
        strict=True,
    ):
        yield ConsistencyWordValue(start=start, end=end, answer=answer, explanation=explanation)


def _evidence(request: ConsistencyRequest, answers: Answers) -> Iterator[ConsistencyEvidence]:
    spans = answers.text.spans
    for first, last in runs_of(answers.cited.words):
        start, end = spans[first][0], spans[last - 1][1]
        yield ConsistencyEvidence(kind="cited", start=start, end=end, text=request.text[start:end])
    for quotation in answers.cited.missing:
        yield ConsistencyEvidence(kind="quote_not_found", start=None, end=None, text=quotation)


def _warnings(
    answers: Answers, simulated: Simulated | None, agreed: Agreement | None
) -> Iterator[str]:
    if answers.cited.missing:
        yield f"{len(answers.cited.missing)} quotations are not in the text"
    if answers.cited.by == "shared words":
        yield (
            "the explanation quotes nothing, so the content words that it shares with the text "
            "count as citations"
        )
    if simulated is not None:
        if simulated.precision.value is None and answers.cited.words:
            yield (
                "simulatability: undefined, because it needs both edits that should change "
                "the answer and edits that should not"
            )
        elif simulated.precision.value is not None and not simulated.null.size:
            yield "simulatability: the text has no other passages to compare the cited ones with"
    if agreed is not None and agreed.cosine is None:
        yield (
            "attribution_agreement: undefined, because no word contributes to the answer, or "
            "none contributes to the explanation"
        )


SERVICE = Consistency()
