"""HateXScore's tables by hand: gold labels, whom annotators side with, rows that lack something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.papers.columns import Observation
from bench.papers.command import main
from bench.papers.data_rows import DataRow
from bench.papers.hatexscore import HatexscorePaper
from bench.papers.protocol import Case, Incomplete, RunOptions
from bench.papers.tables import Line, PaperTable, table_of
from shared.statistics.bootstrap import Resampling
from shared.statistics.intervals import IntervalEstimate
from tests.papers.observations import observed, row
from tests.papers.scripted_service import Body, ran
from touchstone_client.cli.output import WRONG

PAPER = HatexscorePaper()
HOW = Resampling(resamples=99)
SAYS = {
    "good": 'It says "immigrants are ruining" and blames immigrants. Conclusion: hateful.',
    "plain": "Nobody is attacked. Conclusion: non-hateful.",
    "shy": "I'm sorry, but I can't help with that request.",
    "vague": "It is about a town.",
}


def adjudication(found: list[Observation], options: RunOptions) -> PaperTable:
    return table_of(PAPER.tables(options)[1], found, HOW)


def by_place(table: PaperTable) -> dict[tuple[str, ...], Line]:
    return {line.place: line for line in table.lines}


def test_annotators_side_with_decision_or_gold_by_score() -> None:
    """Five rows where the two differ, one where they do not, one that nobody scored."""
    told = [
        (0.9, ["hateful", "hateful", "non-hateful"]),
        (0.8, ["hateful"]),
        (0.5, ["non-hateful", "non-hateful", "hateful", "unsure"]),
        (0.2, ["unsure"]),
        (None, ["hateful"]),
    ]
    found = [
        observed(
            "m", row(place, "non-hateful", annotators=votes), "hateful", score, setting="0-shot"
        )
        for place, (score, votes) in enumerate(told)
    ]
    found.append(observed("m", row(9, annotators=["hateful"]), "hateful", 0.9, setting="0-shot"))
    table = adjudication(found, RunOptions())
    lines = by_place(table)
    contrasts = {"prefer_decision", "prefer_decision_after"}
    assert {one.column for one in table.differences} == contrasts
    of_all = next(one for one in table.differences
                  if (one.first[0], one.column) == ("all", "prefer_decision"))  # fmt: skip
    sides = {one[2]: before(lines[one])[0].value or 0 for one in (of_all.first, of_all.second)}
    assert of_all.found.value == pytest.approx(sides["score <= 0.5"] - sides["score > 0.5"])
    high, low = (lines["all", "all", f"score {side} 0.5"] for side in (">", "<="))
    assert [one.value for one in before(high)] == pytest.approx([(2 / 3 + 1) / 2, 1 / 6])
    assert [one.value for one in before(low)] == pytest.approx([1 / 3, 2 / 3])
    assert (before(high)[0].rows, before(low)[0].rows) == (2, 1)
    assert low.outcomes["answered"] == 2
    assert ("posts", "m", "score > 0.5") in lines
    assert [one.partition("; say")[0] for one in table.notes[1:]] == [
        "2 of the 11 labels that people gave are not known and count for nothing: 'unsure' (2)"
    ]


def before(line: Line) -> list[IntervalEstimate]:
    """The preference for the decision and for the gold label, of people who had read no
    explanation."""
    found = {cell.column: cell.found for cell in line.cells}
    return [found["prefer_decision"], found["prefer_gold"]]


def test_people_who_had_read_an_explanation_are_counted_for_its_model_alone() -> None:
    """The paper's own way; labels of other words are told by the run."""
    own = row(
        1, "non-hateful", annotators=["no"], adjudications={"m": ["yes", "yes", "no"], "n": ["no"]}
    )
    found = [observed(one, own, "hateful", 0.9, setting="0-shot") for one in ("m", "n")]
    table = adjudication(found, RunOptions(labels={"yes": "hateful", "no": "non-hateful"}))
    shares = {
        line.place[1]: {cell.column: cell.found.value for cell in line.cells}
        for line in table.lines
    }
    assert shares["m"]["prefer_decision_after"] == pytest.approx(2 / 3)
    assert shares["n"]["prefer_gold_after"] == 1
    assert {shares[one]["prefer_gold"] for one in ("m", "n")} == {1}
    assert len(table.notes) == 1
    told = adjudication(found, RunOptions(labels={"no": "non-hateful"})).notes[1]
    assert "2 of the 5 labels" in told
    assert "--label LABEL=yes" in told


def test_answers_that_came_with_the_rows_are_scored_and_counted(tmp_path: Path) -> None:
    rows = [
        DataRow("d", {"text": "Those immigrants are ruining our town.", "gold": "1",
                      "answers": SAYS}, "d 1"),
        DataRow("d", {"text": "A bakery.", "gold": "0", "answers": SAYS}, "d 2"),
        DataRow("d", {"gold": "0", "answers": SAYS}, "d 3"),
    ]  # fmt: skip
    options = RunOptions(labels={"1": "hateful", "0": "non-hateful"})
    found, asked = ran(PAPER, list(SAYS), rows, tmp_path, _as_it_is, options)
    assert {frozenset(body) & {"model", "answer"} for _, body in asked} == {frozenset({"answer"})}
    lines = by_place(table_of(PAPER.tables(options)[0], found, HOW, list(SAYS)))
    told = {place[1]: list(line.outcomes.values()) for place, line in lines.items()}
    assert told == {"good": [2, 0, 0, 1], "plain": [2, 0, 0, 1], "shy": [0, 2, 0, 1],
                    "vague": [0, 0, 2, 1]}  # fmt: skip
    accuracy = {place[1]: line.cells[5].found for place, line in lines.items()}
    assert (accuracy["good"].value, accuracy["good"].rows) == (0.5, 2)
    assert accuracy["shy"].value is None
    assert lines["d", "good"].errors == ("a row of d has no 'text': say --map text=COLUMN",)


def _as_it_is(_: str, body: Body) -> Body:
    return body


def test_the_sweep_at_the_tau_of_the_run_is_the_score(tmp_path: Path) -> None:
    answers = {"good": SAYS["good"]}
    rows = [
        DataRow("d", {"text": f"Those immigrants are ruining {one}.", "answers": answers}, one)
        for one in ("our town", "the harbour", "my evening")
    ]
    found, _ = ran(PAPER, ["good"], rows, tmp_path, _as_it_is)
    summary, _, sweep = (table_of(plan, found, HOW) for plan in PAPER.tables(RunOptions()))
    score = next(cell for cell in summary.lines[0].cells if cell.column == "score")
    at = {cell.column: cell.found.value for cell in sweep.lines[0].cells}
    assert at["tau_0.3"] == pytest.approx(score.found.value)
    assert list(at) == [f"tau_0.{step}" for step in range(1, 10)]


def test_shots_are_settings_with_tables_of_their_own() -> None:
    options = RunOptions(shots=(0, 2))
    assert PAPER.settings(options) == ("0-shot", "2-shot")
    names = [plan.name for plan in PAPER.tables(options)]
    assert names == [f"{name} ({shots})" for shots, first in (("0-shot", "Table 1"),
                     ("2-shot", "Table 9")) for name in (first, "Table 2", "Figure 2")]  # fmt: skip
    [asked] = PAPER.requests(Case("m", "2-shot", row(1)), lambda _: None, options)
    assert (asked.body["shots"], asked.body["model"]) == (2, "m")


def test_several_prompts_have_tables_each() -> None:
    options = RunOptions(shots=(0, 2), prompts=("a", "b@1"))
    settings = PAPER.settings(options)
    assert settings == ("a, 0-shot", "a, 2-shot", "b@1, 0-shot", "b@1, 2-shot")
    asked = [
        one.body
        for setting in settings
        for one in PAPER.requests(Case("m", setting, row(1)), lambda _: None, options)
    ]
    assert [(one["prompt"], one["shots"]) for one in asked] == [
        ("a", 0), ("a", 2), ("b@1", 0), ("b@1", 2)
    ]  # fmt: skip
    assert [plan.name for plan in PAPER.tables(options)][:4:3] == [
        "Table 1 (a, 0-shot)", "Table 9 (a, 2-shot)"
    ]  # fmt: skip


def test_a_label_that_is_not_known_and_a_missing_text_are_told_apart() -> None:
    with pytest.raises(ValueError, match="--label hateful=offensive"):
        list(PAPER.requests(Case("m", "0-shot", row(1, "offensive")), lambda _: None, RunOptions()))
    lacking = Case("m", "0-shot", DataRow("d", {"gold": "hateful"}, "1"))
    with pytest.raises(Incomplete, match="--map text=COLUMN"):
        list(PAPER.requests(lacking, lambda _: None, RunOptions()))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--models", "a", "a", "--data", "d.jsonl"], "a is named twice"),
        (["--models", "a", "--data", "d.jsonl", "d.jsonl"], "d is named twice"),
        (["--models", "a", "--data", "nothing.jsonl"], "nothing.jsonl"),
        (["--models", "a", "--data", "d.jsonl", "--set", "tau=1"], "SERVICE.FIELD=VALUE"),
        (["--models", "a", "--data", "d.jsonl", "--set", "nobody.tau=1"], "SERVICE.FIELD=VALUE"),
        (["--models", "a", "--data", "d.jsonl", "--label", "x"], "'x' is not NAME=VALUE"),
        (["--models", "a", "--data", "other.jsonl"], "the gold label 'mean' of other"),
        (["--models", "a", "--data", "bare.jsonl"], "has no 'text'"),
        (
            ["--models", "a", "--data", "d.jsonl", "--map", "gold=no"],
            "no data set has a column 'no'",
        ),
    ],
)
def test_wrong_use_asks_nothing_and_says_why(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, fields in (
        ("d", {"text": "a", "gold": "hateful"}),
        ("other", {"text": "a", "gold": "mean"}),
        ("bare", {"gold": "hateful"}),
    ):
        Path(f"{name}.jsonl").write_text(json.dumps(fields) + "\n", "utf-8")
    assert main([PAPER.name, *arguments]) == WRONG
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert not Path(f"bench-{PAPER.name}").exists()
