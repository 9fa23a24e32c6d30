"""Both sides of an explanation on planted causes: what it is enough for, and what needs it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.report import IceCausalReading, IceResult, IceTest, Reading
from services.ice.verdict import READINGS, finding
from shared.models.catalogue.checkpoint import PassageStandings
from shared.reports import short_texts
from shared.statistics.other_texts import standings
from shared.statistics.seeds import generator
from tests.flat_requests import flat_request, with_options
from tests.ice.planted import FIRST_WORD, Planted, planted, weighted, word
from tests.ice.test_randomization_test import span, text_of

WORDS = 90  # a single word has 89 rivals: its least two-sided p is 2 / 90
BEFORE, CAUSE, OTHER = 2, 7, 40


def holds(number: int, ids: tuple[int, ...]) -> bool:
    return FIRST_WORD + number in ids


def label(on: bool) -> float:
    return 0.97 if on else 0.03


PLANTS: dict[str, Planted] = {
    "token": lambda ids: label(holds(CAUSE, ids)),
    "and": lambda ids: label(holds(CAUSE, ids) and holds(OTHER, ids)),
    "or": lambda ids: label(holds(CAUSE, ids) or holds(OTHER, ids)),
    "negation": lambda ids: label(holds(CAUSE, ids) and not holds(BEFORE, ids)),
    "length": lambda ids: label(len(ids) > 40),
}


def scored(plant: str, places: list[int], count: int = WORDS, **more: Any) -> IceResult:
    text = text_of(count)
    if plant == "negation":
        text = " ".join(word(600 if n == BEFORE else n) for n in range(count))
    fields: dict[str, Any] = {"alternative": "greater", "decision": "yes"} | more
    with planted(PLANTS[plant]):
        return SERVICE.score(
            flat_request(IceRequest, text=text, rationale=span(text, places), **fields)
        )


def read(report: IceResult) -> tuple[IceCausalReading, IceTest, IceTest]:
    [reading] = report.components.readings
    sufficiency, necessity = report.components.tests
    assert (sufficiency.aspect, necessity.aspect) == ("sufficiency", "necessity")
    return reading, sufficiency, necessity


@pytest.mark.parametrize(
    ("plant", "places", "reading"),
    [
        ("token", [CAUSE], "cause"),
        ("token", [OTHER], "no evidence"),
        ("and", [CAUSE, OTHER], "cause"),
        ("or", [CAUSE, OTHER], "cause"),
        ("negation", [CAUSE], "cause"),
        ("length", [CAUSE], "no evidence"),
    ],
)
def test_planted_causes_are_read_as_what_they_are(
    plant: str, places: list[int], reading: str
) -> None:
    found, _, _ = read(scored(plant, places))
    assert found.reading == reading


def test_the_report_itself_says_the_first_reading() -> None:
    report = scored("or", [CAUSE])
    assert report.reading == report.components.readings[0].reading == "redundant"


def test_half_of_an_and_is_needed_and_not_enough() -> None:
    found, sufficiency, necessity = read(scored("and", [CAUSE]))
    assert (sufficiency.win_rate, sufficiency.tie_rate) == (0.5, 1.0)
    assert sufficiency.verdict == "inconclusive"
    assert necessity.verdict == "faithful"
    assert necessity.drop == pytest.approx(0.94)
    assert (found.interaction or 0) > 1
    assert found.reading == "partner"  # 2 * 2 / 90: its partner has the same interaction


def test_one_of_an_or_is_enough_and_not_needed() -> None:
    found, sufficiency, necessity = read(scored("or", [CAUSE]))
    assert sufficiency.verdict == "faithful"
    assert (necessity.verdict, necessity.drop) == ("inconclusive", 0)
    assert (found.interaction or 0) < -1
    assert found.reading == "redundant"


def test_who_speaks_against_the_decision_is_against_it() -> None:
    text = text_of(WORDS)
    with planted(weighted({CAUSE: -3.0}, bias=1.0)):
        report = SERVICE.score(
            IceRequest(
                text=text,
                rationale=span(text, [CAUSE]),
                decision="yes",
                options={"alternative": "two-sided"},
            )
        )
    assert report.components.readings[0].reading == "against"
    found = finding(report)
    assert (found.verdict, found.problems) == ("problem_found", ("worse-than-random",))


@pytest.mark.parametrize(
    ("plant", "places", "verdict", "reading"),
    [
        ("token", [CAUSE], "holds_up", "cause"),
        ("or", [CAUSE], "holds_up", "redundant"),
        ("and", [CAUSE], "holds_up", "partner"),
        ("token", [OTHER], "not_tested", "no evidence"),
    ],
)
def test_the_verdict_is_of_both_sides(
    plant: str, places: list[int], verdict: str, reading: Reading
) -> None:
    report = scored(plant, places)
    found = finding(report)
    assert (found.verdict, found.checks[0].sentence) == (verdict, READINGS[reading])
    assert report.reading == reading


@pytest.mark.parametrize(
    ("count", "reading"), [(45, "cause"), (30, "relevant"), (15, "undecidable")]
)
def test_second_place_on_both_sides_counts(count: int, reading: Reading) -> None:
    """Another word is better alone, and a third one is missed more."""

    def judge(ids: tuple[int, ...]) -> float:
        present = {place for place in range(count) if holds(place, ids)}
        if len(present) == 1:
            return {BEFORE: 0.97, CAUSE: 0.9}.get(present.pop(), 0.1)
        gone = set(range(count)) - present
        return {3: 0.03, CAUSE: 0.1}.get(gone.pop(), 0.9) if len(gone) == 1 else 0.9

    text = text_of(count)
    with planted(judge):
        report = SERVICE.score(IceRequest(text=text, rationale=span(text, [CAUSE]), decision="yes"))
    [found] = report.components.readings
    assert found.reading == reading
    assert found.p_value == 1 / count
    if reading != "undecidable":
        assert (finding(report).verdict, finding(report).checks[0].sentence) == (
            "holds_up",
            READINGS[reading],
        )
        assert [test.p_adjusted for test in report.components.tests] == [2 / count] * 2


def test_a_passage_can_be_tested_in_twenty_words_and_two_sided_in_forty() -> None:
    for count, alternative, verdict in (
        (19, "greater", "not_tested"),
        (20, "greater", "holds_up"),
        (39, "two-sided", "not_tested"),
        (40, "two-sided", "holds_up"),
    ):
        found = finding(scored("token", [CAUSE], count, alternative=alternative))
        assert found.verdict == verdict


def test_an_additive_judge_has_no_interaction() -> None:
    text = text_of(30)
    weights = {number: float(np.sin(number)) for number in range(30)}
    with planted(weighted(weights, bias=0.3)):
        report = SERVICE.score(
            IceRequest(
                text=text,
                attribution="attention",
                decision="yes",
                options={"k": (0.1, 0.3), "draws": 99},
            )
        )
    for one in report.components.readings:
        assert one.interaction == pytest.approx(0, abs=1e-9)
        assert one.p_interaction == 1


def test_the_necessity_of_the_whole_text_is_all_that_it_says() -> None:
    report = scored("token", list(range(20)), count=20)
    found, sufficiency, necessity = read(report)
    assert necessity.scores is not None
    assert necessity.scores.empty is not None
    assert necessity.drop == pytest.approx(necessity.scores.full - necessity.scores.empty)
    assert (necessity.win_rate, necessity.verdict, sufficiency.verdict) == (None, None, None)
    assert (found.reading, found.interaction, found.p_interaction) == ("undefined", 0, None)


def test_too_few_rivals_are_undecidable_on_both_sides() -> None:
    found, sufficiency, _ = read(scored("token", [CAUSE], count=15))
    assert (sufficiency.verdict, found.reading) == ("undecidable", "undecidable")
    assert sufficiency.null.attainable_p == 1 / 15
    assert any("whatever the scores are" in one for one in scored("token", [CAUSE], 15).warnings)


def test_without_an_empty_text_there_is_no_interaction() -> None:
    text = text_of(60)
    with planted(PLANTS["token"], special=False):
        report = SERVICE.score(IceRequest(text=text, rationale=span(text, [CAUSE]), decision="yes"))
    [found] = report.components.readings
    assert (found.interaction, found.p_interaction, found.reading) == (None, None, "cause")
    assert any(one.startswith("delete: the interaction is null") for one in report.warnings)


def test_masks_and_fills_are_common_to_both_sides() -> None:
    seen: list[tuple[int, ...]] = []

    def judge(ids: tuple[int, ...]) -> float:
        seen.append(ids)
        return label(holds(3, ids))

    text = text_of(12)
    with planted(judge):
        SERVICE.score(
            IceRequest(
                text=text,
                rationale=span(text, [3, 4]),
                decision="yes",
                options={"operators": ("infill",), "infills": 1, "infill_pool": ("w90 w91 w92",)},
            )
        )
    own = [FIRST_WORD + n for n in range(12)]
    rows = [tuple(enumerate(ids[1:-1])) for ids in seen]
    fills = {(place, id_) for row in rows for place, id_ in row if id_ != own[place]}
    assert len({place for place, _ in fills}) == len(fills) == 12


def test_how_far_the_asked_texts_lie_from_texts_is_told() -> None:
    report = scored("length", [CAUSE])
    assert report.distance is not None
    assert report.distance.rows == report.forward_rows - 1
    assert report.distance.flip_share == pytest.approx(0.5, abs=0.05)  # all that keep one word
    assert report.distance.kept == pytest.approx(0.5, abs=0.02)
    assert report.distance.entropy_gain == pytest.approx(0, abs=1e-9)
    assert (report.distance.length_share, report.distance.ece_perturbed) == (None, None)


def test_sufficiency_alone_has_no_reading_and_published_variants_have_one_side() -> None:
    one = scored("token", [CAUSE], aspects=["sufficiency"])
    assert (len(one.components.tests), one.components.readings) == (1, ())
    paper = scored("token", [CAUSE], variant="paper", alternative="two-sided")
    assert [test.aspect for test in paper.components.tests] == ["sufficiency"]
    assert (paper.distance, paper.components.tests[0].p_adjusted) == (None, None)
    with pytest.raises(ValueError, match="variant `robust`"):
        scored("token", [CAUSE], variant="paper", aspects=["sufficiency", "necessity"])
    with pytest.raises(ValueError, match="must contain"):
        scored("token", [CAUSE], aspects=["necessity"])


@pytest.fixture
def other_posts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other posts, in which a passage seldom stands out."""
    random = generator(6, "other posts")
    rows = [
        PassageStandings(words=1, standings=tuple(standings(own)))
        for own in (random.normal(size=places) for places in range(5, 20) for _ in range(40))
    ]
    monkeypatch.setattr(short_texts, "placement_standings", lambda *_: tuple(rows))


@pytest.mark.usefixtures("other_posts")
@pytest.mark.parametrize(("place", "verdict"), [(CAUSE, "holds_up"), (3, "not_tested")])
def test_a_short_text_is_tested_by_a_p_that_other_posts_calibrate(place: int, verdict: str) -> None:
    text = text_of(12)
    request = IceRequest(
        text=text, rationale=span(text, [place]), decision="hateful", language="en"
    )
    with planted(PLANTS["token"], labels=("normal", "hateful")):
        report = SERVICE.score(request)
        two_sided = SERVICE.score(with_options(request, alternative="two-sided"))
        other = SERVICE.score(request.model_copy(update={"decision": "normal"}))
    with planted(lambda ids: PLANTS["token"](ids) / 3, labels=("normal", "hateful")):
        disagreeing = SERVICE.score(request)
    sufficiency, necessity = report.components.tests
    assert sufficiency.verdict == "undecidable"
    assert sufficiency.null.p_calibrated is None
    assert necessity.null.p_calibrated is not None
    assert necessity.null.calibration is not None
    assert (necessity.null.p_calibrated <= 0.05) == (verdict == "holds_up")
    assert finding(report).verdict == verdict
    assert "alibrated on other posts" in finding(report).checks[0].sentence
    assert disagreeing.model_decision == "normal"
    assert finding(disagreeing).verdict == verdict
    for one in (two_sided, other):
        assert all(test.null.p_calibrated is None for test in one.components.tests)
        assert finding(one).verdict == "not_tested"
