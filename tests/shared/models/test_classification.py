"""P from classification servers is that of the same weights here, whoever activates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from shared.contracts.calls import AttributionMethod, Example, ExampleRows, Row
from shared.contracts.errors import BadInput, ModelCannot, TextTooLong
from shared.contracts.problems import problem
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.entry import ModelEntry
from shared.models.classification import ServedClassifier
from tests.shared.models.openai.computing import ClassifierDouble, Kind
from tests.shared.models.openai.recorded import Recorded
from tests.shared.models.openai.stub import listening

if TYPE_CHECKING:
    from services.inference.classifier import LocalClassifier


TEXTS = ["The garden was green.", "We lost the match again", "no", "Is the weather good?"] * 10
NAMES = ("no", "perhaps", "yes")
KEYS: dict[str, Any] = {
    "task": "hate",
    "labels": {"hateful": ("yes", "perhaps"), "non-hateful": ("no",)},
}
MANY: dict[str, Any] = {
    "labels": {"hateful": ("yes",), "non-hateful": ()},
    "ignore": ("no", "perhaps"),
    "activation": "sigmoid",
}
KINDS: tuple[Kind, ...] = (
    "vllm", "vllm-old", "sglang", "tei", "infinity", "infinity-old", "kserve",
)  # fmt: skip
Making = Callable[..., ServedClassifier]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> LocalClassifier:
    from services.inference.local_models import LocalModels
    from tests.inference.shapes import byte_tokenizer, save_bert

    folder = tmp_path_factory.mktemp("weights")
    save_bert(folder / "bert", byte_tokenizer(begins=False, reads=64))
    (folder / "models.toml").write_text(
        'schema = 2\n[[models]]\nname = "own"\nsource = "path:bert"\ndevice = "cpu"\n'
        'dtype = "float32"\ntask = "hate"\n'
        'labels = { hateful = ["yes", "perhaps"], non-hateful = ["no"] }\n', "utf-8"
    )  # fmt: skip
    return LocalModels(load_catalogue(folder / "models.toml")).local_classifier("own")


@pytest.fixture
def serving(own: LocalClassifier) -> Iterator[Making]:
    with ExitStack() as stack:

        def make(kind: Kind, names: tuple[str, ...] = NAMES, **keys: Any) -> ServedClassifier:
            exclusive = keys.get("activation", "softmax") == "softmax"
            double = ClassifierDouble(kind, own.logits, names, exclusive=exclusive)
            url = stack.enter_context(listening(double)).removesuffix("/v1")
            if kind in ("vllm", "vllm-old", "sglang", "kserve"):  # they do not say their names
                keys.setdefault("outputs", NAMES)
            if kind == "kserve":
                keys |= {"protocol": "kserve-v2", "kserve": {"input": "text", "output": "logits"}}
            return ServedClassifier(
                ModelEntry(name="m", kind="classifier", source=f"classify:{url}", **keys)
            )

        yield make


@pytest.mark.parametrize("kind", KINDS)
def test_p_is_that_of_the_same_weights_here(
    serving: Making, own: LocalClassifier, kind: Kind
) -> None:
    examples = [Example(text=text) for text in TEXTS]
    there, here = serving(kind, **KEYS).judgements(examples), own.judgements(examples)
    for one, other in zip(there, here, strict=True):
        assert one.labels == other.labels == ("hateful", "non-hateful")
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-4)
        assert one.reading == "head"
        assert one.mass == pytest.approx(1)


@pytest.mark.parametrize("kind", ["vllm", "tei", "infinity", "infinity-old", "kserve"])
def test_sigmoids_are_ours_even_where_the_server_would_softmax(
    serving: Making, own: LocalClassifier, kind: Kind
) -> None:
    logits = own.logits(TEXTS)
    assert logits[:, 2].min() < 0 or logits.min() < 0 < logits.max()  # both signs
    found = serving(kind, **MANY).probabilities(TEXTS)
    assert found[:, 0] == pytest.approx(1 / (1 + np.exp(-logits[:, 2])), abs=1e-4)
    assert found.sum(axis=1) == pytest.approx(1)


def test_a_softmax_over_sigmoids_is_refused(serving: Making) -> None:
    with pytest.raises(BadInput, match="let the server return raw scores"):
        serving("sglang", **MANY).probabilities(TEXTS)


def test_outputs_that_the_server_numbers_have_the_entrys_names(
    serving: Making, own: LocalClassifier
) -> None:
    numbered = ("LABEL_0", "LABEL_1", "LABEL_2")
    for kind in ("tei", "infinity"):
        found = serving(kind, numbered, outputs=NAMES, **KEYS).probabilities(TEXTS)
        assert found == pytest.approx(own.probabilities(TEXTS), abs=1e-4)


def test_a_server_of_unnamed_outputs_needs_them_named(serving: Making) -> None:
    with pytest.raises(BadInput, match="3 outputs, but `outputs` names 2"):
        _ = serving("vllm", outputs=("hate", "normal")).labels
    with pytest.raises(BadInput, match="set `outputs`"):
        _ = serving("sglang", outputs=None).labels


def test_reports_say_what_its_labels_mean_and_from_where_they_are_decided(serving: Making) -> None:
    names = ("neutral", "fine", "toxic")
    more = {"labels": {"hateful": ("toxic",), "non-hateful": ("neutral", "fine")}}
    model = serving("tei", names, threshold=0.3, **more)
    model.judge([Example(text="A text")])
    assert model.use.warnings == (
        "wider-label: P(toxic) stands for P(hateful)",
        "wider-label: P(neutral) stands for P(non-hateful)",
    )
    assert model.use.thresholds == {"hateful": 0.3}


def test_a_temperature_divides_the_logits(serving: Making, own: LocalClassifier) -> None:
    flat = serving("tei", temperature=4.0, task="free", outputs=NAMES).probabilities(TEXTS)
    logits = own.logits(TEXTS) / 4
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    assert flat == pytest.approx(shares / shares.sum(axis=1, keepdims=True), abs=1e-6)


def test_what_no_classification_server_shows(serving: Making) -> None:
    model, example = serving("tei", **KEYS), Example(text="A text")
    refused: tuple[Callable[[], object], ...] = (
        lambda: model.judge_rows([ExampleRows(example=example, rows=(Row(),))]),
        lambda: model.attributions([example], ["hateful"], AttributionMethod(name="gradient")),
        lambda: model.tokens([example]),
    )
    for asked in refused:
        with pytest.raises(ModelCannot) as caught:
            asked()
    said = problem(caught.value)
    assert said["type"].endswith("#model-cannot")
    assert (said["status"], said["model"], said["ability"]) == (422, "m", "token_rows")
    assert said["abilities"] == ["judge", "word_rows"]


def test_a_text_that_is_too_long_is_unread_by_itself(serving: Making) -> None:
    model = serving("tei", **KEYS)
    double = Recorded("tei/1.8/too_long")
    _ = model.head
    with listening(double) as url:
        model.connection._root = url.removesuffix("/v1")
        [found] = model.judgements([Example(text="A text")])
        with pytest.raises(TextTooLong):
            model.judge([Example(text="A text")])
    assert found.unread is not None
    assert found.unread.code == "text-too-long"
