"""JSON, tags and TeX around an explanation are no words of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.explanation import ParsedExplanation
from services.hatexscore.quotes import plain_format, quotations
from services.hatexscore.variants import VARIANTS

TEXT = "These lazy tourists only come for the benefits"
SAID = 'It calls immigrants "lazy tourists", which demeans them.'
forms = st.text(alphabet=st.sampled_from("{}[]:,\"'\\<>/ab \n"), max_size=60)


def read(explanation: str) -> ParsedExplanation:
    request = HatexscoreRequest(text=TEXT, explanation=explanation, language="en")
    return VARIANTS["robust"].read([request])[0]


@given(st.one_of(st.text(max_size=80), forms))
def test_every_character_comes_from_its_place(explanation: str) -> None:
    plain = plain_format(explanation, TEXT)
    assert len(plain.text) == len(plain.starts) == len(plain.ends)
    assert plain.starts == sorted(plain.starts)
    assert all(
        0 <= start < end <= len(explanation)
        for start, end in zip(plain.starts, plain.ends, strict=True)
    )


@given(
    st.permutations(["label", "reason", "target", "evidence", "confidence"]),
    st.sampled_from([None, 0, 2]),
    st.sampled_from(["hateful", "non-hateful"]),
    st.booleans(),
)
def test_an_object_reads_as_its_fields(
    order: list[str], indent: int | None, label: str, fenced: bool
) -> None:
    """Whatever the order and the layout: one verdict, one group, and what is quoted, no more."""
    fields = {
        "label": label,
        "reason": SAID,
        "target": "immigrants",
        "evidence": ["only come", "for the benefits"],
        "confidence": 0.9,
    }
    written = json.dumps({name: fields[name] for name in order}, indent=indent)
    found = read(f"```json\n{written}\n```" if fenced else written)
    assert found.stated_decision == label
    assert {group.text for group in found.groups if group.counts} == {"immigrants"}
    assert [quote.text for quote in found.quoting.evidence] == [
        "lazy tourists",
        "only come",
        "for the benefits",
    ]
    assert found.quoting.hallucinated == ()


def test_a_brace_in_prose_is_no_object() -> None:
    said = 'The set {1, 2} and the words "lazy tourists", "only come" are hateful.'
    assert [one.text for one in quotations(plain_format(said).text)] == [
        "lazy tourists",
        "only come",
    ]


def test_the_variants_of_old_read_the_explanation_as_sent() -> None:
    asked = {"text": TEXT, "explanation": json.dumps({"label": "hateful", "why": SAID})}
    for name in ("paper", "reference"):
        request = HatexscoreRequest.model_validate({**asked, "variant": name, "language": "en"})
        assert VARIANTS[request.variant].read([request])[0].stated_decision == "hateful"


SAID_IN_FIELDS: dict[str | None, tuple[str, ...]] = {
    "hateful": ("yes", "T", "ja", "oui", "да", "\u2705", "high"),
    "non-hateful": (
        *("No", "F", "nein", "нет", "\u274e", "absent"),
        *("not flagged", "negligible", "해당 없음"),
    ),
    None: ("unclear", "N/A", "undetermined", "not known", "maybe"),
}


def test_yes_and_no_are_the_words_of_whoever_reads_fields() -> None:
    """`shared.readers.decision_words`, as answers that models are asked for are read."""
    for label, values in SAID_IN_FIELDS.items():
        for value in values:
            for form in ("Hateful: {}", "- **Hate speech:** {}", '{{"hateful": "{}"}}'):
                line = form.format(value)
                assert read(line).stated_decision == label, line


@pytest.mark.parametrize(
    ("explanation", "label"),
    [
        ("Category: hate speech\nViolation: none", "non-hateful"),
        ('{"policy": "hate speech", "violation": false}', "non-hateful"),
        ("Category: hate speech\nVerdict: no violation", "non-hateful"),
        ("Category: hate speech\nViolation: yes", "hateful"),
    ],
)
def test_a_field_on_the_violation_decides_before_its_topic(
    explanation: str, label: str | None
) -> None:
    assert read(explanation).stated_decision == label


def test_of_boxes_what_is_ticked_is_said() -> None:
    for boxes in ["(x) {} ( ) {}", "[x] {}\n[ ] {}", "\u25a1 {1}\n\u2705 {0}"]:
        for ticked, other in (("hateful", "not hateful"), ("not hateful", "hateful")):
            said = "non-hateful" if ticked.startswith("not") else "hateful"
            assert read(boxes.format(ticked, other)).stated_decision == said
