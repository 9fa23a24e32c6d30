"""What an explanation states and whom it says is attacked, as the trained reader reads it.

Laws of the form that a text has, and floors of accuracy by file. The sentences are ours and mild.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from services.hatexscore.conclusion import ConclusionRead, ConclusionText, read_conclusions
from services.hatexscore.contract import CONTRACT, HatexscoreRequest
from services.hatexscore.explanation import ParsedExplanation
from services.hatexscore.variants import VARIANTS
from services.hatexscore.vocabulary import built_in, custom_vocabulary
from shared.readers.verdict import SURE
from shared.text.normalized import normalize
from tests.flat_requests import flat_request
from tests.hatexscore.naming import identified
from tests.wording import Row, check, check_pairs, load

DATA = Path(__file__).parent / "data"
GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "conclusions.jsonl"
SENTENCES = (
    "I looked for slurs, threats and dehumanising comparisons and found none of them; the "
    "complaint concerns a company. Therefore the content does not amount to hate speech under the "
    "policy and no action is needed.",
    "The author grumbles about public transport and uses a few strong words, yet nobody is "
    "attacked because of who they are, so I come to the conclusion that this post is not "
    "hateful at all.",
    "The post calls newcomers a plague and asks for them to be sent away, which targets people for "
    "where they come from. It is hateful and it cannot stay on the platform as it is.",
    "The text is not hateful.",
    "This isn't hate speech.",
    "The post is hateful.",
)
ASK = {"text": "They ruin our town, send them home.", "language": "en"}


def read(explanations: Sequence[str], vocabulary: Any = "default") -> list[ConclusionRead]:
    words = custom_vocabulary(vocabulary) if isinstance(vocabulary, dict) else built_in(vocabulary)
    return read_conclusions([ConclusionText(normalize(one), words) for one in explanations])


def labels(explanations: Sequence[str], vocabulary: Any = "default") -> list[str | None]:
    found = read(explanations, vocabulary)
    return [one.statement.label if one.statement else None for one in found]


def forms(sentence: str) -> Iterator[str]:
    """The same words, as other programs send them."""
    for width in range(40, 81, 8):
        yield textwrap.fill(sentence, width)
    yield f"<p>{sentence}</p>"
    yield sentence.replace(" not ", " <b>not</b> ").replace("hateful", "<i>hateful</i>")
    yield sentence.replace(" not ", " not&nbsp;").replace("'", "&#39;")
    yield json.dumps(sentence)[1:-1]
    yield json.dumps({"reasoning": sentence})
    yield sentence.replace(" ", "\u00a0").replace("not", "n\u200bot")


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_form_of_a_text_changes_no_verdict(sentence: str) -> None:
    written = [sentence, *forms(sentence)]
    assert len(set(labels(written))) == 1
    assert labels(written[:1]) != [None]


def test_a_row_does_not_depend_on_its_company() -> None:
    requests = [
        flat_request(HatexscoreRequest, ASK | {"explanation": said})
        for said in (*SENTENCES, "It insults Muslims. Hateful.", "", "It speaks of a bus.")
    ]
    alone = [VARIANTS["robust"].read([request])[0] for request in requests]
    assert VARIANTS["robust"].read(requests) == alone
    mixed = sorted(enumerate(requests), key=lambda one: one[0] * 7 % len(requests))
    shuffled = VARIANTS["robust"].read([request for _, request in mixed])
    assert shuffled == [alone[place] for place, _ in mixed]


def test_the_sentence_of_the_verdict_is_shown_with_its_probability() -> None:
    said = "  <p>It speaks of a bus &amp; a town.</p>\n<p>I find that the post is hateful.</p>"
    [found] = read([said])
    assert found.statement is not None
    shown = said[found.statement.start : found.statement.end]
    assert shown == "I find that the post is hateful."
    assert found.statement.by == "reader"
    assert found.statement.probability is not None
    assert SURE <= found.statement.probability <= 1


def test_what_is_sure_to_state_nothing_is_no_null() -> None:
    [empty, bus, listed] = read(["", "It speaks of a bus and of a town.", "hateful / not hateful"])
    for one in (empty, bus, listed):
        assert (one.statement, one.is_read) == (None, True)


def test_a_verdict_in_the_callers_words_is_read() -> None:
    own = {"hateful": ["HOF"], "non-hateful": ["NOT"]}
    assert labels(["The tweet is HOF.", "Label: NOT", "I rate it as NOT."], own) == [
        "hateful",
        "non-hateful",
        "non-hateful",
    ]
    assert labels(["Label: toxic", "I rate it as non-toxic."], "toxicity") == [
        "hateful",
        "non-hateful",
    ]


CLASSES = {"hateful": ["hate speech"], "insulting": ["insulting"], "non-hateful": ["fine"]}


def test_a_further_class_is_read_apart_from_hate_and_from_none() -> None:
    said = [
        "Label: offensive",
        "I call this offensive rather than hate speech.",
        "This is hate speech, not merely offensive.",
        "The post is neither hateful nor offensive. It is normal.",
        "Class: normal",
    ]
    expected = ["offensive", "offensive", "hateful", "non-hateful", "non-hateful"]
    assert labels(said, "three-way") == expected
    assert labels(["The post is insulting but no hate speech.", "It is fine."], CLASSES) == [
        "insulting",
        "non-hateful",
    ]


BESIDE = (
    "Offensive, but not hate speech.",
    "This is offensive language rather than hate speech.",
    "The post is offensive but does not constitute hate speech.",
    "It is rude and offensive. It is not hate speech.",
    "This isn't hateful, it is offensive.",
    "The tweet is offensive, though it falls short of hate speech.",
    "I'd classify it as offensive, not as hate speech.",
    "This does not amount to hate speech; it is merely offensive.",
    "Rather than hate speech, this is offensive language.",
    "The language is offensive. However, no group is attacked, so it is not hate speech.",
    "该帖子具有冒犯性，但不是仇恨言论。",
    "这属于冒犯性言论，不构成仇恨言论。",
)
APART = (
    "This is hate speech, not merely offensive.",
    "Neither offensive nor hate speech.",
    "The post is normal, not offensive.",
    "This is not just offensive, it is hateful.",
    "The post isn't offensive, let alone hate speech.",
    "I would not call this offensive or hateful.",
    "The post is offensive and hateful.",
    "The post condemns offensive jokes and is not hateful.",
)


def test_a_class_beside_hate_that_is_denied_is_stated() -> None:
    assert labels(BESIDE, "three-way") == ["offensive"] * len(BESIDE)
    assert "offensive" not in labels(APART, "three-way")
    denied = ["It is not offensive and not hate speech.", "It has no offensive or hateful words."]
    assert "hateful" not in labels(denied, "three-way")
    assert labels(denied[:1], "three-way") == ["non-hateful"]


def test_to_deny_hate_names_none_of_the_other_classes() -> None:
    [denied, named] = read(["This is not hate speech.", "The post is normal."], "three-way")
    assert denied.statement is not None
    assert named.statement is not None
    assert (denied.statement.is_named, named.statement.is_named) == (False, True)
    [binary] = read(["This is not hate speech."])
    assert binary.statement is not None
    assert binary.statement.is_named


STATED = {
    "en": ("I find that the post is hateful.", "The post is not hate speech."),
    "de": ("Der Beitrag ist hasserfüllt.", "Der Beitrag ist keine Hassrede."),
    "fr": ("Ce message est haineux.", "Ce message n'est pas haineux."),
    "es": ("El mensaje es discurso de odio.", "El mensaje no es discurso de odio."),
    "it": ("Il messaggio è un discorso d'odio.", "Il messaggio non è un discorso d'odio."),
    "pt": ("A mensagem é discurso de ódio.", "A mensagem não é discurso de ódio."),
    "zh": ("这条帖子属于仇恨言论。", "这条帖子不构成仇恨言论。"),
    "ko": ("이 글은 혐오 표현입니다.", "이 글은 혐오 표현이 아닙니다."),
}


def test_eight_languages_are_read() -> None:
    found = [labels(both) for both in STATED.values()]
    assert sum(both == ["hateful", "non-hateful"] for both in found) >= len(STATED) - 1
    assert all(label != "non-hateful" for label, _ in found)
    assert all(label != "hateful" for _, label in found)


@pytest.mark.parametrize("name", CONTRACT.examples)
def test_every_example_of_the_contract_states_a_conclusion(name: str) -> None:
    [found] = VARIANTS["robust"].read([HatexscoreRequest.model_validate(CONTRACT.examples[name])])
    assert found.htc == 1
    assert found.stated_decision == found.label


def whole(rows: Sequence[Row]) -> list[ParsedExplanation]:
    return VARIANTS["robust"].read(
        [
            HatexscoreRequest(
                text=row["text"],
                explanation=row["explanation"],
                decision=row.get("decision", "hateful"),
                options={"labels": row.get("labels")},
            )
            for row in rows
        ]
    )


@pytest.mark.parametrize(
    ("language", "verdicts", "groups"),
    [("en", 0.97, 0.93), ("ko", 0.98, 0.92), ("zh", 0.98, 0.98), ("xx", 0.93, 0.9)],
)
def test_whole_explanations_are_read(language: str, verdicts: float, groups: float) -> None:
    """`xx`: five other languages, and one that is not read. English, Chinese and Korean verdicts
    are among the texts that the reader learned from."""
    rows = load(DATA / f"explanations.{language}.jsonl")
    found = whole(rows)
    both = list(zip(rows, found, strict=True))
    check_pairs(((row, row["expected"]["htc"], one.stated_decision) for row, one in both), verdicts)
    right = sum(one.tgi == row["expected"]["tgi"] for row, one in both)
    assert right >= groups * len(rows)
    quoted = (
        (
            row,
            sorted(row["expected"]["quotes"]),
            sorted({one.text for one in each.quoting.evidence}),
        )
        for row, each in both
    )
    check_pairs(quoted, floor=0.97, inverted=0.02)


def test_a_target_is_identified() -> None:
    check(load(DATA / "targets.jsonl"), lambda row: identified(row["text"]), floor=0.8, inverted=1)


def test_an_attack_is_told_from_counter_speech() -> None:
    """Of non-hateful decisions, whose explanations seldom speak of an attack."""
    rows = load(DATA / "attacks.jsonl")
    attacked = [
        any(group.attacked for group in one.groups)
        for one in whole([row | {"decision": "non-hateful"} for row in rows])
    ]
    pairs = zip(rows, attacked, strict=True)
    check_pairs(((row, row["expected"], one) for row, one in pairs), floor=0.7, inverted=0.1)


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden files are on development machines")
def test_golden_conclusions_are_read() -> None:
    rows = [row for row in load(GOLDEN) if row["vocabulary"] != "three-way"]  # it has two classes
    found = [read([row["explanation"]], row["vocabulary"])[0] for row in rows]
    stated = [(row, one) for row, one in zip(rows, found, strict=True) if row["expected"]]
    check_pairs(
        ((row, row["expected"], one.statement and one.statement.label) for row, one in stated),
        floor=0.95,
        inverted=0.005,
    )
    false = sum(
        one.statement is not None and not row["expected"]
        for row, one in zip(rows, found, strict=True)
    )
    assert false <= 0.06 * (len(rows) - len(stated))
    right = [
        (row, one.statement)
        for row, one in stated
        if one.statement and one.statement.label == row["expected"]
    ]
    assert sum(placed(row, one.start, one.end) for row, one in right) >= 0.97 * len(right)


def placed(row: Row, first: int, last: int) -> bool:
    """Does the reported sentence cover half of the expected one?"""
    span = row["conclusion_span"]
    start, end = (span["start"], span["end"]) if isinstance(span, dict) else span
    return bool(2 * (min(end, last) - max(start, first)) >= end - start)
