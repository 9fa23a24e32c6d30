"""Which outputs stand for which label, without and with a word of the user; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.contracts.labels import (
    CANONICAL,
    Head,
    LabelKeys,
    LabelMapping,
    label_mapping,
    predict_label,
)

MULTI = "multi_label_classification"
JIGSAW = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")


def mapped(names: tuple[str, ...], problem_type: str | None = None, **keys: Any) -> LabelMapping:
    return label_mapping(LabelKeys.model_validate(keys), Head(names, problem_type))


@pytest.mark.parametrize(
    ("outputs", "by_label"),
    [
        (("non-hateful", "hateful"), {"non-hateful": "non-hateful", "hateful": "hateful"}),
        (("Non_Hateful", "HATEFUL"), {"non-hateful": "Non_Hateful", "hateful": "HATEFUL"}),
        (("nothate", "hate"), {"non-hateful": "nothate", "hateful": "hate"}),
        (("NOT-HATE", "Hate Speech"), {"non-hateful": "NOT-HATE", "hateful": "Hate Speech"}),
        (("normal", "hatespeech"), {"non-hateful": "normal", "hateful": "hatespeech"}),
        (("neutral", "toxic"), {"non-hateful": "neutral", "hateful": "toxic"}),
        (("safe", "unsafe"), {"non-hateful": "safe", "hateful": "unsafe"}),
        (
            ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"),
            {"contradiction": "CONTRADICTION", "neutral": "NEUTRAL", "entailment": "ENTAILMENT"},
        ),
        (("NEGATIVE", "POSITIVE"), {"negative": "NEGATIVE", "positive": "POSITIVE"}),
        (("LABEL_0", "LABEL_1"), {"LABEL_0": "LABEL_0", "LABEL_1": "LABEL_1"}),
        (("yes", "no"), {"yes": "yes", "no": "no"}),
        (("entailment", "not_entailment"), {n: n for n in ("entailment", "not_entailment")}),
    ],
)  # fmt: skip
def test_names_map_by_themselves(outputs: tuple[str, ...], by_label: dict[str, str]) -> None:
    found = mapped(outputs)
    assert found.by_label == {label: (output,) for label, output in by_label.items()}
    assert found.activation == "softmax"
    assert found.labels == tuple(by_label)  # in the order of the outputs


@pytest.mark.parametrize("spelling", [str.upper, str.title, lambda s: s.replace(" ", "__")])
@given(name=st.sampled_from(["hate speech", "hateful speech", "hate", "hateful"]))
def test_spelling_changes_no_mapping(spelling: Any, name: str) -> None:
    assert mapped(("normal", spelling(name))).columns == mapped(("normal", name)).columns


@pytest.mark.parametrize(
    "names",
    [("HATEFUL", "not hateful"), ("Hate_Speech", "Non-Hate-Speech"), ("hate", "acceptable")],
)
def test_the_same_meaning_is_mapped_without_a_word(names: tuple[str, str]) -> None:
    found = mapped(names)
    assert found.by_label == {"hateful": names[:1], "non-hateful": names[1:]}
    assert found.warnings == ()


def test_a_wider_meaning_is_mapped_and_said() -> None:
    assert mapped(("nothate", "hate")).warnings == ()
    assert mapped(("non-toxic", "toxic")).warnings == (
        "wider-label: P(non-toxic) stands for P(non-hateful)",
        "wider-label: P(toxic) stands for P(hateful)",
    )
    stated = {"hateful": ["identity_hate"]}
    assert mapped(JIGSAW, MULTI, labels=stated, ignore=[*JIGSAW[:5]]).warnings == (
        "wider-label: P(identity_hate) stands for P(hateful)",
    )


def test_a_wider_name_never_joins_one_of_the_same_meaning() -> None:
    with pytest.raises(ValueError, match="toxic belong to no label"):
        mapped(("normal", "hate", "toxic"))


@pytest.mark.parametrize(
    "name", ["offensive", "abusive", "insult", "obscene", "threat", "profanity", "Controversial"]
)
def test_some_names_are_never_mapped(name: str) -> None:
    with pytest.raises(ValueError, match=f"the outputs {name} belong to no label"):
        mapped(("normal", "hate", name))
    assert mapped(("normal", name)).task == "free"


def test_many_outputs_to_one_label() -> None:
    labels = {"hateful": ["hate speech", "offensive"], "non-hateful": ["normal"]}
    found = mapped(("normal", "offensive", "hate speech"), labels=labels)
    assert found.columns == {"hateful": (2, 1), "non-hateful": (0,)}
    assert (found.task, found.combine, found.first) == ("hate", "sum", "hateful")


def test_the_side_without_outputs_is_the_complement_where_outputs_are_independent() -> None:
    stated = {"hateful": ["identity_hate"]}
    found = mapped(JIGSAW, MULTI, labels=stated, ignore=[*JIGSAW[:5]])
    assert found.columns == {"hateful": (5,), "non-hateful": ()}
    assert (found.activation, found.combine) == ("sigmoid", "max")
    assert found.ignored == JIGSAW[:5]


@pytest.mark.parametrize(
    ("outputs", "problem_type", "activation"),
    [
        (("toxicity",), None, "one-output"),
        (("toxicity",), MULTI, "one-output"),
        (("nothate", "hate"), None, "softmax"),
        (("nothate", "hate"), "single_label_classification", "softmax"),
        (("toxic", "spam"), MULTI, "sigmoid"),
    ],
)
def test_activation_is_chosen_as_the_pipeline_does(
    outputs: tuple[str, ...], problem_type: str | None, activation: str
) -> None:
    keys: dict[str, Any] = {}
    if activation == "sigmoid":
        keys = {"labels": {"hateful": [outputs[-1]]}, "ignore": ["toxic"]}
    assert mapped(outputs, problem_type, **keys).activation == activation


def test_one_output_speaks_of_the_first_label() -> None:
    assert mapped(("toxicity",)).columns == {"hateful": (0,), "non-hateful": ()}
    assert mapped(("LABEL_0",), task="hate").columns == {"hateful": (0,), "non-hateful": ()}
    assert mapped(("nothate",), task="hate").columns == {"non-hateful": (0,), "hateful": ()}
    assert mapped(("LABEL_0",), labels={"spam": ["LABEL_0"], "other": []}).labels == (
        "spam",
        "other",
    )


@pytest.mark.parametrize(
    ("outputs", "problem_type", "keys", "reason"),
    [
        (("a", "b"), None, {"outputs": ["a", "b", "c"]}, "2 outputs, but `outputs` lists 3"),
        (("a",), None, {"outputs": ["a", "b"]}, "1 output, but `outputs` lists 2"),
        (("a",), "regression", {}, "regression"),
        (("a", "b"), "regression", {}, "set `activation`"),
        (JIGSAW, None, {}, 'Set `activation = "sigmoid"`'),
        (
            ("nothate", "hate"),
            "multi-label",
            {},
            "problem_type 'multi-label' is not one of .*; set",
        ),
        (("", "nothate", "hate"), None, {}, "the outputs '' belong to no label"),
        (("hate", *map(str, range(3_000))), None, {}, "22, 23, and 2976 more belong to no label"),
        (("LABEL_0",), None, {}, "its label is not known"),
        (("a", "b"), MULTI, {}, "several outputs can be true at once"),
        (("a", "b"), None, {"labels": {"hateful": ["x"]}}, "names the output 'x', .* a, b"),
        (("a", "b"), None, {"labels": {"hateful": ["a"]}}, "outputs b belong to no label"),
        (
            ("a", "b"),
            None,
            {"labels": {"hateful": ["a"]}, "ignore": ["b"]},
            "assigned to the label non-hat",
        ),
        (("a", "b"), None, {"labels": {"x": ["a"], "y": ["A", "b"]}}, "share an output"),
        (("a", "b"), None, {"ignore": ["c"]}, "`ignore` names c"),
        (("nothate", "hate"), None, {"ignore": ["hate"]}, "used for a label and also listed under"),
        (("a", "b"), None, {"activation": "one-output"}, "does not fit a model with 2 outputs"),
        (("a",), None, {"activation": "softmax"}, "does not fit a model with 1 output"),
        (("nothate", "hate"), None, {"combine": "any"}, "does not work with softmax"),
        (("toxic",), None, {"combine": "sum"}, 'use "max" or "any"'),
        (("nothate", "hate"), None, {"threshold": {"hate": 0.4}}, "`threshold` names hate"),
        (("a", "b"), None, {"task": "hate"}, "outputs a, b belong to no label"),
        (("neutral", "normal"), None, {"task": "hate"}, "neutral belong|no output is assigned"),
        (
            ("entailment", "contradiction"),
            None,
            {"task": "nli"},
            "no output is assigned to the label neutral",
        ),
    ],
)
def test_what_is_not_clear_is_refused_by_name(
    outputs: tuple[str, ...], problem_type: str | None, keys: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        mapped(outputs, problem_type, **keys)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"outputs": ["a", "a"]}, "twice"),
        (
            {"task": "hate", "labels": {"toxic": ["a"]}},
            "labels of task hate are hateful, non-hateful",
        ),
        ({"labels": {"x": ["a"], "y": ["a"]}}, "give each output to one label only"),
        ({"labels": {"x": ["a"]}, "ignore": ["a"]}, "under both `labels` and `ignore`"),
        ({"temperature": 0}, "temperature"),
        ({"threshold": 1.5}, "threshold"),
    ],
)
def test_keys_that_contradict_each_other_are_refused(keys: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        LabelKeys.model_validate(keys)


@given(p=st.floats(0, 1))
def test_a_threshold_decides_and_none_is_the_likeliest(p: float) -> None:
    row = [1 - p, p]
    labels = ("non-hateful", "hateful")
    assert predict_label(labels, row, {}) == labels[p > 0.5]
    least = mapped(("nothate", "hate"), threshold=0.2).thresholds
    assert predict_label(labels, row, least) == labels[p >= 0.2]


def test_thresholds_of_several_labels() -> None:
    labels = CANONICAL["nli"]
    least = mapped(labels, threshold={"contradiction": 0.2, "entailment": 0.5}).thresholds
    assert predict_label(labels, [0.4, 0.35, 0.25], least) == "contradiction"
    assert predict_label(labels, [0.6, 0.1, 0.3], least) == "entailment"
    assert predict_label(labels, [0.45, 0.4, 0.15], least) == "neutral"
    assert (
        predict_label(labels, [0.5, 0.4, 0.1], {"neutral": 0.6, "entailment": 0.6})
        == "contradiction"
    )
    assert predict_label(labels, [0.5, 0.4, 0.1], dict.fromkeys(labels, 0.9)) == "entailment"
