"""The results table: one small row per line or job, written once it has ended.

Decoding 50,000 results for each page view would take seconds. The scheduler writes the rows; a page
that is opened earlier writes the rows of its batch. Equal lines share a job, and each line has its
row. PostgreSQL evaluates the rules for surprising results, and evaluates them again when they
change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Row,
    Select,
    String,
    Text,
    case,
    cast,
    func,
    literal,
    or_,
    select,
    text,
    tuple_,
    type_coerce,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, JSONPATH, insert

from shared.contracts.batches import model_of
from shared.contracts.checks import route_of
from shared.contracts.facts import FAILED, FactPlan, SurprisingRules
from shared.contracts.messages import Trace
from shared.contracts.problems import type_name
from shared.contracts.service import MetricContract
from shared.ledger import score_hours
from shared.ledger.batch_lines import line_metadata
from shared.ledger.score_pushes import FinishedScore, enqueue_scores
from shared.ledger.tables import LINE_ENDED, batch_lines, batches, jobs, result_facts

# jsonb has no U+0000, which JSON allows: `\u0000` becomes `\ufffd`, but `\\u0000` stays
RAW = cast(jobs.c.result, Text)
WITHOUT_NUL = func.regexp_replace(RAW, r"(?<!\\)((?:\\\\)*)\\u0000", r"\1\\ufffd", "g")
DOCUMENT = cast(case((func.strpos(RAW, r"\u0000") > 0, WITHOUT_NUL), else_=RAW), JSONB)
SNIPPET = 160  # characters of a text
MOST_FACETS, LONGEST_FACET = 100, 200  # of a row; characters of one
PROMPTED = "$.provenance.models[*].prompt_sha256"
WORDS = ("metric_version", "variant", "text_key", "model", "decision_stated", "language")
KEY = ("source", "line")
NO_RESULT = {
    "failed": "There is no result: the job failed.",
    "cancelled": "There is no result: the line was cancelled.",
    "expired": "There is no result: the batch expired first.",
}

Json = Any
Facts = dict[str, Any]


Plans = Callable[[str], FactPlan | None]  # by metric; None: nothing is shown of its jobs


def write_of_lines(
    connection: Connection, plans: Plans, most: int, batch_id: str | None = None
) -> int:
    """Write rows of the results table for up to `most` ended batch lines without a row. Return the
    number of rows. If `batch_id` is None, all batches are included."""
    query = (
        select(
            batch_lines.c.batch_id.label("source"),
            batch_lines.c.number.label("line"),
            batch_lines.c.batch_id,
            batch_lines.c.custom_id,
            batch_lines.c.status,
            batch_lines.c.job_id,
            batch_lines.c.caller,
            batches.c.tenant,
            batches.c.metric,
        )
        .join(batches, batches.c.id == batch_lines.c.batch_id)
        .where(text(f"batch_lines.{LINE_ENDED}"), ~batch_lines.c.has_facts)
        .order_by(batch_lines.c.batch_id, batch_lines.c.number)
        .limit(most)
        .with_for_update(skip_locked=True, of=batch_lines)
    )
    if batch_id is not None:
        query = query.where(batch_lines.c.batch_id == batch_id)
    lines = connection.execute(query).all()
    if not lines:
        return 0
    _write_new(connection, plans, [row._asdict() for row in lines])
    key = tuple_(batch_lines.c.batch_id, batch_lines.c.number)
    keys = [(row.source, row.line) for row in lines]
    connection.execute(update(batch_lines).where(key.in_(keys)).values(has_facts=True))
    return len(lines)


def write_job_rows(connection: Connection, plans: Plans, most: int) -> int:
    """Write rows of the results table for at most `most` ended jobs that belong to no batch. Return
    the number of rows."""
    query = (
        select(
            jobs.c.id.label("source"),
            literal(0).label("line"),
            jobs.c.id.label("job_id"),
            jobs.c.tenant,
            jobs.c.metric,
            jobs.c.status,
        )
        .where(jobs.c.finished_at.is_not(None), jobs.c.batch_id.is_(None), ~jobs.c.has_facts)
        .order_by(jobs.c.finished_at)
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    ended = connection.execute(query).all()
    _write_new(connection, plans, [row._asdict() for row in ended])
    ids = [row.source for row in ended]
    connection.execute(update(jobs).where(jobs.c.id.in_(ids)).values(has_facts=True))
    return len(ended)


def update_rows(connection: Connection, metric: str, plan: FactPlan, most: int) -> int:
    """Rewrite the rows that were written by older rules, and return their number."""
    facts, rules = result_facts.c, plan.fingerprint
    stale = (
        select(*(facts[name] for name in (*KEY, "job_id", "batch_id", "custom_id", "status")))
        .add_columns(facts.tenant, facts.metric, facts.metadata)
        .where(facts.metric == metric, or_(facts.rules < rules, facts.rules > rules))
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    outdated = connection.execute(stale).all()
    _write(connection, lambda _: plan, [row._asdict() for row in outdated])
    return len(outdated)


def _write_new(connection: Connection, plans: Plans, lines: Sequence[Facts]) -> None:
    """Write new rows to the results table, queue the export of their scores, and add the scores to
    the hourly sums."""
    scores = _write(connection, plans, lines)
    enqueue_scores(connection, scores)
    by_metric: defaultdict[str, list[Facts]] = defaultdict(list)
    for score in scores:
        by_metric[score.facts["metric"]].append(dict(score.facts))
    for metric, rows in sorted(by_metric.items()):
        plan = plans(metric)
        if plan is not None and plan.has_scores:
            score_hours.add_results(connection, rows, plan.contract)


def _write(connection: Connection, plans: Plans, lines: Sequence[Facts]) -> list[FinishedScore]:
    """Write the rows of results. Return the scores that can be sent to webhook endpoints."""
    scores: list[FinishedScore] = []
    by_metric: defaultdict[str, list[Facts]] = defaultdict(list)
    for line in lines:
        by_metric[line["metric"]].append(line)
    for metric, some in by_metric.items():
        plan = plans(metric)
        if plan is None:
            continue
        ended = _ended_jobs(connection, plan, {line["job_id"] for line in some if line["job_id"]})
        rows = [_facts(plan, line, ended.get(line["job_id"])) for line in some]
        statement = insert(result_facts)
        changed = {name: statement.excluded[name] for name in rows[0] if name not in KEY}
        connection.execute(statement.on_conflict_do_update(index_elements=KEY, set_=changed), rows)
        for line, row in zip(some, rows, strict=True):
            if plan.has_scores and (job := ended.get(line["job_id"])) is not None:
                scores.append(_ended_score(plan, line, row, job))
    return scores


def _ended_score(plan: FactPlan, line: Facts, row: Facts, job: Row[Any]) -> FinishedScore:
    """Return the finished score. Its tracing context comes from the batch line, because equal lines
    share a job, and that job has the context of only one line."""
    trace = job.request if row["batch_id"] is None else line.get("caller")
    error = job.error if row["status"] == FAILED else None
    return FinishedScore(
        facts=row,
        parts=dict(zip(plan.part_names, row["parts"], strict=False)),
        trace=Trace.model_validate((trace or {}).get("trace") or {}),
        webhook=job.request.get("webhook"),
        error_type=None if error is None else type_name(error),
        by_language_model=bool(job.by_language_model),
    )


def _ended_jobs(connection: Connection, plan: FactPlan, ids: Iterable[str]) -> dict[str, Row[Any]]:
    """Map each id to the job's row, with the values at the plan's paths in its result.
    `reasons` lists why the result is surprising."""
    document = (
        select(jobs.c.id, DOCUMENT.label("document"))
        .where(jobs.c.id.in_(list(ids)))
        .cte("document")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    values = [_value_at(document.c.document, path) for path in plan.paths.values()]
    facets = [
        func.jsonb_path_query_array(document.c.document, cast(path, JSONPATH))
        for _, path in plan.facets
    ]
    warnings = func.jsonb_path_query_first(document.c.document, cast("$.warnings.size()", JSONPATH))
    has_verdict = func.jsonb_exists(document.c.document, "verdict")
    is_prompted: ColumnElement[bool] = func.jsonb_path_exists(
        document.c.document, cast(PROMPTED, JSONPATH)
    )
    rows = connection.execute(
        select(
            jobs.c.id,
            jobs.c.status,
            jobs.c.created_at,
            jobs.c.finished_at,
            jobs.c.request,
            jobs.c.error,
            is_prompted.label("by_language_model"),
            case((has_verdict, None), else_=_without_tokens(document.c.document)).label("earlier"),
            type_coerce(func.jsonb_build_array(*values, warnings), JSONB).label("told"),
            type_coerce(func.jsonb_build_array(*facets), JSONB).label("words"),
            type_coerce(func.array(_reasons(plan.rules, document.c.document)), ARRAY(String)).label(
                "reasons"
            ),
        )
        .join(document, document.c.id == jobs.c.id)
        .where(jobs.c.id.in_(list(ids)))  # once more: they lie in few partitions
    )
    return {row.id: row for row in rows}


def _value_at(document: ColumnElement[Any], path: str) -> ColumnElement[Any]:
    if path.startswith("$"):
        return func.jsonb_path_query_first(document, cast(path, JSONPATH))
    return document.op("#>")(literal(path.split("."), ARRAY(String)))


def _without_tokens(document: ColumnElement[Any]) -> ColumnElement[Any]:
    """Remove the token lists. They make up most of an answer and have no effect on the verdict."""
    path = literal(["elicitation", "tokens"], ARRAY(String))
    return type_coerce(func.jsonb_set(document, path, literal([], JSONB), False), JSONB)


def _reasons(rules: SurprisingRules, document: ColumnElement[Any]) -> Any:
    """Return an SQL expression for the names of the rules that match the JSON document, in the
    order of the rules."""
    rule = (
        func.unnest(
            literal([rule.name for rule in rules.listed], ARRAY(String)),
            literal([rule.path for rule in rules.listed], ARRAY(String)),
        )
        .table_valued("name", "path", with_ordinality="place")
        .render_derived("rule")
    )
    fits = func.jsonb_path_exists(document, cast(rule.c.path, JSONPATH))
    names: Select[Any] = select(rule.c.name).where(fits).order_by(rule.c.place)
    return names.scalar_subquery()


def _facts(plan: FactPlan, line: Facts, job: Row[Any] | None) -> Facts:
    """Return the row of the results table for a line. `job` is None if the line has no job or the
    job was deleted."""
    request: Mapping[str, Any] = {} if job is None else job.request
    reasons = [FAILED] if line["status"] == FAILED else list((job and job.reasons) or ())
    fields = {name: line.get(name) for name in (*KEY, "job_id", "batch_id", "custom_id", "status")}
    fields |= _facts_of_result(plan, line["status"], job)
    facets, verdict = _facets(plan, line["status"], job), fields["verdict"]
    if isinstance(plan.contract, MetricContract) and (route := route_of(verdict, reasons)):
        facets.insert(0, f"route={route}")
    return {
        **fields,
        "tenant": line["tenant"],
        "metric": line["metric"],
        "created_at": job and job.created_at,
        "finished_at": job and job.finished_at,
        "decision_sent": None
        if plan.contract is None
        else _word(request.get(plan.facts.decision_sent)),
        "snippet": _snippet(plan, request),
        "reasons": reasons,
        "facets": facets,
        "surprise": plan.rank(verdict, reasons, facets),
        "metadata": _metadata(line, request),
        "rules": plan.fingerprint,
    }


def _metadata(line: Facts, request: Mapping[str, Any]) -> dict[str, str]:
    """Return the line's own metadata. A job shared by equal lines has the metadata of the first
    line."""
    if "metadata" in line:  # of a row that is written anew
        metadata: dict[str, str] = line["metadata"]
        return metadata
    if line.get("batch_id") is not None:
        return line_metadata(line["caller"])
    return request.get("metadata") or {}


def _facts_of_result(plan: FactPlan, status: str, job: Row[Any] | None) -> Facts:
    """Return the values of a result for tables and filters, or the reason why there is no
    result."""
    has_result = status == "succeeded" and job is not None
    values = dict(
        zip((*plan.paths, "warnings"), job.told if has_result and job else (), strict=False)
    )
    facts: Facts = {name: _word(values.get(name)) for name in WORDS}
    if has_result and job is not None and plan.contract is not None:
        model, default = _word(job.request.get("model")), plan.contract.default_model
        facts["model"] = model_of(facts["model"], model, default)
    facts |= {name: _number(values.get(name)) for name in ("score", "chance")}
    facts["parts"] = [_number(values.get(name)) for name in plan.paths if name.startswith("part ")]
    facts["warnings"] = int(_number(values.get("warnings")) or 0)
    if not has_result or job is None:
        return facts | {"verdict": None, "sentence": NO_RESULT.get(status, "")}
    if job.earlier is not None:
        finding = plan.finding(job.earlier)
        verdict, sentence = finding.verdict, finding.reason
    else:
        verdict, sentence = values["verdict"], values["sentence"]
    return facts | {"verdict": _word(verdict), "sentence": _word(sentence) or ""}


def _facets(plan: FactPlan, status: str, job: Row[Any] | None) -> list[str]:
    if status != "succeeded" or job is None:
        return []
    facets = [
        f"{name}={word}"
        for (name, _), words in zip(plan.facets, job.words, strict=True)
        for word in map(_word, words)
        if word is not None
    ]
    return [facet for facet in dict.fromkeys(facets) if len(facet) <= LONGEST_FACET][:MOST_FACETS]


def _snippet(plan: FactPlan, request: Mapping[str, Any]) -> str | None:
    if plan.contract is None or request.get("do_not_store_text"):
        return None
    value = request.get(plan.facts.text)
    more = {name: request.get(name) for name in plan.facts.more_texts}
    if isinstance(value, Mapping) or (value is None and more):
        value = " ".join(part for part in (value or more).values() if isinstance(part, str))
    text = _word(value)
    return text[:SNIPPET] if text else None


def _word(value: Json) -> str | None:
    """Return the text with U+0000 and lone surrogates replaced, since PostgreSQL cannot store them.
    Return None if the value is not a text."""
    if not isinstance(value, str):
        return None
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _number(value: Json) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None
