"""The ports over an OpenAI-compatible server: what it can truly do, and a refusal of the rest.

P of labels comes in the best way that the server offers, one judgement a question:

1. `label-endpoint`: where it has one and every verbalizer is one token after the prompt.
2. `scored`: log-probabilities of the verbalizers as given texts.
3. `top-logprobs`: those that a chat, or a completion, lists of its first tokens.
4. `votes`: the entry's `votes`, where a server tells no log-probabilities at all; off by default.

Source: specs "models" §4.3.
"""

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
    """The model of an `openai:` entry; one for all that ask, so that they share its connections."""
    return _cached_model(entry.model_dump_json(exclude_unset=True))


@lru_cache(maxsize=64)
def _cached_model(entry: str) -> ServedLanguageModel:
    return ServedLanguageModel(ModelEntry.model_validate_json(entry))


class ServedLanguageModel(ServerModel):
    """The port `shared.models.ports.LanguageModel`, as far as a server goes.

    Raises Unavailable where the server is away, ModelCannot for what no server shows, BadInput
    where this one refuses.
    """

    def __init__(self, entry: ModelEntry) -> None:
        super().__init__(entry)
        self._findings = ServerState(entry.name, lambda: LanguageServer(entry))

    @property
    def server(self) -> LanguageServer:
        """The server, and what is known of it by now."""
        return self._findings.value

    @property
    def use(self) -> ModelUse:
        """For the provenance; the weights' hash, device and dtype are the server's affair.

        Asks the server once whether it serves the model: Unavailable where it does not.
        """
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
        """A completion of each prompt. Prompt i is drawn with a seed made of the seed and i.

        A server that batches may move a log-probability, and so a draw, by rounding. A text of
        whose tokens the server did not tell all is scored afterwards, as its tokenizer reads it;
        it has no tokens where the server scores no text either.
        """
        return self._findings.run(lambda: self._generated(prompts, sampling))

    def _generated(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        extra = default_sampling(self.server.owner)
        done = generate(self.server.dialect, prompts, sampling, extra)
        if not self._entry.keep_reasoning:
            done = [one.model_copy(update={"reasoning": None}) for one in done]
        bare = [place for place, one in enumerate(done) if one.text and not one.tokens]
        if bare and self.server.scoring_method is not None:
            texts = [done[place].text for place in bare]
            scored = self.score([prompts[place] for place in bare], texts)
            for place, one in zip(bare, scored, strict=True):
                kept = {"finish": done[place].finish, "reasoning": done[place].reasoning}
                done[place] = one.model_copy(update=kept)
        return done

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        """Token log-probabilities of each given completion after its prompt."""
        return self._findings.run(
            lambda: self._score(self.server.tokenizer.read(prompts, completions))
        )

    def labels_of(self, example: Example) -> tuple[str, ...]:
        """The labels of its template, else of the entry's prompt."""
        return make_question(example, self._entry).labels

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """For each example (L,) probabilities of its labels.

        With a template: softmax over the labels of the sum of log-probabilities of each
        verbalizer's tokens after `prefix + text + suffix`. With the entry's prompt: `judgements`.
        """
        if any(example.template is None for example in examples):
            return [np.array(one.unwrap()) for one in self.judgements(examples)]
        return self._findings.run(lambda: self._by_template(examples))

    def _by_template(self, examples: Sequence[Example]) -> list[Floats]:
        questions = [make_question(example) for example in examples]
        if self.server.scoring_method is None:
            texts = [one.prompt.text or "" for one in questions]
            words = [[string for _, string in one.strings] for one in questions]
            scores = first_tokens(self.server.connection, self.server.served, texts, words)
        else:
            scores = self._label_logprobs(questions)
        return [softmax(np.array(row)) for row in scores]

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """For each example P with its mass and uncertainty, and how it was read."""
        questions = [make_question(one, self._entry) for one in examples]
        found = self._findings.run(lambda: self._judged(examples, questions))
        return [
            judged
            if one.prompt is None
            else judged.model_copy(update={"prompt_sha256": prompt_sha256(self._entry, one.prompt)})
            for one, judged in zip(examples, found, strict=True)
        ]

    def _judged(
        self, examples: Sequence[Example], questions: Sequence[Question]
    ) -> list[Judgement]:
        found = judgements(self.server, questions)
        places = [place for place, one in enumerate(examples) if one.categories]
        asked = [(questions[place], found[place]) for place in places]
        for place, one in zip(places, with_categories(self.server, asked), strict=True):
            found[place] = one
        return found

    def _label_logprobs(self, questions: Sequence[Question]) -> list[list[float]]:
        """For each question (L,) log-probabilities of its verbalizers."""
        prompts = [one.prompt for one in questions for _ in one.strings]
        written = [string for one in questions for _, string in one.strings]
        asked = self.server.tokenizer.read(prompts, written)
        columns = iter(zip(asked, self._score(asked), strict=True))
        scores = []
        for one in questions:
            own = [next(columns) for _ in one.strings]
            check_unique([text.ids[1] for text, _ in own if text.ids])
            scores.append([sum(token.logprob for token in done.tokens) for _, done in own])
        return scores

    def _score(self, asked: Sequence[TokenizedPrompt]) -> list[Completion]:
        found = zip(asked, self.server.score(asked), strict=True)
        return [completion(one.written, tokens, "given") for one, tokens in found]


WINDOW = 8  # tokens beyond the first: blanks, and the answer's prefix
SILENT = "the server tells no log-probabilities, and `votes` is off for this model"


def judgements(server: LanguageServer, questions: Sequence[Question]) -> list[Judgement]:
    """(N,) in order. A text that the server finds too long is unread by itself."""
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
            _after_reasoning(server, one) if _reasons(one) else _judged(server, [one])[0]
            for one in questions
        ]
    if server.scoring_method is None and server.endpoint is None:
        return _first_tokens(server, questions)
    asked = [_tokenize(server, one) for one in questions]
    by_endpoint = {
        place: ids
        for place, texts in enumerate(asked)
        if server.endpoint is not None and (ids := _single_tokens(texts)) is not None
    }
    done = _at_endpoint(server, questions, by_endpoint)
    rest = [place for place in range(len(questions)) if place not in done]
    if server.scoring_method is None:
        found = _first_tokens(server, [questions[place] for place in rest])
    else:
        some = [questions[place] for place in rest]
        found = _score(server, some, [asked[place] for place in rest])
    done.update(zip(rest, found, strict=True))
    return [done[place] for place in range(len(questions))]


def _reasons(question: Question) -> bool:
    return question.table is not None and question.table.thinking == "before"


def _tokenize(server: LanguageServer, asked: Question) -> list[TokenizedPrompt]:
    """One for each string, after the answer's prefix."""
    written = [asked.prefix + string for _, string in asked.strings]
    return server.tokenizer.read([asked.prompt] * len(written), written)


def _single_tokens(texts: Sequence[TokenizedPrompt]) -> tuple[Ids, Ids] | None:
    """The prompt with what all strings begin with, and each one's last token; None where a string
    is not that and one token, or two are the same."""
    ids = [one.ids for one in texts if one.ids is not None]
    begun = [(*before, *after[:-1]) for before, after in ids if after]
    lasts = tuple(after[-1] for _, after in ids if after)
    alike = len(begun) == len(texts) and len(set(begun)) == 1 and len(set(lasts)) == len(lasts)
    return (begun[0], lasts) if alike and len(begun[0]) > 1 else None


def _at_endpoint(
    server: LanguageServer, questions: Sequence[Question], asked: dict[int, tuple[Ids, Ids]]
) -> dict[int, Judgement]:
    if server.endpoint is None or not asked:
        return {}
    shares = call_label_endpoint(
        server.connection, server.served, server.endpoint, list(asked.values())
    )
    return {
        place: normalize(_by_label(questions[place], own), "label-endpoint")
        for place, own in zip(asked, shares, strict=True)
    }


def _score(
    server: LanguageServer, questions: Sequence[Question], asked: list[list[TokenizedPrompt]]
) -> list[Judgement]:
    tokens = iter(server.score([one for some in asked for one in some]))
    done = []
    for question in questions:
        border = len(question.prefix)
        sums = [
            sum(token.logprob for token in next(tokens) if token.end > border)
            for _ in question.strings
        ]
        done.append(normalize(_by_label(question, [exp(one) for one in sums]), "scored"))
    return done


def _by_label(question: Question, shares: Sequence[float]) -> dict[str, float]:
    """Each label's sum over its strings."""
    sums = dict.fromkeys(question.labels, 0.0)
    for (label, _), share in zip(question.strings, shares, strict=True):
        sums[label] += share
    return sums


def _first_tokens(server: LanguageServer, questions: Sequence[Question]) -> list[Judgement]:
    """From the listed first tokens of an answer, else votes."""
    if not questions or server.is_silent:
        return [_by_votes(server, one) for one in questions]
    done = []
    responses = _sent(server, [_body(server, one) for one in questions])
    for question, found in zip(questions, responses, strict=True):
        listed = find_position(found, question.verbalizers, question.prefix)
        if isinstance(listed, LabelPosition) and listed.uncertainty > TOLERATED:
            listed = _with_missing(server, question, listed)
        one = from_position(listed) if isinstance(listed, LabelPosition) else listed
        if one.unread is not None and one.unread.code == "no-logprobs":
            server.is_silent = True
            one = _by_votes(server, question)
        done.append(one)
    return done


def _sent(server: LanguageServer, bodies: Sequence[Json]) -> list[ServerChoice]:
    """Conversations and raw texts, in order."""
    paths = {CHAT: list[int](), PATH: list[int]()}
    for place, body in enumerate(bodies):
        paths[CHAT if "messages" in body else PATH].append(place)
    done: dict[int, ServerChoice] = {}
    for path, places in paths.items():
        answers = server.dialect.complete(path, [bodies[place] for place in places])
        done.update(zip(places, answers, strict=True))
    return [done[place] for place in range(len(bodies))]


def _body(server: LanguageServer, question: Question) -> Json:
    """A request whose answer begins with a label; a raw prompt is a turn where there are no
    completions."""
    asked: Json = {"max_tokens": 1 + WINDOW, "temperature": 0, "logprobs": True}
    prompt = question.prompt
    if prompt.turns is None and server.supports_completion:
        return {**asked, "top_logprobs": True, "prompt": prompt.text}
    turns = list(prompt.turns or (Turn.model_construct(role="user", content=prompt.text or ""),))
    messages = [{"role": turn.role, "content": turn.content} for turn in turns]
    if question.prefix and server.continues:
        messages.append({"role": "assistant", "content": question.prefix})
        asked |= server.continuing
    elif prompt.turns is not None:
        messages = _request_one_word(messages, question)
    return {**asked, **server.chat_keys, "top_logprobs": True, "messages": messages}


def _request_one_word(messages: list[Json], question: Question) -> list[Json]:
    words = " or ".join(own[0].strip() for own in question.verbalizers.values())
    said = f"Answer with one word: {words}."
    if messages[0]["role"] == "system":
        return [{**messages[0], "content": f"{messages[0]['content']}\n{said}"}, *messages[1:]]
    return [{"role": "system", "content": said}, *messages]


def _with_missing(
    server: LanguageServer, question: Question, listed: LabelPosition
) -> LabelPosition:
    """The labels that were not listed, asked for: only where the label is read at once."""
    if listed.place:
        return listed
    body = {**_body(server, question), "max_tokens": 1}

    def first(fields: Json) -> LogprobEntry | None:
        try:
            [found] = _sent(server, [body | fields])
        except BadInput:
            return None
        return next(iter(found.logprobs.positions if found.logprobs else []), None)

    def ids(words: Sequence[str]) -> list[int]:
        try:
            read = server.tokenizer.read([question.prompt] * len(words), words)
        except BadInput:  # it cannot write the conversation out
            return []
        begun = [one.ids[1][0] for one in read if one.ids and one.ids[1]]
        return list(dict.fromkeys(begun))

    return server.missing_labels.find(listed, question.verbalizers, LabelRequest(ids, first))


def with_categories(
    server: LanguageServer, asked: Sequence[tuple[Question, Judgement]]
) -> list[Judgement]:
    """(N,) judgements with the categories that a guard's own answer names."""
    places = [
        place
        for place, (question, judged) in enumerate(asked)
        if is_written(question.table) and judged.unread is None and not _reasons(question)
    ]
    bodies = [_body_without_limit(server, asked[place][0]) for place in places]
    least = prompt_label_fields(server.entry)["thresholds"]
    found = [with_only_category(judged, question.table, least) for question, judged in asked]
    for place, written in zip(places, _sent(server, bodies), strict=True):
        question, judged = asked[place]
        named = named_categories(question.table, written.written)
        found[place] = judged.model_copy(update={"categories": named})
    return found


def _body_without_limit(server: LanguageServer, question: Question) -> Json:
    """As `_body`, without asking for one word."""
    asked: Json = {"max_tokens": CATEGORY_TOKENS, "temperature": 0}
    prompt = question.prompt
    if prompt.turns is None:
        return {**asked, "prompt": prompt.text}
    messages = [{"role": turn.role, "content": turn.content} for turn in prompt.turns]
    if question.prefix and server.continues:
        messages.append({"role": "assistant", "content": question.prefix})
        asked |= server.continuing
    return {**asked, **server.chat_keys, "messages": messages}


def _by_votes(server: LanguageServer, question: Question) -> Judgement:
    """The share of so many answers, each drawn with a seed of its own."""
    count = server.entry.votes
    if not count:
        return unread(question.labels, "no-logprobs", SILENT)
    found = _sample_responses(server, question, count)
    if all(one.cut_by_reasoning for one in found):
        detail = "the model was still reasoning when its tokens were used up"
        return unread(question.labels, "answer-cut-by-reasoning", detail, reading="votes")
    said = [parse_label(one.written, question.verbalizers, question.prefix) for one in found]
    counts = Counter(label for label in said if label is not None)
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
    """P after each drawn reasoning, averaged; uncertainty: half the mean's 95 % interval."""
    draws = question.table.draws if question.table else 1
    each = [
        read_position(found, question.verbalizers, question.prefix)
        for found in _sample_responses(server, question, draws)
    ]
    if all(one.unread is not None and one.unread.code == "no-logprobs" for one in each):
        return _by_votes(server, question)
    return average(each, READING)
