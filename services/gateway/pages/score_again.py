"""Creates a batch that scores lines of another batch again with another metric, model or
language."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, get_args
from urllib.parse import urlencode

from fastapi import Query, Request
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from starlette.responses import RedirectResponse, Response

from services import registry
from services.gateway.auth import Viewer, check_scope
from services.gateway.batch_input import BatchInput, Line, make_batch
from services.gateway.pages import templates
from services.gateway.pages.comparison_sides import settings_of, side_of, split_settings
from services.gateway.pages.new_batches import FORM_BYTES, metric_named
from services.gateway.pages.page_route import page_router
from services.gateway.pages.result_query import ResultQuery, parse_query, query_to_take
from services.gateway.pages.templates import checked_form, page
from services.gateway.refusals import BodyTooLarge, InvalidBody
from services.gateway.results import result_exports, result_pages
from services.gateway.results.result_exports import RequestRow
from services.gateway.routes.batch_results import write_facts
from services.gateway.routes.batches import find_batch
from services.gateway.state import Gateway, State
from services.gateway.table_mapping import pause_between
from services.registry import metrics, page_details
from shared.contracts.elicitation import is_needed
from shared.contracts.errors import BadInput, QuotaExceeded, ScoringError
from shared.contracts.fields import merge_fields, options_of
from shared.contracts.service import MetricContract
from shared.contracts.validation_messages import first_fault, plain
from shared.ledger.batches import Batch
from shared.ledger.engine import transaction

COMMON = (
    "text", "explanation", "premise", "hypothesis", "question", "options", "language",
    "accept_untrained_languages", "metadata", "context", "do_not_store_text", "trace",
)  # fmt: skip
NEVER = frozenset({"webhook"})  # told once, by whoever asked
QUOTES = frozenset({"quote", "quotation"})
KINDS = {"causal": "language model"}
ANY_MODEL = "any-model"  # stands for one that is still to be found
NOUNS = {
    "text": "a text",
    "explanation": "an explanation",
    "options": "answer options",
    "human": "people's answers",
}
AT_ONCE = 500  # lines that are read
AGAIN = ", scored again"  # ends the name of the new batch
SETTINGS = ("model", "language", "accept_untrained_languages")  # of the form
OPTIONS = ("reader_model", "labels")  # of the form, inside `options` where a metric has them
Settings = Mapping[str, Any]
router = page_router()


@dataclass(frozen=True)
class OtherRequest:
    """A request for another metric. If a required field is missing, `body` is None and `lacks`
    names the field."""

    metric: str
    body: dict[str, Any] | None
    lacks: str = ""


def request_for(
    target: MetricContract,
    source: str,
    request: Mapping[str, Any],
    result: Mapping[str, Any] | None = None,
    settings: Settings | None = None,
) -> OtherRequest:
    """Convert a request to another metric, `target`. `source` is the metric of the request.
    `settings` replaces some fields. If `settings` has no model, a request for the same metric
    keeps its model. A request for another metric uses that metric's default model."""
    fields = target.request.model_fields
    if source == target.name:
        body = {name: value for name, value in request.items() if name in fields}
    else:
        body = {name: request[name] for name in COMMON if name in fields and request.get(name)}
        if isinstance(body.get("explanation"), str) and not _takes_text(fields["explanation"]):
            del body["explanation"]
        if options_of(target.request) or not isinstance(body.get("options"), list):
            body.pop("options", None)  # options of a metric, not of an answer
        body = merge_fields(body | _rationale(target, result), page_details(target.name))
    body = {name: value for name, value in body.items() if name not in NEVER and value is not None}
    foreign = [name for name in settings or () if name not in fields]
    foreign += (settings or {}).get("options", {}).keys() - options_of(target.request).keys()
    if foreign:
        return OtherRequest(target.name, None, f"does not accept {foreign[0].replace('_', ' ')}")
    body = merge_fields(body, settings or {})
    missing = [name for name in fields if is_needed(target.request, name) and not body.get(name)]
    if missing:
        *named, last = (NOUNS.get(name, f"a {name.replace('_', ' ')}") for name in missing)
        listed = f"{', '.join(named)} and {last}" if named else last
        return OtherRequest(target.name, None, f"needs {listed}")
    try:
        target.request.model_validate(body)
    except ValidationError as error:
        return OtherRequest(target.name, None, plain(first_fault(error)).replace("`", ""))
    return OtherRequest(target.name, body)


def build_requests(
    gateway: State, source: str, request: Mapping[str, Any], result: Mapping[str, Any] | None
) -> list[OtherRequest]:
    """Convert a request to every metric. Each entry has the new request or the name of a missing
    field."""

    def request_of(target: MetricContract, model: str | None = None) -> OtherRequest:
        settings = None if model is None else {"model": model}
        return request_for(target, source, request, result, settings)

    return [
        _check_model(gateway, target, other)
        if (other := request_of(target)).body is not None or target.name == source
        else _with_any_model(gateway, target, other, partial(request_of, target))
        for target in metrics().values()
    ]


def _with_any_model(
    gateway: State,
    target: MetricContract,
    first: OtherRequest,
    request_of: Callable[[str], OtherRequest],
) -> OtherRequest:
    """Return a request with the first configured model that suits the target metric, if only a
    model is missing in `first`. Otherwise return `first`. If no model is configured, the result
    says so."""
    if target.default_model is not None or request_of(ANY_MODEL).body is None:
        return first
    kinds = target.model_kinds
    named = gateway.model_names(*kinds)
    candidates = [_check_model(gateway, target, request_of(name)) for name in named]
    words = " or ".join(KINDS.get(kind, kind) for kind in kinds)
    lacks = f"needs a {words}, but none is configured"
    ready = (candidate for candidate in candidates if candidate.body is not None)
    return next(ready, candidates[0] if candidates else OtherRequest(target.name, None, lacks))


def _check_model(gateway: State, target: MetricContract, other: OtherRequest) -> OtherRequest:
    if other.body is None:
        return other
    try:
        body = target.request.model_validate(other.body)
        gateway.catalogue.check_request(target, body.model, body)
        gateway.models.check_models(target, body)
    except ScoringError as error:
        if target.default_model is None and "model" not in other.body:
            kinds = " or ".join(target.model_kinds)
            return OtherRequest(target.name, None, f"needs a model ({kinds})")
        return OtherRequest(target.name, None, error.detail)
    return other


def _takes_text(field: FieldInfo) -> bool:
    """Return True if the field takes a string. Some metrics accept an explanation only as separate
    fields."""
    kinds = get_args(field.annotation) or (field.annotation,)
    return any(getattr(kind, "__origin__", kind) is str for kind in kinds)


def _rationale(target: MetricContract, result: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a field of the new request: `rationale` with the passages that the explanation quotes.
    Without quotes, return `attribution: attention`. Return {} if the target metric lacks these
    fields."""
    if "rationale" not in target.request.model_fields or "attribution" not in (
        target.request.model_fields
    ):
        return {}
    spans = [
        {"start": item["start"], "end": item["end"]}
        for item in (result or {}).get("evidence") or ()
        if isinstance(item, Mapping)
        and item.get("kind") in QUOTES
        and isinstance(item.get("start"), int)
        and isinstance(item.get("end"), int)
    ]
    return {"rationale": spans} if spans else {"attribution": "attention"}


@router.get("/batches/{batch_id}/again")
async def choose_metric(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Show a form to choose the metric and settings for scoring the selected lines again."""
    check_scope(caller, "batch")
    batch = await find_batch(batch_id, gateway, caller.tenant)
    sent = request.query_params.multi_items()
    return await _choice(request, batch, gateway, [pair for pair in sent if pair[0] != "metric"])


async def _choice(
    request: Request,
    batch: Batch,
    gateway: State,
    pairs: Sequence[tuple[str, str]],
    error: ScoringError | None = None,
) -> Response:
    """Show the form to score a batch's lines again with another metric, model or language. After an
    error it keeps the user's input."""
    await write_facts(gateway, batch)
    view = parse_query(batch, batch.tenant, pairs)
    count = await gateway.in_ledger(lambda one: result_pages.count_of(one, view.filter))
    sent: Mapping[str, str] = getattr(request.state, "form", {})
    return page(
        request,
        "score_again.html",
        200 if error is None else error.status,
        batch=batch,
        query=urlencode(list(view.pairs)),
        count=count,
        metrics=list(metrics()),
        metric=sent.get("metric") or request.query_params.get("metric", batch.metric),
        models=gateway.model_names("classifier", "causal"),
        sent=sent,
        like=sent.get("like", ""),
        wrong="" if error is None else error.detail,
    )


@router.post("/batches/{batch_id}/again")
async def score_selected(
    request: Request,
    batch_id: str,
    gateway: Gateway,
    caller: Viewer,
    metric: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Create a batch that scores the selected lines again. Raises BadInput if no line can be scored
    with these settings."""
    check_scope(caller, "batch")
    form = await checked_form(request, limit=FORM_BYTES)
    batch = await find_batch(batch_id, gateway, caller.tenant)
    await write_facts(gateway, batch)
    try:
        pairs = templates.pairs_of(form.get("query", ""))
    except ValueError:
        raise InvalidBody.at_root("the query of the lines cannot be read") from None
    view = query_to_take(batch, batch.tenant, pairs)
    target = metric_named(form.get("metric", metric))
    like = None
    if form.get("like"):
        side = await side_of(form["like"], gateway, caller)
        if side.batch.metric != target.name:
            raise BadInput(
                f"{side.name} was scored by {side.batch.metric}, not by {target.name}; "
                "choose another batch to copy the settings from"
            )
        like = await gateway.in_ledger(lambda connection: settings_of(connection, side))
    settings: dict[str, Any] = {
        name: value for name in SETTINGS if (value := form.get(name, "").strip())
    }
    options = {name: value for name in OPTIONS if (value := _option(target, form, name))}
    if options:
        settings |= {"options": options} if options_of(target.request) else options
    if "accept_untrained_languages" in settings:
        settings["accept_untrained_languages"] = True
    batch_input = BatchInput(
        target,
        _selected_lines(gateway, view, SelectedLines(batch, target, settings, like)),
        f"{batch.id}.jsonl",
        {"scored_again": batch.id, "name": _new_name(batch)},
        caller.accepts_untrained_languages,
        templates.once_key(form, f"lines {batch.id}"),
    )
    try:
        new = await make_batch(batch_input, gateway, caller.owner(gateway.settings))
    except (BadInput, BodyTooLarge, QuotaExceeded) as error:
        return await _choice(request, batch, gateway, pairs, error)
    return RedirectResponse(f"/batches/{new.id}", 303)


def _new_name(batch: Batch) -> str:
    """Return the name of a batch that scores lines of this batch again."""
    name = batch.metadata.get("name") or batch.metadata.get("uploaded") or batch.id[-6:]
    return f"{name.removesuffix(AGAIN)[:200]}{AGAIN}"


def _option(target: MetricContract, form: Mapping[str, str], name: str) -> Any:
    """Return the value of an option of the form, stripped. For `labels`, return label words that
    include the word in `further_class`. This word belongs to the class in `counts_as`, or forms a
    third class."""
    word = form.get("further_class" if name == "labels" else name, "").strip()
    labels_with = getattr(registry.page(target.name), "labels_with", None)
    return (
        labels_with(word, form.get("counts_as", ""))
        if word and name == "labels" and labels_with
        else word
    )


@dataclass(frozen=True)
class SelectedLines:
    """Converts the selected lines of a batch to new requests for the metric `target`. `like` holds
    settings copied from another batch, or None to keep the settings of the lines."""

    batch: Batch
    target: MetricContract
    settings: Settings
    like: Mapping[str, Any] | None = None

    def request(self, row: RequestRow) -> OtherRequest:
        sent = row.request
        if self.like is not None:
            sent = merge_fields(split_settings(sent)[1], self.like)
        return request_for(self.target, self.batch.metric, sent, row.result, self.settings)


def _selected_lines(gateway: State, view: ResultQuery, lines: SelectedLines) -> Iterator[Line]:
    """Yield the lines that have all required fields. Raises BadInput if there are none."""
    lacks, count, last = "", 0, 0
    while True:
        with transaction(gateway.engine) as connection:
            some = result_exports.requests_of(connection, view.filter, last, AT_ONCE)
        if not some:
            break
        last = some[-1].line
        for row in pause_between(some):
            other = lines.request(row)
            if other.body is None:
                lacks = lacks or other.lacks
            else:
                count += 1
                yield row.custom_id, other.body
    if not count:
        why = f"the request {lacks}" if lacks else "their texts were not kept"
        raise BadInput(f"None of these lines can be scored by {lines.target.name}: {why}.")
