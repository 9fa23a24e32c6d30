"""Probabilities from raw logits against NumPy and SciPy, one formula at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit, logit
from scipy.special import softmax as scipy_softmax

from services.inference.classifier import label_logit
from shared.contracts.labels import Head, LabelKeys, LabelMapping, label_mapping
from shared.models.label_readout import read_labels

MULTI = "multi_label_classification"
SIXTEEN = (
    "toxicity", "severe_toxicity", "obscene", "identity_attack", "insult", "threat",
    "sexual_explicit", *(f"identity {n}" for n in range(9)),
)  # fmt: skip
LOGITS = np.random.default_rng(5).normal(0, 4, size=(50, 16))


def mapped(outputs: tuple[str, ...], problem: str | None = None, **keys: Any) -> LabelMapping:
    return label_mapping(LabelKeys.model_validate(keys), Head(outputs, problem))


def sixteen(*own: str, **keys: Any) -> LabelMapping:
    ignored = [name for name in SIXTEEN if name not in own]
    return mapped(SIXTEEN, MULTI, labels={"hateful": own}, ignore=ignored, **keys)


THREE = ("normal", "offensive", "hate speech")
LABELS = {"hateful": ["hate speech", "offensive"], "non-hateful": ["normal"]}


def test_softmax_sums_a_labels_outputs() -> None:
    found = read_labels(LOGITS[:, :3], mapped(THREE, labels=LABELS), temperature=1.7)
    p = scipy_softmax(LOGITS[:, :3] / 1.7, axis=1)
    expected = np.stack([p[:, 1] + p[:, 2], p[:, 0]], axis=1)
    assert found.probabilities == pytest.approx(expected, abs=1e-12)
    assert found.mass == pytest.approx(1)


def test_what_is_ignored_under_softmax_keeps_its_share() -> None:
    labels = {"hateful": ["hate speech"], "non-hateful": ["normal"]}
    found = read_labels(LOGITS[:, :3], mapped(THREE, labels=labels, ignore=["offensive"]))
    p = scipy_softmax(LOGITS[:, :3], axis=1)
    assert found.probabilities == pytest.approx(p[:, [2, 0]], abs=1e-12)
    assert found.mass == pytest.approx(1 - p[:, 1], abs=1e-12)


@given(arrays(float, (3, 16), elements=st.floats(-50, 50)))
def test_identity_columns_change_nothing(noise: np.ndarray) -> None:
    changed = LOGITS[:3].copy()
    changed[:, 7:] = noise[:, 7:]
    mapping = sixteen("identity_attack")
    before = read_labels(LOGITS[:3], mapping).probabilities
    assert np.array_equal(read_labels(changed, mapping).probabilities, before)
    assert before[:, 0] == pytest.approx(expit(LOGITS[:3, 3]), abs=1e-12)
    assert before.sum(axis=1) == pytest.approx(1)


def test_sigmoids_are_combined_by_the_greatest_or_by_any() -> None:
    p = expit(LOGITS[:, [3, 4]])
    greatest = read_labels(LOGITS, sixteen("identity_attack", "insult"))
    assert greatest.probabilities[:, 0] == pytest.approx(p.max(axis=1), abs=1e-12)
    assert greatest.mass is None
    either = read_labels(LOGITS, sixteen("identity_attack", "insult", combine="any"))
    assert either.probabilities[:, 0] == pytest.approx(1 - (1 - p).prod(axis=1), abs=1e-12)


def test_one_output_is_a_sigmoid() -> None:
    found = read_labels(LOGITS[:, :1], mapped(("toxicity",)), temperature=2).probabilities
    p = expit(LOGITS[:, 0] / 2)
    assert found == pytest.approx(np.stack([p, 1 - p], axis=1), abs=1e-12)


def test_two_sides_of_independent_outputs_are_normalised_and_their_mass_is_told() -> None:
    found = read_labels(LOGITS[:, :2], mapped(("nothate", "hate"), MULTI))
    p = expit(LOGITS[:, :2])
    assert found.mass == pytest.approx(p.sum(axis=1))
    assert found.probabilities == pytest.approx(p / p.sum(axis=1, keepdims=True), abs=1e-12)


@given(arrays(float, (2, 2), elements=st.floats(-1e5, 1e5)))
def test_nothing_leaves_the_unit_interval(logits: np.ndarray) -> None:
    for mapping in (mapped(("nothate", "hate")), mapped(("nothate", "hate"), MULTI)):
        found = read_labels(logits, mapping).probabilities
        assert np.isfinite(found).all()
        assert ((found >= 0) & (found <= 1)).all()
        assert found.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("combine", ["max", "any"])
def test_what_attributions_explain_is_the_logit_of_the_label(combine: str) -> None:
    mapping = sixteen("identity_attack", "insult", combine=combine)
    p = read_labels(LOGITS, mapping).probabilities
    for place in (0, 1):
        found = label_logit(torch.tensor(LOGITS), mapping, place).numpy()
        assert found == pytest.approx(logit(p[:, place]), rel=1e-3, abs=1e-4)


def test_under_softmax_it_is_the_raw_logit_or_their_logsumexp() -> None:
    raw = torch.tensor(LOGITS[:, :3])
    mapping = mapped(THREE, labels=LABELS)
    assert label_logit(raw, mapping, 1).numpy() == pytest.approx(LOGITS[:, 0], rel=1e-6)
    expected = np.logaddexp(LOGITS[:, 1], LOGITS[:, 2])
    assert label_logit(raw, mapping, 0).numpy() == pytest.approx(expected, rel=1e-6)
