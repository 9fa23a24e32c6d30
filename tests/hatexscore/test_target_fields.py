"""A group in a field for the target is one, whatever the form; a denied field names nobody."""

from __future__ import annotations

from itertools import product

import pytest

from services.hatexscore.quotes import plain_format
from tests.hatexscore.naming import found_in, identified

GROUPS = ("Muslims", "Black women", "refugees", "Poles", "deaf people", "gay men", "Jews")
KEYS = (
    "target",
    "Targets",
    "target_group",
    "protected_class",
    "Protected group",
    "targeted community",
    "victims",
    "identity group",
    "who",
    "affected population",
    "Target identity",
    "object of the attack",
)
FORMS = (
    "{key}: {group}",
    "- {key}: {group}",
    "* **{key}:** {group}",
    "| {key}: {group} | verdict: hateful |",
    "| {key} | {group} |\n|---|---|\n| verdict | hateful |",
    "| id | {key} | label |\n|---|---|---|\n| 1 | {group} | hateful |",
    "id,{key},label\n7,{group},hateful",
    "{key} = {group}; label = hateful",
    "{key} -> {group}",
    '{{"{key}": "{group}", "label": "hateful"}}',
    '{{"{key}": ["{group}"], "label": "hateful"}}',
    "{key}:\n  - {group}\nlabel: hateful",
    '{key}: "{group}"\nlabel: hateful',
    "[{key}] {group} [LABEL] hateful",
    "{key} ........ {group}",
    "<{key}>{group}</{key}><label>hateful</label>",
    "1) {key}? {group}.\n2) Hateful? Yes.",
    "label: hateful, {key}: {group}",
    "Q: {key}? A: {group}. Q: Final? A: Hateful.",
    "Q1: {key}?\nA1: {group}.\nQ2: Final?\nA2: Hateful.",
)
TAGS = "<{key}>"  # a name of a tag has no blank


@pytest.mark.parametrize("form", FORMS)
def test_a_group_in_a_field_of_the_target_is_identified(form: str) -> None:
    missed = [
        (key, group)
        for key, group in product(KEYS, GROUPS)
        if not (" " in key and form.startswith(TAGS))
        if not identified(plain_format(form.format(key=key, group=group)))
    ]
    assert missed == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", ["mentioned", "groups mentioned", "speaker", "not targeted"])
def test_a_group_that_is_merely_mentioned_is_not(form: str, key: str) -> None:
    if form.startswith(TAGS) and " " in key:
        return
    text = plain_format(form.format(key=key, group="Muslims").replace("hateful", "none"))
    assert not identified(text)


@pytest.mark.parametrize(
    "text",
    [
        "target: none (Muslims are merely mentioned)",
        "Target? None; Muslims are mentioned.",
        "victims: n/a, though Muslims come up",
        "| target | none, Muslims are praised |",
        "目标：无，只是提到穆斯林",
        "대상: 없음 (무슬림 언급)",
    ],
)
def test_a_field_that_names_nobody(text: str) -> None:
    assert not identified(text)


@pytest.mark.parametrize(
    "text",
    [
        "Step 1: find the target. Muslims.\nStep 2: decide.",
        "Who is the text about? Muslims.",
        "Against whom? Against Muslims.",
        "1. **Who?** Muslims",
        "Let me identify the group that is attacked. The Muslims.",
        "目标：穆斯林",
        "目标群体：穆斯林\n结论：仇恨",
        "대상: 무슬림",
        "표적 집단: 무슬림\n결론: 혐오",
    ],
)
def test_an_answer_to_the_question_for_the_target(text: str) -> None:
    assert identified(text)


ATTACKED = (
    "{group} are insulted.",
    "target: {group}",
    'It says of {group} that they are "lazy" and mocks them.',
)
NOT_ATTACKED = (
    'Of {group} it says "so kind", and it attacks nobody.',
    'Of {group} it says "so kind". It is not aimed at anybody.',
    'Of {group} it says "so kind". No one is mocked.',
    'It speaks affectionately of {group}: "so kind".',
    'It is fond of {group}, "so kind".',
    'It insults no one; {group} are "so kind".',
    "mentioned: {group}\nattack: none\nlabel: non-hateful",
    "target: {group}\nattack: no\nlabel: non-hateful",
    "protected_class: {group}\nlabel: not hateful",
    "{group} | label: non-hateful",
)


@pytest.mark.parametrize("form", ATTACKED)
def test_an_attack_is_one_of_a_non_hateful_decision_too(form: str) -> None:
    for group in GROUPS:
        (mention,) = found_in(form.format(group=group), hateful=False)[-1:]
        assert mention.attacked, (group, form)


@pytest.mark.parametrize("form", NOT_ATTACKED)
def test_a_denied_attack_is_none(form: str) -> None:
    for group in GROUPS:
        found = found_in(form.format(group=group), hateful=False)
        assert found
        assert not any(mention.attacked for mention in found), (group, form)


@pytest.mark.parametrize(
    "text",
    [
        "It attacks nobody but Muslims.",
        "It mocks no one other than Muslims.",
        "It insults no less than all Muslims.",
        "It attacks Muslims, and no one objects.",
    ],
)
def test_an_exception_is_attacked(text: str) -> None:
    assert identified(text)
