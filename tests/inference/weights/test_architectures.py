"""Classifiers of a dozen architectures answer as the library alone does, text by text."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sentencepiece import SentencePieceTrainer
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from services.inference.classifier import LocalClassifier
from services.inference.local_models import LocalModels
from shared.contracts.calls import AttributionMethod, Example, ExampleRows, Row
from shared.contracts.errors import BadInput
from shared.models.catalogue.catalogue import load_catalogue
from tests.tiny_models.architectures import ARCHITECTURES, save_architecture
from tests.tiny_models.encoders import ENCODERS, save_encoder
from tests.tiny_models.vocabulary import SENTENCES

OUTPUTS = ("Not Hate", "hate-speech")
TEXTS = [
    "The weather is good.",
    "x",
    "Those tourists are a nuisance and should stay at home.",
    "</s> [SEP] <mask> </s>",
    "we lost " * 700,
]
WITHOUT_PADDING = {"fnet", "llama", "xlnet"}  # no mask; no token for it; the last token is read
LAST = {"gpt2", "llama", "qwen2", "xlnet"}  # read it, whichever it is


def judge_of(folder: Path) -> LocalClassifier:
    file = folder.with_suffix(".toml")
    file.write_text(f'schema = 2\n[[models]]\nname = "m"\nsource = "path:{folder.name}"\n', "utf-8")
    return LocalModels(load_catalogue(file)).local_classifier("m")


def alone(folder: Path, texts: list[str], reads: int) -> Any:
    """(N, K) logits, one text at a time, by the library."""
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    words = AutoTokenizer.from_pretrained(folder)
    limit = {"truncation": True, "max_length": reads}
    with torch.inference_mode():
        rows = [model(**words(text, return_tensors="pt", **limit)).logits[0] for text in texts]
    return torch.stack(rows).double().numpy()


@pytest.fixture(params=sorted(ARCHITECTURES))
def made(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path, LocalClassifier]:
    name: str = request.param
    folder = save_architecture(tmp_path / "m", ARCHITECTURES[name], OUTPUTS)
    return name, folder, judge_of(folder)


def test_an_architecture_answers_as_the_library_alone_does(
    made: tuple[str, Path, LocalClassifier],
) -> None:
    name, folder, judge = made
    weights = judge._weights
    assert weights.longest == ARCHITECTURES[name].reads
    assert weights.pads is (name not in WITHOUT_PADDING)
    assert judge.labels == ("non-hateful", "hateful")
    assert judge.logits(TEXTS) == pytest.approx(alone(folder, TEXTS, weights.longest), abs=2e-4)
    [cut] = judge.tokens([Example(text=TEXTS[-1])])
    assert (len(cut.ids), cut.truncated) == (weights.longest, True)
    [empty] = judge.judgements([Example(text="")])
    assert empty.probabilities is not None
    assert sum(empty.probabilities) == pytest.approx(1)
    _attributions_are_finite_or_refused(judge)


def _attributions_are_finite_or_refused(judge: LocalClassifier) -> None:
    example = Example(text=TEXTS[2])
    for method in ("attention", "gradient", "lime"):
        with suppress(BadInput):
            [found] = judge.attributions([example], ["hateful"], AttributionMethod(name=method))
            assert np.isfinite(found.values).all()


@pytest.mark.parametrize("name", sorted(LAST))
def test_attention_is_that_of_the_token_that_is_read(name: str, tmp_path: Path) -> None:
    """The first token of a decoder sees itself alone: it would hold all of the attention."""
    judge = judge_of(save_architecture(tmp_path / "m", ARCHITECTURES[name], OUTPUTS))
    method = AttributionMethod(name="attention")
    [found] = judge.attributions([Example(text=TEXTS[2])], ["hateful"], method)
    assert np.count_nonzero(np.array(found.values) > 1e-6) > 3


def test_a_row_without_tokens_is_read_where_texts_have_no_frame(tmp_path: Path) -> None:
    judge = judge_of(save_architecture(tmp_path / "m", ARCHITECTURES["gpt2"], OUTPUTS))
    [rows] = judge.judge_rows([ExampleRows(example=Example(text="a b"), rows=(Row(kept=()),))])
    assert rows == pytest.approx(judge.probabilities([""]))
    framed = judge_of(save_architecture(tmp_path / "n", ARCHITECTURES["electra"], OUTPUTS))
    with pytest.raises(BadInput, match="keeps no token"):
        framed.judge_rows([ExampleRows(example=Example(text="a b"), rows=(Row(kept=()),))])


def test_a_tokenizer_of_sentencepiece_alone_is_read(tmp_path: Path) -> None:
    folder = save_encoder(tmp_path / "m", ENCODERS["textdetox"])
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink()
    special: dict[str, Any] = {"unk_id": 0, "bos_id": 1, "eos_id": 2, "pad_id": -1}
    with (folder / "sentencepiece.bpe.model").open("wb") as written:
        SentencePieceTrainer.train(
            sentence_iterator=iter(SENTENCES * 4),
            model_writer=written,
            vocab_size=120,
            hard_vocab_limit=False,
            minloglevel=2,
            **special,
        )
    judge = judge_of(folder)
    [tokens] = judge.tokens([Example(text="The garden was green.")])
    assert judge._weights.longest == 512
    assert "text" in tokens.parts
    assert tokens.ids[0] == 0  # <s>, as XLM-R numbers it
