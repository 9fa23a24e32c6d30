"""Which explanations name a target, and which do not: one mild example per rule."""

from __future__ import annotations

import pytest

from tests.hatexscore.naming import found_in, identified


@pytest.mark.parametrize(
    "text",
    [
        "It attacks Mexicans and the Chinese.",
        "It does not use slurs, but attacks Muslims.",
        "It does not only mock Muslims.",
        "There is no doubt that it attacks Muslims.",
        "The author shows no respect for Muslims.",
        "Without evidence it accuses Muslims of crimes.",
        "It mocks the deaf and the blind.",
        "It says that Muslims are not clever, which demeans them.",
        "The text is about women. It calls them inferior.",
        "It attacks African-American and LGBTQ+ people.",
        "They’re mocking Jehovah’s Witnesses.",
        "The post tells women to get out of the kitchen of others.",
        "The post says that Muslims never belong here.",
        "The note wants Muslims out.",
        "The author wishes all Muslims far away.",
        "It does not attack women, yet calls them fools.",
        "It does not attack the Muslim woman, yet calls her a fool.",
        "The absence of any excuse does not change that it mocks women.",
        "It is an attack on Côte d’Ivoire.",
        "It mocks the Democratic Republic of the Congo.",
        "Black culture is mocked, and so is anti-white hatred.",
        "They demean people based on their race, religion or gender.",
        'The words "go away" are about Muslims.',
        "该文本不仅攻击女性，还攻击黑人群体。",
        "毫无疑问，该文本侮辱了中国人民。",
        "该文本基于种族歧视他人。",
        "该文本不尊重妇女。",
        "该评论“走开！”攻击移民。",
        "该言论针对性少数群体。该言论攻击性少数群体。",
        "이 글은 무슬림뿐만 아니라 유대인도 공격한다.",
        "무슬림을 비하하며, 특정 개인을 겨냥하지 않는다.",
        "이주 노동자와 이주노동자를 모욕한다.",
        "미국인을 조롱한다.",
        "인종을 이유로 차별한다.",
        "무슬림은 사람이 아니라고 비하한다.",
    ],
)
def test_targets(text: str) -> None:
    assert identified(text)


@pytest.mark.parametrize(
    "text",
    [
        "This is racial animosity.",
        "It does not attack Muslims, the disabled, or women.",
        "No group such as women is attacked.",
        "Muslims are mentioned but not attacked.",
        "The post says that Jewish families have always been part of the town.",
        "It claims that Muslims are always welcome.",
        "The note says Muslims never hurt anyone.",
        "The note says that Muslims should be welcome.",
        "The doctor tells women to get a second opinion.",
        "He wishes Muslims a happy feast far away from home.",
        "She wants Muslims to help out at the fair.",
        "It does not attack women, yet calls her neighbour a fool.",
        "It does not attack women, yet calls her a fool.",
        "It neither attacks Jews nor mocks Muslims.",
        "It is an insult to one person, not to any race, religion or gender.",
        "It attacks non-Muslims.",
        "An insult, and my Muslim colleague agrees.",
        "He insults a black car, a blind guess and orthodox methods.",
        "The man who wrote this insults the referee.",
        "The insult compares him to a turkey; this aids nobody.",
        "It looks down on a new, middle-aged native speaker from the south: an insult.",
        "It is rude whatever the age of the account.",
        "He attacks Chinese food.",
        'The slur "white bubble" is an attack.',
        "Conclusion: non-hateful.",
        "穆斯林没有受到攻击。",
        "该文本没有针对任何种族、宗教或性别。",
        "结论：非仇恨。",
        "这是对印度教育的侮辱。",
        "我的穆斯林同事同意这是侮辱。",
        "这是对子女教育的攻击。",
        "이 글은 여성을 비하하는 표현이 아니다.",
        "이 텍스트는 혐오 표현이 아닙니다.",
        "장애인을 겨냥한 것이 아니다.",
        "수단과 방법을 가리지 않고 공격한다.",
        "비장애인을 공격한다.",
        "이 주민들을 공격한다.",
    ],
)
def test_no_targets(text: str) -> None:
    assert not identified(text)


def test_how_a_group_was_found() -> None:
    text = "It attacks a Muslim, Christians, Mexicans, women and their religious group."
    found = {mention.text: mention for mention in found_in(text)}
    assert {name: mention.found_as for name, mention in found.items()} == {
        "Muslim": "term",
        "Christians": "plural",
        "Mexicans": "demonym",
        "women": "added",
        "religious": "category_term",
    }
    assert found["Mexicans"].group == "mexico"
    assert found["Mexicans"].category == "National"
