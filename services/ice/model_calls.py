"""The model's answers to all requests of a batch, in few calls: tokens, attributions, scored rows.

A row's value does not depend on the others (shared.models.ports), so a request scores the same
alone and in a batch. A call is bounded in tokens: they bound its time (it has a deadline where the
model is another process), the size of its message, and the rows that are held at once.

Rows of words work with any judge, and LIME runs over the words. A P that cannot be read makes the
whole request null with the reason: the remaining random rationales are no random sample any more.
Source: specs "models" §4.2, §4.3.
"""

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
    """All scores of every request, or why P could not be read; with the model that gave them."""
    names = [request.model or DEFAULT_MODEL for request in requests]
    done: dict[int, tuple[Experiment | Unread, ModelUse]] = {}
    for name in dict.fromkeys(names):
        places = [place for place, own in enumerate(names) if own == name]
        model = models().judge(name)
        asked = [requests[place] for place in places]
        experiments = _experiments(asked, model, name)
        done |= {
            place: (one, _use(one, requests[place], model))
            for place, one in zip(places, experiments, strict=True)
        }
    return [done[place] for place in range(len(requests))]


def _use(found: Experiment | Unread, request: IceRequest, model: Judge) -> ModelUse:
    """The model, and the prompt that a request brought; its hash is not told of one unread."""
    if request.prompt is None:
        return model.use
    brought = found.tokenized.prompt_sha256 if isinstance(found, Experiment) else None
    return model.use.model_copy(update={"prompt_sha256": brought})


def model_languages(request: IceRequest) -> ModelLanguages:
    name = request.model or DEFAULT_MODEL
    return ModelLanguages(name, models().judge(name).languages)


def words_missing(request: IceRequest) -> Obstacle | None:
    """Why a request that is scored in words cannot be: its language has none."""
    model = models().judge(request.model or DEFAULT_MODEL)
    return no_words(request) if rows_of(request, model) == "words" else None


def _experiments(
    requests: Sequence[IceRequest], model: Judge, name: str
) -> list[Experiment | Unread]:
    inputs = _inputs(requests, model, name)
    made = _prepare([one for one in inputs if isinstance(one, TokenizedInput)], model)
    running = [one for one in made if isinstance(one, Experiment)]
    for experiment in running:
        check_cost(experiment)
        experiment.begin()
    unread = _score(running, model)
    done = iter([unread.get(id(one), one) for one in made])
    return [one if isinstance(one, Unread) else next(done) for one in inputs]


def _prepare(inputs: Sequence[TokenizedInput], model: Judge) -> list[Experiment | Unread]:
    found: list[Experiment | Unread] = []
    for tokenized, own, operators in zip(
        inputs, _explanations(inputs, model), _operators(inputs, model), strict=True
    ):
        found.append(own if isinstance(own, Unread) else Experiment(tokenized, own, operators))
    return found


def _inputs(
    requests: Sequence[IceRequest], model: Judge, name: str
) -> list[TokenizedInput | Unread]:
    """In tokens or in words, as each says or its model can."""
    in_words = [rows_of(request, model) == "words" for request in requests]
    pairs = list(zip(requests, in_words, strict=True))
    tokens = iter(_tokenize([request for request, words in pairs if not words], model, name))
    kind = models().kind(name)
    words = iter(word_inputs([request for request, words in pairs if words], model, kind))
    return [next(words) if one else next(tokens) for one in in_words]


def _tokenize(
    requests: Sequence[IceRequest], model: Judge, name: str
) -> list[TokenizedInput | Unread]:
    """Tokens, and the probabilities of the whole texts, or why there are none."""
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
    """P of each whole text; the published variants take it however little the labels have."""
    doubted = [VARIANTS[one.variant].doubts for one in requests]
    pairs = list(zip(requests, examples, doubted, strict=True))
    judged = iter(model.judgements([example for _, example, is_doubted in pairs if is_doubted]))
    asked = [
        ExampleRows(example=example, rows=(Row(),), calibrated=VARIANTS[request.variant].calibrated)
        for request, example, is_doubted in pairs
        if not is_doubted
    ]
    others = iter(model.judge_rows(asked) if asked else [])
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
    """Of each request; each method is computed in one call for all that name it in tokens."""
    methods = [_methods(tokenized) for tokenized in inputs]
    by_method: dict[AttributionMethod, list[tuple[int, int]]] = defaultdict(list)
    for place, own in enumerate(methods):
        for number, method in enumerate(own if inputs[place].words is None else ()):
            by_method[method].append((place, number))
    answers: dict[tuple[int, int], Attributions] = {}
    for method, places in by_method.items():
        asked = [inputs[place] for place, _ in places]
        targets = [tokenized.labels[tokenized.target] for tokenized in asked]
        computed = model.attributions([tokenized.example for tokenized in asked], targets, method)
        answers |= dict(zip(places, computed, strict=True))
    found: list[list[TestedExplanation] | Unread] = []
    for place, (tokenized, own) in enumerate(zip(inputs, methods, strict=True)):
        words = tokenized.words
        values = (
            [answers[place, number] for number in range(len(own))]
            if words is None
            else word_attributions(tokenized, words, own, model)
        )
        found.append(values if isinstance(values, Unread) else explanations(tokenized, values))
    return found


def _methods(tokenized: TokenizedInput) -> list[AttributionMethod]:
    """The methods that the service computes. Raises TooCostly where they alone are."""
    request = tokenized.request
    found = [attribution_method(one, request, tokenized.kind) for one in request.methods]
    _check_methods(tokenized, found)
    return found


def _operators(inputs: Sequence[TokenizedInput], model: Judge) -> list[Operators]:
    """Of each request; every text of all pools is tokenized once."""
    pools = {
        place: pool_examples(tokenized.request)
        for place, tokenized in enumerate(inputs)
        if "infill" in tokenized.request.operators
    }
    distinct = {
        example.model_dump_json(): example
        for place, own in pools.items()
        for example in (own if inputs[place].words is None else ())
    }
    read = model.tokens(list(distinct.values())) if distinct else ()
    tokens = dict(zip(distinct, read, strict=True))

    def pool(place: int, tokenized: TokenizedInput) -> Pool | None:
        if place not in pools:
            return None
        words = tokenized.words
        texts = [
            (one, tokens[one.model_dump_json()] if words is None else words.pool(one))
            for one in pools[place]
        ]
        return pool_of(tokenized.request, tokenized.labels, texts)

    return [operators_of(one, pool(place, one)) for place, one in enumerate(inputs)]


def _score(experiments: Sequence[Experiment], model: Judge) -> dict[int, Unread]:
    """Ask for all scores. Of an experiment with a P that was not read, why: by its id."""
    unread: dict[int, Unread] = {}
    for part, answers in _predict(experiments, model):
        _take(part, answers, unread)
    return unread


def _take(part: Part, answers: Floats | Unread, unread: dict[int, Unread]) -> None:
    """Give its scores to the experiment that asked for them."""
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
    """(scores that were missing, (R, L) P of every label in rows of tokens, (R,) P of the target
    in rows of words), call by call."""
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
    """For each part (R, L) P of every label."""
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
        raise ValueError("these are rows of tokens")
    return tokenized, tokenized.words, _rows(part)


def _rows(part: Part) -> list[Row]:
    return [row for _, _, rows in part for row in rows]


def _group_key(missing: MissingScore) -> tuple[int, Example | None, bool]:
    """What tells the rows of one call apart: whose they are, whether they vary another text, and
    whether nothing of the words stays."""
    experiment, (operator, subset), _ = missing
    other = experiment.operators.empty_example(operator) if subset is None else None
    in_words = experiment.tokenized.words is not None
    return id(experiment), other, in_words and subset is None


def _batches(experiments: Sequence[Experiment]) -> Iterator[list[MissingScore]]:
    """One call after the other; rows are made when the turn of their call comes."""
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
    """Raises TooCostly where all draws would make the model read more than it may."""
    _limit().check(cost_of(experiment))


def _limit() -> WorkLimit:
    return WorkLimit(seconds=inf, tokens_per_second=1, server_rows=settings().server_rows)


def cost_of(experiment: Experiment) -> tuple[Work, ...]:
    """All draws, once the tokens are known; subsets that repeat are scored once."""
    tokenized = experiment.tokenized
    whole, eligible = len(tokenized.tokens.ids), len(tokenized.eligible)

    def works(request: IceRequest) -> tuple[Work, ...]:
        budgets = (None, *request.budgets)
        nulls = {t.null.key: t.null for t in experiment.trials if t.k in budgets}.values()
        scaffold = whole - eligible
        drawn = [
            DrawCount(
                (scaffold + null.size, whole - null.size)[: len(request.aspects)],
                min(request.most_draws, null.others),
            )
            for null in nulls
        ]
        lower = tuple(lowerings(request, eligible, works))
        found = tuple(work_of_draws(request, drawn, whole, lower))
        if tokenized.words is None or not tokenized.words.served:
            return found
        return (work_at_server(request, [one.draws for one in drawn], lower), *found)

    return works(tokenized.request)


def _check_methods(tokenized: TokenizedInput, methods: Sequence[AttributionMethod]) -> None:
    """Raises TooCostly where the computed explanations alone would."""
    if tokenized.words is not None and tokenized.words.served:
        _limit().check(server_cost(tokenized.request, len(tokenized.tokens.ids)))
    most = sum(map(count_rows, methods)) * len(tokenized.tokens.ids)
    if most > MOST_TOKENS:
        raise TooCostly(
            f"the attributions make the model read {most:,} tokens, more than "
            f"{MOST_TOKENS:,}: ask for fewer `samples`, `steps` or methods",
            pointer="/attribution",
        )


def word_inputs(
    requests: Sequence[IceRequest], model: Judge, kind: ModelKind
) -> list[TokenizedInput | Unread]:
    """Each request in words, with the probabilities of its whole text; or why there are none."""
    readings = [read_words(request, example_of(request), model) for request in requests]
    if not readings:
        return []
    judged = model.judgements([reading.example for reading in readings])
    return [
        _word_input(request, kind, reading, one.fine(), model)
        for request, reading, one in zip(requests, readings, judged, strict=True)
    ]


def _word_input(
    request: IceRequest, kind: ModelKind, reading: WordReading, judged: Judgement, model: Judge
) -> TokenizedInput | Unread:
    if judged.probabilities is None:
        return judged.unread or Unread(code="answer-unread", detail="P was not read")
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
    asked: Sequence[tuple[TokenizedInput, WordReading, Sequence[Row]]], model: Judge
) -> list[Floats | Unread]:
    """For each input (R,) P of its target in rows of its words, or why one was not read."""
    if not asked:
        return []
    answers = model.judge_words([reading.rows(rows) for _, reading, rows in asked])
    return [
        _targets(tokenized.target, reading, answer)
        for (tokenized, reading, _), answer in zip(asked, answers, strict=True)
    ]


def _targets(column: int, reading: WordReading, answer: WordJudgements) -> Floats | Unread:
    reading.uncertainty = max(reading.uncertainty, answer.uncertainty)
    read = [row[column] for row in answer.probabilities if row is not None]
    if len(read) < len(answer.probabilities):
        return answer.unread or Unread(code="answer-unread", detail="P was not read")
    return np.array(read, dtype=np.float64)


def empty_targets(
    tokenized: TokenizedInput, reading: WordReading, rows: Sequence[Row], model: Judge
) -> Floats:
    """(R,) of rows in which no word of the text is left; (0,) where the model reads no such text:
    servers refuse empty ones."""
    try:
        [found] = targets_of_rows([(tokenized, reading, rows)], model)
    except BadInput:
        return np.empty(0)
    return np.empty(0) if isinstance(found, Unread) else found


def word_attributions(
    tokenized: TokenizedInput,
    reading: WordReading,
    methods: Sequence[AttributionMethod],
    model: Judge,
) -> list[Attributions] | Unread:
    """(W,) values of every method: LIME over the words themselves, others summed over tokens."""
    found = []
    for method in methods:
        if method.name == "lime":
            own = _by_lime(tokenized, reading, method, model)
            if isinstance(own, Unread):
                return own
            found.append(own)
            continue
        target = tokenized.labels[tokenized.target]
        [answer] = model.attributions([reading.example], [target], method)
        [tokens] = model.tokens([reading.example])
        found.append(reading.of_words(tokens, answer.values))
    return found


def _by_lime(
    tokenized: TokenizedInput, reading: WordReading, method: AttributionMethod, model: Judge
) -> Attributions | Unread:
    """Words are deleted, as the released `lime_text.py` does. A sample that keeps none is left out:
    its weight is next to nothing, and servers refuse an empty text."""
    drawn = lime.draws(method.samples, len(tokenized.eligible), method.seed)
    masks = drawn[drawn.any(axis=1)]
    rows = [Row(kept=tuple(np.flatnonzero(mask).tolist())) for mask in masks]
    [found] = targets_of_rows([(tokenized, reading, rows)], model)
    if isinstance(found, Unread):
        return found
    return Attributions(values=tuple(lime.coefficients(masks, found).tolist()))
