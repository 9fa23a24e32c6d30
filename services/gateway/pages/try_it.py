"""The page `/try`: a form to create one job of any metric. Fields without an input of their own are
entered as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Query, Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from services import registry
from services.gateway import http_requests
from services.gateway.auth import Viewer, check_scope
from services.gateway.caller import Caller
from services.gateway.pages import templates
from services.gateway.pages.form_controls import (
    PREFIX,
    fill_inputs,
    form_groups,
    form_inputs,
    read_inputs,
    values_of,
)
from services.gateway.pages.job_versions import set_parent
from services.gateway.pages.jobs import MOST_PASTED, code_samples, request_of
from services.gateway.pages.page_route import page_router
from services.gateway.pages.templates import checked_form, page
from services.gateway.pages.terms import terms
from services.gateway.refusals import BodyTooLarge, InvalidBody
from services.gateway.routes.jobs import find_job
from services.gateway.routes.scores import check_request, commit, wait_for_job
from services.gateway.state import Gateway, State
from services.registry import metrics
from shared.contracts.errors import BadInput, ScoringError, UnknownJob
from shared.contracts.fields import merge_fields
from shared.contracts.messages import EDITED, MOST_METADATA, JobRequest
from shared.contracts.problems import parse_strict, problem, validation_problem
from shared.contracts.service import MetricContract
from shared.ledger.jobs import Job

REST = "rest"  # the form's field with all other options


@dataclass(frozen=True)
class Form:
    """A filled form. `values` holds the entered text by field. `controls` holds the text of the
    additional inputs by name. `rest` holds all other fields as JSON text."""

    values: dict[str, str]
    rest: str
    controls: dict[str, str] = field(default_factory=dict)


def fill_form(metric: MetricContract, example: Mapping[str, Any]) -> Form:
    """Return the form filled with this example. It requests all outputs that the metric's page can
    show."""
    return form_of_body(metric, merge_fields(registry.page_details(metric.name), example))


def form_of_body(metric: MetricContract, body: Mapping[str, Any]) -> Form:
    """Return the form filled with the fields of this request."""
    values = {field.name: _typed(field.name, body.get(field.name)) for field in metric.form}
    named = {name for name, value in values.items() if value}
    others = {name: value for name, value in body.items() if name not in named}
    controls, rest = fill_inputs(metric, others)
    written = json.dumps(rest, ensure_ascii=False, indent=1) if rest else "{}"
    return Form(values, written, controls)


def _typed(name: str, value: Any) -> str:
    """Return the text to fill into a form field. Strings are unchanged, and an explanation's fields
    become JSON. Other values become an empty string."""
    if isinstance(value, Mapping) and name in STRUCTURED:
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else ""


def sent(metric: MetricContract, form: Mapping[str, str]) -> Form:
    """Return the submitted form, with the browser's CRLF line ends replaced."""
    typed = {name: value.replace("\r\n", "\n") for name, value in form.items()}
    return Form(
        {field.name: typed.get(field.name, "") for field in metric.form},
        typed.get(REST, ""),
        read_inputs(metric, typed),
    )


def body_of(metric: MetricContract, form: Form) -> dict[str, Any]:
    """Return the request as JSON. Fields in the form's JSON text take precedence. Raises
    InvalidBody if that text is not a JSON object."""
    rest = _parse_object(form.rest or "{}", "the other options are")
    texts = {name: value for name, value in form.values.items() if value}
    return merge_fields(texts | values_of(metric, form.controls), rest)


STRUCTURED = ("explanation", "statement")  # fields that take an explanation as fields
HALVES = re.compile("[\ud800-\udfff]")  # of characters: no page can show them


def _parse_object(typed: str, what: str) -> dict[str, Any]:
    value = http_requests.decode(typed.encode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise InvalidBody.at_root(f"{what} not a JSON object")
    return value


def _as_json(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, ensure_ascii=False, indent=1)
    return json.dumps(body, indent=1) if HALVES.search(text) else text


ENCODED = 3  # bytes of a form for one of the request: every one may be written as %XX
MOST_CONTROLS = 2_000  # inputs of a form: tables have one for each cell

router = page_router()


@dataclass(frozen=True)
class TryForm:
    """The data of the form's page. `errors` holds (JSON path in the request, message)."""

    metric: MetricContract
    form: Form
    example: str | None = None
    errors: list[tuple[str, str]] = field(default_factory=list)
    parent: str = ""  # the job that is edited
    whole: str = ""  # the request as JSON that was typed and cannot be read

    @property
    def at(self) -> dict[str, str]:
        """Return the errors by form input. An error about part of an input is shown at that
        input."""
        inputs = form_inputs(self.metric.name)
        known = {one.name for one in inputs} | {one.group for one in inputs}
        known |= {one.name for one in self.metric.form}
        errors: dict[str, str] = {}
        for path, detail in self.errors:
            steps = path.split("/")
            names = [".".join(steps[:end]) for end in range(len(steps), 0, -1)]
            errors.setdefault(next((name for name in names if name in known), REST), detail)
        return errors

    @property
    def required(self) -> set[str]:
        """The fields that every request must have."""
        fields = self.metric.request.model_fields.items()
        return {name for name, field in fields if field.is_required()}


@router.get("/try")
async def try_form(
    request: Request,
    gateway: Gateway,
    caller: Viewer,
    metric: Annotated[str, Query(max_length=64)] = "",
    example: Annotated[str, Query(max_length=128)] = "",
    source: Annotated[str, Query(alias="from", max_length=64)] = "",
) -> Response:
    """Show the form, filled with an example or with the request of the job that `from` names."""
    if source:
        return await _form_of_job(request, gateway, caller, source)
    contract = _find_metric(metric)
    name = example if example in contract.examples else next(iter(contract.examples))
    return _form_page(
        request,
        gateway,
        caller,
        TryForm(contract, fill_form(contract, contract.examples[name]), name),
    )


async def _form_of_job(request: Request, gateway: State, caller: Caller, source: str) -> Response:
    """Show the form filled with this job's request. Raises UnknownJob."""
    job = await find_job(source, gateway, caller.tenant)
    contract = metrics().get(job.metric)
    sent_request = request_of(job)
    if contract is None or sent_request is None:
        raise UnknownJob("the texts of this job were not kept, so they cannot be edited")
    body = sent_request.model_dump(mode="json", exclude_defaults=True)
    return _form_page(
        request, gateway, caller, TryForm(contract, fill_form(contract, body), parent=job.id)
    )


@router.post("/try")
async def create_job(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Create a job and go to its page. If the request is invalid, show the errors. If the user only
    asked to see the request, show it."""
    check_scope(caller, "score")
    form = await checked_form(
        request, limit=ENCODED * gateway.settings.max_body_bytes, fields=MOST_CONTROLS
    )
    form["parent"] = await _own_parent(form.get("parent", ""), gateway, caller)
    contract = _find_metric(form.get("metric", ""))
    entered, only_show = sent(contract, form), form.get("action") == "show"
    if form.get("action") == "fill":
        typed, parent = form.get("whole", "").replace("\r\n", "\n"), form.get("parent", "")
        try:
            body = _parse_object(typed, "the request is")
            if HALVES.search(json.dumps(body, ensure_ascii=False)):
                raise InvalidBody.at_root(
                    "the text contains half of a surrogate pair, which is not a character"
                )
            entered = form_of_body(contract, body)
        except InvalidBody as error:
            trial = TryForm(contract, Form({}, "{}"), None, _errors(error), parent, typed)
            return _form_page(request, gateway, caller, trial, error)
        return _form_page(request, gateway, caller, TryForm(contract, entered, parent=parent))
    if form.get("action") == "json":
        return Response(_as_json(body_of(contract, entered)), media_type="application/json")
    try:
        job_request = _request_of(contract, entered, limit=gateway.settings.max_body_bytes)
        job_request = caller.apply_defaults(_marked(job_request, form["parent"]))
        check_request(contract, job_request, gateway)
        if only_show:
            return _form_page(
                request, gateway, caller, TryForm(contract, entered, parent=form["parent"])
            )
        job = await _commit_once(contract, job_request, form, gateway, caller)
    except ScoringError as error:  # a quota, too: what was typed stays
        trial = TryForm(contract, entered, errors=_errors(error), parent=form["parent"])
        return _form_page(request, gateway, caller, trial, error)
    return RedirectResponse(f"/jobs/{job.id}", 303)


async def _commit_once(
    metric: MetricContract,
    job_request: JobRequest,
    form: Mapping[str, str],
    gateway: State,
    caller: Caller,
) -> Job:
    """Create the form's job and send its message. If the form is sent again, no other job is
    created."""
    key = templates.once_key(form, f"try {metric.name}")
    accepted = await commit(metric, job_request, gateway, key, caller.owner(gateway.settings))
    if parent := form.get("parent"):
        job_id = accepted.job.id
        await gateway.in_ledger(lambda one: set_parent(one, job_id, parent, caller.tenant))
    return await wait_for_job(accepted, gateway, 0)


async def _own_parent(named: str, gateway: State, caller: Caller) -> str:
    """Return the id of the edited job, or an empty string if the tenant has no such job."""
    try:
        return (await find_job(named, gateway, caller.tenant)).id
    except UnknownJob:
        return ""


def _marked(job_request: JobRequest, parent: str) -> JobRequest:
    """Add the edited job's id, `parent`, to the request's metadata, so that evaluations of a system
    can leave out trial jobs. Without `parent`, or with too much metadata, the request stays
    unchanged."""
    metadata = {name: value for name, value in job_request.metadata.items() if name != EDITED}
    if not parent or len(metadata) >= MOST_METADATA:
        return job_request
    return job_request.model_copy(update={"metadata": metadata | {EDITED: parent}})


def listed_metrics() -> list[MetricContract]:
    """Return the metrics in the order of the guide and of `terms.toml`. Further metrics follow."""
    order = list(terms())
    return sorted(
        metrics().values(),
        key=lambda one: order.index(one.name) if one.name in order else len(order),
    )


def _find_metric(name: str) -> MetricContract:
    return metrics().get(name) or listed_metrics()[0]


def _request_of(metric: MetricContract, form: Form, *, limit: int) -> JobRequest:
    """Return the request of the form. Raises InvalidBody, and BodyTooLarge above the API's
    limit."""
    body = body_of(metric, form)
    if len(json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")) > limit:
        raise BodyTooLarge(f"the request may have {limit} bytes")
    try:
        return parse_strict(metric.request, json.dumps(body), body)
    except ValidationError as error:
        raise InvalidBody(validation_problem(error, body)) from None


def _errors(error: ScoringError) -> list[tuple[str, str]]:
    details = error.problem if isinstance(error, InvalidBody) else problem(error)
    listed = details.get("errors") or [{"pointer": "", "detail": details["detail"]}]
    return [(entry["pointer"].lstrip("#/"), entry["detail"]) for entry in listed]


def _form_page(
    request: Request,
    gateway: State,
    caller: Caller,
    trial: TryForm,
    error: ScoringError | None = None,
) -> Response:
    response = page(
        request,
        "try.html",
        200 if error is None else error.status,
        trial=trial,
        metrics=listed_metrics(),
        fields=trial.metric.form,
        groups=form_groups(trial.metric.name),
        usual=fill_form(trial.metric, {}).controls,
        prefix=PREFIX,
        models=gateway.model_names(*trial.metric.model_kinds),
        whole=_whole(trial),
        snippets=None
        if trial.errors
        else code_samples(
            trial.metric,
            body_of(trial.metric, trial.form),
            request,
            with_key=caller.key is not None,
        ),
        style=sheet if templates.style_sheet(sheet := f"{trial.metric.name}.css") else None,
        title="The request is not valid" if isinstance(error, BadInput | None) else error.title,
    )
    if error is not None and error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _whole(trial: TryForm) -> str | None:
    """Return the form's request as JSON, as typed if it was edited as JSON. Return None if the form
    is invalid or the JSON too long to edit."""
    if trial.whole:
        return trial.whole
    try:
        text = _as_json(body_of(trial.metric, trial.form))
    except InvalidBody:
        return None
    return text if len(text) <= MOST_PASTED else None
