"""Laws of the normalised text, on texts that people and models write."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.text.normalized import normalize

PIECES = st.sampled_from([
    "not", "hateful", "The", "is", "nicht", " ", "  ", "\t", "\n", "\n\n", "\r\n", ".", ":", ",",
    "- ", "1. ", "# ", "> ", "| ", "Label: ", "**", "*", "_", "`", "```\n", "***", "<b>", "</b>",
    "<br>", "<p>", "<li>", "</li>", "<q>", "</q>", "<user>", "@USER", "[slur]", "&amp;", "&lt;",
    "&gt;", "&nbsp;", "&eacute;", "\\n", '\\"', "\\u00e9", "\\ud83d\\udc00", "…", "...", ". . .",
    "“", "”", "’", '"', "é", "e\u0301", "\u200b", "ﬁ", "Ａ", "か", "ﾞ", "仇恨", "，", "혐오", "ㅋㅋ",
    "🐀", "[a](http://b)", "https://t.co/x", "f*ck", "{", "}", '{"a": "', "\\boxed{x}", "-",
])  # fmt: skip
TEXTS = st.lists(PIECES, max_size=24).map("".join)


@settings(max_examples=600, deadline=None)
@given(TEXTS, st.data())
def test_offsets_are_monotone_and_spans_map_back(text: str, data: st.DataObject) -> None:
    normalized = normalize(text)
    length = len(normalized.text)
    borders = data.draw(st.lists(st.integers(0, length), min_size=3, max_size=3).map(sorted))
    left, middle, right = borders
    start, end = normalized.original(left, right)
    assert 0 <= start <= end <= len(text)
    assert (start < end) or left == right
    for inner in ((left, middle), (middle, right)):
        if inner[0] < inner[1]:
            inner_start, inner_end = normalized.original(*inner)
            assert start <= inner_start < inner_end <= end
    plain = [
        index for index in range(length) if normalized.ends[index] - normalized.starts[index] == 1
    ]
    for index in plain:
        original = text[slice(*normalized.original(index, index + 1))]
        character = normalized.text[index]
        assert original == character or not original.isalnum() or not original.isascii()


@settings(max_examples=600, deadline=None)
@given(TEXTS)
def test_normalised_text_stays_as_it_is(text: str) -> None:
    once = normalize(text).text
    again = normalize(once)
    assert again.text == once
    assert again.original(0, len(once)) == (0, len(once))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The text is not\nhateful.", "The text is not hateful."),
        ("I would not\ncall it hateful: it is\nfine.", "I would not call it hateful: it is fine."),
        ("The text is non-\nhateful", "The text is non-hateful"),
        ("这段文字不\n是仇恨言论。", "这段文字不是仇恨言论。"),
        ("hateful\nThe text attacks a group.", None),
        ("Verdict: hateful\nTarget: women", None),
        ("- one\n- two is not\n  hateful", "- one\n- two is not hateful"),
        ("| a | b |\n| not | hateful |", None),
        ("> not mine\n> at all\nFine", None),
        ("First.\n\nSecond.", None),
        ("# Verdict\nThe text is **not** `hateful`.", "Verdict\n\nThe text is not hateful."),
        ("<b>not</b> hate&shy;ful &amp; it&#39;s<br>fine", "not hateful & it's fine"),
        ("&lt;i&gt;not&lt;/i&gt; hateful", "not hateful"),
        ("<verdict>not hateful</verdict>", "verdict: not hateful"),
        ("Blacks &lt; Whites", "Blacks < Whites"),
        (r'{"reason": "It says \"caf\u00e9\"."}', '{"reason": "It says “café”."}'),
        (r"not\nhateful", "not hateful"),
        (r"Answer: $\boxed{not hateful}$", "Answer: not hateful"),
        ("f**k those sh*t ****** of @USER and [slur]", "f**k those sh*t *** of [USER] and [SLUR]"),
        ("“a … b” . . . ‘c’", "“a ... b” ... ‘c’"),
        ("ㅋㅋㅋ ｈａｔｅ，仇恨！", "ㅋㅋㅋ hate，仇恨！"),
    ],
)
def test_texts_as_people_write_them(text: str, expected: str | None) -> None:
    assert normalize(text).text == (text if expected is None else expected)


@pytest.mark.parametrize(
    "piece",
    [
     "word. ", "[a](", "<b>x</b>\n", "&amp;", "&", '\\"', "*a ", "`a", "é\u0301", "\n", "a\n",
     "<a ", "\\u0026amp;", "# a\n", '{"a": "', "\\boxed{", "ﾞ", ". "],
)  # fmt: skip
def test_a_long_text_takes_less_than_a_second(piece: str) -> None:
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    started = time.process_time()
    normalize(text)
    assert time.process_time() - started < 1.0
