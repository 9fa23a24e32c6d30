"""Lines of a batch that are scored again, under another metric or model: a new batch of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request
from starlette.responses import RedirectResponse, Response

from services.gateway.auth import Viewer, check_scope
from services.gateway.batch_input import BatchInput, Line, make_batch
from services.gateway.pages import templates
from services.gateway.pages.comparison_sides import ALIKE, settings_of, side_of
from services.gateway.pages.new_batches import FORM_BYTES, metric_named
from services.gateway.pages.other_metrics import OtherRequest, request_for
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
from services.registry import metrics
from shared.contracts.errors import BadInput, QuotaExceeded, ScoringError
from shared.contracts.service import MetricContract
from shared.ledger.batches import Batch
from shared.ledger.engine import transaction

AT_ONCE = 500  # lines that are read

router = page_router()


@router.get("/batches/{batch_id}/again")
async def choose_metric(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Under which metric and model the chosen lines are to be scored again."""
    check_scope(caller, "batch")
    batch = await find_batch(batch_id, gateway, caller.tenant)
    sent = request.query_params.multi_items()
    return await _choice(request, batch, gateway, [one for one in sent if one[0] != "metric"])


async def _choice(
    request: Request,
    batch: Batch,
    gateway: State,
    pairs: Sequence[tuple[str, str]],
    error: ScoringError | None = None,
) -> Response:
    """The form, as it was filled where it was refused."""
    await write_facts(gateway, batch)
    view = parse_query(batch, batch.tenant, pairs)
    count = await gateway.in_ledger(lambda one: result_pages.count_of(one, view.filter))
    names = [one.name for one in gateway.catalogue.entries if one.kind in ("classifier", "causal")]
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
        models=names,
        model=sent.get("model", ""),
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
    """A new batch of these lines. Raises BadInput where none of them can be scored so."""
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
            raise BadInput(f"{side.name} was scored by {side.batch.metric}")
        like = await gateway.in_ledger(lambda connection: settings_of(connection, side))
    made = BatchInput(
        target,
        _selected_lines(gateway, view, SelectedLines(batch, target, form.get("model"), like)),
        f"{batch.id}.jsonl",
        {"scored_again": batch.id},
        caller.accepts_untrained_languages,
        templates.once_key(form, f"lines {batch.id}"),
    )
    try:
        new = await make_batch(made, gateway, caller.owner(gateway.settings))
    except (BadInput, BodyTooLarge, QuotaExceeded) as error:
        return await _choice(request, batch, gateway, pairs, error)
    return RedirectResponse(f"/batches/{new.id}", 303)


@dataclass(frozen=True)
class SelectedLines:
    """Lines of a batch as requests of `target`. like: `ALIKE` in place of their own; None: as they
    are."""

    batch: Batch
    target: MetricContract
    model: str | None
    like: Mapping[str, Any] | None = None

    def request(self, row: RequestRow) -> OtherRequest:
        sent = row.request
        if self.like is not None:
            own = {name: value for name, value in sent.items() if name not in ALIKE}
            sent = {**own, **self.like}
        return request_for(self.target, self.batch.metric, sent, row.result, self.model or None)


def _selected_lines(gateway: State, view: ResultQuery, chosen: SelectedLines) -> Iterator[Line]:
    """What lacks something is left out. Raises BadInput where nothing is left."""
    lacks, made, last = "", 0, 0
    while True:
        with transaction(gateway.engine) as connection:
            some = result_exports.requests_of(connection, view.filter, last, AT_ONCE)
        if not some:
            break
        last = some[-1].line
        for one in pause_between(some):
            other = chosen.request(one)
            if other.body is None:
                lacks = lacks or other.lacks
            else:
                made += 1
                yield one.custom_id, other.body
    if not made:
        why = f"it {lacks}" if lacks else "no text of theirs is kept"
        raise BadInput(f"none of these lines can be scored by {chosen.target.name}: {why}")
