"""The shipped adapters are the files that were measured, on the base that was hashed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from services.inference.attribution import eager
from services.inference.classifier import LocalClassifier
from services.inference.embedded.adapter import CONFIG, WEIGHTS, load_adapter
from shared.contracts.calls import AttributionMethod, Example
from shared.models.catalogue.checkpoint import (
    EMBEDDED,
    NOTE,
    EmbeddedMetadata,
    base_folder,
    verify_weights,
)
from training.calibration import excesses
from training.examples import Split, TrainingExample, token_range, tokenize
from training.hate import (
    CODES,
    FILES,
    HATE,
    NEVER_TRAINED,
    PART,
    HateMetrics,
    evaluate,
    possible_families,
    read,
    render,
    split,
)
from training.train import METRICS, shipped
from training.training import Quality, evaluate_part, to_predictions, tokenizer_of

SHIPPED = EMBEDDED / "hate"
DATA = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not (DATA / FILES[0]).exists(), reason="../shared/data is absent")


@pytest.fixture(scope="module")
def note() -> EmbeddedMetadata:
    return EmbeddedMetadata.model_validate_json((SHIPPED / NOTE).read_bytes())


@pytest.fixture(scope="module")
def metrics() -> HateMetrics:
    return HateMetrics.model_validate_json((SHIPPED / METRICS).read_bytes())


@pytest.fixture(scope="module")
def parts() -> Split:
    return split(read(DATA / name for name in FILES))


def test_the_shipped_adapter_meets_its_targets(metrics: HateMetrics) -> None:
    assert metrics.held_back.rows == 400
    assert metrics.held_back.accuracy.share >= 0.80
    assert (metrics.held_back.auroc.value or 0) >= 0.85
    found = metrics.held_back.calibration
    assert found.ece.value is not None
    assert found.ece.value <= 0.05
    assert found.p_calibrated > 0.05


def test_every_language_that_it_names_was_checked(
    note: EmbeddedMetadata, metrics: HateMetrics
) -> None:
    assert {code for code in note.languages if code != "en"} <= {
        name.partition(",")[0] for name in metrics.languages
    }
    for code in note.languages:
        found = metrics.languages[f"{code}, {'posts' if code == 'en' else 'templates'}"]
        assert found.auroc >= 0.8, code
        assert found.accuracy.share > found.majority_accuracy, code


def test_the_card_is_rendered_from_the_measured_numbers(
    note: EmbeddedMetadata, metrics: HateMetrics
) -> None:
    assert (SHIPPED / "README.md").read_text(encoding="utf-8") == render(note, metrics)


def test_the_adapter_is_small() -> None:
    assert (SHIPPED / WEIGHTS).stat().st_size < 2_000_000


def test_the_base_is_the_known_one_and_a_tampered_copy_is_refused(tmp_path: Path) -> None:
    copy = Path(shutil.copy(base_folder() / "model.safetensors", tmp_path))
    assert verify_weights(tmp_path) == tmp_path
    with copy.open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)[0]
        file.seek(-1, 2)
        file.write(bytes([last ^ 1]))
    with pytest.raises(ValueError, match="does not contain the weights"):
        verify_weights(tmp_path)


def test_a_tampered_adapter_is_refused(tmp_path: Path, note: EmbeddedMetadata) -> None:
    shutil.copy(SHIPPED / CONFIG, tmp_path)
    (tmp_path / WEIGHTS).write_bytes((SHIPPED / WEIGHTS).read_bytes()[:-1] + b"\x00")
    with pytest.raises(ValueError, match="has changed since its training"):
        load_adapter(tmp_path, note)


def test_an_adapter_of_another_base_is_refused(note: EmbeddedMetadata) -> None:
    with pytest.raises(ValueError, match="another base"):
        load_adapter(SHIPPED, note.model_copy(update={"base_sha256": "0" * 64}))


def test_the_provenance_names_the_adapter(hate: LocalClassifier, note: EmbeddedMetadata) -> None:
    assert hate.use.name == "embedded-hate"
    assert (hate.use.revision, hate.use.sha256) == (note.revision, note.adapter_sha256)
    assert (hate.use.dtype, hate.languages) == ("float32", note.languages)


def test_the_card_asks_the_weights_as_the_service_does(
    hate: LocalClassifier, note: EmbeddedMetadata
) -> None:
    texts = ["rain", "the rain falls on the green garden", " ".join(["rain"] * 600), ""]
    examples = [TrainingExample(id=text, text=text, label=0, target=(1, 0)) for text in texts]
    ours = shipped(SHIPPED, note)(examples)
    assert ours == pytest.approx(hate.logits(texts), abs=1e-6)


def of_source(examples: Sequence[TrainingExample], source: str) -> list[TrainingExample]:
    return [example for example in examples if example.source == source]


@pytest.mark.parametrize(
    "method",
    [AttributionMethod(name="attention", attention=over) for over in ("mean", "last", "rollout")]
    + [AttributionMethod(name="gradient"), AttributionMethod(name="integrated_gradients")]
    + [AttributionMethod(name="lime", samples=50)],
    ids=lambda method: f"{method.name} {method.attention}",
)
def test_its_tokens_are_weighed_by_every_method(
    hate: LocalClassifier, method: AttributionMethod
) -> None:
    example = Example(text="the rain falls on the green garden")
    [found] = hate.attributions([example], ["hateful"], method)
    assert len(found.values) == len(hate.tokens([example])[0].ids)
    assert np.isfinite(found.values).all()
    assert np.any(found.values)
    if method.name == "attention":
        assert sum(found.values) == pytest.approx(1, abs=1e-5)


def test_attention_is_the_mean_over_the_tokens_whose_mean_the_head_reads(
    hate: LocalClassifier,
) -> None:
    example = Example(text="the rain falls on the green garden")
    method = AttributionMethod(name="attention", attention="last")
    [found] = hate.attributions([example], ["hateful"], method)
    model, ids = hate._weights.model, hate.tokens([example])[0].ids
    with torch.inference_mode(), eager(model):
        layers = model(input_ids=torch.tensor([ids]), output_attentions=True).attentions
    expected = layers[-1][0].double().mean(dim=(0, 1)).numpy()
    assert found.values == pytest.approx(expected, abs=1e-6)


def same_quality(ours: Quality, theirs: Quality) -> None:
    assert ours.accuracy.share == pytest.approx(theirs.accuracy.share, abs=1e-3)
    assert ours.macro_f1.value == pytest.approx(theirs.macro_f1.value, abs=1e-3)
    for name in ("ece", "excess", "brier", "log_loss"):
        mine, shown = getattr(ours.calibration, name), getattr(theirs.calibration, name)
        assert mine.value == pytest.approx(shown.value, abs=2e-3), name
        assert (mine.n, mine.clusters) == (shown.n, shown.clusters)


@needs_data
@pytest.mark.nightly
def test_the_metrics_are_those_of_the_shipped_weights(
    note: EmbeddedMetadata, metrics: HateMetrics, parts: Split
) -> None:
    ask = shipped(SHIPPED, note)
    for examples, theirs in (
        (of_source(parts.held_back, "hatexplain"), metrics.held_back),
        (of_source(parts.held_back_cases, "hatecheck"), metrics.hatecheck),
    ):
        same_quality(
            evaluate_part(to_predictions(ask(examples), examples), note.temperature), theirs
        )
        assert len(examples) == theirs.rows
    assert metrics.hatecheck.accuracy.clusters == 114


@needs_data
@pytest.mark.nightly  # each held-back post is asked twelve times, with parts of it taken out
def test_every_metric_is_that_of_the_shipped_weights(
    note: EmbeddedMetadata, metrics: HateMetrics, parts: Split
) -> None:
    again = evaluate(shipped(SHIPPED, note), parts, note.temperature)
    same_quality(again.held_back, metrics.held_back)
    same_quality(again.hatecheck, metrics.hatecheck)
    for ours, theirs in zip(excesses(again.parts), excesses(metrics.parts), strict=True):
        assert ours.excess == pytest.approx(theirs.excess, abs=2e-3), theirs
    assert again.sources == metrics.sources
    for name, found in again.languages.items():
        assert found.auroc == pytest.approx(metrics.languages[name].auroc, abs=2e-3), name


def test_the_note_says_how_the_probabilities_of_parts_are_off(
    hate: LocalClassifier, note: EmbeddedMetadata, metrics: HateMetrics
) -> None:
    assert note.on_parts == excesses(metrics.parts)
    assert hate.use.on_parts == note.on_parts
    assert {(one.operator, one.kept) for one in metrics.parts} == {
        ("delete", 0.2),
        ("delete", 0.5),
        ("delete", 0.8),
        ("mask", 0.8),
    }


@needs_data
def test_the_note_says_how_long_its_training_texts_were(
    hate: LocalClassifier, note: EmbeddedMetadata, parts: Split
) -> None:
    longest, tokenizer = HATE.recipe.longest, tokenizer_of(HATE.recipe)
    ends = token_range(parts.train, longest, tokenizer)
    lengths = [len(row.ids) for row in tokenize(parts.train, longest, tokenizer)]
    assert note.training_tokens == hate.use.training_tokens == ends
    assert np.quantile(lengths, [0.01, 0.99], method="nearest").tolist() == [*ends]


@needs_data
def test_the_parts_are_disjoint_and_hold_back_a_fifth_of_every_label(parts: Split) -> None:
    groups = (parts.train, parts.calibration, parts.watched, parts.held_back, parts.held_back_cases)
    ids = [{example.id.removesuffix(PART) for example in group} for group in groups]
    assert sum(map(len, ids)) == len(set().union(*ids)) == 6_280
    held_back = [post.original_label for post in of_source(parts.held_back, "hatexplain")]
    assert {label: held_back.count(label) for label in set(held_back)} == {
        "hatespeech": 124,
        "normal": 163,
        "offensive": 113,
    }
    assert len(of_source(parts.held_back_cases, "hatecheck")) == 617


@needs_data
def test_no_translation_of_a_held_back_case_is_trained_on(parts: Split) -> None:
    def families(side: Sequence[TrainingExample]) -> set[str]:
        cases = [c for c in side if c.functionality and c.language not in NEVER_TRAINED]
        return {family for case in cases for family in possible_families(case)}

    held_back = {case.cluster for case in of_source(parts.held_back_cases, "hatecheck")}
    assert not held_back & (families(parts.train) | families(parts.watched))
    assert not {case.cluster for case in parts.watched} & families(parts.train)
    assert not any(one.language in NEVER_TRAINED for one in [*parts.train, *parts.watched])
    translated = of_source(parts.held_back_cases, "multilingual hatecheck")
    assert {case.language for case in translated} == set(CODES.values())


@needs_data
def test_the_split_does_not_depend_on_the_order_of_the_file(parts: Split) -> None:
    examples = read(DATA / name for name in FILES)
    shuffled = [examples[i] for i in np.random.default_rng(1).permutation(len(examples))]
    other = split(shuffled)
    assert {e.id for e in other.held_back} == {e.id for e in parts.held_back}
    assert {e.id for e in other.calibration} == {e.id for e in parts.calibration}
