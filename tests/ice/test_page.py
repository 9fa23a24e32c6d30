"""The page of an ICE job, from reports that the metric made."""

from __future__ import annotations

import json
import re
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.pages.templates import render
from services.ice import page as ice_page
from services.ice.contract import CONTRACT, IceRequest
from services.ice.metric import SERVICE
from services.ice.page import MOST_CHARTS, MOST_STRETCHES, IceView
from services.ice.report import IceResult
from shared.contracts.redaction import without_text
from shared.reports.pages.page_text import LEVELS, Warm, level, runs
from tests.flat_requests import flat_request, with_options
from tests.ice.planted import planted, weighted, word

score = SERVICE.score

TEXT = " ".join(word(n) for n in range(20))
POOL = ["w50 w51 w52", "w60 w61"]
HOSTILE = '<script>alert("1")</script> & \u202eright\u202c "w1" 🙂 w2 </mark><b>'


def asked(**fields: Any) -> IceRequest:
    whole = {"text": TEXT, "attribution": "attention", "token_values": True, **fields}
    return flat_request(IceRequest, {k: v for k, v in whole.items() if v is not None})


def scored(request: IceRequest, **judge: Any) -> IceResult:
    with planted(**judge):
        return score(request)


def shown(request: IceRequest | None, report: IceResult) -> str:
    return render("ice/page.html", view=ice_page.view(request, report), job={}, report=report)


def page(**fields: Any) -> str:
    request = asked(**fields)
    return shown(request, scored(request))


def words(html: str) -> str:
    """What a reader sees, in one line."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


PIECES = st.lists(
    st.builds(Warm, st.integers(0, 30), st.integers(0, 30), st.integers(-9, 9), st.booleans()),
    max_size=12,
)


@given(st.text(max_size=25), PIECES)
def test_a_heat_map_is_the_text_whole_whatever_the_tokens(text: str, tokens: list[Warm]) -> None:
    found = runs(text, tokens)
    assert "".join(stretch.text for run in found for stretch in run.stretches) == text
    assert all(stretch.text for run in found for stretch in run.stretches)
    assert all(one.outlined != two.outlined for one, two in pairwise(found))
    for run in found:
        assert all(one.level != two.level for one, two in pairwise(run.stretches))


@given(st.floats(-1e300, 1e300), st.floats(1e-300, 1e300))
def test_levels_have_the_sign_of_the_value_and_end_at_nine(value: float, largest: float) -> None:
    value = max(-largest, min(largest, value))
    found = level(value, largest)
    assert -LEVELS <= found <= LEVELS
    assert found == -level(-value, largest)
    assert found * value >= 0


def test_levels_of_nothing() -> None:
    assert level(None, 1.0) == level(0.0, 0.0) == level(0.0, 3.0) == 0
    assert (level(2.0, 2.0), level(-2.0, 2.0)) == (9, -9)


def test_parts_of_one_character_are_one_token() -> None:
    found = runs("a🙂b", [Warm(1, 2, 3), Warm(1, 2, -7, outlined=True), Warm(2, 3, 1)])
    seen = [(s.text, s.level, run.outlined) for run in found for s in run.stretches]
    assert seen == [("a", 0, False), ("🙂", -7, True), ("b", 1, False)]


@pytest.mark.parametrize("name", CONTRACT.examples)
def test_every_example_has_a_page(name: str) -> None:
    request = IceRequest.model_validate(CONTRACT.examples[name])
    assert "Does the explanation hold up?" in shown(request, scored(request))


def test_the_verdict_comes_first_in_words_with_its_chance() -> None:
    request = asked(
        attribution=None,
        rationale=[{"start": 0, "end": 5}],
        decision="yes",
        null="tokens",
        draws=99,
        operators=["delete", "mask_unk"],
    )
    report = scored(request, probability=weighted({0: 3.0, 1: 3.0}))
    said = words(shown(request, report))
    assert [test.verdict for test in report.components.tests] == ["faithful"] * 4
    assert said.index("Are these words enough, needed, or both?") < said.index(
        "Against random rationales"
    )
    assert "cause The rationale is enough and needed" in said
    assert "Faithful with the tokens of the rationale deleted" in said
    assert said.index("Faithful with the other tokens deleted") < said.index("The numbers")
    assert "replaced by the unknown token ( mask_unk )" in said
    assert re.search(
        r"The win rate is 1 , where chance is 0.5 ± 0.29; one-sided p 0.01 , corrected for all "
        r"tests 0.01 at level 0.05",
        said,
    )
    request = with_options(request, alternative="two-sided")
    turned = scored(request, probability=weighted({0: -3.0, 1: -3.0}, bias=2.0))
    assert words(shown(request, turned)).count("Anti-faithful with") == 4


def test_tokens_are_coloured_by_their_share_of_the_largest_and_the_rationale_is_outlined() -> None:
    values = [
        {"start": 0, "end": 2, "value": 4.0},
        {"start": 3, "end": 5, "value": 4.0},
        {"start": 6, "end": 8, "value": -2.0},
    ]
    request = asked(attribution=None, attributions=values, k=0.1)
    report = scored(request)
    html = shown(request, report)
    strip = ice_page.heatmap_of(request, report)
    assert [one.level for run in strip for one in run.stretches][:3] == [9, 0, -4]
    assert "".join(one.text for run in strip for one in run.stretches) == TEXT
    assert (
        'dir="auto"><mark class="rationale"><span class="heat-p9">w0 w1</span></mark> '
        '<span class="heat-n4">w2</span> w3 w4' in html
    )
    assert "has magnitude <span" in html


def test_without_token_values_the_spans_are_outlined_and_the_page_says_how_to_ask() -> None:
    html = page(token_values=None, attribution=None, rationale=[{"start": 3, "end": 8}])
    assert '>w0 <mark class="rationale">w1 w2</mark> w3' in html
    assert "heat-p" not in html
    assert "Send token_values: true" in html
    assert "Send token_values" not in page()
    untold = asked(token_values=None)
    assert ice_page.heatmap_of(untold, scored(untold)) == ()


def test_both_texts_of_a_pair_are_shown() -> None:
    html = page(text="w1 w2 w3", text_pair="w4 w5", k=0.6, human=[{"start": 0, "end": 2}])
    assert html.count("<h4>Text pair</h4>") == 2
    assert '<mark class="mark-human"' in html


def test_people_s_spans_stand_beside_with_the_plausibility() -> None:
    request = asked(human=[{"start": 0, "end": 5}])
    report = scored(request)
    html = shown(request, report)
    found = report.components.plausibility[0]
    assert re.search(r'class="mark-human" title="marked by people">w0 w1<', html)
    assert f"{found.iou:.3f}".rstrip("0").rstrip(".") in words(html)
    assert "Against people" in html
    assert "Against people" not in page()


def test_every_component_of_the_report_is_on_the_page() -> None:
    request = asked(
        attribution=["attention", "gradient"],
        rationale=[{"start": 0, "end": 5}],
        human=[{"start": 6, "end": 11}],
        k=[0.1, 0.3],
        operators=["delete", "infill"],
        infill_pool=POOL,
    )
    report = scored(request)
    html = shown(request, report)
    rows = {
        "Every test": len(report.components.tests),
        "Scores and nulls": len(report.components.tests),
        "Readings": len(report.components.readings),
        "Areas under the curves over k": len(report.components.areas),
        "Comparisons": len(report.components.comparisons),
        "Plausibility": len(report.components.plausibility),
        "Probabilities": len(report.probabilities),
    }
    for label, expected in rows.items():
        table = html.partition(f'aria-label="{label}"')[2].partition("</table>")[0]
        assert table.count('<th scope="row">') == expected > 0, label
        assert table.count("<caption>") == 1
    assert len(report.components.tests) == 20
    assert html.count("<svg aria-hidden") == MOST_CHARTS == 8
    assert "4 more charts" in html
    assert str(report.forward_rows) in words(html)


@pytest.mark.parametrize("variant", ["paper", "reference"])
def test_other_variants_draw_nsr_and_say_what_their_score_is(variant: str) -> None:
    html = page(variant=variant, operators=["delete", "mask_unk"], decision="yes")
    assert "different for each operator" in html
    assert "ties count as losses" in html
    assert ">NSR<" in html.partition("<svg")[2]


@pytest.mark.parametrize(("draws", "too_few"), [(8, True), (18, True), (19, False), (99, False)])
def test_too_few_rivals_are_not_called_inconclusive(draws: int, too_few: bool) -> None:
    request = asked(draws=draws, decision="yes")
    report = scored(request, probability=lambda ids: 0.25)
    test = report.components.tests[0]
    assert test.verdict == ("undecidable" if too_few else "inconclusive")
    found = ice_page.view(request, report).first[0]
    assert (found.verdict.text == f"Too few draws to tell (M = {draws})") == too_few
    assert ("too few random rationales for a verdict" in found.sentence) == too_few
    assert found.verdict.tone == "neutral"


def test_late_explanations_have_their_verdicts() -> None:
    brought = [{"name": f"own {n}", "rationale": [{"start": 0, "end": 5}]} for n in range(8)]
    request = asked(
        attribution=["attention", "gradient", "integrated_gradients", "lime"],
        k=[n / 10 for n in range(1, 8)],
        operators=["delete", "mask_unk", "mask_pad"],
        explanations=brought,
        draws=3,
    )
    view = ice_page.view(request, scored(request))
    assert len(view.told) > ice_page.MOST_ROWS == len(view.tests)
    for name in dict.fromkeys(one.test.explanation for one in view.told):
        assert view.verdicts(name).count("(M = 3)") == 3, name


@pytest.mark.parametrize("variant", ["paper", "reference"])
def test_where_nsr_turns_the_order_the_page_says_so(variant: str) -> None:
    request = asked(
        variant=variant,
        attribution=None,
        rationale=[{"start": 0, "end": 5}],
        decision="yes",
        draws=99,
        operators=["delete", "mask_unk"],
    )
    down = scored(request, probability=weighted({0: -3.0, 1: -3.0}, bias=2.0))
    first = ice_page.view(request, down).first
    assert [one.test.operator for one in first] == ["delete", "mask_unk", "mean"]
    assert all("NSR" in one.sentence for one in first)
    assert ["With delete, mask_unk" in one.sentence for one in first] == [False, False, True]
    assert all("A higher NSR then means a less probable label" in one.sentence for one in first)
    up = scored(request, probability=weighted({0: 3.0, 1: 3.0}))
    said = words(shown(request, up))
    assert all("NSR" in one.sentence for one in ice_page.view(request, up).first)
    assert "A higher NSR then" not in said
    assert "makes the target label" not in said
    assert "is NSR, the share of the whole" in said


def test_the_score_is_named_with_its_chance() -> None:
    said = words(page())
    assert "first size. By chance it is 0.5." in said
    assert "Score by chance" in said
    said = words(page(operators=["delete", "mask_unk"]))
    assert "averaged over 2 operators. By chance it is 0.5." in said
    assert "Standard deviation of the score by chance" in said
    said = words(page(variant="paper", decision="yes"))
    assert "It compares NSR" in said
    assert "By chance it is 0.5" not in said


def test_names_of_callers_and_labels_are_blurred_and_in_no_attribute() -> None:
    own = [{"start": 0, "end": 8, "value": 2.0}]
    request = asked(
        attribution="attention",
        explanations=[{"name": "Mine-7", "attributions": own}],
        human=[{"start": 0, "end": 5}],
        k=[0.1, 0.3],
    )
    report = scored(request, labels=("Label-0", "Label-1"))
    html = shown(request, report)
    bare = re.sub(r'<bdi class="sensitive".*?</bdi>', "", html)
    for name in ("Mine-7", "Label-0", "Label-1"):
        assert f'<bdi class="sensitive" lang="">{name}</bdi>' in html
        assert name not in bare
    assert "<bdi>attention</bdi>" in bare
    regions = re.findall(r'aria-label="([^"]*)"', html)
    assert len(set(regions)) == len(regions)


def test_a_heat_map_has_the_language_of_its_text() -> None:
    assert '<div lang="" class="sensitive block ice-heat"' in page()
    korean = "이 글은 이웃을 게으르다고 부르는 글이다"
    assert '<div lang="ko" class="sensitive block ice-heat"' in page(text=korean)


def test_what_is_null_is_a_dash_with_its_reason() -> None:
    html = page(k=1.0)
    said = words(html)
    assert "Undefined with the other tokens deleted" in said
    assert "the rationale is the whole text, so no random rationale exists" in said
    assert "There is no score" in said
    assert "there is no null distribution to show" in said
    assert 'class="none"' in html
    assert "None" not in said


def test_a_text_that_was_not_kept_leaves_places_and_numbers() -> None:
    request = asked(do_not_store_text=True, human=[{"start": 0, "end": 5}])
    kept = without_text(scored(request), request)
    html = shown(None, IceResult.model_validate(json.loads(json.dumps(kept))))
    assert "The text was not kept" in html
    assert "ice-heat" not in html
    assert "not kept" in html.partition("strongest tokens")[2]
    assert "Against people" in html
    assert "<svg aria-hidden" in html
    assert not re.search(r"\bw\d+\b", words(html))


def test_results_of_before_have_a_page() -> None:
    request = asked(token_values=False)
    wire = scored(request).model_dump(mode="json")
    for test in wire["components"]["tests"]:
        del test["null"]["histogram"]
    html = shown(request, IceResult.model_validate(wire))
    assert "an older version made it" in html
    assert "<svg aria-hidden" not in html


def test_hostile_text_is_text() -> None:
    own = [{"start": 0, "end": 8, "value": 2.0}, {"start": 9, "end": 20, "value": -1.0}]
    request = asked(
        text=HOSTILE,
        text_pair=HOSTILE,
        attributions=own,
        human=[{"start": 3, "end": 12}],
        template=None,
    )
    html = shown(request, scored(request, labels=("<i>no</i>", "<i>yes</i>")))
    assert not re.search(r"<(script|b|i)>", html)
    assert "</mark><b>" not in html
    assert "&lt;i&gt;" in html
    text = re.search(r'ice-heat" dir="auto">(.*?)</div>', html, re.S)
    assert text is not None
    found = re.sub(r"</?(mark|span)[^>]*>", "", text[1])
    unescaped = {"&lt;": "<", "&gt;": ">", "&#34;": '"', "&amp;": "&"}
    for entity, character in unescaped.items():
        found = found.replace(entity, character)
    assert found == HOSTILE
    assert not re.search(r'<[^>]*\s(style|on\w+)="', html)


def test_a_causal_job_shows_its_template() -> None:
    template = {
        "prefix": "Is <this> hateful? ",
        "suffix": "\nAnswer:",
        "verbalizers": {"no": " No", "yes": " Yes"},
    }
    html = page(template=template)
    assert "Is &lt;this&gt; hateful? " in html
    assert words(html).count("Written for") == 2


def test_labels_and_words_have_no_bare_number_of_python() -> None:
    said = words(page(draws=500, operators=["delete", "mask"]))
    assert not re.search(r"\d\.\d{7,}", said)


def test_a_saturated_model_has_a_picture_of_one_bar() -> None:
    request = asked(decision="yes")
    html = shown(request, scored(request, probability=lambda ids: 0.25))
    assert ": 0.25 to 0.25" in html


def thousand(explanations: int) -> tuple[IceRequest, IceResult]:
    """1,000 tokens whose values all differ from their neighbours', four operators."""
    text = " ".join(f"w{n % 90}" for n in range(1_000))
    brought = [
        {
            "name": f"mine {number}",
            "attributions": [
                {"start": start, "end": start + 1, "value": (place * 37 + number) % 101 - 50}
                for place, start in enumerate(found.start() for found in re.finditer("w", text))
            ],
        }
        for number in range(explanations)
    ]
    request = asked(
        text=text,
        attribution=None,
        explanations=brought,
        human=[{"start": 0, "end": 300}],
        operators=["delete", "mask_unk", "mask_pad", "infill"],
        infill_pool=POOL,
        draws=30,
    )
    return request, scored(request, longest=1_200)


def coloured(view: IceView) -> int:
    return sum(
        1
        for one in view.maps
        for passage in one.passages
        for run in passage.runs
        for stretch in run.stretches
        if stretch.level
    )


@pytest.mark.parametrize("explanations", [1, 8])
def test_a_thousand_tokens_are_a_light_page(explanations: int) -> None:
    request, report = thousand(explanations)
    assert report.eligible_tokens == 1_000
    view = ice_page.view(request, report)  # the drawing engine is warm after this
    begun = time.process_time()
    html = shown(request, report)
    assert time.process_time() - begun < 5  # far above what is measured
    assert len(html.encode()) < 300_000
    assert 500 < coloured(view) <= MOST_STRETCHES
    assert ("2 more explanations" in html) == (explanations == 8)
    assert html.count("<svg aria-hidden") <= MOST_CHARTS
    opened = re.sub(r"<details>.*?</details>", "", html, flags=re.S)
    assert opened.count("<svg aria-hidden") == 8
