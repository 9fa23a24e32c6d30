"""Tests the abilities of a model server, and formats the result. `probe` sends a dozen short
requests. `render` formats the record for people, `model_dump_json` for machines. An unreachable
server also gets a record, with the reason."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from shared.contracts.calls import Example, Template
from shared.contracts.errors import BadInput, ScoringError, Unavailable
from shared.contracts.judgement import FEWEST_VOTES, Judgement
from shared.contracts.prompt_table import prompt_turns, sent_placeholders
from shared.models.catalogue.entry import ModelEntry
from shared.models.classification import ServedClassifier
from shared.models.openai.labels import make_question
from shared.models.openai.model import judgements
from shared.models.openai.protocol import CHAT, TOPS, ServerChoice
from shared.models.openai.scoring import PATH, Echo, Forced, Prefill, PromptLogprobs
from shared.models.openai.server import LanguageServer
from shared.models.server_connection import AnswerUnread, listed_models
from shared.models.server_records import REPEATS, ServerAbilities

SENTENCE = "The weather in the old town was lovely today"
FRIENDLY = Template(
    prefix="Is this friendly?\n", suffix="\nAnswer:", verbalizers={"yes": " yes", "no": " no"}
)
GIVEN_TEXT = {
    PromptLogprobs: "prompt_logprobs",
    Echo: "echo",
    Prefill: "decoder_input_details",
    Forced: "forced tokens, one request per token",
}
NONE = "no"
NO_LOGPROBS = "no-logprobs"
JUDGED = {"HateXScore": ("hateful",), "FTC": ("entailment", "neutral", "contradiction")}


def probe(entry: ModelEntry) -> ServerAbilities:
    """Test the server of an `openai:` or `classify:` entry. Raises ValueError for another entry."""
    if not entry.is_served:
        raise ValueError(
            f"{entry.name!r} has no server to check; only openai: and classify: sources have one"
        )
    base: dict[str, Any] = {
        "name": entry.name,
        "source": f"{entry.scheme}:",
        "served": entry.served_name or entry.name,
    }
    complete = _language_model if entry.scheme == "openai" else _classifier
    try:
        return ServerAbilities(**base, **complete(entry))
    except ScoringError as error:
        unread = isinstance(
            error.__cause__, AnswerUnread
        )  # it answered, so the address may be wrong
        is_away = isinstance(error, Unavailable) and not unread
        has_v1 = entry.scheme != "openai" or entry.location.rstrip("/").endswith("/v1")
        hint = "" if is_away or has_v1 else "; most addresses of such servers end in /v1"
        return ServerAbilities(**base, error=error.detail + hint, is_away=is_away)


def render(record: ServerAbilities) -> str:
    """Format the record as lines with two columns of abilities, for `touchstone models check`."""
    owner = f"  owned by {record.owner}" if record.owner else ""
    if record.error is not None:
        return f"{record.name}  {record.source}  {record.served}{owner}\n  unusable: {record.error}"
    answers = f", answers in {record.milliseconds:.0f} ms" if record.milliseconds else ""
    head = f"{record.name}  {record.source}  {record.served}{owner}{answers}"
    cells = [(name, value) for name, value in _cells(record) if value is not None]
    width = max(len(value) for _, value in cells[::2]) + 2
    lines = []
    for at in range(0, len(cells), 2):
        (left, value), *more = cells[at : at + 2]
        second = "".join(f"{name:<18}{text}" for name, text in more)
        lines.append(f"  {left:<18}{value:<{width}}{second}".rstrip())
    if record.reading is not None:
        mass = "" if record.mass is None else f", mass {record.mass:.2f} on the probe"
        judge = f"{record.reading}{mass}" + (f"; {record.unread}" if record.unread else "")
    else:
        votes_off = (record.unread or NO_LOGPROBS).startswith(NO_LOGPROBS)
        judge = "votes (off)" if votes_off else f"{NONE}, {record.unread}"
    lines.append(f"  {'judge reads by':<18}{judge}")
    metrics = " · ".join(f"{metric} {how}" for metric, how in record.metrics.items())
    return "\n".join([head, *lines, f"  {'metrics':<18}{metrics}"])


def _language_model(entry: ModelEntry) -> dict[str, Any]:
    server = LanguageServer(entry)
    owner, names = server.owner, server.listed()
    started = time.perf_counter()
    chats, completes = _writes(server)
    milliseconds = 1000 * (time.perf_counter() - started) / (1 + completes)
    method, judged = server.scoring_method, _judged(server)
    listed = _max_logprobs(server, CHAT if chats is not None else PATH)
    fields: dict[str, Any] = {
        "owner": owner or None,
        "milliseconds": milliseconds,
        "lists_models": bool(names),
        "completions": completes,
        "chat": chats is not None,
        "given_text": GIVEN_TEXT.get(type(method)) if method is not None else None,
        "tells_tokens": server.tokenizer.is_available,
        "top_logprobs": listed,
        "asked_logprobs": TOPS[0],
        "label_endpoint": server.endpoint.path if server.endpoint else None,
        "prefill_continues": server.continues if chats is not None else None,
        "reasoning_field": chats.reasoning_field if chats else None,
        "limit_field": server.dialect.limit_field if chats is not None else None,
        "left_out": tuple(sorted(server.dialect.left_out)),
        "seed_repeats": _repeats(server, CHAT if chats is not None else PATH),
        "length": _length(server),
        **_reading_fields(judged),
    }
    labels = tuple(entry.prompt.verbalizers or ()) if entry.prompt else ()
    metrics = _judged_metrics(labels, judged, entry.votes) | {
        "HAF": "yes" if method or listed > 0 else "no (no-logprobs)",
        "HLV": "yes" if method else "rank, score",
        "CoT2EL": "yes",
    }
    return {**fields, "metrics": metrics}


def _classifier(entry: ModelEntry) -> dict[str, Any]:
    model = ServedClassifier(entry)
    head = model.head
    started = time.perf_counter()
    [judgement] = model.judgements([Example(text=SENTENCE)])
    milliseconds = 1000 * (time.perf_counter() - started)
    return {
        "milliseconds": milliseconds,
        "protocol": head.kind,
        "activation": "applied by the server, then inverted"
        if head.activates
        else "applied by Touchstone to raw scores",
        "outputs": head.mapping.outputs,
        "labels": head.mapping.labels,
        **_reading_fields(judgement),
        "metrics": _judged_metrics(head.mapping.labels, judgement),
    }


def _writes(server: LanguageServer) -> tuple[ServerChoice | None, bool]:
    """Try both ways to generate text. Return the server's chat answer (None if it has no chat) and
    whether it supports text completion. Raises BadInput if it supports neither."""
    body = {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 64}
    try:
        answer = server.dialect.complete_chat([{**body, "temperature": 0}])[0]
    except Unavailable:
        raise
    except ScoringError as error:
        if server.supports_completion:
            return None, True
        raise BadInput(
            f"the server supports neither chat nor text completion ({error.detail}); check its "
            "address and model"
        ) from error
    return answer, server.supports_completion


def _asked(path: str, **fields: Any) -> dict[str, Any]:
    body = {"messages": [{"role": "user", "content": "Say one word."}]}
    return {**(body if path == CHAT else {"prompt": "The weather is"}), **fields}


def _max_logprobs(server: LanguageServer, path: str) -> int:
    """Return how many tokens the server lists per position. A request measures this, because some
    servers ignore `top_logprobs`."""
    body = _asked(path, max_tokens=4, temperature=0, logprobs=True, top_logprobs=True)
    [choice] = server.dialect.complete(path, [body])
    positions = choice.logprobs.positions if choice.logprobs else []
    return max((len(position.top_logprobs) for position in positions), default=0)


def _repeats(server: LanguageServer, path: str) -> int:
    body = _asked(path, max_tokens=8, temperature=1, seed=7)
    if "seed" in server.dialect.left_out:
        return 0
    texts = [choice.written for choice in server.dialect.complete(path, [body] * REPEATS)]
    return texts.count(texts[0])


def _length(server: LanguageServer) -> int | None:
    """Return the context length: `max_model_len` of vLLM and SGLang, or `meta.n_ctx_train` of
    llama.cpp."""
    try:
        listed = listed_models(server.connection.get("/models"))
    except BadInput:
        return None
    for model in listed:
        if model.get("id") == server.served:
            meta = model.get("meta")
            trained = meta.get("n_ctx_train") if isinstance(meta, dict) else None
            length = model.get("max_model_len") or trained
            return int(length) if isinstance(length, int) else None
    return None


def _judged(server: LanguageServer) -> Judgement:
    table = server.entry.prompt
    has_labels = table is not None and table.verbalizers is not None
    pair = None
    if table is not None and has_labels:
        names = sent_placeholders(prompt_turns(table, server.entry.task))
        pair = SENTENCE if names & {"premise", "hypothesis"} else None
    template = None if has_labels else FRIENDLY
    example = Example(text=SENTENCE, text_pair=pair, template=template)
    return judgements(server, [make_question(example, server.entry)])[0]


def _reading_fields(judgement: Judgement) -> dict[str, Any]:
    unread = f"{judgement.unread.code}: {judgement.unread.detail}" if judgement.unread else None
    return {"reading": judgement.reading, "mass": judgement.mass, "unread": unread}


def _judged_metrics(labels: Sequence[str], judgement: Judgement, votes: int = 0) -> dict[str, str]:
    """Return for HateXScore, ICE and FTC if the server's label probabilities are sufficient, or why
    not. No server shows its tokens, so ICE uses words."""
    unread = judgement.unread.code if judgement.unread else None
    coarse = judgement.reading == "votes" and votes < FEWEST_VOTES
    support = {"ICE": f"no P (votes < {FEWEST_VOTES})" if coarse else "words"}
    if unread is not None:
        support["ICE"] = f"no ({unread})"
    for metric, needed in JUDGED.items():
        missing = [label for label in needed if label not in labels]
        if unread is not None:
            support[metric] = f"no ({unread})"
        elif missing:
            support[metric] = f"no (does not report {missing[0]})"
        elif coarse:
            support[metric] = f"no P (votes < {FEWEST_VOTES})"
        else:
            support[metric] = "yes"
    return {metric: support[metric] for metric in ("HateXScore", "ICE", "FTC")}


def _cells(record: ServerAbilities) -> Sequence[tuple[str, str | None]]:
    yes = {True: "yes", False: NONE, None: None}
    of_language_models = [
        ("list models", yes[record.lists_models]),
        ("score given text", record.given_text or NONE),
        ("completions", yes[record.completions]),
        ("tells tokens", yes[record.tells_tokens]),
        ("chat", yes[record.chat]),
        ("top_logprobs", f"{record.top_logprobs} (asked {record.asked_logprobs})"),
        ("label endpoint", record.label_endpoint or NONE),
        ("prefill continues", yes[record.prefill_continues]),
        ("reasoning field", record.reasoning_field or "none seen"),
        ("token limit field", record.limit_field),
        ("seed repeats", f"{record.seed_repeats} of {REPEATS}"),
        ("length", "not stated" if record.length is None else str(record.length)),
        ("refuses", ", ".join(record.left_out) or None),
    ]
    if record.protocol is None:
        return of_language_models
    return [
        ("protocol", record.protocol),
        ("activation", record.activation),
        ("outputs", ", ".join(record.outputs or ())),
        ("labels", ", ".join(record.labels or ())),
    ]
