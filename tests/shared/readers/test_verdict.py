"""What the reader says of an explanation depends on its words alone, not on how they are laid out
or on what is read beside them."""

from __future__ import annotations

import numpy as np
import pytest

from services.hatexscore.vocabulary import built_in
from shared.models.catalogue.checkpoint import e5_path
from shared.models.ports import Floats
from shared.readers.model import LABELS, OUTPUTS, PLACES, ask
from shared.readers.verdict import LONGEST, WINDOW, VerdictRead, VerdictText, read_verdicts
from shared.text.normalized import normalize
from tests.wording import check

pytestmark = pytest.mark.usefixtures("_embedded_models")

PLAIN = (  # mild ones, in the languages that it reads
    ("I would call this post hateful because it insults a whole nation.", "hateful"),
    ("The comment complains about the bus. It is not hateful.", "non-hateful"),
    ("Der Beitrag ist nicht hasserfüllt, er beschwert sich nur über das Wetter.", "non-hateful"),
    ("Wir stufen den Kommentar als Hassrede ein.", "hateful"),
    ("Ce message n'est pas haineux.", "non-hateful"),
    ("El comentario es discurso de odio contra los vecinos noruegos.", "hateful"),
    ("Il post non è un discorso d'odio.", "non-hateful"),
    ("A publicação não é discurso de ódio.", "non-hateful"),
    ("这条评论属于仇恨言论。", "hateful"),
    ("이 글은 혐오 표현이 아니다.", "non-hateful"),
    ("The post says that Norwegians sing at night.", None),
    ("Decide whether the following post is hateful or not.", None),
)


def read_one(text: str) -> VerdictRead:
    plain = normalize(text).text
    return read_verdicts([VerdictText(plain, built_in("default").marks(plain))])[0]


def read(text: str) -> str | None:
    return read_one(text).label


def test_plain_sentences_are_read() -> None:
    rows = [{"text": text, "expected": label} for text, label in PLAIN]
    check(rows, lambda row: read(row["text"]), floor=0.9, inverted=0)


@pytest.mark.parametrize("layout", ["{} is\nnot hateful.", "{} is <b>not</b> hateful."])
def test_layout_changes_no_verdict(layout: str) -> None:
    assert read(layout.format("The post")) == read("The post is not hateful.") == "non-hateful"


def test_a_row_does_not_depend_on_its_company() -> None:
    asked = [f"verdict: {text}" for text, _ in PLAIN]
    together = ask("verdict", asked)
    alone = [ask("verdict", [one])[0] for one in asked]
    assert [row.tolist() for row in alone] == together.tolist()


def test_a_reading_of_one_label_sums_to_one() -> None:
    assert sum(len(labels) for labels in LABELS.values()) == len(OUTPUTS)
    for reading, labels in LABELS.items():
        assert OUTPUTS[PLACES[reading]] == tuple(f"{reading}: {label}" for label in labels)
        row = ask(reading, [f"{reading}: The post is fine."])
        assert ((row >= 0) & (row <= 1)).all()
        assert reading == "reasons" or row.sum() == pytest.approx(1)


def test_the_words_of_the_post_are_not_read() -> None:
    """A verdict that stands in a quotation of the post is none of the explanation's."""
    text = 'The author writes "this post is hateful" about a song.'
    start = text.index("this post")
    quoted = VerdictText(text, quoted=[(start, start + len("this post is hateful"))])
    assert quoted.part(0, len(text)) == 'verdict: The author writes "[quote]" about a song.'


def test_the_evidence_is_the_sentence_that_says_it() -> None:
    text = "It calls Poles lazy. The post is clearly hateful. It was posted in May."
    found = read_one(text)
    assert found.span is not None
    assert text[slice(*found.span)] == "The post is clearly hateful."


def test_a_long_explanation_is_read_in_windows() -> None:
    filler = "The author describes the market, the weather and the way home in some detail. "
    text = filler * (2 * LONGEST // len(filler)) + "In my judgement the post is not hateful."
    found = read_one(text)
    assert found.label == "non-hateful"


def test_windows_are_read_where_the_whole_leaves_its_verdict_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    verdict = "I judge the post to be hateful. "
    text = verdict + "The author describes the market and the way home in some detail. " * 12

    def sure_of_short_ones(reading: str, asked: list[str]) -> Floats:
        sure = [(1.0, 0.0, 0.0) if verdict[:20] in one else (0.0, 0.0, 1.0) for one in asked]
        rows = zip(asked, sure, strict=True)
        return np.array([(0.8, 0.0, 0.2) if len(one) > WINDOW + 20 else row for one, row in rows])

    monkeypatch.setattr("shared.readers.verdict.ask", sure_of_short_ones)
    found = read_one(text)
    assert (found.label, found.span) == ("hateful", (0, len(verdict.strip())))


def test_opposite_windows_are_unread() -> None:
    filler = "The author describes the market, the weather and the way home in some detail. "
    between = filler * (LONGEST // len(filler) + 1)
    text = f"I judge this post to be hateful. {between} I judge this post not to be hateful."
    found = read_one(text)
    assert (found.label, found.is_read) == (None, False)


def test_the_tokenizer_reads_every_script() -> None:
    """Against pieces that XLM-RoBERTa's own tokenizer gives for these words."""
    from services.inference.embedded.e5 import e5_tokenizer, read_e5

    tokenizer = e5_tokenizer(read_e5(e5_path()))
    assert tokenizer.tokenize("query: how much protein") == [
        *("▁que", "ry", ":", "▁how", "▁much", "▁protein"),
    ]
    assert tokenizer.tokenize("每天需要多少蛋白质") == ["▁", "每天", "需要", "多少", "蛋白", "质"]
    assert tokenizer("").input_ids == [0, 2]
