"""Every key, verb, subject and word that the rules of real explanations list, one form at a time.

The lists are those of the specification of HateXScore 2.0, sections 2 and 3: label lines, nouns for
a text, verbs of judging, predications, negations, and the words of the built-in vocabularies.
"""

from __future__ import annotations

from itertools import product

from services.hatexscore.conclusion import read_conclusion
from services.hatexscore.quotes import plain_format
from services.hatexscore.report import VocabularyName
from services.hatexscore.vocabulary import built_in
from services.hatexscore.words import detect_language

H, N = "hateful", "non-hateful"
KEYS = (
    "Label",
    "Verdict",
    "Conclusion",
    "Decision",
    "Classification",
    "Class",
    "Category",
    "Prediction",
    "Answer",
    "Rating",
    "Result",
    "Judgement",
)
LINES = (
    "{key}: {word}",
    "**{key}:** {word}",
    "{key} - {word}",
    '"{key}": "{word}"',
    "{key} = {word}",
    '{key}: "{word}"',
    "{key}: [{word}]",
    "{key}: {word} (severe)",
    "# {key}\n{word}",
    "The reason is below.\n{key}: {word}\nSome more words here.",
)
ENGLISH = (("hateful", H), ("HATEFUL", H), ("non-hateful", N), ("not hateful", N))
CHINESE = (("仇恨", H), ("仇恨言论", H), ("非仇恨", N))
KOREAN = (("혐오", H), ("혐오 표현", H), ("비혐오", N))
NOUNS = (
    "text",
    "post",
    "comment",
    "tweet",
    "message",
    "statement",
    "sentence",
    "remark",
    "caption",
    "headline",
    "review",
    "reply",
    "response",
    "answer",
    "output",
    "prompt",
    "conversation",
    "paragraph",
    "passage",
    "lyric",
    "joke",
    "meme",
    "article",
    "question",
    "content",
    "wording",
    "language",
)
SUBJECTS = [f"{one} {noun}" for one in ("the", "this", "the user's") for noun in NOUNS]
SUBJECTS += [f"{one} {noun}" for one in ("that", "the given") for noun in ("text", "reply")]
OF_A_SUBJECT = (
    ("{} is hateful.", H),
    ("{} is not hateful.", N),
    ("I consider {} hateful.", H),
    ("{} contains hate speech.", H),
    ("{} does not constitute hate speech.", N),
    ("{} lacks any hate.", N),
)
VERBS = (
    "classify",
    "label",
    "categorise",
    "consider",
    "deem",
    "judge",
    "regard",
    "flag",
    "mark",
    "rate",
    "grade",
    "call",
    "treat",
    "see",
    "assess",
    "describe",
)
VOCABULARIES: dict[VocabularyName, tuple[str, str]] = {
    "default": (
        "hateful|toxic|offensive|abusive|harmful|unsafe|derogatory|demeaning|discriminatory"
        "|policy-violating|not allowed",
        "normal|safe|benign|harmless|acceptable|appropriate|inoffensive|neutral|clean|ordinary"
        "|compliant|allowed",
    ),
    "toxicity": (
        "toxic|abusive|harmful|offensive|insulting",
        "non-toxic|benign|harmless|clean|civil|normal",
    ),
    "safety": ("unsafe|not safe|harmful", "safe|harmless"),
    "policy": (
        "in violation of the rules|against the policy|against the guidelines|not allowed",
        "compliant|within the guidelines|allowed",
    ),
    "three-way": ("hateful|hate speech", "non-hateful|not hate speech|normal|offensive|abusive"),
    "sentiment-free": ("hateful|toxic", "safe|benign"),
}  # fmt: skip


def label(text: str, vocabulary: VocabularyName = "hate") -> str | None:
    read = read_conclusion(plain_format(text).text, built_in(vocabulary), detect_language(text))
    return read.conclusion.label if read.conclusion else None


def test_label_lines() -> None:
    for key, line in [*product(KEYS, LINES)]:
        for word, expected in ENGLISH:
            assert label(line.format(key=key, word=word)) == expected, word


def test_label_lines_in_chinese_and_korean() -> None:
    for line in LINES[:2]:
        for keys, words in (("标签 结论 判断 分类 答案", CHINESE), ("라벨 결론 판단 분류", KOREAN)):
            for key, (word, expected) in product(keys.split(), words):
                assert label(line.format(key=key, word=word)) == expected, (key, word)


def test_nouns_for_a_text() -> None:
    for subject in SUBJECTS:
        for form, expected in OF_A_SUBJECT:
            said = form.format(subject)
            assert label(said[0].upper() + said[1:]) == expected, form


def test_verbs_of_judging() -> None:
    for verb in VERBS:
        assert label(f"I {verb} the post as hateful.") == H
        assert label(f"I would {verb} this as hateful.") == H
        assert label(f"I do not {verb} the post as hateful.") == N


def test_words_of_a_vocabulary() -> None:
    for name in VOCABULARIES:
        for words, expected in zip(VOCABULARIES[name], (H, N), strict=True):
            for word in words.split("|"):
                assert label(f"The post is {word}.", name) == expected, word


def test_denied_words_that_say_nothing() -> None:
    assert label("The post is not offensive.", "three-way") is None
    assert label("It is not hate speech, but toxic.", "toxicity") == H
    for word in ("offensive", "normal", "neutral", "clean", "ordinary", "appropriate"):
        assert label(f"The post is {word}.", "sentiment-free") is None


def test_rules_broken_with_words_between() -> None:
    assert label("该内容违反了平台规定。", "default") == H
    assert label("该内容没有违反平台规定。", "default") == N
    assert label("The comment breaks none of our rules.", "policy") == N
    assert label("The comment breaks two of our rules.", "policy") == H
