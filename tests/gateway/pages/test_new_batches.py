"""A table becomes a batch in the browser: columns, faults by line, and lines scored again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from services.gateway import caller, table_mapping
from services.gateway.batch_csv import csv_field, unquoted
from services.gateway.pages import table_preview
from services.gateway.table_mapping import TableMapping, rows_of
from services.registry import metrics
from shared.contracts.column_names import guess_columns
from shared.contracts.messages import MOST_METADATA
from shared.process.settings import Settings
from tests.batches import Scene, line
from tests.gateway.conftest import Opens
from tests.gateway.pages.parsed import FormFields
from tests.gateway.pages.test_pages import entered, token
from tests.gateway.serving import serving
from tests.patience import SECONDS

CSV = (
    "id,comment,why,flag,market\r\n"
    "1,a text,it is hateful,1,de\r\n"
    '2,"two\nlines",not hateful,0,fr\r\n'
)


STOPPED = ("cancelling", "cancelled")


@pytest.fixture
def scene(client: httpx.Client, engine: Engine, chosen: Settings) -> Scene:
    return Scene(client, engine, chosen)


def uploaded(client: httpx.Client, content: bytes, name: str = "posts.csv") -> str:
    """The address of the page that shows what the file holds."""
    form = client.get("/batches/new")
    answer = client.post(
        "/batches/new",
        data={"csrf": token(form), "metric": "hatexscore", "rows": ""},
        files={"file": (name, content)},
    )
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def sent_by(form: httpx.Response) -> dict[str, str | list[str]]:
    """What the button sends that scores: its token, and what is selected in the form."""
    fields: dict[str, str | list[str]] = dict(FormFields(mapping_form(form.text)).sent)
    ticked = re.findall(r'name="m" value="([^"]*)" checked', form.text)
    [button] = re.findall(r'<button form="mapping" formmethod="post" name="csrf" [^>]*', form.text)
    return fields | {"m": ticked, "csrf": button.split('"')[-2]}


def mapping_form(html: str) -> str:
    form = html[html.index('id="mapping"') :]
    return form[: form.index("</form>")]


def confirmed(client: httpx.Client, address: str, **more: str | list[str]) -> httpx.Response:
    """The form of the page at this address, sent."""
    shown = client.get(address)
    assert shown.status_code == 200, shown.text
    return client.post(address.partition("?")[0], data=sent_by(shown) | more)


def requests_of(scene: Scene, batch_id: str) -> list[dict[str, Any]]:
    batch = scene.client.get(f"/v1/batches/{batch_id}").json()
    content = scene.client.get(f"/v1/files/{batch['input_file_id']}/content").text
    return [json.loads(one) for one in content.splitlines()]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"text,explanation,decision\n", "The table has no lines, only a header."),
        (b"PK\x03\x04rest", "the file is "),
        ("text,explanation\na,b\n".encode("utf-16"), "it looks like UTF-16"),
        (b"text,explanation\na,b\ncaf\xe9,b\n", "it may be Windows-1252"),
        (b"text,text\na,b\n", "contains a column name twice"),
    ],
)
def test_a_file_that_cannot_be_read_offers_only_another_file(
    scene: Scene, content: bytes, said: str
) -> None:
    shown = scene.client.get(uploaded(scene.client, content)).text
    assert said in shown
    assert 'href="/batches/new">Choose another file</a>' in shown
    assert 'id="mapping"' not in shown
    assert "0 lines" not in shown


def test_faults_stand_above_the_mapping_in_plain_words(scene: Scene) -> None:
    content = b"text,explanation,decision\na,b,1\nc,,hateful\nd,e,\nf,g,1\n"
    shown = scene.client.get(uploaded(scene.client, content)).text
    assert shown.index('id="faults"') < shown.index('id="mapping"')
    meaning = "choose under “Values of decision” what 1 means"
    assert f"Line 2: decision: {meaning}, or choose another column (and 1 more line)" in shown
    assert "Line 3: explanation: the cell is empty" in shown
    assert "4 lines, 1 without a decision" in shown


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_table_with_other_names_is_scored(scene: Scene, mark: bytes, delimiter: str) -> None:
    address = uploaded(scene.client, mark + CSV.replace(",", delimiter).encode())
    shown = scene.client.get(address).text
    assert "2 lines" in shown
    mapped = "&c.custom_id=id&c.text=comment&c.explanation=why&c.decision=flag&m=market"
    values = "&v.decision.1=hateful&v.decision.0=non-hateful"
    answer = confirmed(scene.client, address + mapped + values, keep="posts")
    assert answer.status_code == 303, answer.text
    batch_id = answer.headers["location"].rpartition("/")[2]
    first, second = requests_of(scene, batch_id)
    assert first == {
        "custom_id": "1",
        "method": "POST",
        "url": "/v1/scores/hatexscore",
        "body": {
            "text": "a text",
            "explanation": "it is hateful",
            "decision": "hateful",
            "metadata": {"market": "de"},
        },
    }
    assert second["body"]["text"] == "two\nlines"
    assert scene.read({"id": batch_id})["status"] == "in_progress"
    assert "saved=posts" in scene.client.get(address).text


def test_batches_are_listed_with_the_name_of_their_file(scene: Scene) -> None:
    content = b"text,explanation\na,hateful\n"
    name = "posts <of> may.csv"
    confirmed(scene.client, uploaded(scene.client, content, name))
    assert "posts &lt;of&gt; may.csv" in scene.client.get("/batches").text
    scene.finish(scene.make([line("a", "a")]))
    listed = scene.client.get("/compare").text
    assert re.search(r"<option[^>]*>[^<,]*\.jsonl, ", listed)  # before metric and time


def test_columns_are_guessed_and_json_lines_are_read(scene: Scene) -> None:
    rows = [{"id": "a", "post": "text", "why": "hateful", "options.tau": 0.25}]
    content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    address = uploaded(scene.client, content, "posts.jsonl")
    answer = confirmed(scene.client, address)
    [one] = requests_of(scene, answer.headers["location"].rpartition("/")[2])
    assert one["custom_id"] == "a"
    options = {"tau": 0.25}
    assert one["body"] == {"text": "text", "explanation": "hateful", "options": options}


NATURAL = "post,reason,decision,model\n" + "".join(
    f"a text {number},it is hateful,hateful,hermes-{number % 2}\n" for number in range(6)
)


def test_the_natural_table_is_scored_as_it_is_uploaded(scene: Scene) -> None:
    address = uploaded(scene.client, NATURAL.encode())
    answer = confirmed(scene.client, address, **{"k.language": "en"})
    assert answer.status_code == 303, answer.text
    made = requests_of(scene, answer.headers["location"].rpartition("/")[2])
    assert made[1]["body"] == {
        "text": "a text 1",
        "explanation": "it is hateful",
        "decision": "hateful",
        "language": "en",
        "metadata": {"model": "hermes-1"},
    }
    batch = scene.read({"id": answer.headers["location"].rpartition("/")[2]})
    assert batch["status"] == "in_progress"
    assert scene.client.get(f"/batches/new/{batch['metadata']['table']}?metric=hatexscore")


@pytest.mark.parametrize(
    ("column", "cells", "is_field"),
    [
        ("model", ("embedded-hate", "embedded-hate"), True),
        ("model", ("embedded-hate", "hermes"), False),
        ("language", ("en", "pt-BR"), True),
        ("language", ("English!", "English!"), False),
        ("policy", ("meta", "meta"), False),
        ("options.policy", ("meta", "meta"), True),
        ("options.policy", ("hate v2", "hate v2"), False),
        ("seed", ("1", "2"), True),
        ("options.prompt", ("Is it hateful?", "Is it?"), False),
    ],
)
def test_a_column_is_a_field_only_if_its_values_are_valid_there(
    scene: Scene, column: str, cells: tuple[str, ...], is_field: bool
) -> None:
    rows = "".join(f"a,b,{cell}\n" for cell in cells)
    shown = scene.client.get(uploaded(scene.client, f"text,reason,{column}\n{rows}".encode()))
    assert (sent_by(shown).get(f"c.{column}") == column) == is_field
    assert "cannot be scored" not in shown.text


def test_a_cell_that_the_batch_would_refuse_is_a_fault_of_its_line(scene: Scene) -> None:
    table = "text,reason,flag\na,hateful,yes\na,hateful,1\na,hateful,true\n"
    mapped = "&c.text=text&c.explanation=reason&c.do_not_store_text=flag"
    shown = scene.client.get(uploaded(scene.client, table.encode()) + mapped).text
    assert "2 lines cannot be scored" in shown


def test_a_model_that_is_not_configured_is_told_before_anything_is_scored(scene: Scene) -> None:
    address = uploaded(scene.client, NATURAL.encode())
    mapped = "&c.text=post&c.explanation=reason&c.model=model"
    shown = scene.client.get(address + mapped).text
    assert "6 lines cannot be scored" in shown
    assert re.search(r"Line 2: model: this model is not configured.*\(and 5 more lines\)", shown)


def test_probabilities_of_the_callers_own_model_are_two_columns(scene: Scene) -> None:
    table = "text,reason,probabilities.original,probabilities.masked\na,b,0.9,0.25\n"
    answer = confirmed(scene.client, uploaded(scene.client, table.encode()))
    [one] = requests_of(scene, answer.headers["location"].rpartition("/")[2])
    assert one["body"]["probabilities"] == {"original": 0.9, "masked": 0.25}


def test_columns_of_several_words_are_guessed(scene: Scene) -> None:
    head = "Tweet Body,LLM Rationale v2,Moderator verdict,Post id"
    rows = "".join(f"a{n},b,hateful,{n}\n" for n in range(4))
    sent = sent_by(scene.client.get(uploaded(scene.client, f"{head}\n{rows}".encode())))
    assert sent["c.text"] == "Tweet Body"
    assert sent["c.explanation"] == "LLM Rationale v2"
    assert sent["c.decision"] == "Moderator verdict"


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"PK\x03\x04", "CSV UTF-8"), (b"PAR1", "<code>touchstone submit</code> reads Parquet")],
)
def test_a_workbook_and_parquet_are_refused(scene: Scene, content: bytes, said: str) -> None:
    shown = scene.client.get(uploaded(scene.client, content)).text
    assert "Line 1: the file is" in shown
    assert said in shown


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"sep=;\nText;Explanation;Predicted Label\na;b;hateful\n", [3]),
        (b'text,explanation,decision,,\n"a\nb",b,hateful,,\na,b,hateful,,\n', [2, 4]),
    ],
)
def test_tables_as_spreadsheets_write_them(content: bytes, lines: list[int]) -> None:
    rows = list(rows_of(BytesIO(content)))
    assert [number for number, _ in rows] == lines
    columns = guess_columns(["text", "explanation", "decision"], list(rows[0][1]))
    assert rows[0][1][columns["decision"]] == "hateful"
    assert set(columns) == {"text", "explanation", "decision"}


@given(st.text() | st.sampled_from(["=1", "'=1", "''@a", "\t-", "'", "+"]))
def test_a_cell_of_a_download_is_read_as_it_was(text: str) -> None:
    assert unquoted(csv_field(text)) == text


def test_columns_that_no_filter_could_name_are_renamed() -> None:
    mapping = TableMapping({"text": "text"}, metadata=["user[id]", "metadata.market", "a\nb"])
    row = {"text": "a", "user[id]": "u1", "metadata.market": "nl", "a\nb": "c"}
    metadata = mapping.body(row, metrics()["hatexscore"])["metadata"]
    assert metadata == {"user(id)": "u1", "market": "nl", "a b": "c"}


def test_what_people_say_is_kept_as_metadata_by_itself(scene: Scene) -> None:
    said = {"gold": "hateful", "gold_rationale": [[0, 4]], "rating_anna": 4}
    row = {"text": "text", "explanation": "hateful", "market": "de", **said}
    address = uploaded(scene.client, f"{json.dumps(row)}\n".encode(), "posts.jsonl")
    kept = re.findall(r'name="m" value="([^"]*)" checked', scene.client.get(address).text)
    assert kept == list(said)
    answer = confirmed(scene.client, address)
    [one] = requests_of(scene, answer.headers["location"].rpartition("/")[2])
    told = {"gold": "hateful", "gold_rationale": "[[0, 4]]", "rating_anna": "4"}
    assert one["body"] == {"text": "text", "explanation": "hateful", "metadata": told}


@pytest.mark.parametrize(
    ("content", "line_number", "reason"),
    [
        (b"text,explanation\na,b\nc\n", 3, "has 1 cells"),
        (b"text,explanation\na,b\n\xff,c\n", 3, "is not UTF-8"),
        (b"text,explanation\na,b\n,c\n", 3, "text"),
        (b'{"text": "a", "explanation": "b"}\nno\n', 2, "is not JSON"),
        (b"text,text\na,b\n", 1, "contains a column name twice"),
        (b"text,explanation\na,\0\n", 2, "U+0000"),
    ],
)
def test_what_is_wrong_is_said_by_line_and_nothing_is_made(
    scene: Scene, content: bytes, line_number: int, reason: str
) -> None:
    address = uploaded(scene.client, content)
    shown = scene.client.get(address).text
    assert f"Line {line_number}:" in shown
    assert reason in shown
    assert '<button form="mapping" formmethod="post"' not in shown
    sent = {"csrf": token(scene.client.get("/batches/new")), "metric": "hatexscore"}
    sent |= {"c.text": "text", "c.explanation": "explanation"}
    refused = scene.client.post(address.partition("?")[0], data=sent)
    assert refused.status_code == 422
    assert f"Line {line_number}:" in refused.text
    assert scene.client.get("/v1/batches").json()["data"] == []


def test_one_broken_line_among_thousands_is_named_in_a_file_of_a_spreadsheet(scene: Scene) -> None:
    rows = [f"post {number};it is hateful;{number % 2}" for number in range(2, 2_001)]
    chosen = "&c.text=post&c.explanation=why&c.decision=flag"
    chosen += "&v.decision.1=hateful&v.decision.0=non-hateful"
    broken = rows[1_417 - 2]
    rows[1_417 - 2] += ";too many"
    address = uploaded(scene.client, spreadsheet(rows))
    assert "Line 1417: has 4 cells" in scene.client.get(address + chosen).text
    assert scene.client.get("/v1/batches").json()["data"] == []
    rows[1_417 - 2] = broken
    made = confirmed(scene.client, uploaded(scene.client, spreadsheet(rows)) + chosen)
    batch_id = made.headers["location"].rpartition("/")[2]
    requests = requests_of(scene, batch_id)
    assert len(requests) == len(rows)
    assert requests[1_417 - 2]["body"]["decision"] == "hateful"
    assert scene.client.post(f"/v1/batches/{batch_id}/cancel").json()["status"] in STOPPED


def spreadsheet(rows: list[str]) -> bytes:
    return "\r\n".join(["\ufeffpost;why;flag", *rows]).encode()


def test_an_upload_that_stops_in_the_middle_leaves_nothing(scene: Scene) -> None:
    form = scene.client.get("/batches/new")
    head = f'--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{token(form)}\r\n--b\r\n'
    head += 'Content-Disposition: form-data; name="file"; filename="posts.csv"\r\n\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=b", "Content-Length": "100000"}

    def pieces() -> Iterator[bytes]:
        yield head.encode()
        yield CSV.encode()
        raise ConnectionError("the window was closed")

    with pytest.raises(ConnectionError):
        scene.client.post("/batches/new", content=pieces(), headers=headers)
    assert scene.client.get("/v1/files").json()["data"] == []
    assert uploaded(scene.client, CSV.encode())


def test_faulty_lines_can_be_left_out_and_a_second_press_makes_no_second_batch(
    scene: Scene,
) -> None:
    content = b"id,text,explanation\n1,a,b\n2,,b\n1,c,d\n4,e,f\n"
    address = uploaded(scene.client, content)
    shown = scene.client.get(address)
    assert "Leave out 2 faulty lines and score the 2 others" in shown.text
    form = dict(FormFields(mapping_form(shown.text)).sent) | {"csrf": token(shown)}
    path = address.partition("?")[0]
    assert scene.client.post(path, data=form).status_code == 422
    made = [scene.client.post(f"{path}?faulty=skip", data=form) for _ in "12"]
    assert {one.status_code for one in made} == {303}
    assert made[0].headers["location"] == made[1].headers["location"]
    batch_id = made[0].headers["location"].rpartition("/")[2]
    assert [one["custom_id"] for one in requests_of(scene, batch_id)] == ["1", "4"]
    batch = scene.client.get(f"/v1/batches/{batch_id}").json()
    assert batch["metadata"]["left_out"] == "2 lines of the file: 3, 4"


@pytest.mark.usefixtures("scene")
def test_too_many_rows_are_told_alike_when_they_are_shown_and_when_they_are_sent(
    chosen: Settings,
) -> None:
    few = chosen.model_copy(update={"authentication": "none", "max_batch_lines": 2})
    with serving(few) as url, httpx.Client(base_url=url, timeout=SECONDS) as client:
        address = uploaded(client, b"id,text,explanation\n1,a,b\n2,c,d\n3,e,f\n")
        shown = client.get(address)
        form = {"metric": "hatexscore", "c.text": "text", "c.explanation": "explanation"}
        form |= {"csrf": token(client.get("/batches/new"))}
        sent = client.post(address.partition("?")[0], data=form)
    assert sent.status_code == 422
    for told in (shown.text, sent.text):
        assert re.search(r"Line 4:(</\w+>)? a batch may have at most 2 lines", told)


def test_ids_labels_and_metadata_are_not_blurred_where_one_chooses_columns(scene: Scene) -> None:
    shown = scene.client.get(
        uploaded(scene.client, CSV.encode())
        + "&c.custom_id=id&c.text=comment&c.explanation=why&c.decision=flag&m=market"
        + "&v.decision.1=hateful&v.decision.0=non-hateful"
    ).text
    rows = shown[shown.index('id="rows"') : shown.index('id="requests"')]
    cells = re.findall(
        r"<(?:td|th scope=\"row\")><bdi( class=\"sensitive\")?[^>]*>([^<]*)</bdi>", rows
    )
    plain = [text for blurred, text in cells if not blurred]
    assert plain == ["1", "1", "de", "2", "0", "fr"]
    assert len(cells) == 10
    assert shown.index(">Score 2 lines<") < shown.index('id="rows"')


def test_a_label_of_neither_class_is_told_until_it_is_placed(scene: Scene) -> None:
    rows = "".join(f"a text,it says so,{word}\n" for word in ("hateful", "offensive", "normal"))
    address = uploaded(scene.client, f"text,explanation,decision\n{rows}".encode())
    said = "<bdi>offensive</bdi>: neither hateful nor non-hateful"
    assert said in scene.client.get(address).text
    columns = "".join(f"&c.{name}={name}" for name in ("text", "explanation", "decision"))
    placed = scene.client.get(f"{address}{columns}&v.decision.offensive=hateful").text
    assert "neither hateful nor" not in placed


def test_columns_are_asked_for_before_any_line_is_called_wrong(scene: Scene) -> None:
    rows = b"".join(b"words %d,thoughts\n" % number for number in range(30))
    shown = scene.client.get(uploaded(scene.client, b"a,b\n" + rows)).text
    assert "Choose the columns of text and explanation above" in shown
    assert "Field required" not in shown
    assert 'id="faults"' not in shown
    assert 'formmethod="post"' not in shown
    assert shown.index('id="mapping"') < shown.index("Choose the columns of")


def test_equal_faults_are_told_once_with_what_the_cell_holds(scene: Scene) -> None:
    content = b"text,explanation,options.tau\n" + b"a,b,x\n" * 29 + b",b,0.5\n" + b"a,b,7\n"
    mapped = "&c.text=text&c.explanation=explanation&c.options.tau=options.tau"
    shown = scene.client.get(uploaded(scene.client, content) + mapped).text
    assert "31 lines cannot be scored" in shown
    told = shown[shown.index('id="faults"') :]
    assert told[: told.index("</section>")].count("<li>") == 3
    assert re.search(r"Line 2: .*tau.*the cell holds a text.*and 28 more lines", told)
    assert "Line 31: text: the cell is empty" in told
    assert re.search(r"Line 32: .*tau.*the cell holds a number", told)
    assert "sensitive" not in told.partition("</section>")[0]  # why it fails is never blurred
    assert shown.index('id="faults"') < shown.index('id="mapping"')


def test_an_upload_is_its_tenants_own(opens: Opens) -> None:
    one, other = entered(opens, "a", "batch"), entered(opens, "b", "batch")
    address = uploaded(one, CSV.encode())
    assert other.get(address).status_code == 404
    form = {"csrf": token(other.get("/batches/new")), "metric": "hatexscore"}
    assert other.post(address.partition("?")[0], data=form).status_code == 404


def test_a_large_table_is_read_with_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = {"now": 0.0, "rested": 0.0}

    def sleep(seconds: float) -> None:
        clock["rested"] += seconds

    clocks = SimpleNamespace(monotonic=lambda: clock["now"], sleep=sleep)
    monkeypatch.setattr(table_mapping, "time", clocks)
    seen = []
    for one in table_mapping.pause_between(range(1_000)):
        seen.append(one)
        clock["now"] += 0.001  # of work on it
    assert seen == list(range(1_000))
    assert clock["rested"] >= 0.4 * clock["now"]


def test_a_key_has_few_previews_at_a_time(opens: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    own = entered(opens, "a", "batch")
    address = uploaded(own, CSV.encode())
    monkeypatch.setattr(caller.PREVIEWS, "most_of_a_key", 0)
    refused = own.get(address)
    assert refused.status_code == 429
    assert "previews of tables" in refused.text
    assert int(refused.headers["retry-after"]) > 0
    monkeypatch.undo()
    assert own.get(address).status_code == 200


def test_chosen_lines_are_scored_again_under_another_metric(scene: Scene) -> None:
    more = {"metadata": {"k": "v"}, "options": {"tau": 0.2}}
    lines = [line(f"id {number}", f"text {number}", **more) for number in range(3)]
    batch = scene.finish(scene.make(lines))
    path = f"/batches/{batch['id']}/again"
    shown = scene.client.get(f"{path}?line=1&line=3")
    assert "Score 2 lines again" in shown.text
    form = {"csrf": token(shown), "query": "line=1&line=3", "metric": "ice"}
    answer = scene.client.post(path, data=form)
    assert answer.status_code == 303, answer.text
    made = requests_of(scene, answer.headers["location"].rpartition("/")[2])
    assert [one["custom_id"] for one in made] == ["id 0", "id 2"]
    assert made[0]["url"] == "/v1/scores/ice"
    assert made[0]["body"]["text"] == "text 0"
    assert made[0]["body"]["metadata"] == {"k": "v"}
    assert made[0]["body"]["options"] == {"token_values": True}
    refused = scene.client.post(path, data=form | {"metric": "ftc"})
    assert refused.status_code == 422
    assert "needs a premise and a hypothesis" in refused.text


def test_it_is_said_how_long_it_will_take_once_a_batch_has_ended(
    scene: Scene, engine: Engine
) -> None:
    address = uploaded(scene.client, CSV.encode())
    mapped = address + "&c.text=comment&c.explanation=why&c.custom_id=id"
    assert "Scoring takes about" not in scene.client.get(mapped).text
    made = scene.finish(scene.make([line("a", "a"), line("b", "b")]))
    with engine.begin() as connection:
        took = "UPDATE batches SET in_progress_at = completed_at - interval '1 hour' WHERE id = %s"
        connection.exec_driver_sql(took, (made["id"],))
    assert "Scoring takes about 60.0 min" in scene.client.get(mapped).text  # two lines again


def test_what_is_selected_is_scored_whether_it_was_shown_again_or_not(scene: Scene) -> None:
    address = uploaded(scene.client, b"post,why,flag,note\na,b,hateful,x\nc,d,non-hateful,y\n")
    shown = scene.client.get(address)
    assert 'name="csrf"' not in mapping_form(shown.text)  # no address holds the token
    chosen: dict[str, str | list[str]] = {"c.decision": "flag", "m": ["note"]}
    answer = confirmed(scene.client, address, **chosen)
    made = requests_of(scene, answer.headers["location"].rpartition("/")[2])
    assert [one["body"]["decision"] for one in made] == ["hateful", "non-hateful"]
    assert [one["body"]["metadata"] for one in made] == [{"note": "x"}, {"note": "y"}]
    before = scene.client.get("/v1/batches").json()["data"]
    refused = confirmed(scene.client, address, **{"c.decision": "note"})
    assert refused.status_code == 422
    assert "2 lines cannot be scored" in refused.text
    assert '<option value="note" selected>note</option>' in refused.text
    assert scene.client.get("/v1/batches").json()["data"] == before


def test_a_custom_id_that_comes_twice_is_told_before_anything_is_stored(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"post_id,text,explanation\n" + b"p1,a,b\np1,a,c\np2,d,e\n" * 2
    address = uploaded(scene.client, content)
    ids = f"{address}&c.text=text&c.explanation=explanation&c.custom_id=post_id"
    shown = scene.client.get(ids).text
    assert "4 lines cannot be scored" in shown
    assert re.search(r"Line 3: custom_id: .* keep that column as metadata", shown)
    assert "&#34;custom_id&#34;: &#34;p1&#34;" in shown
    monkeypatch.setattr(table_preview, "CHECK_SECONDS", -1)  # a line behind those that are shown
    refused = confirmed(scene.client, address, **{"c.custom_id": "post_id"})
    assert refused.status_code == 422
    assert "Line 3: custom_id" in refused.text
    assert scene.client.get("/v1/batches").json()["data"] == []
    assert confirmed(scene.client, address).status_code == 303  # lines by their numbers


def test_names_of_labels_and_columns_of_few_values_are_guessed(scene: Scene) -> None:
    rows = "".join(f"a{n},b,hateful,{n % 2},w{n % 2},{n}\n" for n in range(6))
    address = uploaded(
        scene.client, f"Message,rationale,Verdict,label,writer,score\n{rows}".encode()
    )
    sent = sent_by(scene.client.get(address))
    assert sent["c.text"] == "Message"
    assert sent["c.explanation"] == "rationale"
    assert sent["c.decision"] == "Verdict"  # `label` may be what people say
    assert sent["m"] == ["label", "writer"]
    many = "".join(f"a,b,kind {n}\n" for n in range(9))
    sent = sent_by(scene.client.get(uploaded(scene.client, f"post,why,label\n{many}".encode())))
    assert sent["c.decision"] == ""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("text,explanation\nGrüße,b\n".encode("cp1252"), "Line 2: .*may be Windows-1252"),
        ("text,explanation\na,b\n".encode("utf-16"), "Line 1: .*looks like UTF-16"),
    ],
)
def test_who_saves_in_another_encoding_reads_how_to_save(
    scene: Scene, content: bytes, said: str
) -> None:
    shown = scene.client.get(uploaded(scene.client, content)).text
    assert re.search(f"{said}.*save the file again, in Excel as “CSV UTF-8”", shown)


def test_more_metadata_than_a_request_may_have_is_told(scene: Scene) -> None:
    names = [f"k{number}" for number in range(MOST_METADATA + 1)]
    row = {"text": "a", "explanation": "b"} | dict.fromkeys(names, "v")
    address = uploaded(scene.client, f"{json.dumps(row)}\n".encode())
    refused = confirmed(scene.client, address, m=names)
    assert refused.status_code == 422
    assert re.search(r"Line 1: metadata: .*16", refused.text)
    assert confirmed(scene.client, address, m=names[:-1]).status_code == 303
