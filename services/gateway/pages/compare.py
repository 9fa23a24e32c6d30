"""The page `/compare`. It compares two batches, or parts of them, on the same texts. It can also
compare up to five batches with one baseline. The parameter `verdicts=left,right` of the page's
address comes from a link in the table. All other parameters come from the form. Invalid parameters
are ignored and listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from sqlalchemy import Connection
from starlette.datastructures import QueryParams
from starlette.responses import RedirectResponse, Response

from services.gateway.auth import Viewer, check_scope
from services.gateway.batch_csv import csv_field, encode_rows
from services.gateway.caller import Caller
from services.gateway.pages import templates
from services.gateway.pages.batches import file_names, known_of
from services.gateway.pages.comparison_sides import (
    OFFER,
    PARTS,
    CompareForm,
    CompareQuery,
    CompareSide,
    RepeatedSide,
    conflict,
    named_sides,
    parts_of_batch,
    side_of,
    sides_of_form,
    sides_to_repeat,
    slice_keys,
    write_side_facts,
)
from services.gateway.pages.comparison_view import PairRow, compare_context, pair_rows
from services.gateway.pages.page_route import page_router
from services.gateway.pages.result_query import (
    NO_FILTER,
    VERDICTS,
    Chip,
    Pair,
    as_number,
    filled_pairs,
    filter_label,
    ignored_pair,
    parse_query,
)
from services.gateway.pages.templates import FIELD, checked_form, page
from services.gateway.refusals import NoReport
from services.gateway.results import result_pairs
from services.gateway.results.result_pages import Bounds
from services.gateway.results.result_pairs import PairedLine, PairFilter, UnpairedLine
from services.gateway.routes.batch_results import download_headers
from services.gateway.routes.batches import check_input, find_batch
from services.gateway.routes.scores import get_report_job
from services.gateway.state import Gateway, State
from services.registry import contracts, metrics, surprising_words
from shared.contracts.batches import MOST_FURTHER, Against
from shared.contracts.errors import BadInput, UnknownBatch
from shared.contracts.service import MetricContract
from shared.ledger import batches
from shared.ledger.batches import Batch, NewBatch
from shared.ledger.engine import Slice
from shared.ledger.jobs import Job

OF_RIGHT = (
    "verdict", "reason", "custom_id", "text", "decision_sent", "decision_stated", "language",
    "meta", "judged", "judged_by",
)  # fmt: skip
HERE = {"judged_by": "by"}  # `by` of this page is what slices are made by
OF_PAGE = frozenset({"baseline", "new", "by", "show", "out"})
OWN = {
    "baseline_verdict": "left verdict",
    "baseline_from": "left score from",
    "baseline_to": "left score below",
    "new_from": "right score from",
    "new_to": "right score below",
    "change_from": "right minus left from",
    "change_to": "right minus left below",
}
OF_FORM = ("baseline", "new", OFFER, *PARTS)
FORM_BYTES = 32_768  # sides and filters
RECENT = 50
MOST_ROWS = 20
MOST_LEFT_OUT = 100  # lines of a side that are listed
MOST_IN_FILE = 50_000  # pairs
router = page_router()


@dataclass(frozen=True)
class PairQuery:
    """The pairs of results that the page's address selects. `query` holds the parameters that are
    used. `ignored` lists the others with reasons."""

    filter: PairFilter
    query: tuple[Pair, ...]
    chips: Sequence[Chip]
    ignored: Sequence[str] = ()

    @property
    def filter_values(self) -> dict[str, str]:
        """Return the value of each filter by form field, without metadata filters."""
        return {name: value for name, value in self.query if name != "meta"}

    @property
    def metadata(self) -> list[str]:
        """Return the metadata filters as a list of `key=value`."""
        return [value for name, value in self.query if name == "meta"]


def parse_pair_query(
    batches: tuple[Batch, Batch],
    metric: MetricContract,
    sent: Sequence[Pair],
    address: str,
) -> PairQuery:
    """Parse the filters of the comparison page. `sent` holds the parameters in its address.
    `address` is the address without them."""
    left, right = batches
    named = ("chance", *metric.parts)
    ranges = frozenset(f"{name}_{end}" for name in named for end in ("from", "to"))
    of_rows = [
        (HERE.get(name, name), value) for name, value in sent if name in OF_RIGHT or name in ranges
    ]
    rows = parse_query(right, right.tenant, of_rows)
    there = {name: here for here, name in HERE.items()}
    of_right = [(there.get(name, name), value) for name, value in rows.filters]
    known = {name: value for name, value in sent if _is_known(name, value)}
    query = (*known.items(), *of_right)
    chips = []
    for pair in query:
        others = urlencode([other for other in query if other != pair])
        url = f"{address}{'&' if others else ''}{others}#pairs"
        chips.append(Chip(_filter_label(*pair, metric), url))
    selection = replace(
        _filter(dict(query), (left, right), metric.score_range),
        right=rows.filter if rows.filters else None,
        by_label=metric.explained is not None,
    )
    return PairQuery(selection, query, chips, (*_ignored(sent, ranges), *rows.ignored))


def _ignored(sent: Sequence[Pair], ranges: frozenset[str]) -> list[str]:
    """Return a message for each query parameter that is ignored because its name is unknown or its
    value is invalid."""
    faults = []
    for name, value in sent:
        known = name in OF_PAGE or name in OF_RIGHT or name in ranges
        if not value or known or _is_known(name, value):
            continue
        is_own = name in (*OWN, "verdicts")
        faults.append(ignored_pair(name, value, "it cannot be read" if is_own else NO_FILTER))
    return faults


def _is_known(name: str, value: str) -> bool:
    if name == "verdicts":
        parts = value.split(",")
        return len(parts) == 2 and set(parts) <= set(VERDICTS)
    if name == "baseline_verdict":
        return value in VERDICTS
    return name in OWN and as_number(value) is not None


def _filter_label(name: str, value: str, metric: MetricContract) -> str:
    if name == "verdicts":
        return " → ".join(value.replace("_", " ").split(","))
    if name == "verdict":
        return f"right verdict: {value.replace('_', ' ')}"
    if name in OWN:
        return f"{OWN[name]} {value}"
    return filter_label(HERE.get(name, name), value, metric.name)


def _filter(
    values: Mapping[str, str],
    batches: tuple[Batch, Batch],
    bounds: tuple[float, float] | None,
) -> PairFilter:
    """Return the database filter for pairs of results. The parameter `verdicts` holds both sides'
    verdicts and overrides `baseline_verdict`."""
    verdicts: tuple[str | None, str | None] = (values.get("baseline_verdict"), None)
    if "verdicts" in values:
        first, second = values["verdicts"].split(",")
        verdicts = (first, second)
    return PairFilter(
        batches[0].tenant,
        (batches[0].id, batches[1].id),
        verdicts=verdicts,
        scores=(_between(values, "baseline"), _between(values, "new")),
        differences=_between(values, "change"),
        top=None if bounds is None else float(bounds[1]),
    )


def _between(values: Mapping[str, str], name: str) -> Bounds:
    return as_number(values.get(f"{name}_from")), as_number(values.get(f"{name}_to"))


@router.get("/compare")
async def compare_page(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Show the comparison, a button that computes it, or a form to choose the two sides. A key that
    may only review cannot create it."""
    check_scope(caller, "batch")
    query = request.query_params
    sent = query.multi_items()
    if (filled := filled_pairs(sent)) != sent:
        return RedirectResponse(f"/compare{'?' if filled else ''}{urlencode(filled)}", 303)
    named = _named(query)
    if not named:
        return await _form(request, gateway, caller)
    sides: list[CompareSide] = []
    for side in named:
        try:
            sides.append(await side_of(side, gateway, caller))
        except UnknownBatch as error:
            return await _form(request, gateway, caller, (len(sides), error.detail))
    return await _compared(request, gateway, caller, sides)


def _named(query: QueryParams) -> list[str]:
    """Return the sides in the page's address. The list is empty if a side is missing, or if the
    form asks which parts can be chosen. Raises BadInput for too many sides."""
    rights = dict.fromkeys(query.getlist("new"))
    named = [side for side in (query.get("baseline", ""), *rights) if side.strip()]
    if len(named) > MOST_FURTHER + 2:
        raise BadInput(f"compare at most {MOST_FURTHER + 1} systems with one baseline")
    has_all = len(named) > 1 and query.get("baseline", "").strip() and not query.get(OFFER)
    return named if has_all else []


@router.post("/compare")
async def create_comparison(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Create the comparison that the form asks for, and go to its page. That page shows what is
    wrong with the form."""
    check_scope(caller, "batch")
    form = await checked_form(request, limit=FORM_BYTES)
    sent = QueryParams([pair for pair in form.pairs if pair[0] != FIELD])
    others = [pair for pair in sent.multi_items() if pair[0] not in OF_FORM]
    query = urlencode(filled_pairs([*sides_of_form(sent), *others]))
    chosen = QueryParams(query)
    with suppress(UnknownBatch):
        sides = [await side_of(side, gateway, caller) for side in _named(chosen)]
        if sides and not conflict(sides[0], sides[1:]):
            wanted = await _wanted(sides, chosen, gateway)
            await _job(wanted, gateway, caller, create=True)
    return RedirectResponse(f"/compare?{query}{'#slices' if 'by' in chosen else ''}", 303)


async def _wanted(sides: Sequence[CompareSide], query: QueryParams, gateway: State) -> CompareQuery:
    left, *rights = sides
    await write_side_facts(sides, gateway)
    keys = slice_keys(await known_of(rights[0].batch, gateway, complete=True))
    by = query.get("by", "")
    return CompareQuery(left, rights, by if by in keys else "", keys)


async def _compared(
    request: Request, gateway: State, caller: Caller, sides: Sequence[CompareSide]
) -> Response:
    left, *rights = await named_sides(sides, gateway, caller)
    why = conflict(left, rights)
    if why:
        other = [RepeatedSide(side) for side in rights if side.batch.metric != left.batch.metric]
        return _refused(request, left, rights, why, other if left.batch.is_final else [])
    wanted = await _wanted((left, *rights), request.query_params, gateway)
    job = await _job(wanted, gateway, caller)
    if job is None:
        context: dict[str, Any] = {"left": left, "rights": rights, "refused": ""}
        return page(request, "compare.html", job=None, wanted=wanted, **context)
    if job.error is not None:
        again = await sides_to_repeat(wanted.sides, gateway, caller)
        return _refused(request, left, rights, job.error.get("detail", ""), again)
    if job.is_final and job.result is None:
        reason = "the comparison was cancelled. You can repeat it after its job is deleted"
        return _refused(request, left, rights, reason, [])
    if job.result is None:
        context = {"left": left, "rights": rights, "refused": ""}
        return page(request, "compare.html", job=job, **context)
    return await _result_page(request, gateway, caller, wanted, job)


def _refused(
    request: Request,
    left: CompareSide,
    rights: Sequence[CompareSide],
    why: str,
    again: Sequence[RepeatedSide],
) -> Response:
    """Show the reason why the batches (or parts of batches) cannot be compared. `again` lists those
    that must be scored again first."""
    context = {"left": left, "rights": rights, "refused": why, "again": again}
    return page(request, "compare.html", 422, **context)


async def _form(
    request: Request, gateway: State, caller: Caller, fault: tuple[int, str] | None = None
) -> Response:
    """Show the comparison form, filled with the query parameters. `fault` is (index of the batch
    that was not found, reason)."""
    wanted = Slice(RECENT, tenant=caller.tenant)
    recent, _ = await gateway.in_ledger(lambda connection: batches.page_of(connection, wanted))
    ended_ones = [batch for batch in recent if batch.is_final and batch.metric in metrics()]
    sent = request.query_params
    right, *more = list(dict.fromkeys(side.strip() for side in sent.getlist("new"))) or [""]
    form = CompareForm({"baseline": sent.get("baseline", "").strip(), "new": right}, more)
    names = ("baseline", "new", "more")
    refused = {} if fault is None else {names[min(fault[0], 2)]: fault[1]}
    offered = {
        name: await parts_of_batch(form.batch(name), gateway, caller)
        for name in form.sides
        if form.batch(name)
    }
    filled = replace(form, refused=refused, offered=offered)
    called = await file_names(ended_ones, gateway, caller)
    status = 200 if fault is None else 404
    context = {"batches": ended_ones, "called": called, "chosen": filled}
    return page(request, "compare_form.html", status, **context)


async def _job(
    wanted: CompareQuery, gateway: State, caller: Caller, *, create: bool = False
) -> Job | None:
    """Return the report's job. If there is none, create it, or return None unless `create`."""
    left, (first, *further) = wanted.left, wanted.rights
    contract = metrics()[left.batch.metric].batch
    body = contract.request(
        batch=first.batch.id,
        **first.report_part,
        against=Against(batch=left.batch.id, **left.report_part),
        further=tuple(Against(batch=side.batch.id, **side.report_part) for side in further),
        by=(wanted.by,) if wanted.by else (),
    )
    owner = caller.owner(gateway.settings)
    return await get_report_job(contract, body, gateway, owner, create=create)


@router.post("/compare/again")
async def repeat_batch(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Score the same file again with the current version of the metric, and go to the new batch's
    page."""
    check_scope(caller, "batch")
    form = await checked_form(request)
    old = await find_batch(form.get("batch", ""), gateway, caller.tenant)
    gateway.check_served(contracts()[old.metric])

    def make(connection: Connection) -> Batch:
        check_input(connection, old.input_file_id, caller.tenant)
        new, _ = batches.make(
            connection,
            NewBatch(
                metric=old.metric,
                endpoint=old.endpoint,
                input_file_id=old.input_file_id,
                metadata=dict(old.metadata),
                output_seconds=None,
                expires_after=timedelta(hours=gateway.settings.batch_hours),
                tenant=caller.tenant,
                accept_untrained_languages=caller.accepts_untrained_languages,
            ),
            key=templates.once_key(form, f"again {old.id}", old.id),
            owner=caller.owner(gateway.settings),
        )
        return new

    made = await gateway.in_ledger(make)
    return RedirectResponse(f"/batches/{made.id}", 303)


async def _result_page(
    request: Request, gateway: State, caller: Caller, wanted: CompareQuery, job: Job
) -> Response:
    result: dict[str, Any] = job.result or {}
    comparisons = [result["comparison"], *result["further"]]
    shown = request.query_params.get("show", "0")
    number = int(shown) if shown in map(str, range(len(comparisons))) else 0
    left = wanted.left
    found_one, right = comparisons[number], wanted.rights[number]
    metric = metrics()[left.batch.metric]
    address = f"{wanted.address}&show={number}" if number else wanted.address
    pairs = _pair_query(request, left, right, address)
    rows, count = await _rows(gateway, pairs, found_one, metric.parts)
    is_listed = "out" in request.query_params
    return page(
        request,
        "compare.html",
        left=left,
        rights=wanted.rights,
        right=right,
        refused="",
        job=job,
        wanted=wanted,
        comparisons=comparisons,
        place=number,
        view=compare_context(metric, found_one, (left.name, right.name), address),
        rows=rows,
        count=count,
        chosen=pairs,
        alone=await _left_out(gateway, pairs) if is_listed else [],
        known=await known_of(right.batch, gateway, complete=True),
        part_names=list(metric.parts),
        text_field=metric.facts.text,
        words=surprising_words(metric.name),
        verdicts=VERDICTS,
    )


async def _left_out(gateway: State, pairs: PairQuery) -> list[tuple[str, list[UnpairedLine]]]:
    """Return for each side the lines without a counterpart, regardless of the page's filters."""
    whole = replace(pairs.filter, right=None)

    def read(connection: Connection) -> list[tuple[str, list[UnpairedLine]]]:
        return [
            (name, result_pairs.unpaired_of(connection, whole, place, MOST_LEFT_OUT))
            for place, name in enumerate(("left", "right"))
        ]

    return await gateway.in_ledger(read)


def _pair_query(
    request: Request, left: CompareSide, right: CompareSide, address: str = ""
) -> PairQuery:
    sent = request.query_params.multi_items()
    metric = metrics()[left.batch.metric]
    pairs = parse_pair_query((left.batch, right.batch), metric, sent, address)
    part = replace(
        pairs.filter,
        models=(left.model, right.model),
        metadata=(left.metadata, right.metadata),
    )
    return replace(pairs, filter=part)


async def _rows(
    gateway: State, selection: PairQuery, found_ones: dict[str, Any], paths: Mapping[str, str]
) -> tuple[list[PairRow], int]:
    """Return (pairs to show, total number of pairs): the selected pairs, or else the report's
    largest changes."""
    wanted, right = selection.filter, selection.filter.batches[1]
    all_named = found_ones.get("by_text") == 0
    largest = found_ones["changes"][:MOST_ROWS]

    def find(connection: Connection) -> tuple[list[PairRow], int]:
        matches = result_pairs.compared_pairs_of(connection, wanted, MOST_ROWS, all_named=all_named)
        pairs = [(pair.custom_id, pair.left_job, pair.right_job) for pair, *_ in matches]
        known = {job.id: job for _, *jobs in matches for job in jobs}
        lines = {pair.right_job: pair.line for pair, *_ in matches}
        return pair_rows(pairs, known, lines, paths), matches[0][0].of if matches else 0

    def read(connection: Connection) -> tuple[list[PairRow], int]:
        pairs = [
            (change["custom_id"], change["baseline_job"], change["new_job"]) for change in largest
        ]
        both = [job for _, *jobs in pairs for job in jobs]
        known = result_pairs.jobs_of(connection, wanted.tenant, both)
        answered = [job for *_, job in pairs]
        lines = result_pairs.lines_of(connection, wanted.tenant, right, answered)
        return pair_rows(pairs, known, lines, paths), len(found_ones["changes"])

    return await gateway.in_ledger(find if selection.query else read)


@router.get("/compare/pairs.csv")
async def pairs_file(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Return the selected pairs of results as a file, largest change first, without texts."""
    check_scope(caller, "batch")
    query = request.query_params
    named = [query.get(name, "") for name in ("baseline", "new")]
    left, right = [await side_of(side, gateway, caller) for side in named]
    if why := conflict(left, [right]):
        raise NoReport(why)
    await write_side_facts((left, right), gateway)
    pairs = _pair_query(request, left, right)
    if pairs.ignored:
        raise BadInput(f"these filters cannot be read: {'; '.join(pairs.ignored)}")
    rows = await gateway.in_ledger(
        lambda connection: result_pairs.pairs_of(connection, pairs.filter, MOST_IN_FILE)
    )
    cells = ([csv_field(value) for value in row[:-1]] for row in rows)
    content = encode_rows(chain([[*PairedLine._fields[:-1]]], cells))
    headers = download_headers(f"{left.batch.id}-{right.batch.id}.csv")
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)
