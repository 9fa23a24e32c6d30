"""`/compare`: two batches, or parts of them, on the same texts; up to six with one baseline.

It shows what a report with `against` says and computes nothing. A side is named `batch_…`; what one
model judged of it `batch_…:model=NAME`, lines with a value `batch_…:metadata.KEY=VALUE`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection
from starlette.datastructures import QueryParams
from starlette.responses import RedirectResponse, Response

from services.gateway.auth import Viewer, check_scope
from services.gateway.batch_csv import csv_field, encode_rows
from services.gateway.caller import Caller
from services.gateway.pages import templates
from services.gateway.pages.batch_split import COLUMNS, metadata_split_keys
from services.gateway.pages.batches import file_names, known_of
from services.gateway.pages.comparison_filter import PairQuery, parse_pair_query
from services.gateway.pages.comparison_view import PairRow, compare_context, pair_rows
from services.gateway.pages.page_route import page_router
from services.gateway.pages.result_query import VERDICTS
from services.gateway.pages.templates import form_of, page
from services.gateway.refusals import NoReport
from services.gateway.routes.batch_results import download_headers, write_facts
from services.gateway.routes.batches import check_input, find_batch
from services.gateway.routes.scores import find_or_commit, wait_for_job
from services.gateway.state import Gateway, State
from services.registry import metrics, surprising_words
from shared.batch_contracts import MOST_FURTHER, Against, SplitKey
from shared.errors import BadInput, UnknownBatch
from shared.ledger import batches, result_pages, result_pairs
from shared.ledger.batches import Batch, NewBatch
from shared.ledger.engine import Slice
from shared.ledger.jobs import Job
from shared.ledger.result_pages import ResultFilter, ResultSummary
from shared.ledger.result_pairs import PairedLine, UnpairedLine

RECENT = 50
MOST_NAME = 512  # characters of a model's name, or of a value
OWN = "metadata."
PARTS = {"left_part": "left", "right_part": "right"}  # fields of the form
SPLIT = TypeAdapter[str](SplitKey)
MOST_ROWS = 20
MOST_LEFT_OUT = 100  # lines of a side that are listed
MOST_IN_FILE = 50_000  # pairs
SHORT = 6
router = page_router()


@dataclass(frozen=True)
class CompareSide:
    """A batch, or those of its lines whose `key`, `model` or `metadata.<key>`, has the value."""

    batch: Batch
    key: str = ""
    value: str = ""

    @property
    def model(self) -> str | None:
        return self.value if self.key == "model" else None

    @property
    def metadata(self) -> dict[str, str]:
        return {self.key.removeprefix(OWN): self.value} if self.key.startswith(OWN) else {}

    @property
    def report_part(self) -> dict[str, Any]:
        """As a report names the part."""
        return {"of_model": self.model, "of_metadata": self.metadata}

    @property
    def address(self) -> str:
        """As the address of the page names it."""
        return f"{self.batch.id}:{self.key}={self.value}" if self.key else self.batch.id

    @property
    def name(self) -> str:
        """As people call it."""
        named = self.batch.metadata.get("name") or self.batch.metadata.get("model")
        return self.value or named or f"batch …{self.batch.id[-SHORT:]}"


@dataclass(frozen=True)
class CompareQuery:
    """Two or more sides, the first of `rights` first. by: what the difference is shown by as well,
    one of `keys`, key → its name; or empty."""

    left: CompareSide
    rights: Sequence[CompareSide]
    by: str
    keys: Mapping[str, str]

    @property
    def sides(self) -> list[CompareSide]:
        return [self.left, *self.rights]

    @property
    def address(self) -> str:
        """Of its page, without what chooses one of several, or pairs."""
        sides = [("left", self.left.address), *(("right", one.address) for one in self.rights)]
        return f"/compare?{urlencode(sides + ([('by', self.by)] if self.by else []))}"


@router.get("/compare")
async def compare_page(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """The comparison, or a form that asks for its sides. A comparison is a job: who only judges
    makes none."""
    check_scope(caller, "batch")
    query = request.query_params
    if any(query.get(name) is not None for name in PARTS):
        return RedirectResponse(f"/compare?{urlencode(_with_parts(query))}", 303)
    rights_sent = dict.fromkeys(query.getlist("right"))
    named = [one for one in (query.get("left", ""), *rights_sent) if one.strip()]
    if len(named) < 2 or not query.get("left", "").strip():
        return await _form(request, gateway, caller)
    left, *rights = [await _side(one, gateway, caller) for one in named[: MOST_FURTHER + 2]]
    why = _conflict(left, rights)
    if why:
        other = [one for one in rights if one.batch.metric != left.batch.metric]
        return _refused(request, left, rights, why, other if left.batch.is_final else [])
    for one in (left, *rights):
        await write_facts(gateway, one.batch)
    keys = _slice_keys(await known_of(rights[0].batch, gateway, complete=True))
    by = query.get("by", "")
    wanted = CompareQuery(left, rights, by if by in keys else "", keys)
    job = await _job(wanted, gateway, caller)
    if job.error is not None:
        again = await _outdated_sides(wanted.sides, gateway, caller)
        return _refused(request, left, rights, job.error.get("detail", ""), again)
    if job.is_final and job.result is None:
        told = "the comparison was cancelled; it can be asked for again when it is forgotten"
        return _refused(request, left, rights, told, [])
    if job.result is None:
        return page(request, "compare.html", left=left, rights=rights, refused="", job=job)
    return await _result_page(request, gateway, wanted, job)


def _refused(
    request: Request,
    left: CompareSide,
    rights: Sequence[CompareSide],
    why: str,
    again: Sequence[CompareSide],
) -> Response:
    """again: the sides that would have to be scored again."""
    context = {"left": left, "rights": rights, "refused": why, "again": again}
    return page(request, "compare.html", 422, **context)


def _with_parts(query: QueryParams) -> list[tuple[str, str]]:
    """The sides of the form, each with the part that stands beside it; further ones have none."""
    rights = [one.strip() for one in query.getlist("right")]
    chosen = {"left": query.get("left", "").strip(), "right": rights[0] if rights else ""}
    for beside, name in PARTS.items():
        if chosen[name] and (part := query.get(beside, "").strip()):
            chosen[name] += f":{part}"
    return [*chosen.items(), *(("right", one) for one in rights[1:] if one)]


async def _form(request: Request, gateway: State, caller: Caller) -> Response:
    wanted = Slice(RECENT, tenant=caller.tenant)
    recent, _ = await gateway.in_ledger(lambda connection: batches.page_of(connection, wanted))
    ended_ones = [one for one in recent if one.is_final and one.metric in metrics()]
    chosen = request.query_params.get("left", ""), request.query_params.get("right", "")
    called = await file_names(ended_ones, gateway, caller)
    return page(request, "compare_form.html", batches=ended_ones, called=called, chosen=chosen)


async def _side(named: str, gateway: State, caller: Caller) -> CompareSide:
    """Raises UnknownBatch."""
    batch_id, _, part = named.strip().replace("\0", "").partition(":")
    key, _, value = part.partition("=")
    batch = await find_batch(batch_id, gateway, caller.tenant)
    if not part:
        return CompareSide(batch)
    side = CompareSide(batch, key, value[:MOST_NAME])
    if side.model is None and not side.metadata:
        raise UnknownBatch(f"{batch_id} has no such part: write :model=NAME or :metadata.KEY=VALUE")
    await write_facts(gateway, batch)
    equal = {} if side.model is None else {"model": side.model}
    wanted = ResultFilter(
        tenant=caller.tenant, batch_id=batch.id, equal=equal, metadata=side.metadata
    )
    if not await gateway.in_ledger(lambda one: result_pages.count_of(one, wanted)):
        raise UnknownBatch(f"{batch_id} has no result of such a {'line' if not equal else 'model'}")
    return side


def _conflict(left: CompareSide, rights: Sequence[CompareSide]) -> str:
    """Why there is nothing to ask for; empty where there is."""
    for one in (left, *rights):
        if not one.batch.is_final:
            return f"{one.name} is {one.batch.status.replace('_', ' ')}: compare it when it ends."
        if one.batch.metric not in metrics():
            return f"{one.name} has no scores."
        if one.batch.metric != left.batch.metric:
            return (
                f"{left.name} was scored by {left.batch.metric}, {one.name} by "
                f"{one.batch.metric}: score {one.name} again by {left.batch.metric}."
            )
    return ""


def _slice_keys(known: ResultSummary) -> dict[str, str]:
    """What the difference can be shown by → its name."""
    own = {name: told for name, told in metadata_split_keys(known.keys).items() if _is_split(name)}
    return own | {name: told for name, told in COLUMNS.items() if name not in ("model", "variant")}


def _is_split(name: str) -> bool:
    """Whether a report can be asked for it."""
    try:
        SPLIT.validate_python(name)
    except ValidationError:
        return False
    return True


async def _job(wanted: CompareQuery, gateway: State, caller: Caller) -> Job:
    """The report's job; the first look at a comparison makes it."""
    left, (first, *further) = wanted.left, wanted.rights
    contract = metrics()[left.batch.metric].batch
    asked = contract.request(
        batch=first.batch.id,
        **first.report_part,
        against=Against(batch=left.batch.id, **left.report_part),
        further=tuple(Against(batch=one.batch.id, **one.report_part) for one in further),
        by=(wanted.by,) if wanted.by else (),
    )
    sides = " ".join([*(one.address for one in wanted.sides), wanted.by]).strip()
    key = f"compare {hashlib.sha256(sides.encode()).hexdigest()}"
    accepted = await find_or_commit(contract, asked, gateway, key, caller.owner(gateway.settings))
    return await wait_for_job(accepted, gateway, 0)


async def _outdated_sides(
    sides: Sequence[CompareSide], gateway: State, caller: Caller
) -> list[CompareSide]:
    """The sides that were not scored as this version of the service does."""
    current = metrics()[sides[0].batch.metric].version

    def read(connection: Connection) -> list[CompareSide]:
        return [
            one
            for one in sides
            if result_pairs.find_mixed(connection, caller.tenant, one.batch.id)["metric_version"]
            not in ([], [current])
        ]

    return await gateway.in_ledger(read)


@router.post("/compare/again")
async def repeat_batch(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """A new batch over the same file, by this version of the metric; its page shows the rest."""
    check_scope(caller, "batch")
    form = await form_of(request)
    templates.check_csrf(request, form)
    old = await find_batch(form.get("batch", ""), gateway, caller.tenant)

    def make(connection: Connection) -> Batch:
        check_input(connection, old.input_file_id, caller.tenant)
        made, _ = batches.make(
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
            key=None,
            owner=caller.owner(gateway.settings),
        )
        return made

    made = await gateway.in_ledger(make)
    return RedirectResponse(f"/batches/{made.id}", 303)


async def _result_page(
    request: Request, gateway: State, wanted: CompareQuery, job: Job
) -> Response:
    result: dict[str, Any] = job.result or {}
    comparisons = [result["comparison"], *result["further"]]
    place, left = _place(request, len(comparisons)), wanted.left
    found_one, right = comparisons[place], wanted.rights[place]
    metric = metrics()[left.batch.metric]
    address = f"{wanted.address}&show={place}" if place else wanted.address
    chosen = _pair_query(request, left, right, address)
    rows, count = await _rows(gateway, chosen, found_one, metric.parts)
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
        place=place,
        view=compare_context(metric, found_one, (left.name, right.name), address),
        rows=rows,
        count=count,
        chosen=chosen,
        alone=await _left_out(gateway, chosen) if is_listed else [],
        part_names=list(metric.parts),
        known=await known_of(right.batch, gateway, complete=True),
        words=surprising_words(metric.name),
        verdicts=VERDICTS,
    )


async def _left_out(gateway: State, chosen: PairQuery) -> list[tuple[str, list[UnpairedLine]]]:
    """(side, its lines without a partner), whatever pairs are chosen."""
    whole = replace(chosen.filter, right=None)

    def read(connection: Connection) -> list[tuple[str, list[UnpairedLine]]]:
        return [
            (name, result_pairs.unpaired_of(connection, whole, place, MOST_LEFT_OUT))
            for place, name in enumerate(("left", "right"))
        ]

    return await gateway.in_ledger(read)


def _place(request: Request, count: int) -> int:
    asked = request.query_params.get("show", "0")
    return int(asked) if asked in map(str, range(count)) else 0


def _pair_query(
    request: Request, left: CompareSide, right: CompareSide, address: str = ""
) -> PairQuery:
    sent = request.query_params.multi_items()
    metric = metrics()[left.batch.metric]
    chosen = parse_pair_query((left.batch, right.batch), metric, sent, address)
    part = replace(
        chosen.filter,
        models=(left.model, right.model),
        metadata=(left.metadata, right.metadata),
    )
    return replace(chosen, filter=part)


async def _rows(
    gateway: State, chosen: PairQuery, found_ones: dict[str, Any], paths: Mapping[str, str]
) -> tuple[list[PairRow], int]:
    """(the pairs shown, how many there are of the kind): those that the address chooses, else the
    report's largest changes."""
    wanted, right = chosen.filter, chosen.filter.batches[1]
    all_named = found_ones.get("by_text") == 0
    largest = found_ones["changes"][:MOST_ROWS]

    def find(connection: Connection) -> tuple[list[PairRow], int]:
        found = result_pairs.compared_pairs_of(connection, wanted, MOST_ROWS, all_named=all_named)
        pairs = [(one.custom_id, one.left_job, one.right_job) for one, *_ in found]
        known = {job.id: job for _, *jobs in found for job in jobs}
        lines = {one.right_job: one.line for one, *_ in found}
        return pair_rows(pairs, known, lines, paths), found[0][0].of if found else 0

    def read(connection: Connection) -> tuple[list[PairRow], int]:
        pairs = [(one["custom_id"], one["second_job"], one["first_job"]) for one in largest]
        both = [job for _, *jobs in pairs for job in jobs]
        known = result_pairs.jobs_of(connection, wanted.tenant, both)
        answered = [job for *_, job in pairs]
        lines = result_pairs.lines_of(connection, wanted.tenant, right, answered)
        return pair_rows(pairs, known, lines, paths), len(found_ones["changes"])

    return await gateway.in_ledger(find if chosen.query else read)


@router.get("/compare/pairs.csv")
async def pairs_file(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """The pairs of two sides that the address chooses, the largest change first; no texts."""
    check_scope(caller, "batch")
    query = request.query_params
    left, right = [await _side(query.get(name, ""), gateway, caller) for name in ("left", "right")]
    if why := _conflict(left, [right]):
        raise NoReport(why)
    for one in (left, right):
        await write_facts(gateway, one.batch)
    chosen = _pair_query(request, left, right)
    if chosen.ignored:
        raise BadInput(f"these filters cannot be read: {'; '.join(chosen.ignored)}")
    rows = await gateway.in_ledger(
        lambda connection: result_pairs.pairs_of(connection, chosen.filter, MOST_IN_FILE)
    )
    told = ([csv_field(value) for value in row[:-1]] for row in rows)
    content = encode_rows(chain([[*PairedLine._fields[:-1]]], told))
    headers = download_headers(f"{left.batch.id}-{right.batch.id}.csv")
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)
