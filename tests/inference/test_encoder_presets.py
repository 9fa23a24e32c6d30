"""Every preset of an encoder on a random tiny model of its architecture: specs "models" §3.3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.special import expit, softmax
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from services.inference.classifier import LocalClassifier
from services.inference.local_models import LocalModels
from shared.models.catalogue.catalogue import (
    Catalogue,
    ModelCard,
    load_catalogue,
)
from shared.models.catalogue.models_file import preset, preset_names
from tests.tiny_models.__main__ import main as tiny_models
from tests.tiny_models.encoders import ENCODERS, save_encoder

Floats = NDArray[np.float64]
TEXTS = [
    "The weather is good.",
    "",
    "Those tourists are a nuisance and should stay at home.",
    "</s> [SEP] <pad> [MASK] <mask>",
    "we lost " * 40,
]


@dataclass(frozen=True)
class Known:
    """The table of specs "models" §3.2. hateful: P(hateful) from (N, K) raw logits."""

    activation: str
    hateful: Callable[[Floats], Floats]
    limit: int
    languages: tuple[str, ...] = ("en",)
    wider: bool = False


def column_of_softmax(column: int) -> Callable[[Floats], Floats]:
    return lambda logits: softmax(logits, axis=1)[:, column]


KNOWN = {
    "toxic-bert": Known("sigmoid", lambda logits: expit(logits[:, 5]), 512, wider=True),
    "detoxify-unbiased": Known("sigmoid", lambda logits: expit(logits[:, 3]), 512, wider=True),
    "detoxify-multilingual": Known(
        "sigmoid",
        lambda logits: expit(logits[:, 0]),
        512,
        ("en", "fr", "es", "it", "pt", "tr", "ru"),
        wider=True,
    ),
    "hatexplain": Known("softmax", column_of_softmax(0), 512),
    "cardiff-hate": Known("softmax", column_of_softmax(1), 512),
    "dynabench": Known("softmax", column_of_softmax(1), 512),
    "textdetox": Known(
        "softmax",
        column_of_softmax(1),
        512,
        tuple(
            [
                "en",
                "ru",
                "uk",
                "de",
                "es",
                "ar",
                "am",
                "hi",
                "zh",
                "it",
                "fr",
                "hi-Latn",
                "he",
                "ja",
                "tt",
            ]
        ),
        wider=True,
    ),
    "granite-hap": Known("softmax", column_of_softmax(1), 512, wider=True),
}
Made = Callable[[str], tuple[Path, LocalClassifier, ModelCard]]


def catalogue(folder: Path, name: str, more: str = "") -> Catalogue:
    file = folder.parent / f"{folder.name}.toml"
    entry = (
        f'name = "m"\nsource = "path:{folder.name}"\npreset = "{name}"\ndevice = "cpu"\n{more}\n'
    )
    file.write_text(f"schema = 2\n[[models]]\n{entry}", encoding="utf-8")
    return load_catalogue(file)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    @cache
    def make(name: str) -> tuple[Path, LocalClassifier, ModelCard]:
        folder = tmp_path_factory.mktemp("tiny") / name
        tiny_models(["make", str(folder), "--like", name])
        found = catalogue(folder, name)
        [card] = found.describe()
        return folder, LocalModels(found).local_classifier("m"), card

    return make


def raw_logits(folder: Path, texts: list[str]) -> Floats:
    """(N, K), one text at a time, by the library alone."""
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    words = AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        rows = [
            model(**words(text, return_tensors="pt", truncation=True, max_length=512)).logits[0]
            for text in texts
        ]
    return np.stack([row.double().numpy() for row in rows])


def test_every_preset_of_an_encoder_is_tested() -> None:
    encoders = {name for name in preset_names() if preset(name).entry["kind"] == "classifier"}
    assert encoders == KNOWN.keys() == ENCODERS.keys()


@pytest.mark.parametrize("name", KNOWN)
def test_p_is_what_the_raw_logits_say(name: str, made: Made) -> None:
    folder, model, _ = made(name)
    found = model.probabilities(TEXTS)
    hateful = KNOWN[name].hateful(raw_logits(folder, TEXTS))
    assert hateful.max() - hateful.min() > 0.01  # else any model would do
    assert found[:, model.labels.index("hateful")] == pytest.approx(hateful, abs=1e-6)
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", KNOWN)
def test_the_card_is_as_the_table(name: str, made: Made) -> None:
    _, model, card = made(name)
    known = KNOWN[name]
    assert sorted(card.labels or ()) == sorted(model.labels) == ["hateful", "non-hateful"]
    assert card.labels == model.labels
    assert card.activation == known.activation
    assert card.languages == model.languages == known.languages
    assert bool(model.use.warnings) is known.wider
    assert model.use.warnings == card.warnings
    assert all(warning.startswith("wider-label: P(") for warning in card.warnings)
    assert (card.preset, card.fault) == (f"{name}@{preset(name).version}", None)


@pytest.mark.parametrize("name", KNOWN)
def test_the_limit_holds_to_the_token(name: str, made: Made) -> None:
    _, model, _ = made(name)
    limit = KNOWN[name].limit
    one = len(model._reader.ids(["rain"], cut=False)[0]) - 2
    words = [" ".join(["rain"] * count) for count in range(limit // (2 * one), limit + 1)]
    lengths = [len(ids) for ids in model._reader.ids(words, cut=False)]
    at = {length: text for length, text in zip(lengths, words, strict=True)}
    fits, over = max(n for n in at if n <= limit), min(n for n in at if n > limit)
    assert model.truncated([at[fits], at[over], "rain " * 4 * limit]) == [False, True, True]
    assert np.isfinite(model.probabilities([at[fits], at[over], "rain " * 4 * limit])).all()
    assert model._weights.longest == limit
    assert fits == limit or one > 1


def test_the_multilingual_model_may_have_one_output(tmp_path: Path) -> None:
    known = replace(ENCODERS["detoxify-multilingual"], outputs=("toxicity",))
    folder = save_encoder(tmp_path / "m", known)
    model = LocalModels(catalogue(folder, "detoxify-multilingual")).local_classifier("m")
    found = model.probabilities(TEXTS)[:, model.labels.index("hateful")]
    assert found == pytest.approx(expit(raw_logits(folder, TEXTS)[:, 0]), abs=1e-6)


def test_a_presets_labels_can_be_changed(made: Made) -> None:
    folder, _, _ = made("toxic-bert")
    stated = catalogue(folder, "toxic-bert", 'labels = { hateful = ["toxic"] }')
    model = LocalModels(stated).local_classifier("m")
    found = model.probabilities(TEXTS)[:, 0]
    assert found == pytest.approx(expit(raw_logits(folder, TEXTS)[:, 0]), abs=1e-6)
    assert model.use.warnings == ("wider-label: P(toxic) stands for P(hateful)",)
