"""Requests go into every form of file and come back as they were; what no file may hold is refused
with its line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.gateway.batch_csv import is_formula as services_own
from tests.gateway.results import recorded
from touchstone_client._lines import batch_file
from touchstone_client.data import ColumnMapping, Reading, convert
from touchstone_client.data.cells import REST, canonical, field_types, may_be_formula
from touchstone_client.data.mapping import from_words
from touchstone_client.data.readers import table_of
from touchstone_client.data.scores import as_table

TABLES = ["csv", "tsv", "parquet", "arrow"]
WORDS = st.text(alphabet=st.characters(blacklist_characters="\0"), max_size=12)
TRICKY = st.sampled_from(
    ["", "'", "=1+1", "'=1", "-3", "7", "null", "true", '"x"', "[1]", "{}", "NaN", "1e3", " \r\n",
     "a,b;\t", '"', "\ud800", "🧪", "\ufeff", "+", "@x", "\u3164=", "1.0", "{", "-0.0"]
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), WORDS, TRICKY,
    st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip
JSON = st.recursive(SCALARS, lambda of: st.lists(of, max_size=2) | st.dictionaries(WORDS, of))
NAMES = st.sampled_from(
    ["text", "explanation", "seed", "tau", "k", "policy", "labels", "options", "metadata",
     "decision", "question", "rationale", "unheard-of", "id"]
)  # fmt: skip
REQUESTS = st.lists(st.dictionaries(NAMES, JSON, max_size=5), min_size=1, max_size=6)


def jsonl(path: Path, lines: list[Any]) -> Path:
    path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in lines))
    return path


def objects(path: Path) -> list[Any]:
    return [json.loads(raw) for raw in path.read_bytes().splitlines()]


def lines_in(content: Iterable[bytes]) -> list[Any]:
    """The lines of a batch, each at the line number that its row has in the table."""
    return [json.loads(raw) for raw in content if raw.strip()]


def there_and_back(folder: Path, form: str, lines: list[Any], metric: str | None = None) -> Any:
    source = jsonl(folder / "in.jsonl", lines)
    table, back = folder / f"table.{form}", folder / "back.jsonl"
    assert convert(source, table) == len(lines)
    assert convert(table, back, metric=metric) == len(lines)
    return objects(back)


@pytest.mark.parametrize("form", TABLES)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lines=REQUESTS, metric=st.sampled_from([None, "hatexscore", "ice"]), batch=st.booleans())
def test_requests_survive_the_way_there_and_back(
    tmp_path: Path, form: str, lines: list[Any], metric: str | None, batch: bool
) -> None:
    if form in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    if batch:
        url = "/v1/scores/ice"
        lines = [
            {"custom_id": f"c{n}", "method": "POST", "url": url, "body": one}
            for n, one in enumerate(lines)
        ]
    found = there_and_back(tmp_path, form, lines, metric)
    assert list(map(canonical, found)) == list(map(canonical, lines))


@pytest.mark.parametrize("form", TABLES)
def test_real_requests_have_cells_of_their_own(
    tmp_path: Path, form: str, bodies: dict[str, Any]
) -> None:
    if form in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    for metric, body in bodies.items():
        assert there_and_back(tmp_path, form, [body, body], metric) == [body, body]
        with table_of(tmp_path / f"table.{form}") as table:
            assert set(table.names or ()) == {*body, REST}
            assert not any(name == REST for _, row in table.rows for name in row)


def test_csv_that_we_write_runs_in_no_spreadsheet(tmp_path: Path) -> None:
    lines = [{"text": "=1+1", "explanation": "'quoted'", "seed": -3}, {"text": "\t@x"}]
    there_and_back(tmp_path, "csv", lines)
    written = (tmp_path / "table.csv").read_bytes().decode()
    rows = list(csv.reader(io.StringIO(written, newline="")))
    assert rows[1][:3] == ["'=1+1", "''quoted'", "-3"]
    assert rows[2][0] == "'\t@x"


@given(WORDS | TRICKY)
def test_formulas_are_what_the_service_takes_for_some(text: str) -> None:
    assert may_be_formula(text) == services_own(text)


def test_a_submitted_table_gives_the_same_lines(tmp_path: Path) -> None:
    lines = [{"id": "a", "text": "=x", "explanation": "why", "seed": 7, "options": {"tau": 1}}]
    there_and_back(tmp_path, "csv", lines)
    with batch_file(tmp_path / "table.csv", "/v1/scores/hatexscore") as (_, content):
        (line,) = lines_in(content)
    assert (line["custom_id"], line["url"]) == ("a", "/v1/scores/hatexscore")
    assert line["body"] == {"text": "=x", "explanation": "why", "seed": 7, "options": {"tau": 1}}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_what_people_say_becomes_metadata_by_itself(tmp_path: Path, form: str) -> None:
    row = {"text": "a", "explanation": "b", "gold": "hateful", "gold_rationale": [[0, 1], [2, 3]],
           "rating_anna": 4}  # fmt: skip
    if form == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        table = pytest.importorskip("pyarrow").Table.from_pylist([row])
        parquet.write_table(table, tmp_path / "in.parquet")
    else:
        with (tmp_path / "in.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(row)
            writer.writerow([json.dumps(cell) if isinstance(cell, list) else cell
                             for cell in row.values()])  # fmt: skip
    with batch_file(tmp_path / f"in.{form}", "/v1/scores/hatexscore") as (_, content):
        (line,) = lines_in(content)
    said = {"gold": "hateful", "gold_rationale": "[[0, 1], [2, 3]]", "rating_anna": "4"}
    assert line["body"]["metadata"] == said


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("how", ["csv", "semicolon", "tsv"])
def test_csv_of_somebody_else(tmp_path: Path, bom: bytes, how: str) -> None:
    mark = {"csv": ",", "semicolon": ";", "tsv": "\t"}[how]
    cells = [["post", "why", "flag", "model", "spans"],
             ["'=a\nb", '7 "x"', "1", "v7", '[{"start": 0}]'], ["7", "b", "", "", ""]]  # fmt: skip
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=mark).writerows(cells)
    file = tmp_path / ("in.tsv" if how == "tsv" else "in.csv")
    file.write_bytes(bom + text.getvalue().encode())
    reading = Reading(delimiter=";") if how == "semicolon" else Reading()
    columns = {
        "decision": {"column": "flag", "values": {"1": "hateful"}},
        "metadata": ["model"], "seed": {"value": 7}, "options.labels": "spans",
    }  # fmt: skip
    with batch_file(file, "/v1/scores/hatexscore", columns, reading) as (name, content):
        raws = list(content)
    lines = lines_in(raws)
    assert name == f"{file.name}.jsonl"
    assert [one["custom_id"] for one in lines] == ["1", "2"]
    assert [number for number, raw in enumerate(raws, 1) if raw.strip()] == [2, 4], "as in the file"
    assert lines[0]["body"] == {
        "text": "'=a\nb", "explanation": '7 "x"', "decision": "hateful",
        "metadata": {"model": "v7"}, "seed": 7, "options": {"labels": '[{"start": 0}]'},
    }  # fmt: skip
    assert lines[1]["body"] == {"text": "7", "explanation": "b", "metadata": {}, "seed": 7}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"text,explanation\na,b\nc\n", "line 3 has 1 cells"),
        ("a.csv", b'text,explanation\n"a"b,c\n', "line 2 is not valid CSV"),
        (
            "a.csv",
            b"text,explanation\na,b\0\n",
            "line 2 contains the character U\\+0000|line 2 is not valid CSV",
        ),
        ("a.csv", "text,explanation\na,\xfc\n".encode("latin-1"), "not UTF-8"),
        ("a.csv", b"text,text,explanation\n", "two columns are named text"),
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"\n", "the names of the columns"),
        ("a.csv", b"PK\x03\x04", "is a spreadsheet workbook"),
        ("a.csv", "text,explanation\n".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        ("a.csv", b"text;explanation\na,b;c\n", "add --delimiter ';'"),
        ("a.csv", b'"text"\t"explanation"\na\tb\n', r"add --delimiter '\\t'"),
        ("a.csv", b"text,weather\na,b\n", "there is no column for explanation"),
        (
            "a.jsonl",
            b'{"text": "a"}\n{"text": "\\u0000"}\n',
            "line 2 contains the character U\\+0000",
        ),
        ("a.jsonl", b'{"text": "a"}\n[1]\n', "line 2 is not a JSON object"),
        ("a.jsonl", b'{"tau": NaN}\n', "line 1 is not JSON"),
        ("a.jsonl", b'{"custom_id": "a", "url": "b"}\n', "line 1 is not a line of a batch"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    target = tmp_path / "out.csv"
    with pytest.raises(ValueError, match=said):
        convert(tmp_path / name, target, metric="hatexscore")
    assert not target.exists()


def test_columns_are_guessed_by_name_then_by_synonym() -> None:
    names = ["body", "reason", "seed", "id", "weather"]
    found = ColumnMapping.of(None, "hatexscore", names)
    assert found.columns == {"custom_id": "id", "seed": "seed", "text": "body",
                             "explanation": "reason"}  # fmt: skip
    assert found.guessed == {"text": "body", "explanation": "reason"}
    with pytest.raises(ValueError, match="'nowhere'"):
        ColumnMapping.of({"text": "nowhere", "explanation": "reason"}, "hatexscore", names)
    with pytest.raises(ValueError, match="there is no column for explanation"):
        ColumnMapping.of(None, "hatexscore", ["text", "why", "reason"])
    said = ColumnMapping.of({"explanation": "why"}, "hatexscore", ["text", "why", "reason"])
    assert said.columns == {"explanation": "why", "text": "text"}
    with pytest.raises(ValueError, match="no metric 'astrology'"):
        ColumnMapping.of(None, "astrology", names)
    names = ["body", "reason", "Predicted Label", "market"]
    guessed = ColumnMapping.of(None, "hatexscore", names).columns
    for more in ({"metadata": ["market"]}, {"seed": {"value": 7}}):
        assert ColumnMapping.of(more, "hatexscore", names).columns == {**guessed, **more}


def test_a_mapping_in_words_is_the_one_in_json() -> None:
    assert from_words([], [], [], []) is None
    said = from_words(
        ["custom_id=post_id", "text=body", "decision=flag"],
        ["decision:hateful=1", "decision:non-hateful=0"],
        [("seed", "7")],
        ["model,market"],
    )
    assert said == {
        "custom_id": "post_id",
        "text": "body",
        "decision": {"column": "flag", "values": {"1": "hateful", "0": "non-hateful"}},
        "seed": {"value": 7},
        "metadata": ["model", "market"],
    }
    for maps, constants in ((["text=a", "text=b"], []), (["seed=a"], [("seed", "7")])):
        with pytest.raises(ValueError, match="is given twice"):
            from_words(maps, [], constants, [])
    for maps, values in ((["text"], []), ([], ["a=b"]), ([], ["a:b"]), ([], ["a:b="])):
        with pytest.raises(ValueError, match=r"is not|does not have the form"):
            from_words(maps, values, [], [])


def test_types_are_those_of_the_description() -> None:
    types = field_types("ice")
    assert types["options.k"] == {"number", "array"}
    assert types["text"] == {"string"}
    assert types["rationale"] == {"array", "string", "null"}
    assert field_types("astrology") == {}


def answers() -> bytes:
    """An output line of each metric, and an error line."""
    lines: list[Any] = [
        {"id": f"l{n}", "custom_id": metric, "error": None,
         "response": {"status_code": 200, "body": recorded(f"score_{metric}")}}
        for n, metric in enumerate(("hatexscore", "ice"))
    ]  # fmt: skip
    error = {"code": "x", "message": "=no"}
    lines.append({"id": "l9", "custom_id": "bad", "response": None, "error": error})
    return b"".join(json.dumps(one).encode() + b"\n" for one in lines)


def test_answers_become_a_flat_table() -> None:
    made = io.BytesIO()
    assert as_table(io.BytesIO(answers()), made, "csv") == 3
    rows = list(csv.DictReader(io.StringIO(made.getvalue().decode(), newline="")))
    first = recorded("score_hatexscore")["result"]
    assert float(rows[0]["components.qf"]) == first["components"]["qf"]
    assert (rows[0]["verdict"], rows[0]["error"]) == (first["verdict"], "")
    assert (rows[2]["status"], rows[2]["error"], rows[2]["score"]) == ("failed", "'=no", "")


def test_a_table_of_answers_becomes_csv_and_says_what_else_does(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    source, held, target = (tmp_path / f"a.{form}" for form in ("jsonl", "parquet", "csv"))
    source.write_bytes(answers())
    convert(source, held)
    assert convert(held, target) == 3
    direct = io.BytesIO()
    as_table(io.BytesIO(answers()), direct, "csv")
    assert target.read_bytes() == direct.getvalue()
    with pytest.raises(ValueError, match="touchstone get BATCH"):
        convert(held, tmp_path / "back.jsonl")


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_numbers_are_columns_and_the_schema_says_what_scored(tmp_path: Path, form: Any) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    source, target = tmp_path / "answers.jsonl", tmp_path / f"a.{form}"
    source.write_bytes(answers())
    assert convert(source, target) == 3
    with target.open("rb") as stream:
        if form == "parquet":
            from pyarrow import parquet

            table = parquet.read_table(stream)
        else:
            table = pyarrow.ipc.open_file(stream).read_all()
    assert table.schema.field("score").type == pyarrow.float64()
    assert table.schema.field("components.qf").type == pyarrow.float64()
    told = {name.decode(): one.decode() for name, one in table.schema.metadata.items()}
    assert json.loads(told["touchstone.metric"]) == ["hatexscore", "ice"]
    models = json.loads(told["touchstone.model"])
    assert all(
        len(one["sha256"]) == 64 for one in ([models] if isinstance(models, dict) else models)
    )
    row = table.slice(0, 1).to_pylist()[0]
    assert json.loads(row["result"]) == recorded("score_hatexscore")["result"]


def test_an_address_is_opened_where_its_filesystem_knows_it(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    place = "memory://touchstone-test/in.csv"
    with fsspec.open(place, "wb") as stream:
        stream.write(b"text,explanation\na,b\n")
    assert convert(place, "memory://touchstone-test/out.jsonl", metric="hatexscore") == 1
    with fsspec.open("memory://touchstone-test/out.jsonl", "rb") as stream:
        assert json.loads(stream.read()) == {"text": "a", "explanation": "b"}
    for name in ("train", "test"):
        with fsspec.open(f"memory://touchstone-test/set/{name}-00000-of-00001.jsonl", "wb") as one:
            one.write(json.dumps({"text": name, "explanation": "b"}).encode())
    with table_of("memory://touchstone-test/set", Reading(split="test")) as table:
        assert [row["text"] for _, row in table.rows] == ["test"]
    with pytest.raises(ValueError, match=r"splits test, train|splits train, test"):
        convert("memory://touchstone-test/set", tmp_path / "x.csv")
    with pytest.raises(ValueError, match="nonsense"):
        convert("nonsense://a/b.csv", tmp_path / "x.csv")


def saved_dataset(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """As `Dataset.save_to_disk` of datasets 5.2 writes it: an Arrow stream, and who names it."""
    pyarrow = pytest.importorskip("pyarrow")
    folder.mkdir(parents=True)
    table = pyarrow.Table.from_pylist(rows)
    with pyarrow.ipc.new_stream(str(folder / "data-00000-of-00001.arrow"), table.schema) as made:
        made.write_table(table)
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": "train"}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def test_a_folder_that_datasets_saved(tmp_path: Path) -> None:
    rows = [{"text": "a", "explanation": "b", "rationale": [{"start": 0, "end": 1}]}]
    saved_dataset(tmp_path / "one", rows)
    with table_of(tmp_path / "one") as table:
        assert [row for _, row in table.rows] == rows
    for split in ("train", "test"):
        saved_dataset(tmp_path / "both" / split, [{"text": split, "explanation": "b"}])
    (tmp_path / "both" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with batch_file(tmp_path / "both", "/v1/scores/hatexscore", None, Reading(split="test")) as (
        _,
        content,
    ):
        assert json.loads(content.read())["body"]["text"] == "test"
