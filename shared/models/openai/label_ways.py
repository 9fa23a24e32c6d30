"""P of labels from a server, in the best way that it offers: one judgement a question.

1. `label-endpoint`: where it has one and every verbalizer is one token after the prompt.
2. `scored`: log-probabilities of the verbalizers as given texts.
3. `top-logprobs`: those that a chat, or a completion, lists of its first tokens.
4. `votes`: the entry's `votes`, where a server tells no log-probabilities at all; off by default.

Source: specs "models" §4.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import exp

from shared.errors import BadInput, TextTooLong
from shared.models.calls import Turn
from shared.models.judgement import (
    TOO_LONG,
    Judgement,
    averaged,
    normalised,
    unread,
    voted,
)
from shared.models.openai.answers import ServerChoice
from shared.models.openai.dialect import CHAT
from shared.models.openai.label_endpoints import Ids, ask_label_endpoint
from shared.models.openai.listed_labels import (
    READING,
    TOLERATED,
    Listed,
    find_listed,
    from_listed,
    label_said,
    labels_begun,
)
from shared.models.openai.questions import Question
from shared.models.openai.scoring import FORCE, PATH, SAME
from shared.models.openai.server import LanguageServer
from shared.models.openai.text import TokenizedPrompt, seed_of
from shared.models.server_connection import Json

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
    if server.way is None and server.endpoint is None:
        return _first_tokens(server, questions)
    asked = [_tokenized(server, one) for one in questions]
    by_endpoint = {
        place: ids
        for place, texts in enumerate(asked)
        if server.endpoint is not None and (ids := _single_tokens(texts)) is not None
    }
    done = _at_endpoint(server, questions, by_endpoint)
    rest = [place for place in range(len(questions)) if place not in done]
    if server.way is None:
        found = _first_tokens(server, [questions[place] for place in rest])
    else:
        some = [questions[place] for place in rest]
        found = _scored(server, some, [asked[place] for place in rest])
    done.update(zip(rest, found, strict=True))
    return [done[place] for place in range(len(questions))]


def _reasons(question: Question) -> bool:
    return question.table is not None and question.table.thinking == "before"


def _tokenized(server: LanguageServer, asked: Question) -> list[TokenizedPrompt]:
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
    shares = ask_label_endpoint(
        server.connection, server.served, server.endpoint, list(asked.values())
    )
    return {
        place: normalised(_by_label(questions[place], own), "label-endpoint")
        for place, own in zip(asked, shares, strict=True)
    }


def _scored(
    server: LanguageServer, questions: Sequence[Question], asked: list[list[TokenizedPrompt]]
) -> list[Judgement]:
    tokens = iter(server.scored([one for some in asked for one in some]))
    done = []
    for question in questions:
        border = len(question.prefix)
        sums = [
            sum(token.logprob for token in next(tokens) if token.end > border)
            for _ in question.strings
        ]
        done.append(normalised(_by_label(question, [exp(one) for one in sums]), "scored"))
    return done


def _by_label(question: Question, shares: Sequence[float]) -> dict[str, float]:
    """Each label's sum over its strings."""
    sums = dict.fromkeys(question.labels, 0.0)
    for (label, _), share in zip(question.strings, shares, strict=True):
        sums[label] += share
    return sums


def _first_tokens(server: LanguageServer, questions: Sequence[Question]) -> list[Judgement]:
    """What the server lists of an answer's first tokens, else votes."""
    if not questions or server.is_silent:
        return [_by_votes(server, one) for one in questions]
    done = []
    for question, found in zip(questions, _answers(server, questions), strict=True):
        listed = find_listed(found, question.verbalizers, question.prefix)
        if isinstance(listed, Listed) and listed.uncertainty > TOLERATED:
            listed = _with_missing(server, question, listed)
        one = from_listed(listed) if isinstance(listed, Listed) else listed
        if one.unread is not None and one.unread.code == "no-logprobs":
            server.is_silent = True
            one = _by_votes(server, question)
        done.append(one)
    return done


def _answers(server: LanguageServer, questions: Sequence[Question]) -> list[ServerChoice]:
    paths = {CHAT: list[int](), PATH: list[int]()}
    bodies = [_body(server, one) for one in questions]
    for place, body in enumerate(bodies):
        paths[CHAT if "messages" in body else PATH].append(place)
    done: dict[int, ServerChoice] = {}
    for path, places in paths.items():
        answers = server.dialect.ask(path, [bodies[place] for place in places])
        done.update(zip(places, answers, strict=True))
    return [done[place] for place in range(len(questions))]


def _body(server: LanguageServer, question: Question) -> Json:
    """A request whose answer begins with a label; a raw prompt is a turn where there are no
    completions."""
    asked: Json = {"max_tokens": 1 + WINDOW, "temperature": 0, "logprobs": True}
    prompt = question.prompt
    if prompt.turns is None and server.completes:
        return {**asked, "top_logprobs": True, "prompt": prompt.text}
    turns = list(prompt.turns or (Turn.model_construct(role="user", content=prompt.text or ""),))
    messages = [{"role": turn.role, "content": turn.content} for turn in turns]
    if question.prefix and server.continues:
        messages.append({"role": "assistant", "content": question.prefix})
        asked |= server.continuing
    elif prompt.turns is not None:
        messages = _with_one_word_asked(messages, question)
    return {**asked, **server.chat_keys, "top_logprobs": True, "messages": messages}


def _with_one_word_asked(messages: list[Json], question: Question) -> list[Json]:
    words = " or ".join(own[0].strip() for own in question.verbalizers.values())
    said = f"Answer with one word: {words}."
    if messages[0]["role"] == "system":
        return [{**messages[0], "content": f"{messages[0]['content']}\n{said}"}, *messages[1:]]
    return [{"role": "system", "content": said}, *messages]


def _with_missing(server: LanguageServer, question: Question, listed: Listed) -> Listed:
    """The labels that were not listed, each allowed alone: only where the label is read at once and
    a listed one proves that log-probabilities are from before the constraint."""
    if listed.place or not server.tokenizer.offered:
        return listed
    words = {label: own[0] for label, own in question.verbalizers.items()}
    known = max(listed.shares, key=listed.shares.__getitem__)
    token, share = _forced(server, question, words[known])
    before = listed.tokens.get(token, 1.0)
    if before > 1 - SAME or abs(share - before) > SAME * before:
        return listed
    found = {label: _forced(server, question, words[label]) for label in listed.missing}
    told = {
        label: share
        for label, (token, share) in found.items()
        if labels_begun(token, question.verbalizers) == [label]
    }
    missing = tuple(label for label in listed.missing if label not in told)
    return replace(listed, shares={**listed.shares, **told}, missing=missing)


def _forced(server: LanguageServer, question: Question, word: str) -> tuple[str, float]:
    """The token that comes where the word's first one alone is allowed, and its probability."""
    read = server.tokenizer.read([question.prompt], [word])[0].ids
    if read is None or not read[1]:
        return "", 0.0
    body = {**_body(server, question), "max_tokens": 1, "logit_bias": {str(read[1][0]): FORCE}}
    path = CHAT if "messages" in body else PATH
    try:
        [found] = server.dialect.ask(path, [body])
    except BadInput:
        return "", 0.0
    positions = found.logprobs.positions if found.logprobs else []
    return (positions[0].token, exp(min(0.0, positions[0].logprob))) if positions else ("", 0.0)


def _by_votes(server: LanguageServer, question: Question) -> Judgement:
    """The share of so many answers, each drawn with a seed of its own."""
    count = server.entry.votes
    if not count:
        return unread(question.labels, "no-logprobs", SILENT)
    found = _drawn(server, question, count)
    if all(one.cut_by_reasoning for one in found):
        detail = "the model was still reasoning when its tokens were used up"
        return unread(question.labels, "answer-cut-by-reasoning", detail, reading="votes")
    said = [label_said(one.written, question.verbalizers, question.prefix) for one in found]
    counts = Counter(label for label in said if label is not None)
    return voted({label: counts[label] for label in question.labels}, count)


def _drawn(server: LanguageServer, question: Question, count: int) -> list[ServerChoice]:
    body = _body(server, question)
    body["temperature"] = 1
    if _reasons(question) and question.table is not None:
        body["max_tokens"] += question.table.reasoning_tokens
    if server.is_silent:
        body.pop("logprobs"), body.pop("top_logprobs")
    path = CHAT if "messages" in body else PATH
    return server.dialect.ask(path, [{**body, "seed": seed_of(0, draw)} for draw in range(count)])


def _after_reasoning(server: LanguageServer, question: Question) -> Judgement:
    """P after each drawn reasoning, averaged; uncertainty: half the mean's 95 % interval."""
    draws = question.table.draws if question.table else 1
    each = [
        from_listed(listed) if isinstance(listed, Listed) else listed
        for found in _drawn(server, question, draws)
        for listed in [find_listed(found, question.verbalizers, question.prefix)]
    ]
    if all(one.unread is not None and one.unread.code == "no-logprobs" for one in each):
        return _by_votes(server, question)
    return averaged(each, READING)
