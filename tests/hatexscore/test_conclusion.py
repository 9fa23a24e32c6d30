from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.hatexscore.conclusion import ConclusionStatement, names_label, read_conclusion
from services.hatexscore.conclusion_printed import statement_anywhere
from services.hatexscore.vocabulary import built_in
from services.hatexscore.words import Language, detect_language


def find_conclusion(explanation: str, language: Language) -> ConclusionStatement | None:
    return read_conclusion(explanation, built_in("default"), language).conclusion


HATEFUL = """
The text is hateful.
Conclusion: hateful. There is no ambiguity.
Conclusion: The text is hateful.
**Conclusion**: hateful
{"label": "hateful", "reason": "it attacks a group"}
The text is labelled "hateful".
There is no doubt that the text is hateful.
Without a doubt, this is hate speech.
The text is not only hateful but also dangerous.
The text is not non-hateful.
The text is not overtly hateful, but it is still hate speech.
The text, in my view, is hateful.
The text is offensive and hateful.
I would classify it as hateful
This is a hateful comment.
It meets the definition of hate speech.
Yes, this is hate speech
Hateful.
结论：仇恨
因此，该文本属于仇恨言论。
这无疑是仇恨言论。
不仅是仇恨言论，而且危险
결론: 증오적입니다
이것은 혐오 표현입니다.
혐오 표현에 해당합니다.
이 글은 혐오 표현으로 분류됩니다.
이 댓글은 혐오 발언을 포함하고 있습니다.
""".strip().splitlines()

NON_HATEFUL = """
The text is not hateful.
This is not hate speech.
No, this is not hate speech.
Conclusion: nonhateful
Conclusion: non hateful
Final answer: Non‑hateful
The text is non-hateful and the tone is friendly.
It does not constitute hate speech.
The text isn’t hateful.
while blunt, it does not cross the line into hate speech
The text contains no hate speech.
There is no hate speech in this text.
The text is free of hate speech.
The text is neither offensive nor hateful.
The text is not, in my view, hateful.
I do not think that the text is hateful.
There is no evidence that the text is hateful.
The text cannot be considered hate speech
The text is rude rather than hateful.
Therefore, not hateful.
non-hateful
结论：非仇恨
结论："非仇恨"
该文本不属于仇恨言论。
这段话并不构成仇恨言论。
该文本没有仇恨内容。
该文本不包含任何仇恨言论。
이 텍스트는 비증오적입니다.
이 텍스트는 혐오 표현이 아닙니다
혐오 표현에 해당하지 않습니다.
혐오 표현으로 볼 수 없습니다.
이 텍스트는 증오적이지 않습니다.
""".strip().splitlines()

NO_CONCLUSION = """
Yes.
No.
There is no context, so I cannot decide.
It is unclear whether the text is hateful.
If the text is hateful, it must go.
Is the text hateful?
The text might be hateful.
The author says "this is hateful".
The phrase "the text is hateful" appears.
1. Explicit hate speech: the term is rude.
Hate speech is defined as an attack.
The text is about hate speech.
The text condemns hate speech.
We need to consider explicit and implicit elements of hate speech.
是，
不是，
该评论是否仇恨尚不清楚。
文本批评仇恨言论。
예
아니요
혐오 표현일 수도 있습니다.
이 글은 혐오 표현을 비판합니다.
""".strip().splitlines()


@pytest.mark.parametrize("explanation", HATEFUL)
def test_hateful(explanation: str) -> None:
    found = find_conclusion(explanation, detect_language(explanation))
    assert found is not None
    assert found.label == "hateful"


@pytest.mark.parametrize("explanation", NON_HATEFUL)
def test_non_hateful(explanation: str) -> None:
    found = find_conclusion(explanation, detect_language(explanation))
    assert found is not None
    assert found.label == "non-hateful"


@pytest.mark.parametrize("explanation", NO_CONCLUSION)
def test_no_conclusion(explanation: str) -> None:
    assert find_conclusion(explanation, detect_language(explanation)) is None


def test_the_last_conclusion_wins_and_is_shown() -> None:
    explanation = "At first sight the text is hateful. But it is a joke. It is not hateful. Thanks!"
    found = find_conclusion(explanation, "en")
    assert found is not None
    assert (found.label, explanation[found.start : found.end]) == (
        "non-hateful",
        "It is not hateful.",
    )


def test_the_paper_counts_a_statement_anywhere() -> None:
    quoted = 'The author claims "the text is hateful" twice.'
    assert find_conclusion(quoted, "en") is None
    assert statement_anywhere(quoted, "en") is not None


@pytest.mark.parametrize(
    "quoted", ["hateful", "Non-hateful", "not hateful", "非仇恨", "비증오적인"]
)
def test_a_label_is_no_quotation(quoted: str) -> None:
    assert names_label(quoted)
    assert not names_label(quoted + " neighbours")


@given(st.text(max_size=200), st.sampled_from(["en", "zh", "ko"]))
def test_any_unicode_is_survived(text: str, language: str) -> None:
    for explanation in (text, f"Conclusion: {text} hateful", f"{text}仇恨", f"혐오 {text}"):
        found = find_conclusion(explanation, detect_language(explanation))
        if found is not None:
            assert 0 <= found.start < found.end <= len(explanation)
