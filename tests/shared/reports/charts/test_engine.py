"""Pictures come from a process that may die, hang or refuse, and that nobody leaves behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.gateway.pages.templates import environment
from shared.contracts.reports import Interval
from shared.reports.charts import engine
from shared.reports.charts.engine import (
    DARK,
    DARK_PAPER,
    IN_THE_DARK,
    LIGHT,
    ChartTable,
    DrawError,
    Painter,
    in_the_dark,
    render,
)
from shared.reports.charts.intervals import IntervalRow, interval_plot
from tests.end_to_end.service import ROOT
from tests.patience import SECONDS, busy, eventually

HANGS = "import time; time.sleep(600)"
DIES = "raise SystemExit(1)"
OUTSIDE = """
import sys
from shared.reports.charts.engine import ChartTable, painter, render
table = ChartTable(("a",), ())
chart = render({"data": {"values": [{"a": 1}]}, "mark": "point"}, table, title="t", summary="s")
assert chart.svg.startswith("<svg") and "vl_convert" not in sys.modules
print(painter().number, flush=True)
"""


def spec(value: float) -> str:
    """A picture of one point."""
    data = {"values": [{"a": value}]}
    across = {"field": "a", "type": "quantitative"}
    return json.dumps({"data": data, "mark": "point", "encoding": {"x": across}})


def runs(number: int) -> bool:
    """Whether there is such a process; a dead one that nobody buried does not run."""
    stat = Path(f"/proc/{number}/stat")
    try:
        return stat.read_text().rpartition(") ")[2][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(number: int) -> bool:
    """Whether it ends in the end."""
    return eventually(lambda: not runs(number))


@pytest.fixture(scope="module")
def one() -> Iterator[Painter]:
    made = Painter(seconds=SECONDS)
    yield made
    made.close()
    assert made.number is None


def test_a_picture_is_drawn_once(one: Painter) -> None:
    first = one.draw(spec(1))
    assert first.startswith("<svg")
    one.close()
    assert one.draw(spec(1)) == first
    assert one.number is None  # nobody was asked
    assert one.draw(spec(2)) != first


def test_what_was_kept_longest_ago_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "KEPT_BYTES", 12_000)
    small = Painter(seconds=SECONDS)
    pictures = [small.draw(spec(number)) for number in range(5)]
    assert max(map(sys.getsizeof, pictures)) < 12_000 < sum(map(sys.getsizeof, pictures))
    small.close()
    assert small.draw(spec(4)) == pictures[4]
    assert small.number is None
    assert small.draw(spec(0)) == pictures[0]
    assert small.number is not None
    small.close()


def test_a_process_that_was_killed_is_replaced(one: Painter) -> None:
    one.draw(spec(3))
    before = one.number
    assert before is not None
    os.kill(before, signal.SIGKILL)
    assert one.draw(spec(4)).startswith("<svg")
    assert one.number not in {None, before}


def test_a_refusal_costs_no_process(one: Painter) -> None:
    one.draw(spec(5))
    before = one.number
    with pytest.raises(DrawError, match="rejected"):
        one.draw('{"mark": ')
    assert (one.number, one.draw(spec(6))[:4]) == (before, "<svg")


@pytest.mark.parametrize(
    ("program", "seconds", "why"), [(DIES, SECONDS, "ended before"), (HANGS, 0.5, "too long")]
)
def test_who_dies_or_hangs_draws_nothing(
    tmp_path: Path, program: str, seconds: float, why: str
) -> None:
    (tmp_path / "program.py").write_text(program)
    poor = Painter(tmp_path / "program.py", seconds=seconds)
    with pytest.raises(DrawError, match=why):
        poor.draw(spec(1))
    assert poor.number is None


def test_without_a_picture_the_words_are_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(DIES)
    poor = Painter(tmp_path / "program.py")
    monkeypatch.setattr(engine, "painter", lambda: poor)
    table = ChartTable(("value", "draws"), (("0 to 1", 3), ("1 to 2", None)))
    chart = render({"mark": "point"}, table, title="The title", summary="All in words.")
    macros = environment().get_template("macros.html").module
    html = macros.figure(chart)  # type: ignore[attr-defined]
    assert "<p>All in words.</p>" in html
    assert "picture" not in html
    assert "Show as table" in html
    assert html.count("<tr>") == 3


def test_a_program_ends_and_leaves_nobody_behind() -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", OUTSIDE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS * busy(),
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not runs(int(ended.stdout))


def test_who_draws_dies_with_a_gateway_that_is_killed() -> None:
    program = [sys.executable, "-c", OUTSIDE + "sys.stdin.read()"]
    with subprocess.Popen(
        program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        number = int(process.stdout.readline())
        assert runs(number)
        process.kill()
        assert gone(number)


def test_a_name_that_xml_forbids_is_drawn_in_a_report() -> None:
    """The engine would abort: such characters come in the metadata of a caller's request."""
    row = IntervalRow("a\x00\x01\ufffe b", Interval(value=0.5, low=0.4, high=0.6, of=9), "#000000")
    made = interval_plot(
        [row], name="rates", titles=("Rates", "Rates"), unit="%", chance=0.5, inches=(4, 2)
    )
    assert made is not None
    assert "a\ufffd\ufffd\ufffd b" in made.svg


def test_in_the_dark_a_plot_has_the_colours_of_the_pages() -> None:
    sheet = (ROOT / "services/gateway/pages/static/site.css").read_text("utf-8")
    dark = sheet.partition("@media (prefers-color-scheme: dark)")[2].partition("}\n}")[0]
    assert f"--paper: {DARK_PAPER};" in dark
    for variable, colour in DARK.items():
        assert f"{variable.removeprefix('var(').rstrip(')')}: {colour};" in dark
    assert DARK.keys() == LIGHT.keys()


def test_of_a_plot_in_the_dark_the_colours_alone_are_others() -> None:
    interval = Interval(value=0.5, low=0.25, high=0.75, of=4)
    note = 'fill="white"'  # is no colour of the picture
    made = interval_plot(
        [IntervalRow("row", interval, note=note)],
        name="means",
        titles=("Means", "of a few"),
        unit="mean",
        chance=0.5,
        inches=(6, 2),
    )
    assert made is not None
    dark = in_the_dark(made.svg)
    used = set(re.findall('(?:fill|stroke)="(#[0-9a-f]+|white)"', re.sub(">[^<]*<", "><", dark)))
    assert DARK_PAPER in used
    assert used <= set(IN_THE_DARK.values())
    assert note in dark.replace("&quot;", '"')
    assert re.sub("#[0-9a-f]+|white", "", dark) == re.sub("#[0-9a-f]+|white", "", made.svg)
