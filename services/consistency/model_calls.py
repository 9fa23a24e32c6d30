"""Calls the model on the text, on edits of the text, and on variations that keep only some words.
All requests to one model share two calls, for whole texts and for variations. The log-probabilities
of explanations need further calls."""

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
    """Return the request's prompt, or the built-in one."""
    return request.explanation_prompt or QUESTION


def explanation_prompt(request: ConsistencyRequest, label: str, text: str) -> Prompt:
    """Return the prompt that asks for the explanation of this variation of the text."""
    template, values = prompt_of(request), {"text": text, "label": label}
    turns = []
    for turn in template.turns:
        content = "".join(
            piece.text if piece.inserted is None else values[piece.inserted]
            for piece in parse_template(turn.content, PLACEHOLDERS)
        )
        turns.append(Turn(role=turn.role, content=content))
    if template.style == "chat":
        return Prompt(turns=tuple(turns))
    return Prompt(text="\n\n".join(turn.content for turn in turns) + "\n\n")


def reading_example(request: ConsistencyRequest, label: str, edited: str) -> Example:
    """Return the prompt that asks a second model whether the explained model would give an edited
    text the same label."""
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


FEWEST_WORDS = 3  # for a comparison of contributions
SCORED_AT_ONCE = 500  # prompts per call
PROMPTS = ("/prompts", "/completions")  # an error at these pointers is about `/text`
DISAGREES = Obstacle(
    "model-disagrees",
    "the model's answer differs from the answer that the explanation is about",
)
CITES_NOTHING = "the explanation cites no words of the text"
NO_WRITER = (
    "{model} is not a language model, so it cannot return log-probabilities of the explanation"
)
NO_LOGPROBS = "{model} returned no log-probabilities of the explanation"


@dataclass
class Answers:
    """A request and the answers that its model has given so far."""

    request: ConsistencyRequest
    text: TextWords
    values_of: TextWords  # the words that have contributions
    cited: Citations
    example: Example
    label: str = ""
    passages: Passages | None = None  # words removed by the edits; None for edits of the request
    changed: Bools | None = None  # does an edit change the answer? (O, 1 + M), or (K,) of a request
    predicted: Predictions | None = None  # by a reader or the request
    answer: Floats | None = None  # (n,) contributions of the words
    explanation: Floats | None = None  # (n,)
    obstacle: Obstacle | None = None
    uses: list[ModelUse] = field(default_factory=list)
    reasons: list[NullReason] = field(default_factory=list)  # why a part is null
    warnings: list[str] = field(default_factory=list)

    @property
    def variant(self) -> ConsistencyVariant:
        return VARIANTS[self.request.variant]

    @property
    def standing(self) -> Bools:
        """Return which of n words each of R variations keeps, as a boolean array of shape (R,
        n)."""
        if self.request.way == "occlusion":
            return kernel.occlusion_rows(len(self.text))
        return kernel.shapley_rows(self.orders, len(self.text))

    @property
    def orders(self) -> list[list[int]]:
        random = generator(self.request.seed, "consistency", "orders", self.request.text)
        return kernel.orders_of(random, len(self.text), self.request.orders)

    @property
    def attributed(self) -> WordRows:
        """Return the variations of the text from which word contributions (occlusion or Shapley
        values) are computed."""
        rows = [row_of(standing, self.variant.absent) for standing in self.standing]
        return self.text.word_rows(self.example, rows)

    def wants(self, part: str) -> bool:
        return part in self.request.parts and self.obstacle is None

    def lacks(self, component: str, code: ReasonCode, detail: str) -> None:
        """Record why one part of the result is null."""
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
    """Return the model's answers for each request, in order."""
    rows = [_prepare(request) for request in check_each(requests)]
    by_model: dict[str, list[Answers]] = {}
    for answers in rows:
        if answers.request.model is None:
            _read_predictions(answers)
        else:
            by_model.setdefault(answers.request.model, []).append(answers)
    for name, batch in by_model.items():
        judge = models().judge(name)
        _judge_texts(judge, batch)
        _judge_variations(judge, batch)
        if models().kind(name) == "causal":
            _score_explanations(name, models().writer(name), batch)
        _ask_readers(batch)
    return [answers.collected() for answers in rows]


def _prepare(request: ConsistencyRequest) -> Answers:
    text = text_words(request.text, find_language(request.text, requested_language(request)).code)
    cited = citations(text, request.explanation)
    if request.cited:
        spans = [(span.start, span.end) for span in request.cited]
        cited = Citations(text.under(spans), "request")
    example = Example(text=request.text, prompt=request.prompt)
    return Answers(request, text, text, cited, example)


def _read_predictions(answers: Answers) -> None:
    request, predictions = answers.request, answers.request.predictions
    if predictions is None:
        raise RuntimeError(
            "the request has neither a model nor predictions; send one of them"
        )  # the contract forbids it
    answers.label = request.decision or predictions.answer
    if predictions.answer != answers.label:
        answers.obstacle = DISAGREES
        return
    if request.edits:
        answers.changed = np.array([answer != answers.label for answer in predictions.edits])
        _predict(answers)
    if predictions.words:
        answers.answer = np.array([word.answer for word in predictions.words])
        answers.explanation = np.array([word.explanation for word in predictions.words])
        spans = tuple((word.start, word.end) for word in predictions.words)
        answers.values_of = TextWords(answers.text.text, spans, answers.text.language)


def _judge_texts(judge: Judge, batch: Sequence[Answers]) -> None:
    """Get the model's judgements of the texts and of the requests' edited texts, in one call. Store
    them in the entries of `batch`."""
    examples = []
    for answers in batch:
        request = answers.request
        edits = request.edits if "simulatability" in request.parts else ()
        edited = [Example(text=edit.text, prompt=request.prompt) for edit in edits]
        examples.append([answers.example, *edited])
    judged = iter(judge.judgements([example for row in examples for example in row]))
    for answers, row in zip(batch, examples, strict=True):
        text, *edit_judgements = [next(judged) for _ in row]
        use = judge.use
        if answers.request.prompt is not None:
            use = use.model_copy(update={"prompt_sha256": text.prompt_sha256})
        answers.uses.append(use)
        _read_answer(answers, use, text)
        if edit_judgements and answers.obstacle is None:
            _read_edits(answers, use, edit_judgements)


def _read_answer(answers: Answers, use: ModelUse, judgement: Judgement) -> None:
    if judgement.probabilities is None:
        answers.obstacle = _unread(judgement.unread)
        return
    answers.warnings += mass_warnings(use.name, judgement)
    if judgement.read_share < 1:
        answers.warnings.append(text_cut(use.name, judgement.read_share))
    label = predict_label(judgement.labels, judgement.probabilities, use.thresholds)
    answers.label = answers.request.decision or label
    if answers.label not in judgement.labels:
        labels = ", ".join(judgement.labels)
        raise BadInput(
            f"`decision` must be one of the labels of {use.name}: {labels}",
            pointer="/decision",
        )
    if label != answers.label:
        answers.obstacle = DISAGREES


def _unread(unread: Unread | None) -> Obstacle:
    if unread is None:
        return Obstacle("answer-unread", "the model's probability could not be read")
    return Obstacle(unread.code, unread.detail)


def _read_edits(answers: Answers, use: ModelUse, judgements: Sequence[Judgement]) -> None:
    labels = []
    for judgement in judgements:
        if judgement.probabilities is None:
            obstacle = _unread(judgement.unread)
            answers.lacks("simulatability", obstacle.code, obstacle.detail)
            return
        labels.append(predict_label(judgement.labels, judgement.probabilities, use.thresholds))
    answers.changed = np.array([label != answers.label for label in labels])
    if answers.request.reader == "rules":
        _predict(answers)


def _predict(answers: Answers) -> None:
    cited = answers.cited.words
    answers.predicted = predictions_of_edits(answers.text, cited, answers.request.edits)
    if not cited and (answers.predicted == kernel.UNKNOWN).all():
        answers.lacks("simulatability", "quote-not-found", CITES_NOTHING)


def _judge_variations(judge: Judge, batch: Sequence[Answers]) -> None:
    """Get the model's answers to the edited texts and to the variations for word attribution, in
    one call."""
    calls: list[tuple[Answers, str, WordRows]] = []
    for answers in batch:
        wants_edits = answers.wants("simulatability") and not answers.request.edits
        if wants_edits and _draw(answers):
            rows = answers.text.word_rows(answers.example, _edits(answers))
            calls.append((answers, "simulatability", rows))
        if answers.wants("attribution") and _can_attribute(answers):
            calls.append((answers, "attribution", answers.attributed))
    judged = judge.judge_words([rows for _, _, rows in calls])
    for (answers, part, rows), judgements in zip(calls, judged, strict=True):
        values = _probabilities(answers, part, judgements)
        if values is None:
            continue
        labels = judge.labels_of(rows.example)
        if part == "simulatability":
            thresholds = judge.use.thresholds
            changed = [predict_label(labels, row, thresholds) != answers.label for row in values]
            answers.changed = np.array(changed).reshape(len(answers.request.operators), -1)
        else:
            probabilities = np.array(values)[:, labels.index(answers.label)]
            answers.answer = _contributions(answers, probabilities[:, None])[:, 0]


def _draw(answers: Answers) -> bool:
    """Draw the passages that the edits remove. Return False if no such passage exists."""
    request, cited = answers.request, answers.cited.words
    if not cited:
        answers.lacks("simulatability", "quote-not-found", CITES_NOTHING)
        return False
    drawn = passages(answers.text, cited, request.draws, request.seed)
    if not drawn.others:
        answers.warnings.append(
            "simulatability: the text has no other passage of the same length as the cited one"
        )
        return False
    answers.passages = drawn
    return True


def _can_attribute(answers: Answers) -> bool:
    name = answers.request.model or ""
    if models().kind(name) != "causal":
        answers.lacks("attribution_agreement", "no-logprobs", NO_WRITER.format(model=name))
        return False
    if len(answers.text) < FEWEST_WORDS:
        detail = f"the text has fewer than {FEWEST_WORDS} words"
        answers.lacks("attribution_agreement", "no-words", detail)
        return False
    return True


def _edits(answers: Answers) -> list[WordRow]:
    """Return the edited texts, grouped by operator (delete or mask). Each group edits the cited
    passage first, then M random passages."""
    if answers.passages is None:
        return []
    rows: list[WordRow] = []
    for operator in answers.request.operators:
        for taken in answers.passages.taken:
            if operator == "delete":
                rows.append(row_of(~taken, None))
            else:
                rows.append(WordRow(masked=tuple(np.flatnonzero(taken).tolist())))
    return rows


def _probabilities(
    answers: Answers, part: str, judgements: WordJudgements
) -> list[tuple[float, ...]] | None:
    rows = [row for row in judgements.probabilities if row is not None]
    if len(rows) == len(judgements.probabilities):
        return rows
    obstacle = _unread(judgements.unread)
    component = "attribution_agreement" if part == "attribution" else part
    answers.lacks(component, obstacle.code, obstacle.detail)
    return None


def _contributions(answers: Answers, values: Floats) -> Floats:
    """Return the contributions of n words to T values, of shape (n, T), by occlusion or Shapley
    values. `values` has shape (R, T), a row per variation of the text."""
    if answers.request.way == "occlusion":
        return kernel.occlusion(values)
    return kernel.shapley(values, answers.orders)


def _score_explanations(name: str, writer: Writer, batch: Sequence[Answers]) -> None:
    for answers in check_each(batch):
        if answers.answer is None:
            continue
        request = answers.request
        texts = [example.text for example in render_rows(answers.attributed, "")]
        distinct = list(dict.fromkeys(texts))
        prompts = [explanation_prompt(request, answers.label, text) for text in distinct]
        begin, completion = len(request.preceding), request.preceding + request.explanation
        try:
            with pointing_to("/text", only=PROMPTS):
                logprobs = [
                    [token.logprob for token in scored.tokens if token.end > begin]
                    for scored in _score(writer, prompts, completion)
                ]
        except BadInput as error:
            if error.pointer != "/model":
                raise
            answers.lacks("attribution_agreement", "no-logprobs", error.detail)
            continue
        by_text = dict(zip(distinct, logprobs, strict=True))
        rows = [by_text[text] for text in texts]
        if not rows[0] or len({len(row) for row in rows}) > 1:
            answers.lacks("attribution_agreement", "no-logprobs", NO_LOGPROBS.format(model=name))
            continue
        contributions = _contributions(answers, np.array(rows))  # (n, T)
        answers.explanation = (
            kernel.mean_ratios(contributions)
            if answers.variant.aggregation == "ratios"
            else np.asarray(contributions.sum(axis=1))
        )


def _score(writer: Writer, prompts: Sequence[Prompt], completion: str) -> Iterator[Completion]:
    for first in range(0, len(prompts), SCORED_AT_ONCE):
        batch = prompts[first : first + SCORED_AT_ONCE]
        yield from writer.score(batch, [completion] * len(batch))


def _ask_readers(batch: Sequence[Answers]) -> None:
    for answers in check_each(batch):
        name = answers.request.reader_model
        if name is None or answers.changed is None:
            continue
        reader = models().judge(name)
        judgements = reader.judgements(
            [
                reading_example(answers.request, answers.label, text)
                for text in _edited_texts(answers)
            ]
        )
        answers.uses.append(reader.use)
        if unread := [row.unread for row in judgements if row.probabilities is None]:
            obstacle = _unread(unread[0])
            answers.lacks("simulatability", obstacle.code, obstacle.detail)
            answers.changed = None
            continue
        labels = [predict_label(row.labels, row.probabilities or (), {}) for row in judgements]
        predicted = [kernel.CHANGES if label == CHANGES else kernel.STAYS for label in labels]
        answers.predicted = np.array(predicted, dtype=np.int8)


def _edited_texts(answers: Answers) -> list[str]:
    if answers.request.edits:
        return [edit.text for edit in answers.request.edits]
    rows = answers.text.word_rows(answers.example, _edits(answers))
    mask = models().judge(answers.request.model or "").mask_text
    return [example.text for example in render_rows(rows, mask)]
