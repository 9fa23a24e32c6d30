"""Implements the model interfaces (`shared.models.ports`) for an OpenAI-compatible server.

Label probabilities are computed by the first of these methods that the server supports:

1. `label-endpoint`: if the server has one and every verbalizer is one token after the
   prompt.
2. `scored`: log-probabilities of the verbalizers as given texts.
3. `top-logprobs`: log-probabilities that a chat or completion lists for its first tokens.
4. `votes`: label shares in sampled answers, without log-probabilities; off by default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import exp

import numpy as np

from shared.contracts.calls import Completion, Example, Prompt, Sampling, Turn
from shared.contracts.errors import BadInput, TextTooLong
from shared.contracts.judgement import (
    TOO_LONG,
    Judgement,
    average,
    from_counts,
    normalize,
    unread,
)
from shared.contracts.messages import ModelUse
from shared.models.catalogue.catalogue import SERVER, prompt_label_fields
from shared.models.catalogue.entry import ModelEntry
from shared.models.catalogue.models_file import with_version
from shared.models.guard_categories import (
    CATEGORY_TOKENS,
    is_written,
    named_categories,
    with_only_category,
)
from shared.models.openai.constraint import LabelRequest
from shared.models.openai.labels import (
    READING,
    TOLERATED,
    LabelPosition,
    Question,
    find_position,
    from_position,
    make_question,
    parse_label,
    prompt_sha256,
    read_position,
)
from shared.models.openai.protocol import CHAT, LogprobEntry, ServerChoice
from shared.models.openai.scoring import PATH, check_unique, first_tokens, softmax
from shared.models.openai.server import Ids, LanguageServer, call_label_endpoint
from shared.models.openai.text import (
    TokenizedPrompt,
    completion,
    default_sampling,
    generate,
    seed_of,
)
from shared.models.ports import Floats
from shared.models.server_connection import Json
from shared.models.server_records import ServerState
from shared.models.word_rows import ServerModel


def get_remote_model(entry: ModelEntry) -> ServedLanguageModel:
    """Return the model of an `openai:` entry, shared by all callers with its connections."""
    return _cached_model(entry.model_dump_json(exclude_unset=True))


@lru_cache(maxsize=64)
def _cached_model(entry: str) -> ServedLanguageModel:
    return ServedLanguageModel(ModelEntry.model_validate_json(entry))


class ServedLanguageModel(ServerModel):
    """A language model behind a server. Raises Unavailable if the server is unreachable,
    ModelCannot for values that no server returns, and BadInput if this server rejects the request.
    """

    def __init__(self, entry: ModelEntry) -> None:
        super().__init__(entry)
        self._findings = ServerState(entry.name, lambda: LanguageServer(entry))

    @property
    def server(self) -> LanguageServer:
        """The server with its known properties."""
        return self._findings.value

    @property
    def use(self) -> ModelUse:
        """The model's identity, for the provenance of a score. Only the server knows its weights'
        hash, device and dtype. Asks the server once whether it serves the model, and raises
        Unavailable otherwise."""
        _ = self._findings.run(lambda: self.server.owner)
        revision = self.server.served
        return ModelUse(
            name=self._entry.name,
            revision=revision,
            sha256=None,
            device=SERVER,
            dtype=SERVER,
            prompt_sha256=prompt_sha256(self._entry),
            preset=with_version(self._entry.preset),
            system_fingerprint=self.server.dialect.fingerprint,
            **prompt_label_fields(self._entry),
        )

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        """Return a completion of each prompt. Each prompt's seed is derived from `sampling`'s seed
        and the prompt's index. If the server returns a text without tokens, a second request scores
        the text. It stays without tokens if the server cannot score text."""
        return self._findings.run(lambda: self._generated(prompts, sampling))

    def _generated(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        extra = default_sampling(self.server.owner)
        completions = generate(self.server.dialect, prompts, sampling, extra)
        if not self._entry.keep_reasoning:
            completions = [row.model_copy(update={"reasoning": None}) for row in completions]
        bare = [i for i, row in enumerate(completions) if row.text and not row.tokens]
        if bare and self.server.scoring_method is not None:
            texts = [completions[i].text for i in bare]
            scored = self.score([prompts[i] for i in bare], texts)
            for i, row in zip(bare, scored, strict=True):
                kept = {"finish": completions[i].finish, "reasoning": completions[i].reasoning}
                completions[i] = row.model_copy(update=kept)
        return completions

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        """Return token log-probabilities of each completion after its prompt."""
        return self._findings.run(
            lambda: self._score(self.server.tokenizer.read(prompts, completions))
        )

    def labels_of(self, example: Example) -> tuple[str, ...]:
        """Return the labels of the example's template or, if it has none, of the entry's prompt."""
        return make_question(example, self._entry).labels

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """Return one probability per label for each example. With a template this is the softmax
        over the labels' log-probabilities after `prefix + text + suffix`. Without a template, the
        entry's prompt is used as in `judgements`."""
        if any(example.template is None for example in examples):
            return [np.array(judgement.unwrap()) for judgement in self.judgements(examples)]
        return self._findings.run(lambda: self._by_template(examples))

    def _by_template(self, examples: Sequence[Example]) -> list[Floats]:
        questions = [make_question(example) for example in examples]
        if self.server.scoring_method is None:
            texts = [question.prompt.text or "" for question in questions]
            words = [[string for _, string in question.strings] for question in questions]
            scores = first_tokens(self.server.connection, self.server.served, texts, words)
        else:
            scores = self._label_logprobs(questions)
        return [softmax(np.array(row)) for row in scores]

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """Return a judgement for each example: the label probabilities, their sum before
        normalisation, their uncertainty, and how they were obtained."""
        questions = [make_question(example, self._entry) for example in examples]
        results = self._findings.run(lambda: self._judged(examples, questions))
        return [
            result
            if example.prompt is None
            else result.model_copy(
                update={"prompt_sha256": prompt_sha256(self._entry, example.prompt)}
            )
            for example, result in zip(examples, results, strict=True)
        ]

    def _judged(
        self, examples: Sequence[Example], questions: Sequence[Question]
    ) -> list[Judgement]:
        results = judgements(self.server, questions)
        indices = [i for i, example in enumerate(examples) if example.categories]
        pairs = [(questions[i], results[i]) for i in indices]
        for i, result in zip(indices, with_categories(self.server, pairs), strict=True):
            results[i] = result
        return results

    def _label_logprobs(self, questions: Sequence[Question]) -> list[list[float]]:
        """Return the log-probabilities of each question's verbalizers, one per label."""
        prompts = [question.prompt for question in questions for _ in question.strings]
        strings = [string for question in questions for _, string in question.strings]
        texts = self.server.tokenizer.read(prompts, strings)
        columns = iter(zip(texts, self._score(texts), strict=True))
        scores = []
        for question in questions:
            rows = [next(columns) for _ in question.strings]
            check_unique([text.ids[1] for text, _ in rows if text.ids])
            scores.append([sum(token.logprob for token in row.tokens) for _, row in rows])
        return scores

    def _score(self, texts: Sequence[TokenizedPrompt]) -> list[Completion]:
        rows = zip(texts, self.server.score(texts), strict=True)
        return [completion(text.written, tokens, "given") for text, tokens in rows]


WINDOW = 8  # tokens after the first, for blanks and the answer's prefix
SILENT = "the server returns no log-probabilities, and this model's entry does not allow `votes`"


def judgements(server: LanguageServer, questions: Sequence[Question]) -> list[Judgement]:
    """Return one judgement per question, in order. If a text is too long for the server, only its
    own judgement is marked unread."""
    try:
        return _judged(server, questions)
    except TextTooLong:
        if len(questions) == 1:
            return [unread(questions[0].labels, "text-too-long", TOO_LONG)]
    half = len(questions) // 2
    return [*judgements(server, questions[:half]), *judgements(server, questions[half:])]


def _judged(server: LanguageServer, questions: Sequence[Question]) -> list[Judgement]:
    if any(map(_reasons, questions)):
        return [
            _after_reasoning(server, question)
            if _reasons(question)
            else _judged(server, [question])[0]
            for question in questions
        ]
    if server.scoring_method is None and server.endpoint is None:
        return _first_tokens(server, questions)
    texts = [
        server.tokenizer.read(
            [question.prompt] * len(question.strings),
            [question.prefix + string for _, string in question.strings],
        )
        for question in questions
    ]
    by_endpoint = {
        index: ids
        for index, row in enumerate(texts)
        if server.endpoint is not None and (ids := _single_tokens(row)) is not None
    }
    results = _at_endpoint(server, questions, by_endpoint)
    others = [index for index in range(len(questions)) if index not in results]
    remaining = [questions[index] for index in others]
    if server.scoring_method is None:
        judged = _first_tokens(server, remaining)
    else:
        judged = _score(server, remaining, [texts[index] for index in others])
    results.update(zip(others, judged, strict=True))
    return [results[index] for index in range(len(questions))]


def _reasons(question: Question) -> bool:
    return question.table is not None and question.table.thinking == "before"


def _single_tokens(texts: Sequence[TokenizedPrompt]) -> tuple[Ids, Ids] | None:
    """Return the common beginning of all texts, and the last token of each text. Returns None if a
    text is not this beginning plus one token, or if two texts are equal."""
    ids = [text.ids for text in texts if text.ids is not None]
    begun = [(*before, *after[:-1]) for before, after in ids if after]
    lasts = tuple(after[-1] for _, after in ids if after)
    is_single = len(begun) == len(texts) and len(set(begun)) == 1 and len(set(lasts)) == len(lasts)
    return (begun[0], lasts) if is_single and len(begun[0]) > 1 else None


def _at_endpoint(
    server: LanguageServer, questions: Sequence[Question], tokens: dict[int, tuple[Ids, Ids]]
) -> dict[int, Judgement]:
    if server.endpoint is None or not tokens:
        return {}
    rows = call_label_endpoint(
        server.connection, server.served, server.endpoint, list(tokens.values())
    )
    return {
        index: normalize(_by_label(questions[index], shares), "label-endpoint")
        for index, shares in zip(tokens, rows, strict=True)
    }


def _score(
    server: LanguageServer, questions: Sequence[Question], texts: list[list[TokenizedPrompt]]
) -> list[Judgement]:
    tokens = iter(server.score([text for row in texts for text in row]))
    results = []
    for question in questions:
        border = len(question.prefix)
        shares = [
            exp(sum(token.logprob for token in next(tokens) if token.end > border))
            for _ in question.strings
        ]
        results.append(normalize(_by_label(question, shares), "scored"))
    return results


def _by_label(question: Question, shares: Sequence[float]) -> dict[str, float]:
    sums = dict.fromkeys(question.labels, 0.0)
    for (label, _), share in zip(question.strings, shares, strict=True):
        sums[label] += share
    return sums


def _first_tokens(server: LanguageServer, questions: Sequence[Question]) -> list[Judgement]:
    """Read each label from the listed probabilities of the answer's first tokens. If none are
    listed, let sampled answers vote."""
    if not questions or server.is_silent:
        return [_by_votes(server, question) for question in questions]
    results = []
    choices = _send(server, [_body(server, question) for question in questions])
    for question, choice in zip(questions, choices, strict=True):
        listed = find_position(choice, question.verbalizers, question.prefix)
        if isinstance(listed, LabelPosition) and listed.uncertainty > TOLERATED:
            listed = _with_missing(server, question, listed)
        result = from_position(listed) if isinstance(listed, LabelPosition) else listed
        if result.unread is not None and result.unread.code == "no-logprobs":
            server.is_silent = True
            result = _by_votes(server, question)
        results.append(result)
    return results


def _send(server: LanguageServer, bodies: Sequence[Json]) -> list[ServerChoice]:
    paths = {CHAT: list[int](), PATH: list[int]()}
    for index, body in enumerate(bodies):
        paths[CHAT if "messages" in body else PATH].append(index)
    choices: dict[int, ServerChoice] = {}
    for path, indices in paths.items():
        answers = server.dialect.complete(path, [bodies[index] for index in indices])
        choices.update(zip(indices, answers, strict=True))
    return [choices[index] for index in range(len(bodies))]


def _body(server: LanguageServer, question: Question) -> Json:
    """Return a request whose answer begins with a label. If the server has no completions endpoint,
    a plain prompt is sent as a chat message."""
    body: Json = {"max_tokens": 1 + WINDOW, "temperature": 0, "logprobs": True}
    prompt = question.prompt
    if prompt.turns is None and server.supports_completion:
        return {**body, "top_logprobs": True, "prompt": prompt.text}
    turns = list(prompt.turns or (Turn.model_construct(role="user", content=prompt.text or ""),))
    messages = [{"role": turn.role, "content": turn.content} for turn in turns]
    if question.prefix and server.continues:
        messages.append({"role": "assistant", "content": question.prefix})
        body |= server.continuing
    elif prompt.turns is not None:
        messages = _request_one_word(messages, question)
    return {**body, **server.chat_keys, "top_logprobs": True, "messages": messages}


def _request_one_word(messages: list[Json], question: Question) -> list[Json]:
    words = " or ".join(strings[0].strip() for strings in question.verbalizers.values())
    instruction = f"Answer with one word: {words}."
    if messages[0]["role"] == "system":
        content = f"{messages[0]['content']}\n{instruction}"
        return [{**messages[0], "content": content}, *messages[1:]]
    return [{"role": "system", "content": instruction}, *messages]


def _with_missing(
    server: LanguageServer, question: Question, listed: LabelPosition
) -> LabelPosition:
    """Request the probabilities of labels that the server did not list, and add them. Return
    `listed` unchanged if the label is not the first token of the answer."""
    if listed.place:
        return listed
    body = {**_body(server, question), "max_tokens": 1}

    def first(fields: Json) -> LogprobEntry | None:
        try:
            [choice] = _send(server, [body | fields])
        except BadInput:
            return None
        return next(iter(choice.logprobs.positions if choice.logprobs else []), None)

    def ids(words: Sequence[str]) -> list[int]:
        try:
            texts = server.tokenizer.read([question.prompt] * len(words), words)
        except BadInput:  # it cannot write the conversation out
            return []
        return list(dict.fromkeys(text.ids[1][0] for text in texts if text.ids and text.ids[1]))

    return server.missing_labels.find(listed, question.verbalizers, LabelRequest(ids, first))


def with_categories(
    server: LanguageServer, pairs: Sequence[tuple[Question, Judgement]]
) -> list[Judgement]:
    """Return the judgements with the categories that a guard model names in its own answer."""
    indices = [
        index
        for index, (question, judged) in enumerate(pairs)
        if is_written(question.table) and judged.unread is None and not _reasons(question)
    ]
    bodies = [_category_body(server, pairs[index][0]) for index in indices]
    least = prompt_label_fields(server.entry)["thresholds"]
    results = [with_only_category(judged, question.table, least) for question, judged in pairs]
    for index, choice in zip(indices, _send(server, bodies), strict=True):
        question, judged = pairs[index]
        categories = named_categories(question.table, choice.written)
        results[index] = judged.model_copy(update={"categories": categories})
    return results


def _category_body(server: LanguageServer, question: Question) -> Json:
    """Return a request for the category of a text. Unlike `_body`, it asks for neither a single
    word nor log-probabilities."""
    body: Json = {"max_tokens": CATEGORY_TOKENS, "temperature": 0}
    prompt = question.prompt
    if prompt.turns is None:
        return {**body, "prompt": prompt.text}
    messages = [{"role": turn.role, "content": turn.content} for turn in prompt.turns]
    if question.prefix and server.continues:
        messages.append({"role": "assistant", "content": question.prefix})
        body |= server.continuing
    return {**body, **server.chat_keys, "messages": messages}


def _by_votes(server: LanguageServer, question: Question) -> Judgement:
    count = server.entry.votes
    if not count:
        return unread(question.labels, "no-logprobs", SILENT)
    choices = _sample_responses(server, question, count)
    if all(choice.cut_by_reasoning for choice in choices):
        detail = "the model was still reasoning when its tokens were used up"
        return unread(question.labels, "answer-cut-by-reasoning", detail, reading="votes")
    counts = Counter(
        parse_label(choice.written, question.verbalizers, question.prefix) for choice in choices
    )
    return from_counts({label: counts[label] for label in question.labels}, count)


def _sample_responses(server: LanguageServer, question: Question, count: int) -> list[ServerChoice]:
    body = _body(server, question)
    body["temperature"] = 1
    if _reasons(question) and question.table is not None:
        body["max_tokens"] += question.table.reasoning_tokens
    if server.is_silent:
        body.pop("logprobs"), body.pop("top_logprobs")
    path = CHAT if "messages" in body else PATH
    return server.dialect.complete(
        path, [{**body, "seed": seed_of(0, draw)} for draw in range(count)]
    )


def _after_reasoning(server: LanguageServer, question: Question) -> Judgement:
    """Return the mean label probabilities over sampled reasonings, with half the 95 % interval as
    uncertainty."""
    draws = question.table.draws if question.table else 1
    results = [
        read_position(choice, question.verbalizers, question.prefix)
        for choice in _sample_responses(server, question, draws)
    ]
    if all(row.unread is not None and row.unread.code == "no-logprobs" for row in results):
        return _by_votes(server, question)
    return average(results, READING)
