"""What the model answers to the text, its edits and its rows; arrays for the report.

All requests about one model share its calls: one for whole texts, one for variations in words, and
as many as it takes for the log-probabilities of the explanations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from services.consistency import kernel
from services.consistency.contract import (
    PLACEHOLDERS,
    ConsistencyPrompt,
    ConsistencyRequest,
    ConsistencyTurn,
)
from services.consistency.edits import Passages, passages, predictions_of_edits
from services.consistency.kernel import Bools, Floats, Predictions
from services.consistency.variants import VARIANTS, ConsistencyVariant
from services.consistency.words import Citations, TextWords, citations, row_of, text_words
from shared.contracts.calls import (
    Completion,
    Example,
    Prompt,
    Template,
    Turn,
    WordJudgements,
    WordRow,
    WordRows,
)
from shared.contracts.errors import BadInput, pointing_to
from shared.contracts.judgement import Judgement, Unread, mass_warnings, text_cut
from shared.contracts.labels import predict_label
from shared.contracts.messages import ModelUse, NullReason, ReasonCode
from shared.contracts.prompt_table import parse_template
from shared.models.ports import Judge, Writer, models
from shared.models.word_rows import render_rows
from shared.queue.job_context import check_each
from shared.reports.metric import Collected
from shared.statistics.seeds import generator
from shared.text.language import Obstacle, find_language, requested_language

QUESTION = ConsistencyPrompt(
    turns=(
        ConsistencyTurn(
            role="user",
            content="Text: {text}\n\nYou labelled this text as: {label}\n\n"
            "Explain why. Quote the words of the text that decided it.",
        ),
    )
)
STAYS, CHANGES = "stays", "changes"


def prompt_of(request: ConsistencyRequest) -> ConsistencyPrompt:
    """The request's, else our own."""
    return request.explanation_prompt or QUESTION


def explanation_prompt(request: ConsistencyRequest, label: str, text: str) -> Prompt:
    """What the explanation follows, about this variation of the text."""
    asked, values = prompt_of(request), {"text": text, "label": label}
    turns = tuple(Turn(role=t.role, content=_filled(t.content, values)) for t in asked.turns)
    if asked.style == "chat":
        return Prompt(turns=turns)
    return Prompt(text="\n\n".join(turn.content for turn in turns) + "\n\n")


def _filled(template: str, values: dict[str, str]) -> str:
    """What is inserted is not expanded again."""
    return "".join(
        piece.text if piece.inserted is None else values[piece.inserted]
        for piece in parse_template(template, PLACEHOLDERS)
    )


def reading_example(request: ConsistencyRequest, label: str, edited: str) -> Example:
    """How a reader is asked what the explanation predicts of an edited text."""
    return Example(
        text=edited,
        template=Template(
            prefix=f"A model labelled a text as {label} and explained why.\n\n"
            f"The text: {request.text}\n\nThe explanation: {request.explanation}\n\n"
            "The same text, edited: ",
            suffix=f"\n\nJudging by the explanation alone, does the model label the edited text as "
            f"{label}, too?\nAnswer with Yes or No.\nAnswer:",
            verbalizers={STAYS: " Yes", CHANGES: " No"},
        ),
    )


FEWEST_WORDS = 3  # that contributions are compared over
SCORED_AT_ONCE = 500  # prompts of a call
PROMPTS = ("/prompts", "/completions")  # what a model refuses of these, it refuses of the text
DISAGREES = Obstacle(
    "model-disagrees",
    "the model gives another answer than the one that is explained: none of its own is explained",
)
CITES_NOTHING = "the explanation cites nothing that stands in the text"
NO_WRITER = "{model} is no language model: it writes no explanation that could be scored"
NO_LOGPROBS = "{model} told no log-probabilities of the explanation"


@dataclass
class Answers:
    """One request and what its model answered so far.

    text: its words; values_of: those that have contributions. passages: what the edits took away;
    None for edits that were sent. changed: whether each edit changed the answer: (O, 1 + M) by
    operator, or (K,) of those sent. predicted: of each, where a reader or the request told it.
    answer, explanation: (n,) contributions of the words. reasons: why a part is null.
    """

    request: ConsistencyRequest
    text: TextWords
    values_of: TextWords
    cited: Citations
    example: Example
    label: str = ""
    passages: Passages | None = None
    changed: Bools | None = None
    predicted: Predictions | None = None
    answer: Floats | None = None
    explanation: Floats | None = None
    obstacle: Obstacle | None = None
    uses: list[ModelUse] = field(default_factory=list)
    reasons: list[NullReason] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def variant(self) -> ConsistencyVariant:
        return VARIANTS[self.request.variant]

    @property
    def standing(self) -> Bools:
        """(R, n) the words that stay in each row of the contributions."""
        if self.request.way == "occlusion":
            return kernel.occlusion_rows(len(self.text))
        return kernel.shapley_rows(self.orders, len(self.text))

    @property
    def orders(self) -> list[list[int]]:
        random = generator(self.request.seed, "consistency", "orders", self.request.text)
        return kernel.orders_of(random, len(self.text), self.request.orders)

    @property
    def attributed(self) -> WordRows:
        """The rows of the contributions."""
        rows = [row_of(standing, self.variant.absent) for standing in self.standing]
        return self.text.word_rows(self.example, rows)

    def wants(self, part: str) -> bool:
        return part in self.request.parts and self.obstacle is None

    def lacks(self, component: str, code: ReasonCode, detail: str) -> None:
        """One part is null."""
        self.reasons.append(NullReason(component=component, code=code, detail=detail))

    def collected(self) -> ConsistencyCollected:
        return ConsistencyCollected(
            answers=self,
            models=tuple(self.uses),
            warnings=tuple((*self.warnings, *(reason.detail for reason in self.reasons))),
            obstacles=() if self.obstacle is None else (self.obstacle,),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyCollected(Collected):
    answers: Answers


def ask_models(requests: Sequence[ConsistencyRequest]) -> list[ConsistencyCollected]:
    """One each, in order."""
    asked = [_begun(request) for request in check_each(requests)]
    by_model: dict[str, list[Answers]] = {}
    for one in asked:
        if one.request.model is None:
            _sent(one)
        else:
            by_model.setdefault(one.request.model, []).append(one)
    for name, several in by_model.items():
        _ask(name, several)
    return [one.collected() for one in asked]


def _begun(request: ConsistencyRequest) -> Answers:
    text = text_words(request.text, find_language(request.text, requested_language(request)).code)
    found = citations(text, request.explanation)
    if request.cited:
        spans = [(one.start, one.end) for one in request.cited]
        found = Citations(text.under(spans), "request")
    example = Example(text=request.text, prompt=request.prompt)
    return Answers(request, text, text, found, example)


def _sent(one: Answers) -> None:
    """Answers and contributions that came with the request."""
    request, sent = one.request, one.request.predictions
    if sent is None:
        raise RuntimeError("a request has neither model nor predictions")  # its contract forbids it
    one.label = request.label or sent.answer
    if sent.answer != one.label:
        one.obstacle = DISAGREES
        return
    if request.edits:
        one.changed = np.array([answer != one.label for answer in sent.edits])
        _predict(one)
    if sent.words:
        one.answer = np.array([word.answer for word in sent.words])
        one.explanation = np.array([word.explanation for word in sent.words])
        spans = tuple((word.start, word.end) for word in sent.words)
        one.values_of = TextWords(one.text.text, spans, one.text.language)


def _ask(name: str, asked: Sequence[Answers]) -> None:
    judge = models().judge(name)
    _whole_texts(judge, asked)
    _variations(judge, asked)
    if models().kind(name) == "causal":
        _explanations(name, models().writer(name), asked)
    _readings(asked)


def _whole_texts(judge: Judge, asked: Sequence[Answers]) -> None:
    """The answer that is explained, and those to the edits that were sent."""
    examples = [[one.example, *_sent_edits(one)] for one in asked]
    judged = iter(judge.judgements([each for several in examples for each in several]))
    for one, several in zip(asked, examples, strict=True):
        text, *edits = [next(judged) for _ in several]
        use = judge.use
        if one.request.prompt is not None:
            use = use.model_copy(update={"prompt_sha256": text.prompt_sha256})
        one.uses.append(use)
        _answer(one, use, text)
        if edits and one.obstacle is None:
            _edits_answered(one, use, edits)


def _sent_edits(one: Answers) -> list[Example]:
    if "simulatability" not in one.request.parts:
        return []
    return [Example(text=edit.text, prompt=one.request.prompt) for edit in one.request.edits]


def _answer(one: Answers, use: ModelUse, judged: Judgement) -> None:
    if judged.probabilities is None:
        one.obstacle = _unread(judged.unread)
        return
    one.warnings += mass_warnings(use.name, judged)
    if judged.read_share < 1:
        one.warnings.append(text_cut(use.name, judged.read_share))
    answered = predict_label(judged.labels, judged.probabilities, use.thresholds)
    one.label = one.request.label or answered
    if one.label not in judged.labels:
        known = ", ".join(judged.labels)
        raise BadInput(f"{use.name} has no such label; it has {known}", pointer="/label")
    if answered != one.label:
        one.obstacle = DISAGREES


def _unread(unread: Unread | None) -> Obstacle:
    if unread is None:
        return Obstacle("answer-unread", "P was not read")
    return Obstacle(unread.code, unread.detail)


def _edits_answered(one: Answers, use: ModelUse, edits: Sequence[Judgement]) -> None:
    answers = [
        predict_label(each.labels, each.probabilities, use.thresholds)
        for each in edits
        if each.probabilities is not None
    ]
    if len(answers) < len(edits):
        why = next(_unread(each.unread) for each in edits if each.probabilities is None)
        one.lacks("simulatability", why.code, why.detail)
        return
    one.changed = np.array([answer != one.label for answer in answers])
    if one.request.reader == "rules":
        _predict(one)


def _predict(one: Answers) -> None:
    """What was sent, and the rule, expect of the edits that were sent."""
    one.predicted = predictions_of_edits(one.text, one.cited.words, one.request.edits)
    if not one.cited.words and (one.predicted == kernel.UNKNOWN).all():
        one.lacks("simulatability", "quote-not-found", CITES_NOTHING)


def _variations(judge: Judge, asked: Sequence[Answers]) -> None:
    """Of the texts of all requests in one call: the edits, and the rows of the contributions."""
    wanted: list[tuple[Answers, str, WordRows]] = []
    for one in asked:
        if one.wants("simulatability") and not one.request.edits and _draw(one):
            wanted.append((one, "simulatability", one.text.word_rows(one.example, _edits(one))))
        if one.wants("attribution") and _can_attribute(one):
            wanted.append((one, "attribution", one.attributed))
    found = judge.judge_words([rows for _, _, rows in wanted])
    for (one, part, rows), answer in zip(wanted, found, strict=True):
        values = _probabilities(one, part, answer)
        if values is None:
            continue
        labels = judge.labels_of(rows.example)
        if part == "simulatability":
            least = judge.use.thresholds
            changed = [predict_label(labels, row, least) != one.label for row in values]
            one.changed = np.array(changed).reshape(len(one.request.operators), -1)
        else:
            own = np.array(values)[:, labels.index(one.label)]
            one.answer = _contributions(one, own[:, None])[:, 0]


def _draw(one: Answers) -> bool:
    """What the edits take away; False where nothing can be."""
    if not one.cited.words:
        one.lacks("simulatability", "quote-not-found", CITES_NOTHING)
        return False
    found = passages(one.text, one.cited.words, one.request.draws, one.request.seed)
    if not found.others:
        one.warnings.append("simulatability: there is no other place for what is cited")
        return False
    one.passages = found
    return True


def _can_attribute(one: Answers) -> bool:
    name = one.request.model or ""
    if models().kind(name) != "causal":
        one.lacks("attribution_agreement", "no-logprobs", NO_WRITER.format(model=name))
        return False
    if len(one.text) < FEWEST_WORDS:
        detail = f"the text has fewer than {FEWEST_WORDS} words"
        one.lacks("attribution_agreement", "no-words", detail)
        return False
    return True


def _edits(one: Answers) -> list[WordRow]:
    """(O (1 + M),) by operator."""
    if one.passages is None:
        return []
    rows: list[WordRow] = []
    for operator in one.request.operators:
        for taken in one.passages.taken:
            if operator == "delete":
                rows.append(row_of(~taken, None))
            else:
                rows.append(WordRow(masked=tuple(np.flatnonzero(taken).tolist())))
    return rows


def _probabilities(
    one: Answers, part: str, answer: WordJudgements
) -> list[tuple[float, ...]] | None:
    read = [row for row in answer.probabilities if row is not None]
    if len(read) == len(answer.probabilities):
        return read
    why = _unread(answer.unread)
    component = "attribution_agreement" if part == "attribution" else part
    one.lacks(component, why.code, why.detail)
    return None


def _contributions(one: Answers, values: Floats) -> Floats:
    """(n, T) from (R, T) values of the rows."""
    if one.request.way == "occlusion":
        return kernel.occlusion(values)
    return kernel.shapley(values, one.orders)


def _explanations(name: str, writer: Writer, asked: Sequence[Answers]) -> None:
    """The log-probabilities of each explanation after the prompt about each row."""
    for one in check_each(asked):
        if one.answer is None:
            continue
        texts = [each.text for each in render_rows(one.attributed, "")]
        distinct = list(dict.fromkeys(texts))
        prompts = [explanation_prompt(one.request, one.label, text) for text in distinct]
        try:
            with pointing_to("/text", only=PROMPTS):
                scored = _scored(writer, prompts, one.request.preceding + one.request.explanation)
                told = [_own_logprobs(one, each) for each in scored]
        except BadInput as error:
            if error.pointer != "/model":
                raise
            one.lacks("attribution_agreement", "no-logprobs", error.detail)
            continue
        found = dict(zip(distinct, told, strict=True))
        rows = [found[text] for text in texts]
        if not rows[0] or len({len(row) for row in rows}) > 1:
            one.lacks("attribution_agreement", "no-logprobs", NO_LOGPROBS.format(model=name))
            continue
        one.explanation = _aggregated(one, _contributions(one, np.array(rows)))


def _own_logprobs(one: Answers, scored: Completion) -> list[float]:
    """Of the explanation's tokens, without what the model wrote before it."""
    begin = len(one.request.preceding)
    return [token.logprob for token in scored.tokens if token.end > begin]


def _scored(writer: Writer, prompts: Sequence[Prompt], completion: str) -> Iterator[Completion]:
    for first in range(0, len(prompts), SCORED_AT_ONCE):
        some = prompts[first : first + SCORED_AT_ONCE]
        yield from writer.score(some, [completion] * len(some))


def _aggregated(one: Answers, contributions: Floats) -> Floats:
    """(n,) from (n, T)."""
    if one.variant.aggregation == "ratios":
        return kernel.mean_ratios(contributions)
    return np.asarray(contributions.sum(axis=1))


def _readings(asked: Sequence[Answers]) -> None:
    """What a model reads of the explanation about each edit, instead of the rules."""
    for one in check_each(asked):
        name = one.request.reader_model
        if name is None or one.changed is None:
            continue
        reader = models().judge(name)
        read = [reading_example(one.request, one.label, text) for text in _edited_texts(one)]
        judged = reader.judgements(read)
        one.uses.append(reader.use)
        if unread := [each.unread for each in judged if each.probabilities is None]:
            why = _unread(unread[0])
            one.lacks("simulatability", why.code, why.detail)
            one.changed = None
            continue
        said = [predict_label(each.labels, each.probabilities or (), {}) for each in judged]
        told = [kernel.CHANGES if label == CHANGES else kernel.STAYS for label in said]
        one.predicted = np.array(told, dtype=np.int8)


def _edited_texts(one: Answers) -> list[str]:
    if one.request.edits:
        return [edit.text for edit in one.request.edits]
    rows = one.text.word_rows(one.example, _edits(one))
    mask = models().judge(one.request.model or "").mask_text
    return [each.text for each in render_rows(rows, mask)]
