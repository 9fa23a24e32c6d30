"""A group in a field for the target is one, whatever the form; a denied field names nobody."""

from __future__ import annotations

from itertools import product

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


def test_a_group_in_a_field_of_the_target_is_identified() -> None:
    for form in FORMS:
        missed = [
            (key, group)
            for key, group in product(KEYS, GROUPS)
            if not (" " in key and form.startswith(TAGS))
            if not identified(plain_format(form.format(key=key, group=group)).text)
        ]
        assert missed == []


def test_a_group_that_is_merely_mentioned_is_not() -> None:
    for form in FORMS:
        for key in ["mentioned", "groups mentioned", "speaker", "not targeted"]:
            if form.startswith(TAGS) and " " in key:
                continue
            said = form.format(key=key, group="Muslims").replace("hateful", "none")
            text = plain_format(said).text
            assert not identified(text)


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


def test_an_attack_is_one_of_a_non_hateful_decision_too() -> None:
    for form in ATTACKED:
        for group in GROUPS:
            (mention,) = found_in(form.format(group=group), hateful=False)[-1:]
            assert mention.attacked, (group, form)


def test_a_denied_attack_is_none() -> None:
    for form in NOT_ATTACKED:
        for group in GROUPS:
            found = found_in(form.format(group=group), hateful=False)
            assert found
            assert not any(mention.attacked for mention in found), (group, form)
