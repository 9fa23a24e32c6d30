"""Rows of a data set are the same from JSON Lines and CSV, in any order of the file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from bench.papers.data_rows import DataRow, DataSet, read_dataset, sample

ROWS = [
    {"text": "The bakery is open.", "gold": "0", "group": "a", "answers": {"m": "Fine."}},
    {"text": "Go home, all of you.", "gold": "1", "group": "a", "answers": {"m": "Rude."}},
    {"text": "The bakery is open.", "gold": "0", "group": "a", "answers": {"m": "Fine."}},
]


def json_lines(folder: Path, rows: list[dict[str, object]]) -> str:
    file = folder / "posts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(file)


def test_both_forms_give_the_same_rows(tmp_path: Path) -> None:
    file = tmp_path / "posts.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["body", "label", "group", "answers.m", "empty"])
        for row in ROWS:
            writer.writerow([row["text"], row["gold"], row["group"], row["answers"]["m"], ""])  # type: ignore[index]
    found = read_dataset(str(file), {"text": "body", "gold": "label"})
    assert found.rows == read_dataset(json_lines(tmp_path, ROWS), {}).rows  # type: ignore[arg-type]


def test_another_order_gives_the_same_keys(tmp_path: Path) -> None:
    found = read_dataset(json_lines(tmp_path, ROWS), {}).rows  # type: ignore[arg-type]
    turned = read_dataset(json_lines(tmp_path, ROWS[::-1]), {}).rows  # type: ignore[arg-type]
    assert {row.key for row in found} == {row.key for row in turned}
    assert len({row.key for row in found}) == 3
    assert len({row.cluster for row in found}) == 1


def test_rows_of_one_text_are_a_cluster_where_no_group_is_named() -> None:
    one, same, other = (
        DataRow("d", {"text": text, "gold": gold}, key)
        for text, gold, key in (("a", "x", "1"), ("a", "y", "2"), ("b", "x", "3"))
    )
    assert one.cluster == same.cluster != other.cluster


def test_cells_of_json_are_what_they_hold(tmp_path: Path) -> None:
    file = tmp_path / "posts.csv"
    file.write_text('text,annotators\n"[1] a text","[""x"", ""y""]"\n', "utf-8")
    [row] = read_dataset(str(file), {}).rows
    assert row.list_of("annotators") == ["x", "y"]
    assert row.text("text") == "[1] a text"


@pytest.mark.parametrize("cell", ["x; y", "x;y;", '"[""x"", ""y""]"'])
def test_a_list_of_labels_needs_no_json(tmp_path: Path, cell: str) -> None:
    file = tmp_path / "posts.csv"
    file.write_text(f"text,annotators\nfirst; second,{cell}\n", "utf-8")
    [row] = read_dataset(str(file), {}).rows
    assert row.list_of("annotators") == ["x", "y"]
    assert row.text("text") == "first; second"


def test_labels_of_people_who_read_an_explanation_are_of_its_model(tmp_path: Path) -> None:
    file = tmp_path / "posts.csv"
    file.write_text('text,annotators,adjudications.m,answers.m\na,x,x; y,"[1; 2]"\n', "utf-8")
    [row] = read_dataset(str(file), {}).rows
    assert (row.list_of("adjudications", "m"), row.list_of("adjudications", "n")) == (
        ["x", "y"],
        [],
    )
    assert (row.list_of("annotators"), row.list_of("annotators", "m")) == (["x"], [])
    assert row.answer_of("m") == "[1; 2]"
    file.write_text("text,answers,answers.m\na,b,c\n", "utf-8")
    with pytest.raises(
        ValueError, match=r"posts\.csv: there are columns 'answers' and 'answers\.m'"
    ):
        read_dataset(str(file), {})


@pytest.mark.parametrize(("cell", "spelled"), [(True, "true"), (1, "1"), ("1", "1"), (None, None)])
def test_gold_labels_are_words(cell: object, spelled: str | None) -> None:
    assert DataRow("d", {"text": "a", "gold": cell}, "1").gold == spelled


def test_a_file_is_named_by_itself_or_by_the_caller(tmp_path: Path) -> None:
    place = json_lines(tmp_path, ROWS)  # type: ignore[arg-type]
    assert read_dataset(place, {}).name == "posts"
    assert read_dataset(f"mine={place}", {}).name == "mine"


def test_a_sample_is_chosen_by_the_seed_and_not_by_the_order(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"text": f"text {number}"} for number in range(60)]
    data = read_dataset(json_lines(tmp_path, rows), {})
    turned = read_dataset(json_lines(tmp_path, rows[::-1]), {})

    def keys(of: DataSet, count: int, seed: int) -> list[str]:
        return [row.key for row in sample(of, count, seed).rows]

    assert sorted(keys(data, 20, 0)) == sorted(keys(turned, 20, 0))
    assert set(keys(data, 10, 0)) < set(keys(data, 20, 0))
    assert keys(data, 20, 0) != keys(data, 20, 1)
    assert sample(data, None, 0) == data
    assert len(keys(data, 99, 0)) == 60
    drawn = [int(str(row.fields["text"])[5:]) for row in sample(data, 20, 0).rows]
    assert drawn == sorted(drawn)
    assert 10 < sum(drawn) / 20 < 50


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    place = json_lines(tmp_path, ROWS)  # type: ignore[arg-type]
    assert read_dataset(place, {"text": "body"}).rows == read_dataset(place, {}).rows
    with pytest.raises(ValueError, match="has no rows"):
        read_dataset(json_lines(tmp_path, []), {})
    (tmp_path / "broken.jsonl").write_text("{", "utf-8")
    with pytest.raises(ValueError, match="line 1"):
        read_dataset(str(tmp_path / "broken.jsonl"), {})


def test_half_a_character_is_said_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "half.jsonl").write_text('{"text": "a\\ud800b"}', "utf-8")
    with pytest.raises(ValueError, match=r"half\.jsonl: half of a surrogate pair"):
        read_dataset(str(tmp_path / "half.jsonl"), {})
