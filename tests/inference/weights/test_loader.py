"""What the loader makes of an entry: limits, dtype, refusals; and that one fault is one model's."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
)

from services.inference.classifier import LocalClassifier
from services.inference.local_models import LocalModels
from services.inference.weights import loader
from services.inference.weights.limits import find_max_length
from services.inference.weights.placement import dtype_of, parameters
from shared.contracts.calls import AttributionMethod, Example
from shared.contracts.errors import BadInput, ModelNotReady, ScoringError
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.entry import ModelEntry
from shared.process.settings import Settings
from tests.inference.shapes import byte_tokenizer
from tests.promises import as_promised
from tests.tiny_models.encoders import ENCODERS, Encoder, save_encoder
from tests.tiny_models.vocabulary import wordpiece

LONG = "the garden was green " * 200
Models = Callable[..., LocalModels]


@pytest.fixture
def models(tmp_path: Path) -> Models:
    """Models over one entry of version 2, `m`, of the files in `m`."""

    def make(text: str = "") -> LocalModels:
        file = tmp_path / "models.toml"
        file.write_text(f'schema = 2\n[[models]]\nname = "m"\nsource = "path:m"\n{text}\n', "utf-8")
        return LocalModels(load_catalogue(file))

    return make


@pytest.fixture
def dynabench(tmp_path: Path) -> Path:
    return save_encoder(tmp_path / "m", ENCODERS["dynabench"])


@pytest.mark.usefixtures("dynabench")
def test_max_length_only_lowers(models: Models) -> None:
    assert models().local_classifier("m")._weights.longest == 512
    low = models("max_length = 16").local_classifier("m")
    assert len(low.tokens([Example(text=LONG)])[0].ids) == 16
    assert models("max_length = 4096").local_classifier("m")._weights.longest == 512


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "classifier.out_proj.bias",
            "inf",
            "the model's output contains NaN or infinity in float32",
        ),
        ("roberta.embeddings.word_embeddings.weight", "nan", "NaN in roberta.embeddings"),
    ],
)
def test_weights_that_answer_no_number_are_refused(
    models: Models, dynabench: Path, name: str, value: str, said: str
) -> None:
    """A NaN in the row of one word would be seen by texts with that word alone."""
    file = dynabench / "model.safetensors"
    damaged = load_file(file)
    damaged[name][-1] = float(value)
    save_file(damaged, file, metadata={"format": "pt"})
    with pytest.raises(ModelNotReady, match=said):
        models().judge("m").judge([Example(text="a")])


def test_files_that_are_overwritten_in_place_leave_a_loaded_model_alone(
    models: Models, dynabench: Path
) -> None:
    """Weights mapped from a file would follow it, under the old hash; cut off, it is a SIGBUS."""
    model = models().local_classifier("m")
    before = model.probabilities(["a garden"]).tolist()
    file = dynabench / "model.safetensors"
    with file.open("r+b") as stream:
        stream.write(bytes(file.stat().st_size))
    assert model.probabilities(["a garden"]).tolist() == before
    file.write_bytes(b"")
    assert model.probabilities(["a garden"]).tolist() == before


def test_files_that_are_replaced_while_they_are_read_are_not_loaded(
    models: Models, dynabench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answers would stand under the hash of the files before."""

    def replacing(*_: object) -> int:
        (dynabench / "model.safetensors").touch()
        return 1

    monkeypatch.setattr(
        loader, "find_max_length", lambda *given: find_max_length(*given) * replacing()
    )
    with pytest.raises(ModelNotReady, match="changed while they were read") as refusal:
        models().local_classifier("m")
    assert refusal.value.state == "downloading"  # jobs wait


def test_a_network_larger_than_its_files_is_refused_before_it_is_made(
    models: Models, dynabench: Path
) -> None:
    """Its 39 billion random numbers would be the end of the process, and of the other models."""
    altered(dynabench, "config.json", hidden_size=65_536)
    with pytest.raises(ScoringError, match=r"describes .* parameters, but its files contain"):
        models().local_classifier("m")


@pytest.mark.usefixtures("dynabench")
def test_a_text_that_is_too_long_is_refused_where_the_entry_says_so(models: Models) -> None:
    model = models('max_length = 16\noverlong = "refuse"').local_classifier("m")
    assert model.probabilities(["short"]).shape == (1, 2)
    for ask in (
        lambda: model.probabilities([LONG]),
        lambda: model.judge([Example(text=LONG)]),
        lambda: model.attributions(
            [Example(text=LONG)], ["hateful"], AttributionMethod(name="gradient")
        ),
    ):
        with pytest.raises(BadInput, match="text-too-long: m reads at most 16 tokens") as caught:
            ask()
        assert caught.value.pointer == "/text"


@pytest.mark.usefixtures("dynabench")
def test_the_share_that_was_read_ends_where_the_last_token_does(models: Models) -> None:
    model = models("max_length = 16").local_classifier("m")
    example = Example(text=LONG)
    [tokens] = model.tokens([example])
    last = max(end for end in tokens.ends if end is not None)
    assert tokens.read_share(example) == pytest.approx(last / len(LONG.rstrip()))
    short = Example(text="the garden ")
    assert model.tokens([short])[0].read_share(short) == 1


def altered(folder: Path, name: str, **keys: Any) -> None:
    file = folder / name
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | keys), "utf-8")


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        (
            {"quantization_config": {"quant_method": "gptq", "bits": 4}},
            r"quantised \(gptq\); run",
        ),
        (
            {"auto_map": {"AutoModel": "modeling_own.Own"}},
            "needs-own-code: .*modeling_own",
        ),
    ],
)
def test_what_cannot_run_here_is_refused_with_advice(
    models: Models, dynabench: Path, keys: dict[str, Any], reason: str
) -> None:
    altered(dynabench, "config.json", **keys)
    with pytest.raises(ScoringError, match=reason):
        models().local_classifier("m")


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def pointer(file: Path) -> None:
    file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "utf-8")


def shard(file: Path) -> None:
    file.rename(file.with_name("model-00001-of-00002.safetensors"))
    names = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    index = file.with_name("model.safetensors.index.json")
    index.write_text(json.dumps({"weight_map": names}), "utf-8")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (cut, "model.safetensors in .* is cut off"),
        (pointer, "a pointer of Git LFS, not the weights; run `git lfs pull`"),
        (
            lambda file: file.write_bytes(b""),
            "not a safetensors file, or is cut off; download or copy",
        ),
        (
            lambda file: file.write_bytes(b"\x02" + b"\0" * 7 + b"[]"),
            "not a safetensors file; download",
        ),
        (shard, "lacks files that its model.safetensors.index.json lists"),
    ],
)
def test_weights_that_are_not_all_there_say_what_to_do(
    models: Models, dynabench: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    spoil(dynabench / "model.safetensors")
    with pytest.raises(ScoringError, match=reason):
        models('kind = "classifier"').local_classifier("m")


def test_no_tokenizer_is_made_up(models: Models, tmp_path: Path) -> None:
    """Of BERT's the library would: one that reads every word as unknown, without a word."""
    folder = save_encoder(tmp_path / "m", ENCODERS["hatexplain"])
    for file in folder.glob("*token*"):
        file.unlink()
    with pytest.raises(
        ScoringError, match=r"the model's files lack a tokenizer; put tokenizer\.json"
    ):
        models('preset = "hatexplain"').local_classifier("m")


def test_a_tokenizer_without_words_is_there_and_counted(models: Models, dynabench: Path) -> None:
    file = dynabench / "tokenizer.json"
    stated = json.loads(file.read_text("utf-8"))
    special = [one["content"] for one in stated["added_tokens"]]
    stated["model"] = {
        "type": "WordLevel",
        "vocab": {word: place for place, word in enumerate(special)},
        "unk_token": special[0],
    }
    file.write_text(json.dumps(stated), "utf-8")
    said = rf"tokenizer \(tokenizer\.json\) has only {len(special)} entries"
    with pytest.raises(ScoringError, match=said):
        models('kind = "classifier"').local_classifier("m")


def test_a_tokenizer_that_cannot_be_read_is_named(models: Models, dynabench: Path) -> None:
    (dynabench / "tokenizer.json").write_text("{}", "utf-8")
    with pytest.raises(ScoringError, match=r"tokenizer cannot be read .*; put tokenizer\.json"):
        models().local_classifier("m")


def test_a_tokenizer_of_another_model_is_refused(models: Models, tmp_path: Path) -> None:
    """Its last words have no row: an error at the first text with one, on a GPU of the process."""
    folder = save_encoder(tmp_path / "m", ENCODERS["hatexplain"])
    weights = load_file(folder / "model.safetensors")
    [name] = [one for one in weights if one.endswith("word_embeddings.weight")]
    rows = len(weights[name]) - 1
    weights[name] = weights[name][:rows].clone()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    altered(folder, "config.json", vocab_size=rows)
    with pytest.raises(ScoringError, match=f"its weights have only {rows} rows"):
        models('preset = "hatexplain"').local_classifier("m")


@pytest.mark.parametrize("special", [False, True])
def test_tokens_that_were_added_and_never_trained_are_refused_by_name(
    models: Models, tmp_path: Path, special: bool
) -> None:
    folder = save_encoder(tmp_path / "m", ENCODERS["hatexplain"])
    words = AutoTokenizer.from_pretrained(folder)
    words.add_tokens(["@user", "<url>"], special_tokens=special)
    words.save_pretrained(folder)
    with pytest.raises(ScoringError, match="without a row in the weights: <url>, @user"):
        models('preset = "hatexplain"').local_classifier("m")


def test_a_type_that_the_library_does_not_know_is_to_be_served(
    models: Models, dynabench: Path
) -> None:
    altered(dynabench, "config.json", model_type="newest")
    with pytest.raises(
        ScoringError, match="does not know the model type 'newest': run the model on a server"
    ) as caught:
        models('kind = "classifier"').local_classifier("m")
    assert "pip" not in caught.value.detail


def test_a_gguf_is_refused_with_advice(models: Models, dynabench: Path) -> None:
    (dynabench / "model.safetensors").rename(dynabench / "model.gguf")
    with pytest.raises(
        ScoringError,
        match=r"quantised \(gguf\); run the model on a server, and add the server as openai:",
    ):
        models().local_classifier("m")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json", "tokenizer.json"])
def test_a_pipe_among_its_files_is_refused_and_not_waited_for(
    models: Models, dynabench: Path, name: str
) -> None:
    (dynabench / name).unlink(missing_ok=True)
    os.mkfifo(dynabench / name)
    with pytest.raises(ScoringError, match=f"{name} is not a regular file"):
        models().local_classifier("m")


def test_a_pipe_in_place_of_its_weights_holds_up_no_list(
    models: Models, dynabench: Path, tmp_path: Path
) -> None:
    (dynabench / "model.safetensors").unlink()
    os.mkfifo(dynabench / "model.safetensors")
    known = models()
    (card,) = load_catalogue(tmp_path / "models.toml").describe()
    assert card.sha256 is None
    with pytest.raises(ScoringError, match="is not a regular file"):
        known.local_classifier("m")


@pytest.mark.parametrize("stated", [0, -1, 1])
def test_weights_that_no_layer_would_use_are_refused(
    models: Models, dynabench: Path, stated: int
) -> None:
    written = dynabench / "config.json"
    config = json.loads(written.read_text())
    assert config["num_hidden_layers"] > 1
    written.write_text(json.dumps(config | {"num_hidden_layers": stated}))
    with pytest.raises(ScoringError, match="fewer layers than its files contain"):
        models().local_classifier("m")


def test_a_model_without_a_head_is_refused(models: Models, tmp_path: Path) -> None:
    words = wordpiece()
    sizes = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
    BertForMaskedLM(
        BertConfig(vocab_size=len(words), num_hidden_layers=2, **sizes)
    ).save_pretrained(tmp_path / "m")
    words.save_pretrained(tmp_path / "m")
    with pytest.raises(ScoringError, match="files lack the classifier's weights"):
        models('kind = "classifier"').local_classifier("m")


def test_a_head_of_another_size_than_stated_is_refused(models: Models, dynabench: Path) -> None:
    names = {str(place): f"LABEL_{place}" for place in range(3)}
    altered(dynabench, "config.json", id2label=names, label2id={})
    with pytest.raises(ScoringError, match="different shapes than its configuration says"):
        models().local_classifier("m")


def test_a_causal_model_with_fewer_positions_than_it_states_is_refused(
    models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = byte_tokenizer(begins=False, reads=64)
    config = GPT2Config(vocab_size=len(words), n_positions=32, n_embd=32, n_layer=2, n_head=4)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "m")
    words.save_pretrained(tmp_path / "m")
    stated: Callable[[Any], int] = lambda _network: 64  # noqa: E731 - as its configuration says
    monkeypatch.setattr("services.inference.weights.limits.max_positions", stated)
    with pytest.raises(ScoringError, match="reads fewer tokens than its files state"):
        models().language_model("m")


def entry(kind: str, dtype: str = "auto") -> ModelEntry:
    fields = {"name": "m", "kind": kind, "source": "path:m", "dtype": dtype}
    return ModelEntry.model_validate(fields)


@pytest.mark.parametrize(
    ("kind", "size", "hardware", "dtype"),
    [
        ("classifier", 1_000_000, True, "bfloat16"),
        ("classifier", 2_000_000_000, False, "float32"),
        ("similarity", 1_000_000, True, "bfloat16"),
        ("cross-encoder", 2_000_000_000, True, "float32"),
        ("causal", 2_000_000_000, True, "bfloat16"),
        ("causal", 2_000_000_000, False, "float32"),
        ("causal", 1_000_000_000, True, "float32"),
    ],
)
def test_dtype_auto_on_a_processor(
    monkeypatch: pytest.MonkeyPatch, kind: str, size: int, hardware: bool, dtype: str
) -> None:
    monkeypatch.setattr("services.inference.weights.placement.parameters", lambda _folder: size)
    monkeypatch.setattr("services.inference.weights.placement.computes_bfloat16", lambda: hardware)
    cpu = torch.device("cpu")
    assert dtype_of(entry(kind), cpu, Path()) == "float32"  # as tests set it
    auto = Settings(dtype="auto")
    monkeypatch.setattr("services.inference.weights.placement.settings", lambda: auto)
    assert dtype_of(entry(kind), cpu, Path()) == dtype
    assert dtype_of(entry(kind, "float16"), cpu, Path()) == "float16"


@pytest.mark.parametrize(("capability", "dtype"), [((8, 0), "bfloat16"), ((7, 5), "float32")])
def test_dtype_auto_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], dtype: str
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _device: capability)
    assert dtype_of(entry("classifier"), torch.device("cuda"), Path()) == dtype


@pytest.mark.parametrize(
    ("flags", "encoder", "causal"),
    [
        ("avx512f avx512_bf16 avx512_vnni", "bfloat16", "bfloat16"),
        ("amx_bf16 amx_int8", "bfloat16", "bfloat16"),
        ("avx512f avx512_vnni", "int8", "float32"),
        ("avx2 avx_vnni", "int8", "float32"),
        ("avx2", "float32", "float32"),
        ("", "float32", "float32"),
    ],
)
def test_dtype_fast_is_the_cheapest_that_the_processor_multiplies(
    monkeypatch: pytest.MonkeyPatch, flags: str, encoder: str, causal: str
) -> None:
    monkeypatch.setattr("shared.process.numerics._flags", lambda: set(flags.split()))
    cpu = torch.device("cpu")
    for kind in ("classifier", "similarity", "cross-encoder"):
        assert dtype_of(entry(kind, "fast"), cpu, Path()) == encoder
    assert dtype_of(entry("causal", "fast"), cpu, Path()) == causal
    assert dtype_of(entry("classifier", "int8"), cpu, Path()) == "int8"


def test_dtype_fast_is_bfloat16_on_a_gpu_and_int8_is_refused_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _device: (8, 0))
    gpu = torch.device("cuda")
    assert dtype_of(entry("classifier", "fast"), gpu, Path()) == "bfloat16"
    with pytest.raises(ValueError, match="not available on a GPU"):
        dtype_of(entry("classifier", "int8"), gpu, Path())


def test_int8_is_no_dtype_of_a_causal_model() -> None:
    with pytest.raises(ValueError, match="is for encoders only"):
        entry("causal", "int8")


def test_parameters_are_counted_from_the_headers(dynabench: Path, models: Models) -> None:
    network = models().local_classifier("m")._weights.model
    assert parameters(dynabench) == sum(weight.numel() for weight in network.parameters())


def nli(folder: Path) -> Path:
    bert = ENCODERS["hatexplain"]
    outputs = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")
    return save_encoder(
        folder, Encoder(bert.architecture, bert.words, outputs, rows=128, segments=2)
    )


PAIR = Example(text="The garden was green.", text_pair="It was warm by the river.")
SWAPPED = Example(text=PAIR.text_pair or "", text_pair=PAIR.text)


def test_the_order_of_a_pair_is_the_models_affair(models: Models, tmp_path: Path) -> None:
    nli(tmp_path / "m")
    usual = models().local_classifier("m")
    assert usual.labels == ("entailment", "neutral", "contradiction")
    other = models('input = { text = "{hypothesis}", pair = "{premise}" }').local_classifier("m")
    assert as_promised(other.use, other.judge([PAIR])[0], usual.judge([SWAPPED])[0])
    assert not np.array_equal(other.judge([PAIR])[0], usual.judge([PAIR])[0])
    assert offsets(other, PAIR) == offsets(usual, PAIR)
    with pytest.raises(BadInput, match="reads pairs"):
        other.judge([Example(text="alone")])


def offsets(model: LocalClassifier, example: Example) -> set[tuple[str, int | None, int | None]]:
    [tokens] = model.tokens([example])
    return set(zip(tokens.parts, tokens.starts, tokens.ends, strict=True))


@pytest.mark.usefixtures("dynabench")
def test_words_around_a_text_are_the_templates(models: Models) -> None:
    plain = models().local_classifier("m")
    around = models('input = { text = "post: {text} end" }').local_classifier("m")
    text = "People {text} walk."
    [tokens] = around.tokens([Example(text=text)])
    own = [
        text[start:end]
        for part, start, end in zip(tokens.parts, tokens.starts, tokens.ends, strict=True)
        if part == "text" and start is not None
    ]
    assert "".join(own).replace(" ", "") == text.replace(" ", "")
    assert "template" in tokens.parts
    expected = plain.probabilities([f"post: {text} end"])
    assert around.probabilities([text]) == pytest.approx(expected, abs=1e-6)
    assert around.judge([Example(text=text)])[0] == pytest.approx(expected[0], abs=1e-6)


@pytest.mark.usefixtures("dynabench")
def test_temperature_divides_the_logits(models: Models) -> None:
    plain, warm = models().local_classifier("m"), models("temperature = 2.5").local_classifier("m")
    logits = plain.logits(["the garden"])
    p = warm.probabilities(["the garden"])
    assert np.log(p[0, 1] / p[0, 0]) == pytest.approx((logits[0, 1] - logits[0, 0]) / 2.5)
