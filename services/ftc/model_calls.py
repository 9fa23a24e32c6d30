"""Calls the models of FTC.

Each distinct pair of sentences in a batch is sent once. Random phrases are added step by step until
a test stops (shared.statistics.group_sequential). Requests without a label first need the model's
own label. No answer depends on other pairs, so a request gets the same score alone and in a batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from services.ftc import kernel
from services.ftc.contract import DEFAULT_MODEL, FtcRequest
from services.ftc.hypotheses import FtcHypotheses, first_draws, rule_of, targets_of
from services.ftc.kernel import Floats
from services.ftc.report import LABELS, NliLabel
from shared.contracts.calls import Example
from shared.contracts.errors import BadInput, DegenerateInput, pointing_to
from shared.contracts.judgement import Judgement, low_mass, text_cut
from shared.contracts.labels import predict_label
from shared.contracts.messages import ModelUse
from shared.contracts.prompt_table import OF_THE_MODEL, PromptKeys
from shared.models.ports import Judge, models
from shared.reports.metric import Collected
from shared.statistics import ranks
from shared.statistics.ranks import TIE
from shared.text.language import ModelLanguages

Pair = tuple[str, str]  # premise, hypothesis
ModelKey = tuple[str, str | None]  # a model, and a request's prompt for it


@dataclass(frozen=True, slots=True, kw_only=True)
class FtcCollected(Collected):
    """The hypotheses of a request and their label probabilities. The columns are entailment,
    neutral and contradiction."""

    derived: FtcHypotheses
    original: Floats | None  # (3,) of the hypothesis as sent; None: not read
    answers: Floats  # (N, 3), one row a counterfactual
    blank: Floats | None  # (N, 3), the same without the premise; None: one was not read
    nulls: tuple[Floats, ...]  # N of (M, 3)


def explained_labels(requests: Sequence[FtcRequest]) -> list[NliLabel]:
    """Return the decision of each request, or the model's answer if the request has none."""
    unlabelled = [request for request in requests if request.sent_decision is None]
    answers = {
        key: NliPredictions(
            key, [(r.premise, r.hypothesis) for r in unlabelled if _model_key(r) == key]
        )
        for key in dict.fromkeys(map(_model_key, unlabelled))
    }
    return [
        request.sent_decision
        or answers[_model_key(request)].label_of(request.premise, request.hypothesis)
        for request in requests
    ]


def model_languages(request: FtcRequest) -> Iterator[ModelLanguages]:
    """Yield the languages of the model that answers and of the model that writes
    counterfactuals."""
    name = _model(request)
    yield ModelLanguages(name, models().judge(name).languages)
    if request.counterfactuals is None and request.extractor == "llm" and request.writer:
        with pointing_to("/writer"):
            languages = models().writer(request.writer).languages
        yield ModelLanguages(request.writer, languages)


def run_models(
    requests: Sequence[FtcRequest], derived: Sequence[FtcHypotheses]
) -> list[FtcCollected]:
    """Return the model's answers for every request. Each further round of calls adds random phrases
    for requests whose sequential test has not stopped. Raises BadInput if a model lacks the
    required labels."""
    keys = [_model_key(request) for request in requests]
    requested: dict[ModelKey, list[Pair]] = defaultdict(list)
    for key, request, hypotheses in zip(keys, requests, derived, strict=True):
        requested[key] += pairs(request, hypotheses)
    answers = {key_asked: NliPredictions(key_asked, some) for key_asked, some in requested.items()}
    read = [
        _as_read(answers[key], request, hypotheses)
        for key, request, hypotheses in zip(keys, requests, derived, strict=True)
    ]
    draws = [first_draws(request) for request in requests]
    going = list(range(len(requests)))
    while going:
        more: dict[ModelKey, list[Pair]] = defaultdict(list)
        left, going = going, []
        for index in left:
            key, request, drawn = keys[index], requests[index], draws[index]
            hypotheses = read[index] = _all_read(answers[key], request, read[index], drawn)
            further = _next_draws(answers[key], request, hypotheses, drawn)
            if further is not None:
                more[key] += _drawn_pairs(request, hypotheses, drawn, further)
                draws[index] = further
                going.append(index)
        for about, some in more.items():
            answers[about].predict(some)
    return [
        _collect_one(answers[key], request, hypotheses, drawn)
        for key, request, hypotheses, drawn in zip(keys, requests, read, draws, strict=True)
    ]


def _next_draws(
    answers: NliPredictions, request: FtcRequest, derived: FtcHypotheses, drawn: int
) -> int | None:
    """Return how many random phrases to draw in total next, or None if every test has stopped.
    `drawn` is the number so far."""
    tests = []
    for hypothesis, row in zip(derived.hypotheses, targets_of(request, derived), strict=True):
        if hypothesis.random.texts:
            texts = (hypothesis.text, *hypothesis.random.texts[:drawn])
            answer_rows = _rows([answers.of(request.premise, text) for text in texts])
            scores = kernel.w_normalized(answer_rows, np.tile(row, (len(texts), 1)), request.alpha)
            tests.append((rule_of(request, hypothesis.random.placements), scores))
    if len(tests) > 1:
        together = min(scores.size for _, scores in tests)
        mean = np.mean([scores[:together] for _, scores in tests], axis=0)
        tests.append((min((rule for rule, _ in tests), key=lambda rule: rule.most), mean))
    looks = [
        rule.next_look(scores.size - 1)
        for rule, scores in tests
        if rule.stopped(ranks.reaching(scores[0], scores[1:])) is None
    ]
    return min(looks, default=None)


def _drawn_pairs(
    request: FtcRequest, derived: FtcHypotheses, drawn: int, further: int
) -> list[Pair]:
    texts = [
        text for hypothesis in derived.hypotheses for text in hypothesis.random.texts[drawn:further]
    ]
    return [(request.premise, text) for text in texts]


def _required_pairs(request: FtcRequest, derived: FtcHypotheses) -> list[Pair]:
    texts = [hypothesis.text for hypothesis in derived.hypotheses]
    return [(request.premise, text) for text in (request.hypothesis, *texts)]


def pairs(request: FtcRequest, derived: FtcHypotheses) -> list[Pair]:
    """Return the pairs of sentences to send first: the original, the counterfactuals with and
    without a premise, and the first random counterfactuals (the null distribution)."""
    texts = [hypothesis.text for hypothesis in derived.hypotheses]
    null = _drawn_pairs(request, derived, 0, first_draws(request))
    return [*_required_pairs(request, derived), *null, *(("", text) for text in texts)]


def _collect_one(
    answers: NliPredictions, request: FtcRequest, derived: FtcHypotheses, draws: int
) -> FtcCollected:
    """Collect the answers for one request. `draws` is the maximum number of random phrases sent to
    the model."""
    premise = request.premise
    scored = _required_pairs(request, derived)
    texts = [hypothesis.text for hypothesis in derived.hypotheses]
    writers = tuple(models().writer(name).use for name in derived.writers)
    has_blank = answers.missing_reason(("", text) for text in texts) is None
    has_original = answers.missing_reason(scored[:1]) is None
    return FtcCollected(
        derived=derived,
        original=answers.of(premise, request.hypothesis) if has_original else None,
        answers=_rows([answers.of(premise, text) for text in texts]),
        blank=_rows([answers.of("", text) for text in texts]) if has_blank else None,
        nulls=tuple(
            _rows([answers.of(premise, text) for text in hypothesis.random.texts[:draws]])
            for hypothesis in derived.hypotheses
        ),
        models=(answers.use, *writers),
        warnings=answers.warnings(scored),
    )


def _as_read(answers: NliPredictions, request: FtcRequest, derived: FtcHypotheses) -> FtcHypotheses:
    """Remove all counterfactuals if the model's answer to one of them could not be read. The metric
    then abstains."""
    why = answers.missing_reason(_required_pairs(request, derived))
    if why is not None and derived.hypotheses:
        return replace(
            derived, hypotheses=(), abstained=f"the model's probabilities could not be read: {why}"
        )
    return derived


def _all_read(
    answers: NliPredictions, request: FtcRequest, derived: FtcHypotheses, drawn: int
) -> FtcHypotheses:
    """Return the hypotheses. If a hypothesis has a random phrase with an unreadable answer, drop
    all its phrases, since the others are no longer a random sample. `drawn` is the maximum number
    of phrases sent to the model so far."""
    whole = []
    for hypothesis in derived.hypotheses:
        texts = hypothesis.random.texts[:drawn]
        doubt = answers.missing_reason((request.premise, text) for text in texts)
        if doubt:
            hypothesis = replace(
                hypothesis, random=replace(hypothesis.random, texts=(), doubt=doubt)
            )
        whole.append(hypothesis)
    return replace(derived, hypotheses=tuple(whole))


def _rows(answers: list[Floats]) -> Floats:
    return np.array(answers, dtype=np.float64).reshape(len(answers), 3)


def _model(request: FtcRequest) -> str:
    return request.model or DEFAULT_MODEL


def _model_key(request: FtcRequest) -> ModelKey:
    prompt = request.prompt.model_dump_json(exclude_unset=True) if request.prompt else None
    return _model(request), prompt


class NliPredictions:
    """One model's answers to pairs of sentences."""

    def __init__(self, key: ModelKey, requested: Sequence[Pair]) -> None:
        name, prompt_json = key
        self._name = name
        prompt = PromptKeys.model_validate_json(prompt_json) if prompt_json else None
        self._model: Judge = models().judge(name)
        self._prompt = prompt
        with pointing_to("/model", only=OF_THE_MODEL):
            lower = [label.lower() for label in self._model.labels_of(_example(("", ""), prompt))]
            if sorted(lower) != sorted(LABELS):
                raise BadInput(
                    f"the labels of {name} must be {', '.join(LABELS)}; choose a model that has "
                    "them",
                    pointer="/model",
                )
            self._order = [lower.index(label) for label in LABELS]
        self._found: dict[Pair, Judgement] = {}
        self.predict(requested)

    def predict(self, requested: Sequence[Pair]) -> None:
        """Send the model the pairs that it has not answered yet."""
        distinct = [pair for pair in dict.fromkeys(requested) if pair not in self._found]
        if distinct:
            # A model refuses a pair for its length: name the field of the longest text.
            premise, hypothesis = max(distinct, key=lambda pair: max(map(len, pair)))
            longest = "/premise" if len(premise) >= len(hypothesis) else "/hypothesis"
            with pointing_to(longest, only=("/text", "/text_pair")):
                judgements = self._model.judgements(
                    [_example(pair, self._prompt) for pair in distinct]
                )
            self._found |= dict(zip(distinct, judgements, strict=True))

    @property
    def use(self) -> ModelUse:
        use = self._model.use
        brought = next((judgement.prompt_sha256 for judgement in self._found.values()), None)
        return use if brought is None else use.model_copy(update={"prompt_sha256": brought})

    def of(self, premise: str, hypothesis: str) -> Floats:
        """Return the probabilities of entailment, neutral and contradiction, of shape (3,). Raises
        DegenerateInput if the model's answer is unreadable, or is based on fewer than 200 sampled
        votes."""
        return self._row(self._found[premise, hypothesis].fine())

    def _row(self, judgement: Judgement) -> Floats:
        return np.array(judgement.among_labels(), dtype=np.float64)[self._order]

    def missing_reason(self, some: Iterable[Pair]) -> str | None:
        """Return the code and detail of the first of these answers that could not be read. Return
        None if all of them could be read."""
        reasons = (self._found[pair].fine().unread for pair in some)
        return next((f"{unread.code}: {unread.detail}" for unread in reasons if unread), None)

    def label_of(self, premise: str, hypothesis: str) -> NliLabel:
        """Return the model's label. Raises DegenerateInput on a tie or for an unreadable answer."""
        row, least = self._row(self._found[premise, hypothesis]), self.use.thresholds
        if not least:
            best = np.flatnonzero(row >= row.max() - TIE)
            if len(best) > 1:
                raise DegenerateInput(
                    "two labels are equally likely for the model, so its decision is "
                    "unclear; send `decision`",
                    pointer="/decision",
                )
            return LABELS[int(best[0])]
        return LABELS[LABELS.index(predict_label(LABELS, row.tolist(), least))]

    def warnings(self, some: Sequence[Pair]) -> tuple[str, ...]:
        """Return warnings about texts that the model truncated, and about answers with a low total
        probability of the labels."""
        answers = [self._found[pair] for pair in some]
        share = min(answer.read_share for answer in answers)
        masses = [answer.mass for answer in answers if answer.mass is not None and answer.low_mass]
        cut = (text_cut(self._name, share),) if share < 1 else ()
        return (*cut, low_mass(self._name, min(masses))) if masses else cut


def _example(pair: Pair, prompt: PromptKeys | None) -> Example:
    return Example(text=pair[0], text_pair=pair[1], prompt=prompt)
