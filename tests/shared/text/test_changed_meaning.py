"""Near texts that say something else, and near texts that do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.text.changed_meaning import changes_meaning

TEXT = "those newcomers never took every seat on the morning bus in our quiet town"


@pytest.mark.parametrize(
    ("said", "original"),
    [
        ("They should be allowed to stay", "They should not be allowed to stay"),
        ("I think women are wrong", "I don't think women are wrong"),
        ("Refugees aren't welcome", "Refugees are welcome"),
        ("they are unwelcome here", "they are welcome here"),
        ("we always hate the food", "we always love the food"),
        ("about 100 of them", "about 10 of them"),
        ("somebody should go", "nobody should go"),
        ("the Romani came", "the Romans came"),
        ("他们是好人", "他们不是好人"),
        ("그들은 나쁘다", "그들은 나쁘지 않다"),
    ],
)
def test_what_changes_the_meaning(said: str, original: str) -> None:
    assert changes_meaning(said, original, names={"romani"})
    assert changes_meaning(original, said, names={"romani", "romans"})


@pytest.mark.parametrize(
    ("said", "original"),
    [
        ("took evry seat on the", "took every seat on the"),
        ("the newcommers in town", "the newcomers of town"),
        ("dont want them", "do not want them"),
        ("he steal cars", "he steals cars"),
        ("占了公车上的座位", "占了公交车上的座位"),
        ("자리를 다 차지햇다", "자리를 다 차지했다"),
    ],
)
def test_what_does_not(said: str, original: str) -> None:
    assert not changes_meaning(said, original)
    assert not changes_meaning(original, said)


@given(st.integers(0, 13), st.sampled_from(["not", "no", "never", "100"]))
def test_a_word_that_decides_is_noticed_wherever_it_is_put(place: int, word: str) -> None:
    words = TEXT.split()
    changed = " ".join([*words[:place], word, *words[place:]])
    assert changes_meaning(changed, TEXT)
    assert changes_meaning(TEXT, changed)
    assert not changes_meaning(TEXT.upper(), TEXT)
