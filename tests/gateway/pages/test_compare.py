"""/compare shows what the report says: numbers, signs, refusals; and only to whom it belongs."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from html import unescape as html_unescape
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, String, cast, event, func, select, update

from services.gateway.pages.comparison_view import compare_context
from services.gateway.results import result_pairs
from services.gateway.results.result_pairs import PairFilter
from services.hatexscore.contract import CONTRACT
from shared.ledger.tables import DEFAULT_TENANT, batch_lines, idempotency_keys, jobs
from shared.ledger.tables import batches as ledger_batches
from tests.gateway.conftest import Opens
from tests.gateway.judged import make_batch, run_reports
from tests.gateway.pages.test_pages import created, entered

OLD = [0.2, 0.3, 0.5, 0.9, 0.1, 0.4, 0.6, None]
NEW = [0.5, 0.6, 0.8, 0.95, 0.5, 0.8, None, 0.7]


@pytest.fixture
def batches(engine: Engine) -> tuple[str, str]:
    return make_batch(engine, OLD)[0], make_batch(engine, NEW)[0]


def compared(client: httpx.Client, engine: Engine, *sides: str) -> str:
    """The page, once its report is made."""
    left, *rights = sides
    asked: dict[str, str | list[str]] = {"baseline": left, "new": rights}
    assert "is being computed" in created(client, f"/compare?{urlencode(asked, doseq=True)}").text
    assert run_reports(engine)
    answer = client.get("/compare", params=asked)
    assert answer.status_code in (200, 422)  # what is refused is a page, too
    return answer.text


def test_a_filter_that_cannot_be_read_is_told(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    compared(client, engine, *batches)
    asked = {"baseline": batches[0], "new": batches[1], "baseline_from": "much", "verdict": "good"}
    html = client.get(
        "/compare", params=asked | {"change_from": "0.1", "hue": "red", "baseline_to": "1_0"}
    ).text
    assert "baseline_to = 1_0: it cannot be read" in html
    assert "baseline_from = much: it cannot be read" in html
    assert "verdict = good: it must be one of holds_up" in html
    assert "hue = red: this filter does not exist" in html
    assert "right minus left from 0.1" in html


def test_the_numbers_are_the_reports_and_verdicts_lead_to_their_pairs(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    html = compared(client, engine, *batches)
    with engine.connect() as connection:
        query = select(jobs.c.result).where(jobs.c.metric == "hatexscore-report")
        found = connection.execute(query).scalar_one()["comparison"]
    assert found["decision"].endswith("etween the baseline and the new side.")
    score = found["differences"][0]
    assert score["difference"]["value"] == pytest.approx(sum((0.3, 0.3, 0.3, 0.05, 0.4, 0.4)) / 6)
    assert (score["new"] - score["baseline"]) == pytest.approx(score["difference"]["value"])
    assert f"is {score['difference']['value']:.3f} higher" in html
    ups = re.findall(r'data-h="(?:Up|Equal|Down)">(\d+)<', html)
    assert ups[:3] == ["6", "0", "0"]
    assert "2 of 8 pairs lack a score on at least one side" in html
    bounds = found["bounds"]
    assert bounds["low"] == pytest.approx((1.75 - 0.6 - 0.3) / 8)
    assert bounds["high"] == pytest.approx((1.75 + 0.4 + 0.7) / 8)
    assert sum(one["pairs"] for one in found["verdicts"]) == 8
    verdicts = next(iter(re.findall(r'href="(/compare[^"]*verdicts=[^"]*)"', html)))
    assert "card pair" in client.get(verdicts.replace("&amp;", "&").partition("#")[0]).text


def test_pairs_are_filtered_and_exported(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    left, right = batches
    html = compared(client, engine, left, right)
    assert "States its conclusion" in html.partition('class="card pair"')[2]
    assert html.count('class="card pair"') == 6  # those that both have a score in
    asked = {"baseline": left, "new": right}
    for filters, count in (
        ({"change_from": "0.35"}, 2),
        ({"change_to": "0.1"}, 1),
        ({"baseline_verdict": "problem_found", "verdict": "not_tested"}, 3),
        ({"verdict": "not_tested"}, 4),
        ({"custom_id": "LINE-3"}, 1),
        ({"text": "number 4"}, 1),
        ({"baseline_from": "0.4", "new_to": "0.9"}, 2),
        ({"custom_id": "nowhere"}, 0),
        ({"htc_from": "2"}, 0),
        ({"judged": "yes", "judged_by": "Ann"}, 0),
    ):
        page = client.get("/compare", params=asked | filters).raise_for_status().text
        assert f"{count} of 8 pairs" in page, filters
        assert page.count('class="card pair"') == count, filters
        assert page.count("(remove this filter)") == len(filters)
        for name, value in filters.items():
            assert f'name="{name}"' in page
            assert value in page
        file = client.get("/compare/pairs.csv", params=asked | filters).raise_for_status().text
        rows = list(csv.DictReader(io.StringIO(file, newline="")))
        assert len(rows) == count, filters
        assert "is quite friendly" not in file
    strange = {"change_from": "much", "baseline_verdict": "fine", "verdicts": "a,b"}
    assert "remove this filter" not in client.get("/compare", params=asked | strange).text
    refused = client.get("/compare/pairs.csv", params=asked | strange)  # others than were meant
    assert refused.status_code == 422
    assert "change_from = much: it cannot be read" in refused.text


def set_text_keys(engine: Engine, *batches: str) -> None:
    """As workers write them; before anybody looks at the batches."""
    columns = jobs.c.id, jobs.c.request, jobs.c.result
    with engine.begin() as connection:
        for row in connection.execute(select(*columns).where(jobs.c.batch_id.in_(batches))).all():
            key = hashlib.sha256(row.request["text"].encode()).hexdigest()[:32]
            row.result["provenance"]["text_key"] = key
            connection.execute(update(jobs).where(jobs.c.id == row.id).values(result=row.result))


def test_texts_are_paired_where_custom_ids_are_not(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    left, right = batches
    set_text_keys(engine, *batches)
    with engine.begin() as connection:
        renamed = batch_lines.c.batch_id == right, batch_lines.c.number > 2
        other = "other " + cast(batch_lines.c.number, String)
        connection.execute(update(batch_lines).where(*renamed).values(custom_id=other))
    html = compared(client, engine, left, right)
    with engine.connect() as connection:
        query = select(jobs.c.result).where(jobs.c.metric == "hatexscore-report")
        assert connection.execute(query).scalar_one()["comparison"]["by_text"] == 6
    asked = {"baseline": left, "new": right}
    sums = 0
    for count, link in re.findall(r'href="(/compare[^"]*verdicts=[^"]*)" aria-label="(\d+)', html):
        page = client.get(count.replace("&amp;", "&").partition("#")[0]).text
        assert page.count('class="card pair"') == int(link)
        sums += int(link)
    assert sums == 8
    page = client.get("/compare", params=asked | {"change_from": "-1"}).text
    assert "6 of 8 pairs" in page
    assert page.count("<h3>A text</h3>") == 4
    assert page.count("<h3><bdi>line-") == 2


def test_a_line_without_a_partner_says_why(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    left, right = batches
    set_text_keys(engine, *batches)
    decided = {"decision": "hateful"}
    with engine.begin() as connection:
        for side, number, request in (
            (left, 8, {"text": "post number 1 is quite friendly"}),
            (right, 7, {"text": "a text that is nowhere else"}),
            (right, 6, decided),
        ):
            line = batch_lines.c.batch_id == side, batch_lines.c.number == number
            job_id = connection.execute(select(batch_lines.c.job_id).where(*line)).scalar_one()
            connection.execute(update(batch_lines).where(*line).values(custom_id=f"other-{number}"))
            row = connection.execute(select(jobs).where(jobs.c.id == job_id)).one()
            values = {"request": row.request | request, "result": row.result}
            values["result"] |= request if request == decided else {}
            connection.execute(update(jobs).where(jobs.c.id == job_id).values(values))
    set_text_keys(engine, *batches)
    compared(client, engine, left, right)
    html = client.get("/compare", params={"baseline": left, "new": right, "out": "1"}).text
    assert "The line with this text on the other side is already paired by custom id" in html
    assert "no result with this custom id or this text" in html
    assert (
        html.count("The other side has this text, but with a different decision") == 2
    )  # one of each side


def _name(batch_id: str) -> str:
    return f"“batch …{batch_id[-6:]}”"


@pytest.mark.parametrize("files", [("alpha.csv", "beta.csv"), ("same.csv", "same.csv")])
def test_batches_are_called_by_their_files_and_by_their_ids_where_these_are_equal(
    client: httpx.Client, engine: Engine, batches: tuple[str, str], files: tuple[str, str]
) -> None:
    with engine.begin() as connection:
        for batch_id, file in zip(batches, files, strict=True):
            own = ledger_batches.c.id == batch_id
            connection.execute(
                update(ledger_batches).where(own).values(metadata={"uploaded": file})
            )
    ends = [f" (…{one[-6:]})" if len(set(files)) == 1 else "" for one in batches]
    old, new = (f"“{file}{end}”" for file, end in zip(files, ends, strict=True))
    html = compared(client, engine, *batches)
    assert f"the mean score of {new} is 0.292 higher than that of {old}" in html


def a_comparison(value: float, p: float, *problems: tuple[str, int, int, float]) -> dict[str, Any]:
    """Of 300 pairs, 166 with a score on both sides. problems: code, new alone, old alone, p."""
    gap = {"value": value, "low": value - 0.024, "high": value + 0.028, "clusters": 166, "of": 166}
    named = ("problem", "only_new", "only_baseline", "p_adjusted")
    return {
        "pairs": 300, "verdicts": [], "slices": [],
        "bounds": {"pairs": 300, "low": -0.41, "high": 0.43},
        "problems": [dict(zip(named, one, strict=True)) for one in problems],
        "differences": [
            {"component": "score", "difference": gap, "pairs": 166, "higher": 12, "lower": 9}
            | {"p_value": p / 3, "p_adjusted": p}
        ],
    }  # fmt: skip


def sentences(found: dict[str, Any]) -> list[str]:
    return list(compare_context(CONTRACT, found, ("A", "B"), "/compare").sentences)


def test_no_winner_is_called_that_the_corrected_test_does_not_find() -> None:
    decision, numbers, missing, needed = sentences(a_comparison(0.0241, 0.191))
    assert decision == "No clear difference between “A” and “B”."
    assert "not a clear difference. The score rises in 12 pairs and falls in 9." in numbers
    assert "p =" not in numbers
    assert missing.startswith(
        "134 of 300 pairs lack a score on at least one side. If all pairs had scores"
    )
    assert re.search(r"About [\d,]+ texts are needed", needed)
    assert sentences(a_comparison(0.2, 0.001))[0] == "“B” is better: its score is clearly better."
    assert sentences(a_comparison(-0.2, 0.001))[0].startswith("Do not switch to “B”: the score")


def test_fewer_contradictions_decide_before_the_score() -> None:
    found = a_comparison(0.0241, 1.0, ("opposite-decision", 0, 9, 0.02))
    cells = (("problem_found", "problem_found", 3), ("problem_found", "not_tested", 16))
    names = ("baseline", "new", "pairs")
    found["verdicts"] = [dict(zip(names, cell, strict=True)) for cell in cells]
    decision, counts, *_ = sentences(found)
    change = "“says the opposite” is solved in 9 pairs and new in 0 (a clear difference)"
    assert decision == f"“B” is better: {change}."
    assert "With a problem: 19 of “A”, 3 of “B”." in counts
    assert "On “B” 16 more explanations could not be tested." in counts
    worse = a_comparison(-0.2, 0.001, ("opposite-decision", 0, 9, 0.02))
    assert sentences(worse)[0].startswith("Mixed: the score of “B” is clearly worse. But “says")
    both = ("opposite-decision", 0, 9, 0.02), ("quote-not-in-post", 12, 1, 0.01)
    assert sentences(a_comparison(0.2, 0.001, *both))[0].startswith("Mixed: ")


@given(st.floats(-1, 1).filter(bool), st.floats(0, 1), st.integers(0, 30), st.integers(0, 30))
def test_a_side_with_more_of_a_problem_is_never_called_better(
    value: float, p: float, new: int, old: int
) -> None:
    decision = sentences(a_comparison(value, p, ("opposite-decision", new, old, 0.014)))[0]
    if new > old:
        change = f"“says the opposite” is solved in {old} pair"
        assert decision.startswith("Do not switch to “B”: ")
        assert change in decision
    elif p > 0.05 or value > 0:
        assert decision.startswith("“B” is better: ")


def test_problems_of_one_side_are_counted_and_tested(client: httpx.Client, engine: Engine) -> None:
    sides = [make_batch(engine, [0.5] * 12)[0] for _ in range(2)]
    with engine.begin() as connection:
        for side, numbers in ((sides[0], {1}), (sides[1], set(range(1, 12)))):
            mine = jobs.c.batch_id == side
            rows = connection.execute(select(jobs).where(mine).order_by(jobs.c.id)).all()
            for number, row in enumerate(rows):
                own = ["opposite-decision"] if number in numbers else []
                values = {"result": row.result | {"problems": own}}
                connection.execute(update(jobs).where(jobs.c.id == row.id).values(values))
    html = compared(client, engine, *sides)
    assert "Do not switch to " in html
    table = html.partition('id="problems"')[2].partition("</table>")[0]
    assert re.findall(r'class="number" data-h="Only (?:left|right)">(\d+)', table) == ["0", "10"]


def test_swapped_sides_say_the_opposite(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    html = compared(client, engine, *reversed(batches))
    assert f"{_name(batches[0])} is 0.292 lower than that of {_name(batches[1])}" in html


def test_two_models_of_one_batch_and_several_rights(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    third, _ = make_batch(engine, NEW, model="other")
    html = compared(client, engine, *batches, third)
    assert "p by Holm" in html
    assert html.count("&amp;show=") >= 2
    html = compared(client, engine, batches[0], f"{third}:model=other")
    assert "higher" in html
    other = {"baseline": batches[0], "new": f"{third}:model=embedded-hate"}
    assert client.get("/compare", params=other).status_code == 404  # it answered none of that one


def test_a_comparison_made_before_and_a_key_of_a_caller_stand_in_nobodys_way(
    opens: Opens, engine: Engine
) -> None:
    client = entered(opens, "a", "score", "batch")
    sides = [make_batch(engine, scores, tenant="a")[0] for scores in (OLD, NEW)]
    with engine.begin() as connection:
        for place, said in enumerate(("judge", "judge verdict")):
            of_side = batch_lines.c.batch_id == sides[1], batch_lines.c.number % 2 == place
            caller = {"metadata": {"s": said}}
            connection.execute(update(batch_lines).where(*of_side).values(caller=caller))
    asked = {"baseline": sides[0], "new": sides[1]}
    assert "is being computed" in created(client, f"/compare?{urlencode(asked)}").text
    with engine.begin() as connection:
        key = connection.execute(select(idempotency_keys.c.key)).scalar_one()
        assert not key.isascii()  # no header names it
        # as another version of the service wrote it
        changed = {"fingerprint": "0" * 64, "key": f"{key} of before"}
        connection.execute(update(idempotency_keys).values(**changed))
    again = created(client, f"/compare?{urlencode(asked)}")
    assert (again.status_code, "is being computed" in again.text) == (200, True)
    value = {"new": f"{sides[1]}:metadata.s=judge", "baseline": sides[0], "by": "verdict"}
    other = {"new": f"{sides[1]}:metadata.s=judge verdict", "baseline": sides[0]}
    for sent in (other, value):
        assert created(client, f"/compare?{urlencode(sent)}").status_code == 200


def test_two_writers_of_one_batch_are_compared_on_its_texts(
    client: httpx.Client, engine: Engine
) -> None:
    batch, ids = make_batch(engine, [0.2, 0.3, 0.4, 0.9, 0.6, 0.9])
    with engine.begin() as connection:
        for place, job in enumerate(ids):
            row = connection.execute(select(jobs.c.request, jobs.c.result).where(jobs.c.id == job))
            request, result = row.one()
            request["text"] = f"post {place % 3}"
            result["provenance"]["text_key"] = f"{place % 3}" * 32
            connection.execute(
                update(jobs).where(jobs.c.id == job).values(request=request, result=result)
            )
            caller = {"metadata": {"writer": "ab"[place // 3], "id": f"post {place}"}}
            line = batch_lines.c.job_id == job
            connection.execute(update(batch_lines).where(line).values(caller=caller))
    sides = [f"{batch}:metadata.writer={one}" for one in "ab"]
    html = compared(client, engine, *sides)
    assert "the mean score of “b” is 0.5 higher than that of “a”" in html
    assert html.count('class="card pair"') == 3
    chosen = {"baseline": batch, "baseline_part": "metadata.writer=a", "new": sides[1]}
    moved = created(client, f"/compare?{urlencode(chosen)}")
    assert moved.text.count('class="card pair"') == 3
    shown = client.get(
        "/compare", params={"baseline": sides[0], "new": sides[1], "baseline_to": "0.25"}
    )
    assert shown.text.count('class="card pair"') == 1
    offer = {"baseline": batch, "new": batch, "baseline_part": "", "offer": "1"}
    form = created(client, f"/compare?{urlencode(offer)}").text
    assert form.count('<optgroup label="writer"><option value="metadata.writer=a">a</option>') == 2
    assert "metadata.id=" not in form
    many = {"baseline": batch, "new": [f"{batch}:metadata.writer={one}" for one in "abcdefg"]}
    assert client.get("/compare", params=many).status_code == 422
    for odd in (
        "metadata.writer=c",
        "writer=a",
        "metadata.=a",
        "metadata.writer",
    ):
        nowhere = {"baseline": f"{batch}:{odd}", "new": sides[1]}
        answer = client.get("/compare", params=nowhere)
        assert answer.status_code == 404
        said = html_unescape(answer.text)
        assert f'<option value="{odd}" selected>{odd}</option>' in said
        assert '<option value="metadata.writer=b" selected>b</option>' in said
        assert re.search('id="baseline_fault">batch_[0-9a-f]+ has no (part|result)', said)
        assert '<option value="metadata.writer=a">' in said
        assert said.count(f'<option value="{batch}" selected>') == 2
    for left, right in ((batch, batch), (sides[0], sides[0]), (batch, sides[0])):
        answer = client.get("/compare", params={"baseline": left, "new": right})
        assert answer.status_code == 422
        assert "both sides contain the same lines" in answer.text
    mine = {"batch": batch, "of_metadata": {"writer": "a"}}
    asked = mine | {"against": {"batch": batch}, "resamples": 100}
    made = client.post(
        "/v1/reports", json={"metric": "hatexscore"} | asked, headers={"prefer": "respond-async"}
    )
    assert made.status_code == 202, made.text
    assert run_reports(engine)
    result = client.get(f"/v1/jobs/{made.json()['id']}").json()["result"]
    warnings = result["comparison"]["warnings"]
    assert "both sides have the same explanation and the same result in 3 of 3 pairs" in warnings[0]


def test_a_side_is_found_whatever_its_key_holds(client: httpx.Client, engine: Engine) -> None:
    batch, _ = make_batch(engine, [0.2, 0.3, 0.4, 0.9])
    kinds = [{"a=b": "c=d"}, {"a=b": "c"}, {"s ": "x "}, {"s ": "x"}]
    with engine.begin() as connection:
        for place, metadata in enumerate(kinds, 1):
            line = batch_lines.c.batch_id == batch, batch_lines.c.number == place
            values = {"caller": {"metadata": metadata}}
            connection.execute(update(batch_lines).where(*line).values(**values))
    written = [f"{key}={value}" for one in kinds for key, value in one.items()]
    for place, pair in enumerate(written, 1):
        table = client.get(f"/batches/{batch}", params={"meta": pair}).text
        assert "1 of 4 lines" in table
        assert f"Choose line {place}" in table
    for left, right in (written[:2], written[2:]):
        sides = {"baseline": f"{batch}:metadata.{left}", "new": f"{batch}:metadata.{right}"}
        answer = created(client, f"/compare?{urlencode(sides)}")
        assert (answer.status_code, "is being computed" in answer.text) == (200, True)
        form = {"baseline": batch, "baseline_part": f"metadata.{left}", "new": sides["new"]}
        moved = created(client, f"/compare?{urlencode(form | {'new_part': ''})}")
        assert dict(moved.url.params) == sides
    typed = client.get("/compare", params=sides | {"baseline": f"{batch}:metadata.a=b=c  "})
    assert typed.status_code == 200
    filters = {"change_from": "0.1", "baseline_verdict": "", "meta": ""}
    moved = client.get("/compare", params=sides | filters)
    assert moved.status_code == 303
    assert dict(parse_qsl(moved.headers["location"].partition("?")[2])) == sides | {
        "change_from": "0.1"
    }


def test_the_difference_is_shown_by_what_the_lines_say_of_themselves(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    left, right = batches
    with engine.begin() as connection:
        numbers = select(batch_lines.c.number).where(batch_lines.c.batch_id == right)
        for number in connection.execute(numbers).scalars().all():
            own = {"metadata": {"market": f"market {number % 2}"}}
            this = batch_lines.c.batch_id == right, batch_lines.c.number == number
            connection.execute(update(batch_lines).where(*this).values(caller=own))
    html = compared(client, engine, left, right)
    assert '<option value="metadata.market">market</option>' in html
    asked = {"baseline": left, "new": right, "by": "metadata.market"}
    assert "is being computed" in created(client, f"/compare?{urlencode(asked)}").text
    assert run_reports(engine)
    html = client.get("/compare", params=asked).text
    assert "<bdi>market 0</bdi>" in html
    assert "<bdi>market 1</bdi>" in html
    assert html.count('class="whisker"') >= 2
    assert client.get("/compare", params=asked | {"by": "metadata.other"}).status_code == 200
    assert client.get("/compare", params=asked | {"show": "9" * 5_000}).status_code == 200


def test_a_text_changed_under_one_custom_id_is_counted_out(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    changed, ids = make_batch(engine, NEW)
    with engine.begin() as connection:
        mine = jobs.c.id == ids[0]
        request = connection.execute(select(jobs.c.request).where(mine)).scalar_one()
        another = request | {"text": "another text altogether"}
        connection.execute(update(jobs).where(mine).values(request=another))
    set_text_keys(engine, batches[0], changed)
    html = compared(client, engine, batches[0], changed)
    assert "1 custom_id of both systems: the texts differ" in html
    assert "out=1#left-out" in html
    asked = {"baseline": batches[0], "new": changed, "out": "1"}
    found = client.get("/compare", params=asked).text.partition('id="left-out"')[2]
    assert found.partition("</section>")[0].count("a different text under this custom id") == 2
    assert f'href="/jobs/{ids[0]}"' in found


def test_what_was_scored_otherwise_is_refused_with_the_side_to_score_again(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    with engine.begin() as connection:
        for job_id, result in connection.execute(
            select(jobs.c.id, jobs.c.result).where(jobs.c.batch_id == batches[0])
        ).all():
            result["provenance"]["metric_version"] = "0.1"
            connection.execute(update(jobs).where(jobs.c.id == job_id).values(result=result))
    client.get(f"/batches/{batches[0]}")  # which writes the rows of its table
    html = compared(client, engine, *batches)
    assert "different metric versions" in html
    assert html.count("again</button>") == 1
    assert f'value="{batches[0]}"' in html


def test_another_variant_is_refused_with_a_button_for_either_side(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    left, right = batches
    with engine.begin() as connection:
        mine = select(jobs.c.id, jobs.c.request, jobs.c.result).where(jobs.c.batch_id == left)
        for job_id, request, result in connection.execute(mine).all():
            request["variant"] = result["provenance"]["variant"] = "reference"
            values = {"request": request, "result": result}
            connection.execute(update(jobs).where(jobs.c.id == job_id).values(**values))
    html = compared(client, engine, left, right)
    assert "different variants" in html
    assert html.count("again with the settings of ") == 2
    forms = [fields_of(one) for one in re.findall(r"<form method.*?</form>", html, re.S)]
    (chosen,) = [one for one in forms if one.get("like") == left]
    for press in range(2):
        answer = client.post(f"/batches/{right}/again", data=chosen)
        assert answer.status_code == 303, (press, answer.text)
    query = select(ledger_batches.c.input_file_id).where(
        ledger_batches.c.metadata["scored_again"].as_string() == right
    )
    with engine.connect() as connection:
        (file,) = connection.execute(query).scalars()  # however often it was pressed
    lines = client.get(f"/v1/files/{file}/content").text.splitlines()
    assert len(lines) == len(NEW)
    assert {json.loads(one)["body"]["variant"] for one in lines} == {"reference"}


def test_a_button_that_is_pressed_twice_makes_one_batch(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    left, _ = batches
    csrf = fields_of(client.get("/compare").text)["csrf"]
    file = client.post("/v1/files", files={"file": b"{}"}, data={"purpose": "batch"}).json()["id"]
    with engine.begin() as connection:
        mine = ledger_batches.c.id == left
        connection.execute(update(ledger_batches).where(mine).values(input_file_id=file))
    form = {"csrf": csrf, "batch": left, "once": "0" * 32}
    made = [
        client.post("/compare/again", data=form | {"once": one * 32}).headers["location"]
        for one in "001"
    ]
    assert made[0] == made[1] != made[2]


def fields_of(html: str) -> dict[str, str]:
    """name → value of the hidden fields."""
    found = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', html)
    return {name: html_unescape(value) for name, value in found}


def test_another_metric_is_refused_with_the_side_to_score_again(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    left, right = batches
    with engine.begin() as connection:
        mine = ledger_batches.c.id == right
        connection.execute(update(ledger_batches).where(mine).values(metric="ice"))
    answer = client.get("/compare", params={"baseline": left, "new": right})
    assert answer.status_code == 422
    assert f'action="/batches/{right}/again"' in answer.text
    form = client.get(f"/batches/{right}/again", params={"metric": "hatexscore"}).text
    assert "<option selected>hatexscore</option>" in form


def test_no_text_stands_bare_and_strangers_find_nothing(
    client: httpx.Client, opens: Opens, engine: Engine, batches: tuple[str, str]
) -> None:
    html = compared(client, engine, *batches)
    assert "greets its readers" not in re.sub(
        r'<div class="sensitive.*?</div>', "", html, flags=re.S
    )
    assert "NaN" not in html
    foreign = opens("b", "admin")
    against = {"batch": batches[0]}
    asked = {"batch": batches[1], "against": against, "further": [against]}
    answer = foreign.post("/v1/reports", json={"metric": "hatexscore"} | asked)
    assert answer.status_code == 422
    own, _ = make_batch(engine, OLD, tenant="b")
    for body in ({"against": against}, {"against": {"batch": own}, "further": [against]}):
        answer = foreign.post("/v1/reports", json={"metric": "hatexscore", "batch": own} | body)
        assert answer.status_code == 422, json.dumps(body)


def test_pairs_are_never_looked_for_in_a_loop_over_both_sides(
    engine: Engine, batches: tuple[str, str]
) -> None:
    loops: list[str] = []

    def ask(_: Any, cursor: Any, statement: str, *_more: Any) -> None:
        if "first_side" in statement:  # both sides, each read once
            cursor.execute("SHOW enable_nestloop")
            loops.append(cursor.fetchone()[0])

    with engine.begin() as connection:
        event.listen(connection, "before_cursor_execute", ask)
        wanted = PairFilter(DEFAULT_TENANT, batches, verdicts=("holds_up", "holds_up"))
        for all_named in (False, True):
            result_pairs.pairs_of(connection, wanted, 20, all_named=all_named)
        event.remove(connection, "before_cursor_execute", ask)
        setting = func.current_setting("enable_nestloop")
        assert connection.execute(select(setting)).scalar_one() == "on"
    assert loops == ["off", "off"]


def test_the_form_takes_several_rights(
    client: httpx.Client, engine: Engine, batches: tuple[str, str]
) -> None:
    third, _ = make_batch(engine, NEW, model="other")
    client.get(f"/batches/{third}")
    form = client.get("/compare").text
    assert form.count(f'<option value="{third}"') == 3  # left, right, and among the others
    sent = {"baseline": batches[0], "new": [batches[1], third, batches[1]], "baseline_part": ""}
    sent |= {"new_part": "model=embedded-hate"}
    answer = created(client, f"/compare?{urlencode(sent, doseq=True)}")
    where = str(answer.url)
    assert where.count("new=") == 3
    assert "is being computed" in answer.text
    assert run_reports(engine)
    assert "p by Holm" in client.get(where).text
