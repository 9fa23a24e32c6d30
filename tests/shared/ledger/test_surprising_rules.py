"""Which results are surprising: every rule of every metric, as PostgreSQL reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from services.gateway.results import result_pages
from services.gateway.results.result_pages import ResultFilter, ResultOrder, ResultRow
from services.registry import metrics, surprising_rules, surprising_words
from shared.contracts.facts import FAILED, FactPlan, SurprisingRules
from shared.contracts.service import SurprisingRule
from shared.ledger import result_facts

BATCH = "batch_" + "0" * 32
WANTED = ResultFilter(tenant="default", batch_id=BATCH)
INSERT = """
INSERT INTO batches (id, metric, endpoint, input_file_id, metadata, expires_at)
VALUES (:batch, 'm', '/', 'f', '{}', now())
"""
JOB = """
INSERT INTO jobs (id, metric, status, request, result, resend_at, finished_at, batch_id)
VALUES (:job, 'm', 'succeeded', '{}', CAST(:result AS json), now(), now(), :batch)
"""
LINE = """
INSERT INTO batch_lines (batch_id, number, custom_id, fingerprint, status, job_id)
VALUES (:batch, :number, :job, :job, 'succeeded', :job)
"""


def looked(engine: Engine, results: list[str], rules: SurprisingRules) -> list[ResultRow]:
    """Lines with these results, in order of the page."""
    with engine.begin() as connection:
        connection.execute(text(INSERT), {"batch": BATCH})
        for number, result in enumerate(results, 1):
            named = {"batch": BATCH, "job": f"job_{number}", "result": result, "number": number}
            connection.execute(text(JOB), named)
            connection.execute(text(LINE), named)
        while result_facts.write_of_lines(connection, lambda _: FactPlan(rules), 2):
            pass
        order = ResultOrder(higher_is_better=rules.higher_is_better)
        return result_pages.rows_of(connection, WANTED, order, 100).rows


@pytest.mark.parametrize(
    ("metric", "result", "reasons"),
    [
        (
            "hatexscore",
            '{"score": 0.5, "problems": ["misquoted", "group-not-named"]}',
            ["misquoted", "group-not-named"],
        ),
        ("hatexscore", '{"score": 0.4, "problems": []}', []),
        ("ftc", '{"score": null, "abstained": "no rule"}', ["abstained", "no-score"]),
        ("ftc", '{"score": 1, "abstained": null}', []),
        (
            "haf",
            '{"score": 1, "refusal": true, "stance": "unclear"}',
            ["refusal", "stance-unclear"],
        ),
        ("haf", '{"score": 1, "refusal": false, "stance": "toxic"}', []),
        ("cot2el", '{"score": null, "status": "parse_failed"}', ["not-parsed", "no-score"]),
        ("cot2el", '{"score": 1, "status": "ok"}', []),
        ("sor", '{"score": 0, "problems": ["facts-missing"]}', ["facts-missing"]),
        ("another", '{"score": null}', ["no-score"]),
        ("another", '{"no": "score"}', []),
    ],
)
def test_rules(engine: Engine, metric: str, result: str, reasons: list[str]) -> None:
    (found,) = looked(engine, [result], surprising_rules(metric))
    assert found.reasons == reasons


def test_every_metric_has_rules_and_every_rule_has_words() -> None:
    assert all(metric.problems for metric in metrics().values())
    for metric in metrics():
        assert set(surprising_rules(metric).names) <= set(surprising_words(metric))
        assert FAILED in surprising_words(metric)


def test_every_field_that_a_rule_names_is_in_its_contract() -> None:
    for metric, contract in metrics().items():
        for rule in contract.surprising:
            for name in rule.path.replace("@.", " @").split():
                if name.startswith("@"):
                    field = name.strip("@()").partition(")")[0]
                    assert field in str(metrics()[metric].report.model_json_schema()), rule


@pytest.mark.parametrize("higher", [True, False])
def test_the_worst_first(engine: Engine, higher: bool) -> None:
    rules = SurprisingRules(
        (SurprisingRule(name="odd", path="$ ? (@.odd == true)", says="it is odd"),),
        higher_is_better=higher,
    )
    results = ['{"score": 0.2}', '{"score": 0.1}', '{"score": null}', '{"odd": true, "score": 1}']
    found = [item.line for item in looked(engine, results, rules)]
    assert found == ([4, 2, 1, 3] if higher else [4, 1, 2, 3])


PLAN = FactPlan(surprising_rules("hatexscore"), metrics()["hatexscore"])
QUIET = ("class=non-hateful", "quotes=none")


@given(
    st.sampled_from(["problem_found", None, "not_tested", "holds_up"]),
    st.sampled_from([*PLAN.rules.names, ""]),
    st.sampled_from([QUIET, QUIET[:1], ("class=hateful", "quotes=none"), ()]),
    st.lists(st.sampled_from(PLAN.rules.names)),
)
def test_kinds_of_lines_do_not_mix(
    verdict: str | None, reason: str, facets: tuple[str, ...], others: list[str]
) -> None:
    """The gravest problem counts, any problem precedes no result, then come untested results,
    those that hold up, and harmless posts without quotes."""
    kinds = ["problem_found", None, "not_tested", "holds_up"]
    reasons = [reason] if reason else []
    place = PLAN.rank(verdict, reasons, facets)
    assert PLAN.rank(verdict, [*reasons, *others], facets) <= place
    is_last = facets == QUIET and verdict in kinds[2:]
    for kind in kinds:
        is_before = kinds.index(kind) < kinds.index(verdict) or (is_last and kind != verdict)
        if is_before:
            assert PLAN.rank(kind, others, ()) < place
    if is_last:
        assert PLAN.rank(verdict, others, ()) < place


def test_the_gravest_problems_are_the_four_that_matter() -> None:
    ranks = [PLAN.rank("problem_found", [code], ()) for code in PLAN.rules.names]
    assert ranks == sorted(ranks)
    assert PLAN.rules.names[:5] == [
        "opposite-decision", "misquoted", "quote-not-in-post", "quotes-do-not-matter",
        "group-not-named",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "said", [r"\u0000", r"\\u0000", r"\\\u0000", r"\\\\u0000\u0000", r"\ud83d\ude00", ""]
)
def test_any_text_can_be_decoded(engine: Engine, said: str) -> None:
    (found,) = looked(
        engine, [f'{{"text": "{said}", "score": 0.5}}'], surprising_rules("hatexscore")
    )
    assert found.score == 0.5


def test_reasons_come_by_their_count_and_then_by_name(engine: Engine) -> None:
    rules = SurprisingRules(
        tuple(
            SurprisingRule(name=name, path=f"$ ? (@.{name} == true)", says=name)
            for name in ("b", "often", "a")
        )
    )
    looked(engine, ['{"b": true, "often": true}', '{"a": true, "often": true}'], rules)
    with engine.begin() as connection:
        counts = result_pages.card_counts(connection, WANTED).problems
    assert list(counts.items()) == [("often", 2), ("a", 1), ("b", 1)]
