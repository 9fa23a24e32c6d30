"""What a model server can do, asked of the server itself: one record, and its text.

`probe` sends a dozen short requests; `render` writes the record for a person, `model_dump_json` for
machines. A server that is away has a record too, with the reason. Source: specs "models" §5.2.
"""

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
    Forced: "forced, a request a token",
}
NONE = "no"
NO_LOGPROBS = "no-logprobs"
JUDGED = {"HateXScore": ("hateful",), "FTC": ("entailment", "neutral", "contradiction")}


def probe(entry: ModelEntry) -> ServerAbilities:
    """Ask the server of an `openai:` or `classify:` entry. Raises ValueError for another entry."""
    if not entry.is_served:
        raise ValueError(f"{entry.name!r} is behind no server")
    base: dict[str, Any] = {
        "name": entry.name,
        "source": f"{entry.scheme}:",
        "served": entry.served_name or entry.name,
    }
    complete = _language_model if entry.scheme == "openai" else _classifier
    try:
        return ServerAbilities(**base, **complete(entry))
    except ScoringError as error:
        unread = isinstance(error.__cause__, AnswerUnread)  # it is there: the address may be wrong
        away = isinstance(error, Unavailable) and not unread
        whole = entry.scheme != "openai" or entry.location.rstrip("/").endswith("/v1")
        hint = "" if away or whole else "; most addresses end in /v1"
        return ServerAbilities(**base, error=error.detail + hint, is_away=away)


def render(record: ServerAbilities) -> str:
    """The record in lines, two columns of abilities, as `touchstone models check` prints it."""
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
        second = "".join(f"{name:<18}{said}" for name, said in more)
        lines.append(f"  {left:<18}{value:<{width}}{second}".rstrip())
    if record.reading is not None:
        mass = "" if record.mass is None else f", mass {record.mass:.2f} on the probe"
        judge = f"{record.reading}{mass}" + (f"; {record.unread}" if record.unread else "")
    else:
        off = (record.unread or NO_LOGPROBS).startswith(NO_LOGPROBS)
        judge = "votes (off)" if off else f"{NONE}, {record.unread}"
    lines.append(f"  {'judge reads by':<18}{judge}")
    said = " · ".join(f"{metric} {how}" for metric, how in record.metrics.items())
    return "\n".join([head, *lines, f"  {'metrics':<18}{said}"])


def _language_model(entry: ModelEntry) -> dict[str, Any]:
    server = LanguageServer(entry)
    owner, names = server.owner, server.listed()
    started = time.perf_counter()
    chats, completes = _writes(server)
    milliseconds = 1000 * (time.perf_counter() - started) / (1 + completes)
    method, judged = server.scoring_method, _judged(server)
    listed = _max_logprobs(server, CHAT if chats is not None else PATH)
    found: dict[str, Any] = {
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
    return {**found, "metrics": metrics}


def _classifier(entry: ModelEntry) -> dict[str, Any]:
    model = ServedClassifier(entry)
    head = model.head
    started = time.perf_counter()
    [told] = model.judgements([Example(text=SENTENCE)])
    milliseconds = 1000 * (time.perf_counter() - started)
    return {
        "milliseconds": milliseconds,
        "protocol": head.kind,
        "activation": "the server's, turned back" if head.activates else "ours, of raw scores",
        "outputs": head.mapping.outputs,
        "labels": head.mapping.labels,
        **_reading_fields(told),
        "metrics": _judged_metrics(head.mapping.labels, told),
    }


def _writes(server: LanguageServer) -> tuple[ServerChoice | None, bool]:
    """What it says in a chat, None: it has none; and whether it completes text. Raises BadInput
    where it does neither."""
    body = {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 64}
    try:
        answer = server.dialect.complete_chat([{**body, "temperature": 0}])[0]
    except Unavailable:
        raise
    except ScoringError as error:
        if server.supports_completion:
            return None, True
        raise BadInput(f"it neither chats nor completes text ({error.detail})") from error
    return answer, server.supports_completion


def _asked(path: str, **more: Any) -> dict[str, Any]:
    asked = {"messages": [{"role": "user", "content": "Say one word."}]}
    return {**(asked if path == CHAT else {"prompt": "The weather is"}), **more}


def _max_logprobs(server: LanguageServer, path: str) -> int:
    """Tokens that it truly lists at a position: servers ignore the field too."""
    body = _asked(path, max_tokens=4, temperature=0, logprobs=True, top_logprobs=True)
    [found] = server.dialect.complete(path, [body])
    positions = found.logprobs.positions if found.logprobs else []
    return max((len(one.top_logprobs) for one in positions), default=0)


def _repeats(server: LanguageServer, path: str) -> int:
    """How many of three draws with one seed are the first again."""
    body = _asked(path, max_tokens=8, temperature=1, seed=7)
    if "seed" in server.dialect.left_out:
        return 0
    texts = [found.written for found in server.dialect.complete(path, [body] * REPEATS)]
    return texts.count(texts[0])


def _length(server: LanguageServer) -> int | None:
    """Of vLLM and SGLang `max_model_len`, of llama.cpp `meta.n_ctx_train`."""
    try:
        listed = listed_models(server.connection.get("/models"))
    except BadInput:
        return None
    for one in listed:
        if one.get("id") == server.served:
            meta = one.get("meta")
            trained = meta.get("n_ctx_train") if isinstance(meta, dict) else None
            length = one.get("max_model_len") or trained
            return int(length) if isinstance(length, int) else None
    return None


def _judged(server: LanguageServer) -> Judgement:
    table = server.entry.prompt
    own = table is not None and table.verbalizers is not None
    pair = None
    if table is not None and own:
        asked = sent_placeholders(prompt_turns(table, server.entry.task))
        pair = SENTENCE if asked & {"premise", "hypothesis"} else None
    template = None if own else FRIENDLY
    example = Example(text=SENTENCE, text_pair=pair, template=template)
    return judgements(server, [make_question(example, server.entry)])[0]


def _reading_fields(told: Judgement) -> dict[str, Any]:
    said = f"{told.unread.code}: {told.unread.detail}" if told.unread else None
    return {"reading": told.reading, "mass": told.mass, "unread": said}


def _judged_metrics(labels: Sequence[str], told: Judgement, votes: int = 0) -> dict[str, str]:
    """Which metrics its judgements serve. No server shows tokens: ICE's rows are of words."""
    unread = told.unread.code if told.unread else None
    coarse = told.reading == "votes" and votes < FEWEST_VOTES
    found = {"ICE": f"no P (votes < {FEWEST_VOTES})" if coarse else "words"}
    if unread is not None:
        found["ICE"] = f"no ({unread})"
    for metric, needed in JUDGED.items():
        missing = [label for label in needed if label not in labels]
        if unread is not None:
            found[metric] = f"no ({unread})"
        elif missing:
            found[metric] = f"no (tells no {missing[0]})"
        elif coarse:
            found[metric] = f"no P (votes < {FEWEST_VOTES})"
        else:
            found[metric] = "yes"
    return {metric: found[metric] for metric in ("HateXScore", "ICE", "FTC")}


def _cells(record: ServerAbilities) -> Sequence[tuple[str, str | None]]:
    """(name, value) in the order of the two columns; None: not shown."""
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
