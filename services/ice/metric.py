"""The ICE metric: compares the score of the marked tokens with those of random ones, and warns of
doubtful results. Source: Basu & Chakraborty, arXiv:2603.18579, section 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from services.ice import kernel
from services.ice.batch_report import ScoredIce, Statistics, batch_report
from services.ice.comparison import (
    areas,
    causal_readings,
    comparisons,
    plausibilities,
    undefined_interactions,
)
from services.ice.contract import CONTRACT, IceRequest
from services.ice.experiment import Experiment, Trial
from services.ice.explanations import TokenizedInput, span_tokens, unusable_rationale
from services.ice.input_distance import (
    Fluency,
    calibration_warnings,
    distance_of,
    fluency_of,
    length_warnings,
)
from services.ice.model_calls import model_languages, run_experiments, words_missing
from services.ice.randomization_test import run_tests
from services.ice.report import (
    TEXTS,
    IceBatchReport,
    IceChance,
    IceComparison,
    IceComponents,
    IceRationaleEvidence,
    IceResult,
    IceTest,
    IceToken,
    IceTokenValues,
)
from services.ice.variants import VARIANTS, IceVariant
from shared.contracts.judgement import Unread
from shared.contracts.labels import predict_label
from shared.contracts.messages import Languages, ModelUse
from shared.reports.metric import Collected, Metric
from shared.statistics import ranks
from shared.text.language import (
    LanguageCoverage,
    Obstacle,
    find_language,
    model_coverage,
    requested_language,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IceCollected(Collected):
    """All scores of one request. `experiment` is None if the model's probabilities were
    unreadable."""

    experiment: Experiment | None
    fluency: Fluency | None = None


class Ice(Metric[IceRequest, IceCollected, IceResult, IceVariant]):
    """Measures whether an explanation keeps the prediction better than random tokens do."""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[IceRequest]) -> list[IceCollected]:
        return [_collect_one(result, use) for result, use in run_experiments(requests)]

    def report(self, request: IceRequest, collected: IceCollected) -> IceResult:
        experiment = collected.experiment
        if experiment is None:
            return self.undefined(request, collected)
        tokenized, use = experiment.tokenized, collected.models[0]
        labels, probabilities = tokenized.labels, tokenized.probabilities.tolist()
        language = find_language(request.text, requested_language(request)).code
        tests, joint_tests = run_tests(experiment, use.sha256, language)
        score, compared = _score(experiment, tests), comparisons(experiment)
        read = causal_readings(experiment, tests, joint_tests)
        distance = distance_of(experiment, use, collected.fluency)
        doubts = (*calibration_warnings(experiment, use), *length_warnings(distance))
        return IceResult(
            **self.envelope(request, collected, (*doubts, *warnings(experiment, tests, compared))),
            score=score,
            components=IceComponents(
                tests=tests,
                areas=areas(tests, experiment.tokenized.request.options.budgets),
                comparisons=compared,
                plausibility=plausibilities(experiment),
                readings=read,
            ),
            evidence=evidence(experiment),
            control=_chance(experiment, tests),
            decision=labels[tokenized.target],
            model_decision=predict_label(labels, probabilities, use.thresholds),
            probabilities=dict(zip(labels, probabilities, strict=True)),
            rows="tokens" if tokenized.words is None else "words",
            eligible_tokens=len(tokenized.eligible),
            characters_read=tuple(map(tokenized.characters_read, TEXTS)),
            forward_rows=experiment.rows,
            reading=read[0].reading if read else None,
            distance=distance,
            tokens=tokens(tokenized) if request.options.token_values else (),
            token_values=token_values(experiment) if request.options.token_values else (),
        )

    def coverage(self, request: IceRequest) -> LanguageCoverage:
        """Return the detected language and obstacles to scoring. Obstacles are a rationale that is
        not in the text or has no word, a text without words, and an unsupported language."""
        whole = "\n".join(filter(None, (request.text, request.text_pair)))
        text = find_language(whole, requested_language(request))
        languages = (model_languages(request),)
        unread = (unusable_rationale(request), words_missing(request))
        return model_coverage(request, Languages(text=text), languages, unread)

    def undefined(self, request: IceRequest, collected: Collected) -> IceResult:
        return IceResult(
            **self.envelope(request, collected),
            score=None,
            components=IceComponents(tests=(), areas=(), comparisons=(), plausibility=()),
            evidence=(),
            control=None,
            decision=request.decision,
            model_decision=None,
            probabilities={},
            eligible_tokens=0,
            characters_read=(0, 0),
            forward_rows=0,
        )

    def in_force(self, request: IceRequest, collected: IceCollected) -> Mapping[str, Any]:
        """Return the settings that were applied. These are the units, mask text, number of draws
        and number of fill texts, and the temperature for variants without calibration."""
        raw = {} if self.variant(request).calibrated else {"temperature": 1.0}
        words = None if collected.experiment is None else collected.experiment.tokenized.words
        rows: dict[str, Any] = {"rows": "tokens"}
        if words is not None:
            mask = {"mask_text": words.mask_text} if "mask" in request.options.operators else {}
            rows = {"rows": "words", **mask}
        effective = (
            request if collected.experiment is None else collected.experiment.tokenized.request
        )
        draws = {"draws": effective.most_draws}
        return {"infill_pool_texts": len(request.options.infill_pool), **draws, **rows, **raw}

    def summarize(self, rows: Sequence[ScoredIce], over: Statistics) -> IceBatchReport:
        return batch_report(rows, over)


def _collect_one(result: Experiment | Unread, use: ModelUse) -> IceCollected:
    if isinstance(result, Experiment):
        fluency = fluency_of(result)
        if fluency is None:
            return IceCollected(experiment=result, models=(use,))
        messages = tuple(fluency.warnings())
        models = (use, fluency.use)
        return IceCollected(experiment=result, models=models, warnings=messages, fluency=fluency)
    obstacle = Obstacle(result.code, result.detail)
    return IceCollected(experiment=None, models=(use,), obstacles=(obstacle,))


def _score(experiment: Experiment, tests: Sequence[IceTest]) -> float | None:
    """Return the win rate of the first explanation at the first budget, combined over operators as
    the variant demands. Return None if a rate is undefined, or if the released code skips the
    example."""
    tokenized = experiment.tokenized
    least = tokenized.variant.least_confidence
    if least is not None and float(np.max(tokenized.probabilities)) < least:
        return None
    head = tests[0].explanation, tests[0].k, tests[0].aspect
    first = [test for test in tests if (test.explanation, test.k, test.aspect) == head]
    first = [test for test in first if test.operator == "mean"] or first
    strict = tokenized.variant.strict
    rates = [test.strict_win_rate if strict else test.win_rate for test in first]
    defined = [rate for rate in rates if rate is not None]
    return float(np.mean(defined)) if len(defined) == len(rates) else None


def _chance(experiment: Experiment, tests: Sequence[IceTest]) -> IceChance | None:
    first = tests[0].null
    if first.draws == 0:
        return None
    sd = _score_std(experiment, first.draws)
    return IceChance(win_rate=kernel.WIN_RATE_OF_CHANCE, sd=sd, draws=first.draws)


def _score_std(experiment: Experiment, draws: int) -> float:
    if experiment.tokenized.variant.mean_of_operators:
        return ranks.chance_sd(draws)
    trial = experiment.trials[0]
    places = experiment.null_positions(trial)
    pools = [
        [experiment.observed(operator, trial), *experiment.null(operator, trial, places)]
        for operator in experiment.tokenized.request.options.operators
    ]
    return kernel.score_sd(np.array(pools, dtype=np.float64))


def warnings(
    experiment: Experiment,
    tests: Sequence[IceTest],
    comparisons: Sequence[IceComparison],
) -> tuple[str, ...]:
    """Return the warnings, without duplicates."""
    messages = [
        *_cut_warnings(experiment),
        *_probability_warnings(experiment),
        *_span_warnings(experiment),
    ]
    messages += _of_variant(experiment)
    messages += [*_split_words(experiment), *_null_options(experiment)]
    messages += undefined_interactions(experiment)
    messages += [warning for test in tests for warning in _undefined_numbers(experiment, test)]
    messages += [
        *_power_warnings(tests, experiment.tokenized.request.options.alpha),
        *_tie_warnings(experiment),
        *_pair_warnings(comparisons),
    ]
    return tuple(dict.fromkeys(messages))


def _cut_warnings(experiment: Experiment) -> Iterator[str]:
    tokenized = experiment.tokenized
    if not tokenized.tokens.truncated:
        return
    for of, whole in zip(TEXTS, (tokenized.request.text, tokenized.request.text_pair), strict=True):
        length, read = len((whole or "").rstrip()), tokenized.characters_read(of)
        if read < length:
            name = "the text" if of == "text" else "the text pair"
            yield (
                f"text-cut: the model reads the first {read} of {length} characters of {name}; "
                f"the other {length - read} are ignored"
            )


def _probability_warnings(experiment: Experiment) -> Iterator[str]:
    yield from experiment.tokenized.doubts
    words = experiment.tokenized.words
    if words is None:
        return
    yield from words.doubts
    if words.uncertainty > 0:
        yield (
            "the probabilities read from the model are uncertain by up to "
            f"{words.uncertainty:.2g}; smaller differences between perturbed texts may mean nothing"
        )


def _split_words(experiment: Experiment) -> Iterator[str]:
    for trial in experiment.trials:
        if trial.null.split:
            yield (
                f"{trial.explanation.name}: a span begins or ends inside a word, so random spans "
                "are made of tokens instead of words"
            )


def _span_warnings(experiment: Experiment) -> Iterator[str]:
    human = experiment.tokenized.request.human
    if human and not span_tokens(experiment.tokenized, human):
        unit = experiment.tokenized.unit
        yield (
            f"plausibility is undefined, because the human spans contain no {unit} that the "
            "model reads"
        )


def _of_variant(experiment: Experiment) -> Iterator[str]:
    tokenized = experiment.tokenized
    if tokenized.variant.gold_label and tokenized.request.decision is None:
        yield (
            "variant paper scores the gold label; `decision` is missing, so the predicted "
            "label is used"
        )
    least, dead_zone = tokenized.variant.least_confidence, tokenized.variant.dead_zone
    confidence = float(max(tokenized.probabilities))
    if least is not None and confidence < least:
        yield (
            f"the score is null: the released code skips an example whose confidence "
            f"({confidence:.3f}) is under {least}"
        )
    if dead_zone is None:
        return
    for operator in tokenized.request.options.operators:
        empty = experiment.empty(operator)
        if empty is not None and abs(tokenized.full - empty) < dead_zone:
            yield (
                f"{operator}: the probabilities of the whole text and of no text differ by less "
                f"than {dead_zone}, so the released code makes every NSR 0 and counts the example "
                "as lost"
            )


def _null_options(experiment: Experiment) -> Iterator[str]:
    request = experiment.tokenized.request
    for trial in experiment.trials:
        null, name = trial.null, trial.explanation.name
        if request.options.strata is not None and null.strata is None:
            yield f"{name}: `strata` has no effect on passages; it is for tokens and single words"
        if null.fixed:
            yield (
                f"{name}, k {trial.k}: the rationale has all tokens of some strata, so every "
                f"random rationale contains them as well: {', '.join(null.fixed)}"
            )
        spans = null.kind in ("spans", "spans_gaps")
        if request.options.match_tokens and spans and not null.matched:
            yield (
                f"{name}: random spans may have any number of tokens, because fewer than 19 have "
                "about as many tokens as the rationale"
            )


def _undefined_numbers(experiment: Experiment, test: IceTest) -> Iterator[str]:
    name = test.title
    if test.win_rate is None and test.tokens == len(experiment.tokenized.eligible):
        yield (
            f"{name}: the rationale is the whole text, so no random rationale exists to compare "
            "with"
        )
    elif test.win_rate is None and not test.null.placements and test.null.exact:
        yield f"{name}: this text has no other rationale of the same kind"
    elif test.win_rate is None and test.aspect == "necessity":
        yield f"{name}: the model cannot read the text without the rationale"
    elif test.win_rate is None:
        yield (
            f"{name}: nothing is compared with chance, because the normalised score (NSR) is "
            "undefined: the whole text and an empty text have the same probability, or the "
            "model cannot read an empty text"
        )
    elif test.effect is None:
        yield (
            f"{name}: the effect is null, because all random rationales have the same score, or "
            "there is only one"
        )
    has_nsr = test.operator != "mean" and test.aspect == "sufficiency"
    if has_nsr and test.nsr is None and test.win_rate is not None:
        yield (
            f"{name}: NSR is null: the probabilities of the whole text and of no text differ by "
            f"less than {experiment.tokenized.request.options.nsr_epsilon}, or the model cannot "
            "read an empty text"
        )


def _power_warnings(tests: Sequence[IceTest], alpha: float) -> Iterator[str]:
    for test in tests:
        if test.verdict == "undecidable":
            draws = f"{test.null.draws} random rationales"
            if test.null.exact:
                draws = f"only {test.null.draws} other rationales of the same kind in this text"
            yield (
                f"{test.explanation}, k {test.k}: undecidable, because with {draws} p is at least "
                f"{test.null.attainable_p:.3f}, above the level {alpha}, whatever the scores are"
            )
        elif test.p_adjusted is None and test.verdict == "inconclusive":
            least = 2 / (test.null.draws + 1)
            if least > alpha:
                yield (
                    f"{test.explanation}, k {test.k}: with {test.null.draws} random rationales the "
                    f"two-sided p is at least {least:.3f}, so the only possible verdict at level "
                    f"{alpha} is `inconclusive`"
                )


def _tie_warnings(experiment: Experiment) -> Iterator[str]:
    """Yield warnings about equal values inside and outside the rationale."""
    for trial in experiment.trials:
        ranked, size = trial.explanation.ranking_values, len(trial.rationale)
        if ranked is None or size == ranked.size:
            continue
        inside, outside = np.sort(ranked)[::-1][size - 1 : size + 1]
        if inside == outside:
            yield (
                f"{trial.explanation.name}, k {trial.k}: {experiment.tokenized.unit}s inside and "
                "outside the rationale have the same value; of these, those that come first in the "
                "text count as inside"
            )


def _pair_warnings(comparisons: Sequence[IceComparison]) -> Iterator[str]:
    for comparison in comparisons:
        if comparison.draws == 0:
            yield (
                f"{comparison.first} and {comparison.second}, k {comparison.k}: they have no "
                "random rationale in common, so the difference of their win rates is null"
            )


def evidence(experiment: Experiment) -> tuple[IceRationaleEvidence, ...]:
    """Return the marked spans of every explanation at its first budget (the share of tokens that a
    rationale contains). Adjacent tokens form one span."""
    return tuple(
        span
        for trial in _at_first_budget(experiment)
        for span in _spans(experiment.tokenized, trial)
    )


def tokens(tokenized: TokenizedInput) -> tuple[IceToken, ...]:
    """Return all tokens of the request that the model reads, in order."""
    read, eligible = tokenized.tokens, set(tokenized.eligible)
    bounds = enumerate(zip(read.starts, read.ends, read.parts, strict=True))
    return tuple(
        IceToken(start=start, end=end, of=part, eligible=index in eligible)
        for index, (start, end, part) in bounds
    )


def token_values(experiment: Experiment) -> tuple[IceTokenValues, ...]:
    """Return for each explanation the value of every token, and the tokens of its rationale at the
    first budget."""
    tokenized = experiment.tokenized
    entries = []
    for trial in _at_first_budget(experiment):
        explanation = trial.explanation
        values: list[float | None] = [None] * len(tokenized.tokens.ids)
        if explanation.values is not None:
            for position, value in zip(
                tokenized.eligible, explanation.values.tolist(), strict=True
            ):
                values[position] = value
        rationale = tuple(tokenized.eligible[index] for index in trial.rationale)
        entries.append(
            IceTokenValues(explanation=explanation.name, values=tuple(values), rationale=rationale)
        )
    return tuple(entries)


def _at_first_budget(experiment: Experiment) -> list[Trial]:
    first = {trial.explanation.name: trial for trial in reversed(experiment.trials)}
    return [first[explanation.name] for explanation in experiment.explanations]


def _spans(tokenized: TokenizedInput, trial: Trial) -> Iterator[IceRationaleEvidence]:
    read, values = tokenized.tokens, trial.explanation.values
    for of in TEXTS:
        text = tokenized.request.text if of == "text" else tokenized.request.text_pair or ""
        inside = [p for p in trial.rationale if read.parts[tokenized.eligible[p]] == of]
        for _, pairs in groupby(enumerate(inside), key=lambda pair: pair[1] - pair[0]):
            run = [index for _, index in pairs]  # neighbours
            positions = [tokenized.eligible[index] for index in run]
            start = min(read.starts[position] or 0 for position in positions)
            end = max(read.ends[position] or 0 for position in positions)
            yield IceRationaleEvidence(
                start=start,
                end=end,
                text=text[start:end],
                offsets_into=of,
                explanation=trial.explanation.name,
                value=None if values is None else float(np.mean(values[run])),
            )


SERVICE = Ice()
