"""Runs the model on all requests of a batch, in few calls for tokens, attributions and variations
of the texts.

The answer for a variation does not depend on other variations (shared.models.ports), so a request
gets the same score alone and in a batch. Variations that remove whole words work with any model,
and LIME then runs over words. If one probability cannot be read, the whole request is null with the
reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import inf

import numpy as np

from services.ice.contract import DEFAULT_MODEL, IceRequest
from services.ice.cost import (
    MOST_TOKENS,
    DrawCount,
    count_rows,
    lowerings,
    server_cost,
    work_at_server,
    work_of_draws,
)
from services.ice.experiment import Experiment, Key
from services.ice.explanations import (
    TestedExplanation,
    TokenizedInput,
    attribution_method,
    eligible_tokens,
    example_of,
    explanations,
    target_column,
)
from services.ice.kernel import Floats
from services.ice.operators import Operators, Pool, operators_of, pool_examples, pool_of
from services.ice.variants import VARIANTS
from services.ice.words import WordReading, no_words, read_words, rows_of
from shared.contracts.calls import (
    AttributionMethod,
    Attributions,
    Example,
    ExampleRows,
    Row,
    Tokens,
    WordJudgements,
)
from shared.contracts.errors import BadInput, DegenerateInput, TooCostly
from shared.contracts.judgement import Judgement, Unread, mass_warnings, text_cut
from shared.contracts.labels import predict_label
from shared.contracts.messages import ModelKind, ModelUse
from shared.contracts.request_cost import Work, WorkLimit
from shared.models.ports import Judge, models
from shared.process.settings import settings
from shared.queue.job_context import check_each
from shared.statistics import lime
from shared.text.language import ModelLanguages, Obstacle

TOKENS_A_CALL = 100_000  # under a minute of one CPU core for a small encoder

MissingScore = tuple[Experiment, Key, list[Row]]
Part = list[MissingScore]  # of one experiment, that one answer tells


def run_experiments(requests: Sequence[IceRequest]) -> list[tuple[Experiment | Unread, ModelUse]]:
    """Run the model on all requests. Return the scores of each, or the reason why they cannot be
    read, and how the model was used."""
    names = [request.model or DEFAULT_MODEL for request in requests]
    done: dict[int, tuple[Experiment | Unread, ModelUse]] = {}
    for name in dict.fromkeys(names):
        indices = [index for index, requested in enumerate(names) if requested == name]
        model = models().judge(name)
        batch = [requests[index] for index in indices]
        experiments = _experiments(batch, model, name)
        done |= {
            index: (experiment, _use(experiment, requests[index], model))
            for index, experiment in zip(indices, experiments, strict=True)
        }
    return [done[index] for index in range(len(requests))]


def _use(result: Experiment | Unread, request: IceRequest, model: Judge) -> ModelUse:
    """Return the model, settings and prompt that were used, for the provenance. For a request with
    its own prompt, `prompt_sha256` is that prompt's hash, or None if the answers could not be read.
    """
    if request.options.prompt is None:
        return model.use
    brought = result.tokenized.prompt_sha256 if isinstance(result, Experiment) else None
    return model.use.model_copy(update={"prompt_sha256": brought})


def model_languages(request: IceRequest) -> ModelLanguages:
    name = request.model or DEFAULT_MODEL
    return ModelLanguages(name, models().judge(name).languages)


def words_missing(request: IceRequest) -> Obstacle | None:
    """Return why the text cannot be split into words. Return None if it can, or if the request does
    not need words."""
    model = models().judge(request.model or DEFAULT_MODEL)
    return no_words(request) if rows_of(request, model) == "words" else None


def _experiments(
    requests: Sequence[IceRequest], model: Judge, name: str
) -> list[Experiment | Unread]:
    inputs = _inputs(requests, model, name)
    prepared = _prepare([item for item in inputs if isinstance(item, TokenizedInput)], model)
    running = [item for item in prepared if isinstance(item, Experiment)]
    for experiment in running:
        check_cost(experiment)
        experiment.begin()
    unread = _score(running, model)
    done = iter([unread.get(id(item), item) for item in prepared])
    return [item if isinstance(item, Unread) else next(done) for item in inputs]


def _prepare(inputs: Sequence[TokenizedInput], model: Judge) -> list[Experiment | Unread]:
    prepared: list[Experiment | Unread] = []
    for tokenized, tested, operators in zip(
        inputs, _explanations(inputs, model), _operators(inputs, model), strict=True
    ):
        prepared.append(
            tested if isinstance(tested, Unread) else Experiment(tokenized, tested, operators)
        )
    return prepared


def _inputs(
    requests: Sequence[IceRequest], model: Judge, name: str
) -> list[TokenizedInput | Unread]:
    """Return inputs in tokens or in words, as the request and the model's abilities require."""
    in_words = [rows_of(request, model) == "words" for request in requests]
    pairs = list(zip(requests, in_words, strict=True))
    tokens = iter(_tokenize([request for request, words in pairs if not words], model, name))
    kind = models().kind(name)
    words = iter(word_inputs([request for request, words in pairs if words], model, kind))
    return [next(words) if uses_words else next(tokens) for uses_words in in_words]


def _tokenize(
    requests: Sequence[IceRequest], model: Judge, name: str
) -> list[TokenizedInput | Unread]:
    """Return each request's tokens with the label probabilities of its whole text, or the reason
    why they are missing."""
    if not requests:
        return []
    examples = [example_of(request) for request in requests]
    kind = models().kind(name)
    return [
        read.unread or _input(request, kind, tokens, read, model)
        for request, tokens, read in zip(
            requests, model.tokens(examples), _predict_full(requests, examples, model), strict=True
        )
    ]


def _input(
    request: IceRequest, kind: ModelKind, tokens: Tokens, read: Judgement, model: Judge
) -> TokenizedInput:
    row = read.unwrap()
    predicted = predict_label(read.labels, list(row), model.use.thresholds)
    return TokenizedInput(
        request=request,
        kind=kind,
        tokens=tokens,
        eligible=eligible_tokens(request, tokens),
        labels=read.labels,
        probabilities=np.array(row),
        target=target_column(request, read.labels, predicted),
        prompt_sha256=read.prompt_sha256,
        doubts=mass_warnings(model.use.name, read),
    )


def _predict_full(
    requests: Sequence[IceRequest], examples: Sequence[Example], model: Judge
) -> list[Judgement]:
    """Return the judgement of each whole text. The published variants use the labels' probabilities
    even if these are small in total."""
    doubted = [VARIANTS[request.variant].doubts for request in requests]
    pairs = list(zip(requests, examples, doubted, strict=True))
    judged = iter(model.judgements([example for _, example, is_doubted in pairs if is_doubted]))
    example_rows = [
        ExampleRows(example=example, rows=(Row(),), calibrated=VARIANTS[request.variant].calibrated)
        for request, example, is_doubted in pairs
        if not is_doubted
    ]
    others = iter(model.judge_rows(example_rows) if example_rows else [])
    return [
        next(judged) if is_doubted else _from_row(next(others)[0], model.labels_of(example))
        for _, example, is_doubted in pairs
    ]


def _from_row(row: Floats, labels: tuple[str, ...]) -> Judgement:
    _check_numbers(row)
    return Judgement(labels=labels, probabilities=tuple(row.tolist()), reading=None)


def _explanations(
    inputs: Sequence[TokenizedInput], model: Judge
) -> list[list[TestedExplanation] | Unread]:
    """Return each request's explanations, or the reason why a request has none. Requests split into
    tokens need one model call per attribution method."""
    methods = [_methods(tokenized) for tokenized in inputs]
    by_method: dict[AttributionMethod, list[tuple[int, int]]] = defaultdict(list)
    for index, requested in enumerate(methods):
        for number, method in enumerate(requested if inputs[index].words is None else ()):
            by_method[method].append((index, number))
    answers: dict[tuple[int, int], Attributions] = {}
    for method, positions in by_method.items():
        group = [inputs[index] for index, _ in positions]
        targets = [tokenized.labels[tokenized.target] for tokenized in group]
        computed = model.attributions([tokenized.example for tokenized in group], targets, method)
        answers |= dict(zip(positions, computed, strict=True))
    results: list[list[TestedExplanation] | Unread] = []
    for index, (tokenized, requested) in enumerate(zip(inputs, methods, strict=True)):
        words = tokenized.words
        values = (
            [answers[index, number] for number in range(len(requested))]
            if words is None
            else word_attributions(tokenized, words, requested, model)
        )
        results.append(values if isinstance(values, Unread) else explanations(tokenized, values))
    return results


def _methods(tokenized: TokenizedInput) -> list[AttributionMethod]:
    """Return the attribution methods that the service itself computes. Raises TooCostly if these
    methods alone exceed the limit."""
    request = tokenized.request
    methods = [attribution_method(name, request, tokenized.kind) for name in request.methods]
    _check_methods(tokenized, methods)
    return methods


def _operators(inputs: Sequence[TokenizedInput], model: Judge) -> list[Operators]:
    """Return each request's ways to remove words. Each distinct filler text is tokenized once."""
    pools = {
        index: pool_examples(tokenized.request)
        for index, tokenized in enumerate(inputs)
        if "infill" in tokenized.request.options.operators
    }
    distinct = {
        example.model_dump_json(): example
        for index, pool_texts in pools.items()
        for example in (pool_texts if inputs[index].words is None else ())
    }
    read = model.tokens(list(distinct.values())) if distinct else ()
    tokens = dict(zip(distinct, read, strict=True))

    def pool(index: int, tokenized: TokenizedInput) -> Pool | None:
        if index not in pools:
            return None
        words = tokenized.words
        texts = [
            (item, tokens[item.model_dump_json()] if words is None else words.pool(item))
            for item in pools[index]
        ]
        return pool_of(tokenized.request, tokenized.labels, texts)

    return [operators_of(item, pool(index, item)) for index, item in enumerate(inputs)]


def _score(experiments: Sequence[Experiment], model: Judge) -> dict[int, Unread]:
    """Score all rows. Return the reasons why experiments have no usable scores, keyed by id() of
    the experiment."""
    unread: dict[int, Unread] = {}
    for part, answers in _predict(experiments, model):
        _take(part, answers, unread)
    return unread


def _take(part: Part, answers: Floats | Unread, unread: dict[int, Unread]) -> None:
    """Store the scores in their experiment, or record why they are missing."""
    experiment = part[0][0]
    if isinstance(answers, Unread):
        unread.setdefault(id(experiment), answers)
        return
    _check_numbers(answers)
    experiment.record_scores(
        [(key, rows if answers.size else []) for _, key, rows in part], answers
    )


def _predict(
    experiments: Sequence[Experiment], model: Judge
) -> Iterator[tuple[Part, Floats | Unread]]:
    """Call the model in batches, and yield each group of missing scores with its answers.
    Variations in tokens get probabilities of all labels, shape (R, L). Variations in words get
    those of the target, shape (R,)."""
    for call in _batches(experiments):
        parts = [list(part) for _, part in groupby(call, key=_group_key)]
        by_tokens = [part for part in parts if part[0][0].tokenized.words is None]
        yield from zip(by_tokens, _of_tokens(by_tokens, model), strict=True)
        in_words = [part for part in parts if part[0][0].tokenized.words is not None]
        nothing = [part for part in in_words if part[0][1][1] is None]
        some = [part for part in in_words if part[0][1][1] is not None]
        yield from zip(some, targets_of_rows(list(map(_in_words, some)), model), strict=True)
        for part in nothing:
            yield part, empty_targets(*_in_words(part), model)


def _of_tokens(parts: Sequence[Part], model: Judge) -> list[Floats]:
    """Return the probabilities of every label, of shape (R, L), for each part (R variations of one
    example)."""
    if not parts:
        return []
    variations = [
        ExampleRows(
            example=part[0][0].example_of(part[0][1]),
            rows=tuple(_rows(part)),
            calibrated=part[0][0].tokenized.variant.calibrated,
        )
        for part in parts
    ]
    return list(model.judge_rows(variations))


def _in_words(part: Part) -> tuple[TokenizedInput, WordReading, list[Row]]:
    tokenized = part[0][0].tokenized
    if tokenized.words is None:
        raise ValueError("this method needs rows of words, but the rows consist of tokens")
    return tokenized, tokenized.words, _rows(part)


def _rows(part: Part) -> list[Row]:
    return [row for _, _, rows in part for row in rows]


def _group_key(missing: MissingScore) -> tuple[int, Example | None, bool]:
    """Return a key that is equal for rows that can share one call."""
    experiment, (operator, subset), _ = missing
    other = experiment.operators.empty_example(operator) if subset is None else None
    in_words = experiment.tokenized.words is not None
    return id(experiment), other, in_words and subset is None


def _batches(experiments: Sequence[Experiment]) -> Iterator[list[MissingScore]]:
    """Yield the missing scores in groups, one group per model call. The rows of a score are built
    just before its call."""
    call: list[MissingScore] = []
    size = 0
    for experiment in experiments:
        whole = len(experiment.tokenized.tokens.ids)
        for key in check_each(experiment.missing()):
            rows = experiment.rows_of(key)
            tokens = sum(whole if row.kept is None else len(row.kept) for row in rows)
            if call and size + tokens > TOKENS_A_CALL:
                yield call
                call, size = [], 0
            call.append((experiment, key, rows))
            size += tokens
    if call:
        yield call


def _check_numbers(probabilities: Floats) -> None:
    if not np.all(np.isfinite(probabilities)):
        raise DegenerateInput("the model's probability of the target is not a number")


def check_cost(experiment: Experiment) -> None:
    """Raise TooCostly if the model would have to read too much for all random token sets."""
    _limit().check(cost_of(experiment))


def _limit() -> WorkLimit:
    return WorkLimit(seconds=inf, tokens_per_second=1, server_rows=settings().server_rows)


def cost_of(experiment: Experiment) -> tuple[Work, ...]:
    """Return the work of scoring all random token sets of an experiment, whose text is already
    tokenized. A repeated set counts once."""
    tokenized = experiment.tokenized
    whole, eligible = len(tokenized.tokens.ids), len(tokenized.eligible)

    def works(request: IceRequest) -> tuple[Work, ...]:
        budgets = (None, *request.options.budgets)
        nulls = {t.null.key: t.null for t in experiment.trials if t.k in budgets}.values()
        scaffold = whole - eligible
        drawn = [
            DrawCount(
                (scaffold + null.size, whole - null.size)[: len(request.options.aspects)],
                min(request.most_draws, null.others),
            )
            for null in nulls
        ]
        lower = tuple(lowerings(request, eligible, works))
        work = tuple(work_of_draws(request, drawn, whole, lower))
        if tokenized.words is None or not tokenized.words.served:
            return work
        return (work_at_server(request, [drawn_size.draws for drawn_size in drawn], lower), *work)

    return works(tokenized.request)


def _check_methods(tokenized: TokenizedInput, methods: Sequence[AttributionMethod]) -> None:
    """Raise TooCostly if the computed explanations alone cost too much."""
    if tokenized.words is not None and tokenized.words.served:
        _limit().check(server_cost(tokenized.request, len(tokenized.tokens.ids)))
    most = sum(map(count_rows, methods)) * len(tokenized.tokens.ids)
    if most > MOST_TOKENS:
        raise TooCostly(
            f"the attributions make the model read {most:,} tokens, more than {MOST_TOKENS:,}; "
            "lower `samples` or `steps`, or request fewer methods",
            pointer="/attribution",
        )


def word_inputs(
    requests: Sequence[IceRequest], model: Judge, kind: ModelKind
) -> list[TokenizedInput | Unread]:
    """Return one entry per request: its text in words with the label probabilities of the whole
    text, or the reason why these probabilities are missing."""
    readings = [read_words(request, example_of(request), model) for request in requests]
    if not readings:
        return []
    judged = model.judgements([reading.example for reading in readings])
    return [
        _word_input(request, kind, reading, judgement.fine(), model)
        for request, reading, judgement in zip(requests, readings, judged, strict=True)
    ]


def _word_input(
    request: IceRequest, kind: ModelKind, reading: WordReading, judged: Judgement, model: Judge
) -> TokenizedInput | Unread:
    if judged.probabilities is None:
        return judged.unread or Unread(
            code="answer-unread", detail="the model's probability could not be read"
        )
    use = model.use
    if judged.read_share < 1:
        reading.doubts.append(text_cut(use.name, judged.read_share))
    reading.uncertainty = judged.uncertainty
    predicted = predict_label(judged.labels, list(judged.probabilities), use.thresholds)
    return TokenizedInput(
        request=request,
        kind=kind,
        tokens=reading.tokens,
        eligible=tuple(range(len(reading.tokens.ids))),
        labels=judged.labels,
        probabilities=np.array(judged.probabilities),
        target=target_column(request, judged.labels, predicted),
        words=reading,
        prompt_sha256=judged.prompt_sha256,
        doubts=mass_warnings(use.name, judged),
    )


def targets_of_rows(
    batch: Sequence[tuple[TokenizedInput, WordReading, Sequence[Row]]], model: Judge
) -> list[Floats | Unread]:
    """Return for each input the target label's probabilities on its variations, or the reason why
    they cannot be read."""
    if not batch:
        return []
    answers = model.judge_words([reading.rows(rows) for _, reading, rows in batch])
    return [
        _targets(tokenized.target, reading, answer)
        for (tokenized, reading, _), answer in zip(batch, answers, strict=True)
    ]


def _targets(column: int, reading: WordReading, answer: WordJudgements) -> Floats | Unread:
    reading.uncertainty = max(reading.uncertainty, answer.uncertainty)
    read = [row[column] for row in answer.probabilities if row is not None]
    if len(read) < len(answer.probabilities):
        return answer.unread or Unread(
            code="answer-unread", detail="the model's probability could not be read"
        )
    return np.array(read, dtype=np.float64)


def empty_targets(
    tokenized: TokenizedInput, reading: WordReading, rows: Sequence[Row], model: Judge
) -> Floats:
    """Return the target's probabilities for texts without a word, or an empty array if the model
    rejects empty texts."""
    try:
        [result] = targets_of_rows([(tokenized, reading, rows)], model)
    except BadInput:
        return np.empty(0)
    return np.empty(0) if isinstance(result, Unread) else result


def word_attributions(
    tokenized: TokenizedInput,
    reading: WordReading,
    methods: Sequence[AttributionMethod],
    model: Judge,
) -> list[Attributions] | Unread:
    """Return the importance of W words by every method. LIME is computed over words. The values of
    other methods are computed over tokens and summed per word."""
    attributions = []
    for method in methods:
        if method.name == "lime":
            lime_values = _by_lime(tokenized, reading, method, model)
            if isinstance(lime_values, Unread):
                return lime_values
            attributions.append(lime_values)
            continue
        target = tokenized.labels[tokenized.target]
        [answer] = model.attributions([reading.example], [target], method)
        [tokens] = model.tokens([reading.example])
        attributions.append(reading.of_words(tokens, answer.values))
    return attributions


def _by_lime(
    tokenized: TokenizedInput, reading: WordReading, method: AttributionMethod, model: Judge
) -> Attributions | Unread:
    """Return each unit's LIME value, computed by deleting words as in the released
    `lime_text.py`. Samples that delete all words are left out."""
    drawn = lime.draws(method.samples, len(tokenized.eligible), method.seed)
    masks = drawn[drawn.any(axis=1)]
    rows = [Row(kept=tuple(np.flatnonzero(mask).tolist())) for mask in masks]
    [targets] = targets_of_rows([(tokenized, reading, rows)], model)
    if isinstance(targets, Unread):
        return targets
    return Attributions(values=tuple(lime.coefficients(masks, targets).tolist()))
