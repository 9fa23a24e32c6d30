"""One row a line and a job: written once, equal to what the result says, by every key in order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, select, text

from services.gateway.results import result_exports, result_pages
from services.gateway.results.result_pages import ResultFilter, ResultOrder, ResultRow
from services.registry import fact_plan, metrics, surprising_rules
from shared.contracts.facts import FactPlan
from shared.contracts.service import SurprisingRule
from shared.ledger import jobs, leases, result_facts
from shared.ledger.tables import result_facts as table
from tests.gateway.results import a_result
from tests.ledger import must_claim

BATCH = "batch_" + "0" * 32
WANTED = ResultFilter(tenant="default", batch_id=BATCH)
FAR = timedelta(hours=1)
MAKE = """
INSERT INTO batches (id, metric, endpoint, input_file_id, metadata, expires_at)
VALUES (:batch, :metric, '/', 'f', '{}', now())
"""
JOB = """
INSERT INTO jobs (id, metric, status, request, result, error, resend_at, finished_at, batch_id)
VALUES (:job, :metric, :status, CAST(:request AS json), CAST(:result AS json),
        CAST(:error AS json), now(), now(), :batch)
"""
LINE = """
INSERT INTO batch_lines
    (batch_id, number, custom_id, fingerprint, status, job_id, caller)
VALUES (:batch, :number, :custom_id, :custom_id, :status, :job, CAST(:caller AS json))
"""


def fill(
    connection: Connection, results: list[dict[str, Any] | None], metric: str = "hatexscore"
) -> None:
    """A batch of lines with these results; None: its job failed."""
    connection.execute(text(MAKE), {"batch": BATCH, "metric": metric})
    for number, result in enumerate(results, 1):
        own = {"metadata": {"odd": f"{number % 2}"}}
        named = {
            "batch": BATCH,
            "metric": metric,
            "number": number,
            "custom_id": f"line {number}",
            "job": f"job_{number}",
            "status": "failed" if result is None else "succeeded",
            "request": json.dumps({"text": f"text {number}"} | own),
            "caller": json.dumps(own),
            "result": None if result is None else json.dumps(result),
            "error": '{"title": "t"}' if result is None else None,
        }
        connection.execute(text(JOB), named)
        connection.execute(text(LINE), named)


def written(connection: Connection, most: int = 2) -> int:
    total = 0
    while count := result_facts.write_of_lines(connection, fact_plan, most):
        total += count
    return total


def put(engine: Engine, metric: str, result: dict[str, Any], **more: Any) -> str:
    asked = next(iter(metrics()[metric].examples.values())) | more
    request = metrics()[metric].request.model_validate(asked).model_dump(mode="json")
    job_id = jobs.new_id()
    with engine.begin() as connection:
        jobs.insert_job(connection, job_id, metric, request, FAR)
        assert leases.succeed(connection, must_claim(connection, job_id), result)
    return job_id


def the_row(engine: Engine) -> Any:
    with engine.begin() as connection:
        assert result_facts.write_job_rows(connection, fact_plan, 10) == 1
        assert result_facts.write_job_rows(connection, fact_plan, 10) == 0
        return connection.execute(select(table)).one()


def at(document: Any, path: str) -> Any:
    """An independent walk along a dotted path."""
    for name in path.split("."):
        if isinstance(document, list):
            document = document[int(name)] if int(name) < len(document) else None
        else:
            document = (document or {}).get(name)
    return document


class TestSingleJobs:
    """A job of no batch."""

    @pytest.mark.parametrize("metric", sorted(metrics()))
    def test_it_says_what_the_result_says(self, engine: Engine, metric: str) -> None:
        result = a_result(0.625, metric)
        job_id = put(engine, metric, result, metadata={"market": "nl\x00"})
        row, contract = the_row(engine), metrics()[metric]
        assert (row.source, row.job_id, row.line, row.batch_id) == (job_id, job_id, 0, None)
        assert (row.verdict, row.sentence) == (result["verdict"], result["reason"])
        assert (row.score, row.status, row.tenant) == (0.625, "succeeded", "default")
        assert row.parts == [at(result, path) for path in contract.parts.values()]
        assert any(part is not None for part in row.parts)
        assert row.metadata == {"market": "nl\ufffd"}
        assert row.warnings == len(result["warnings"])
        assert row.variant == result["provenance"]["variant"]
        if contract.facts.chance:
            assert row.chance == at(result, contract.facts.chance)
        assert row.snippet

    def test_a_text_that_must_not_be_stored_leaves_no_snippet(self, engine: Engine) -> None:
        put(engine, "hatexscore", a_result(0.5), do_not_store_text=True, text="a secret text")
        row = the_row(engine)
        assert row.snippet is None
        assert "secret" not in str(row)

    def test_it_goes_with_its_job(self, engine: Engine) -> None:
        put(engine, "hatexscore", a_result(0.5))
        the_row(engine)
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM jobs"))
            assert connection.execute(select(table)).all() == []

    def test_what_is_no_metric_has_no_row_and_is_not_asked_again(self, engine: Engine) -> None:
        with engine.begin() as connection:
            named = {"job": "job_a", "metric": "similarity", "status": "succeeded", "batch": None}
            named |= {"request": "{}", "result": "{}", "error": None}
            connection.execute(text(JOB), named)
            assert result_facts.write_job_rows(connection, fact_plan, 10) == 1
            assert result_facts.write_job_rows(connection, fact_plan, 10) == 0
            assert connection.execute(select(table)).all() == []


class TestLines:
    """The lines of a batch."""

    def test_each_is_written_once_in_portions(self, engine: Engine) -> None:
        with engine.begin() as connection:
            fill(connection, [{"score": 0.5}, None, {"score": None}, {"score": 1}, {"x": "\x00"}])
            assert result_pages.has_missing_rows(connection, BATCH)
            assert written(connection, 2) == 5
            assert not result_pages.has_missing_rows(connection, BATCH)
            assert written(connection) == 0
            rows = result_pages.rows_of(connection, WANTED, ResultOrder("line"), 10).rows
        assert [row.score for row in rows] == [0.5, None, None, 1, None]
        assert [row.status for row in rows] == ["succeeded", "failed", *["succeeded"] * 3]
        assert rows[1].reasons == ["failed"]
        assert rows[1].sentence

    def test_lines_that_share_a_job_have_their_own_rows(self, engine: Engine) -> None:
        with engine.begin() as connection:
            fill(connection, [{"score": 0.5}])
            named = {"batch": BATCH, "job": "job_1", "status": "succeeded"}
            for number, caller in ((2, '{"metadata": {"own": "yes"}}'), (3, None)):
                twin = {"number": number, "custom_id": f"twin {number}", "caller": caller}
                connection.execute(text(LINE), named | twin)
            written(connection)
            rows = result_pages.rows_of(connection, WANTED, ResultOrder("line"), 10).rows
        assert [row.custom_id for row in rows] == ["line 1", "twin 2", "twin 3"]
        assert {row.score for row in rows} == {0.5}
        assert [row.metadata for row in rows] == [{"odd": "1"}, {"own": "yes"}, {}]

    def test_other_rules_write_anew(self, engine: Engine) -> None:
        rules = (SurprisingRule(name="low", path="$ ? (@.score < 0.6)", says="it is low"),)
        other = FactPlan(type(surprising_rules("hatexscore"))(rules), metrics()["hatexscore"])
        with engine.begin() as connection:
            fill(connection, [{"score": 0.5}, {"score": 0.7}])
            written(connection)
            assert result_facts.update_rows(connection, "hatexscore", other, 10) == 2
            assert result_facts.update_rows(connection, "hatexscore", other, 10) == 0
            found = connection.execute(
                select(table.c.reasons, table.c.metadata).order_by(table.c.line)
            )
            assert [tuple(row) for row in found] == [(["low"], {"odd": "1"}), ([], {"odd": "0"})]


SCORES = [0.5, None, 0.25, 0.5, 1.0, 0.0, None, 0.75, 0.5, 0.25]


FILTERS: list[tuple[dict[str, Any], list[int]]] = [
    ({"equal": {"verdict": "not_tested"}}, [2, 7]),
    ({"equal": {"model": "m0"}}, [1, 4, 7, 10]),
    ({"ranges": {"score": (0.25, 0.5)}}, [3, 10]),
    ({"ranges": {"score": (0.75, 1.0)}, "top": 1.0}, [5, 8]),
    ({"ranges": {"qf": (None, 0.25)}}, [6]),
    ({"contains": "E 1"}, [1, 10]),
    ({"facets": ["conclusion=as sent"]}, [4]),
    ({"facets": ["conclusion=as sent", "conclusion=none"]}, []),
    ({"facets": ["group=nobody"]}, []),
    ({"text": "TEXT 7"}, [7]),
    ({"pairs": ["odd=0"], "equal": {"verdict": "holds_up"}}, [4, 6, 8, 10]),
    ({"reasons": ["no-score"]}, [2, 7]),
    ({"reasons": ["no-score", "misquoted"]}, [2, 7]),
    ({"reasons": ["misquoted"]}, []),
    ({"lines": [9, 2]}, [2, 9]),
    ({"contains": "'; DROP TABLE jobs"}, []),
]


SORTS = (
    "surprise", "line", "custom_id", "verdict", "status", "score", "chance", "qf", "model",
    "decision_stated", "metadata.odd", "why", "text", "judged",
)  # fmt: skip
JUDGED = """
INSERT INTO judgements (id, tenant, job_id, reviewer, verified, verdict, blind)
SELECT 'jdg_' || line, 'default', job_id, 'Ann', false, 'agree', true FROM result_facts
WHERE batch_id = :batch AND line % 3 = 0
"""


def paged(
    connection: Connection, wanted: ResultFilter, order: ResultOrder, size: int
) -> list[ResultRow]:
    """Every page of this size in turn."""
    pages: list[ResultRow] = []
    after: Sequence[Any] | None = ()
    while after is not None:
        again = replace(order, after=after)
        rows, after, of = result_pages.rows_of(connection, wanted, again, size)
        assert of == result_pages.count_of(connection, wanted)
        pages += rows
    return pages


class TestPages:
    """What the table shows."""

    @pytest.fixture
    def connection(self, engine: Engine) -> Any:
        with engine.begin() as connection:
            results: list[dict[str, Any] | None] = [
                {
                    "score": score,
                    "verdict": "not_tested" if score is None else "holds_up",
                    "reason": "so",
                    "components": {"htc": 1.0, "qf": score},
                    "decision_match": number == 3 or None,
                    "provenance": {"models": [{"name": f"m{number % 3}"}]},
                }
                for number, score in enumerate(SCORES)
            ]
            fill(connection, results)
            written(connection, 100)
            yield connection

    @pytest.mark.parametrize("descending", [False, True])
    def test_pages_joined_are_the_whole_in_order(
        self, connection: Connection, descending: bool
    ) -> None:
        wanted = ResultFilter(tenant="default", batch_id=BATCH, parts=("htc", "qf", "tgi", "cc"))
        connection.execute(text(JUDGED), {"batch": BATCH})
        for by in SORTS:
            order = ResultOrder(by, descending)
            whole, none, _ = result_pages.rows_of(connection, wanted, order, 100)
            assert none is None
            assert sorted(row.line for row in whole) == list(range(1, 11))
            for size in (1, 3, 100):
                assert paged(connection, wanted, order, size) == whole, (by, size)
            if by == "score":
                values = [row.score for row in whole if row.score is not None]
                assert values == sorted(values, reverse=descending)
                assert [row.score for row in whole[-2:]] == [None, None]
            if by == "text":
                snippets = [(row.snippet or "").lower().encode() for row in whole]
                assert snippets == sorted(snippets, reverse=descending)
            if by == "judged":
                first, last = (whole[-3:], whole[:-3]) if not descending else (whole[:3], whole[3:])
                assert {row.line for row in first} == {3, 6, 9}
                assert {row.line for row in last} == {1, 2, 4, 5, 7, 8, 10}

    @pytest.mark.parametrize("by", ["text", "metadata.odd"])
    def test_capitals_stand_beside_their_letters(self, connection: Connection, by: str) -> None:
        words = ("apple", "Apple pie", "banana", "Zebra", "zebra crossing", "Über", "ÜBER dem")
        for line, word in zip((3, 1, 4, 5, 2, 7, 6), words, strict=True):
            own = table.update().where(table.c.line == line)
            connection.execute(own.values(snippet=word, metadata={"odd": word}))
        connection.execute(table.delete().where(table.c.line > len(words)))
        order = ResultOrder(by)
        whole = result_pages.rows_of(connection, WANTED, order, 100).rows
        assert tuple(row.snippet for row in whole) == words
        assert paged(connection, WANTED, order, 2) == whole

    def test_no_key_of_a_page_holds_a_text(self, connection: Connection) -> None:
        _, key, _ = result_pages.rows_of(connection, WANTED, ResultOrder("text"), 3)
        assert key is not None
        assert all(isinstance(one, int) for one in key)
        gone = ResultOrder("text", after=[999])
        rows, _, of = result_pages.rows_of(connection, WANTED, gone, 100)
        assert (len(rows), of) == (10, 10)

    def test_filters(self, connection: Connection) -> None:
        for filters, lines in FILTERS:
            parts = ("htc", "qf", "tgi", "cc")
            wanted = ResultFilter(tenant="default", batch_id=BATCH, parts=parts, **filters)
            rows, _, of = result_pages.rows_of(connection, wanted, ResultOrder("line"), 100)
            assert [row.line for row in rows] == lines, filters
            assert of == result_pages.count_of(connection, wanted) == len(lines)
            exported = result_exports.exported(connection, wanted, 0, 100)
            assert [one.row.line for one in exported] == lines

    def test_counts_add_up_and_bins_are_their_filters(self, connection: Connection) -> None:
        edges = [0.0, 0.25, 0.5, 0.75, 1.0]
        counts = result_pages.counts_of(connection, WANTED, edges)
        assert (counts.rows, counts.scored) == (10, 8)
        assert sum(counts.bins) == 8
        for low, high, count in zip(edges, edges[1:], counts.bins, strict=False):
            wanted = ResultFilter(
                tenant="default", batch_id=BATCH, ranges={"score": (low, high)}, top=1.0
            )
            assert result_pages.count_of(connection, wanted) == count
        assert counts.values["verdict"] == {"holds_up": 8, "not_tested": 2}
        assert counts.values["model"] == {"m0": 4, "m1": 3, "m2": 3}
        assert counts.card.problems["no-score"] == 2
        of_parts = replace(WANTED, parts=("htc", "qf", "tgi"))
        numbers = result_pages.counts_of(connection, of_parts, edges).numbers
        assert numbers == {"score": 8, "chance": 0, "htc": 10, "qf": 8, "tgi": 0}
        keys = result_pages.metadata_keys(connection, WANTED)
        assert list(keys) == ["odd"]
        chosen = result_pages.metadata_values(connection, WANTED, keys)["odd"]
        assert sum(chosen.values()) == 10
        for value, rows in chosen.items():
            assert (
                result_pages.count_of(connection, replace(WANTED, pairs=[f"odd={value}"])) == rows
            )

    def test_another_tenant_sees_nothing(self, connection: Connection) -> None:
        foreign = ResultFilter(tenant="other", batch_id=BATCH)
        assert result_pages.rows_of(connection, foreign, ResultOrder(), 10) == ([], None, 0)
        assert result_pages.counts_of(connection, foreign, [0.0, 1.0]).rows == 0
        assert result_exports.exported(connection, foreign, 0, 10) == []


def test_a_page_of_many_batches_is_read_by_an_index(engine: Engine) -> None:
    with engine.begin() as connection:
        fill(connection, [{"score": 0.5}])
        written(connection)
        connection.execute(
            text(
                "INSERT INTO batches (id, metric, endpoint, input_file_id, metadata, expires_at) "
                "SELECT 'b' || n, 'm', '/', 'f', '{}', now() FROM generate_series(1, 40) n"
            )
        )
        connection.execute(
            text(
                "INSERT INTO result_facts (source, line, batch_id, tenant, metric, status, parts, "
                "reasons, surprise, sentence, warnings, metadata, rules, score) "
                "SELECT 'b' || (n % 40 + 1), n, 'b' || (n % 40 + 1), 'default', 'm', 'succeeded', "
                "'{}', '{}', 0, 's', 0, '{}', 'r', n FROM generate_series(1, 20000) n"
            )
        )
        connection.execute(text("ANALYZE result_facts"))
        for order in (ResultOrder(), ResultOrder("score"), ResultOrder("line")):
            columns = result_pages.sort_columns(WANTED, order)
            query = (
                select(table.c.line)
                .where(*result_pages.filters(WANTED))
                .order_by(*(one.value for one in columns))
                .limit(51)
            )
            sql = query.compile(connection, compile_kwargs={"literal_binds": True})
            plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {sql}").scalars())
            assert "Index" in plan, plan
            assert "Seq Scan" not in plan, plan
