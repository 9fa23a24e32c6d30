"""The allow-list: what may be configured, what is refused, and what is shown."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from services.registry import contracts
from shared.contracts.errors import BadInput, ModelNotReady
from shared.contracts.messages import JobRequest
from shared.models.catalogue.catalogue import Catalogue, load_catalogue, prompt_label_fields
from shared.models.catalogue.checkpoint import (
    BASE_REVISION,
    BASE_SHA256,
    file_sha256,
    folder_sha256,
)
from shared.models.catalogue.entry import ModelEntry
from shared.models.catalogue.models_file import preset_names, with_preset
from tests.echo_metric import ECHO
from tests.flat_requests import flat_request

ROOT = Path(__file__).parents[3]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def written(folder: Path, text: str) -> Path:
    path = folder / "models.toml"
    path.write_text(text, encoding="utf-8")
    return path


def model(source: str, kind: str = "classifier", more: str = "") -> str:
    return f'[[models]]\nname = "m"\nkind = "{kind}"\nsource = "{source}"\n{more}\n'


def loaded(folder: Path, text: str) -> Catalogue:
    return load_catalogue(written(folder, text))


def test_the_base_itself_is_a_similarity() -> None:
    cards = load_catalogue(ROOT / "models.toml").describe()
    [card] = [card for card in cards if card.name == "embedded-similarity"]
    assert (card.kind, card.capabilities) == ("similarity", ("similarities",))
    assert (card.revision, card.sha256) == (BASE_REVISION, BASE_SHA256)


def test_the_shipped_file_names_the_embedded_classifier() -> None:
    card = load_catalogue(ROOT / "models.toml").describe()[0]
    weights = ROOT / "services/inference/embedded/hate/adapter_model.safetensors"
    assert card.name == "embedded-hate"
    assert {"probabilities", "judge_rows", "attributions"} <= set(card.capabilities)
    assert card.labels == ("non-hateful", "hateful")
    assert set(card.languages or ()) >= {"en", "de", "zh"}
    assert not {"ar", "hi", "ko"} & set(card.languages or ())
    assert card.sha256 == hashlib.sha256(weights.read_bytes()).hexdigest()


def test_an_unknown_name_is_the_callers_fault_and_the_known_ones_are_named() -> None:
    with pytest.raises(BadInput, match="choose one of: embedded-hate") as caught:
        load_catalogue(ROOT / "models.toml").entry("gpt-9")
    assert caught.value.pointer == "/model"


def test_a_pinned_hub_model_is_shown_with_its_commit_and_no_hash(tmp_path: Path) -> None:
    catalogue = loaded(tmp_path, model(f"hf:org/repo@{COMMIT}"))
    card = catalogue.describe()[0]
    assert (card.revision, card.sha256) == (COMMIT, None)
    assert catalogue.entry("m").location == "org/repo"


GOOD = '[[models]]\nname = "good"\nsource = "embedded:hate"\nkind = "classifier"\n'
SERVER = "openai:http://v:1/v1"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (model("hf:org/repo@main"), "must pin a commit"),
        (model("hf:org/repo"), "must pin a commit"),
        (model(f"hf:org/repo@{COMMIT.upper()}"), "must pin a commit"),
        (model("embedded:../../etc"), "must be one of the embedded models: base, hate"),
        (model("embedded:base"), "embedded:base can only be of kind similarity"),
        (model("embedded:hate", kind="similarity"), "embedded:hate can only be of kind class"),
        (model("pickle:model.bin"), "models.0.source: .*must be embedded:NAME"),
        (model("path:"), "must be embedded:NAME"),
        (model("openai:vllm:8000", kind="causal"), "http"),
        (model("openai:http://vllm:8000/v1"), "an openai: source can only be of kind causal"),
        (model("classify:http://v:1", "causal"), "a classify: source can only be of kind class"),
        (
            model("embedded:hate", more='served_name = "x"'),
            "which only an openai: or classify: source",
        ),
        (model("path:x", more='api_key_env = "KEY"'), "which only an openai: or classify: source"),
        (model(SERVER, "causal", 'api_key_env = "sk-123"'), "api_key_env"),
        (model(SERVER, "causal", f'sha256 = "{"0" * 64}"'), "remove `sha256`"),
        (
            model(SERVER, "causal", 'headers = { Authorization = "Bearer x" }'),
            r"environment variable instead, as in \$NAME",
        ),
        (model(SERVER, "causal", 'protocol = "tei"'), "which only a classify: source"),
        (model("classify:http://v:1", more='protocol = "kserve-v2"'), "or neither"),
        (model("path:x", "causal", 'activation = "sigmoid"'), "which only a classifier can have"),
        (
            model("path:x", "similarity", "temperature = 2"),
            "which only a model with labels can have",
        ),
        (
            model("path:x", more='prompt = { user = "{text}" }'),
            "which only a causal model can have",
        ),
        (model("path:x", more="max_length = 7"), "models.0.max_length"),
        (
            model(
                SERVER,
                "causal",
                'threshold = { x = 0.5 }\nprompt.verbalizers = { a = ["b"], c = ["d"] }',
            ),
            "`threshold` names x, but the labels in `prompt.verbalizers` are a, c",
        ),
        (
            model(SERVER, "causal", 'task = "nli"\nprompt.verbalizers = { a = ["b"], c = ["d"] }'),
            "models.0: `prompt.verbalizers` names a, c, but the labels of task nli are entailment",
        ),
        (model("path:x", more='input = { text = "{premise}" }'), "both {premise} and {hypothesis}"),
        (model("path:x", more='task = "irony"'), "'hate', 'nli', 'sentiment' or 'free'"),
        (
            model("path:x", more='preset = "nosuch"'),
            "preset: there is no preset 'nosuch'; choose one of",
        ),
        (model("embedded:hate", more="trust_remote_code = true"), "models.0.trust_remote_code"),
        (model("path:x", more="lables = {}"), "lables: there is no such key; did you mean labels"),
        (model("embedded:hate", more='dtype = "int4"'), "'auto', 'fast', 'float32'"),
        (model("embedded:hate", more='device = "tpu"'), "models.0.device"),
        (model("embedded:hate") * 2, "'m' is configured 2 times"),
        (model("embedded:hate") + model("pickle:x"), "'m' is configured 2 times"),
        (model("classify:http://[::1"), r"must name an http\(s\) address"),
        (model("classify:http://"), r"must name an http\(s\) address"),
        (model("classify:http://v:999999"), r"must name an http\(s\) address"),
        (model(SERVER, "causal", 'headers = { "X\\nY" = "a" }'), "not a valid HTTP header"),
        (model(SERVER, "causal", 'headers = { X = "a\\r\\nb" }'), "not a valid HTTP header"),
    ],
)
def test_a_mistake_takes_its_own_entry_out_and_says_why(
    tmp_path: Path, text: str, reason: str
) -> None:
    catalogue = loaded(tmp_path, text + GOOD)
    assert [entry.name for entry in catalogue.entries] == ["good"]
    with pytest.raises(BadInput, match=reason) as caught:
        catalogue.entry("m")
    assert caught.value.pointer == "/model"
    assert "models.toml" in caught.value.detail
    card = catalogue.describe()[-1]
    assert (card.name, card.fault) == ("m", catalogue.faults[0].reason)


@pytest.mark.parametrize("mount_point", [True, False])
def test_a_model_whose_folder_is_away_is_not_ready(tmp_path: Path, mount_point: bool) -> None:
    folder = tmp_path / "disk"
    if mount_point:
        folder.mkdir()
    catalogue = loaded(tmp_path, '[[models]]\nname = "m"\nsource = "path:disk"\n' + GOOD)
    with pytest.raises(ModelNotReady, match="is missing") as caught:
        catalogue.entry("m")
    assert caught.value.state == "away"
    described(folder, {"architectures": ["XForSequenceClassification"], "num_labels": 2})
    catalogue = load_catalogue(tmp_path / "models.toml")
    assert catalogue.entry("m").kind == "classifier"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[models]", "not TOML"),
        (f"schema = {'[' * 5_000}{']' * 5_000}", "not TOML"),
        (f"schema = {'9' * 5_000}", "not TOML"),
        ("", "models: must be a list of tables"),
        ("models = 3", "models: must be a list of tables"),
        ("schema = 3", "schema: must be one of 1, 2"),
        ("[[model]]", "unknown keys model; only schema and"),
    ],
)
def test_a_file_that_cannot_be_understood_stops_the_start(
    tmp_path: Path, text: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason) as caught:
        loaded(tmp_path, text)
    assert "models.toml" in str(caught.value)


@pytest.mark.parametrize(
    "keys",
    [
        'preset = "toxic-bert"\nlabels = { hateful = [["x"]] }',
        'preset = "toxic-bert"\nlabels = 3',
        'preset = "toxic-bert"\nlabels = { hateful = { a = 1 } }',
        'preset = ["toxic-bert"]',
        'preset = "toxic-bert"\nignore = [{}]',
        "labels = [[]]",
        "outputs = { a = 1 }",
        "input = [1]",
    ],
)
def test_no_shape_of_a_key_takes_other_entries_out(tmp_path: Path, keys: str) -> None:
    catalogue = loaded(tmp_path, "schema = 2\n" + model("path:x", more=keys) + GOOD)
    assert [entry.name for entry in catalogue.entries] == ["good"]
    assert [fault.name for fault in catalogue.faults] == ["m"]


def test_a_head_of_more_outputs_than_there_are_is_not_counted_out(tmp_path: Path) -> None:
    described(
        tmp_path / "x", {"architectures": ["XForSequenceClassification"], "num_labels": 10**9}
    )
    catalogue = loaded(
        tmp_path, "schema = 2\n" + '[[models]]\nname = "m"\nsource = "path:x"\n' + GOOD
    )
    assert [entry.name for entry in catalogue.entries] == ["good"]
    assert "num_labels" in catalogue.faults[0].reason


def test_an_entry_without_a_name_is_named_by_its_place(tmp_path: Path) -> None:
    catalogue = loaded(tmp_path, GOOD + '[[models]]\nsource = "embedded:hate"\n')
    assert catalogue.faults[0].name == "models.1"
    assert "name: Field required" in catalogue.faults[0].reason


def described(folder: Path, config: dict[str, object], card: str = "") -> None:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "README.md").write_text(card, encoding="utf-8")


HATE: dict[str, object] = {
    "architectures": ["RobertaForSequenceClassification"],
    "id2label": {"0": "normal", "1": "hate speech", "2": "offensive"},
}
V2 = 'schema = 2\n[[models]]\nname = "m"\nsource = "path:model"\n'


def test_a_card_shows_what_the_files_say(tmp_path: Path) -> None:
    card = "---\nlanguage:\n- en\n- no\n- multilingual\n---\n# It\n"
    described(tmp_path / "model", HATE, card)
    labels = 'labels = { hateful = ["hate speech", "offensive"], "non-hateful" = ["normal"] }\n'
    [found] = loaded(tmp_path, V2 + labels).describe()
    assert found.kind == "classifier"
    assert found.outputs == ("normal", "hate speech", "offensive")
    assert found.labels == ("hateful", "non-hateful")
    assert found.mapping == {"hateful": ("hate speech", "offensive"), "non-hateful": ("normal",)}
    assert found.activation == "softmax"
    assert found.languages == ("en", "no")


def test_a_card_says_what_is_wrong_with_the_labels(tmp_path: Path) -> None:
    described(tmp_path / "model", HATE)
    [card] = loaded(tmp_path, V2).describe()
    assert card.labels is None
    assert "offensive belong to no label" in (card.fault or "")


@pytest.mark.parametrize("text", ["{", "[]", '{"id2label": 3}', "\xff"])
def test_a_strange_config_is_a_fault_of_its_own_model(tmp_path: Path, text: str) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_bytes(text.encode("latin-1"))
    [card] = loaded(tmp_path, V2 + 'kind = "classifier"\n').describe()
    assert "the model's config.json" in (card.fault or "")
    assert "\n" not in (card.fault or "")


def test_a_fetched_hub_model_is_described_from_the_cache(tmp_path: Path, hub: Path) -> None:
    snapshots = hub / "models--org--repo" / "snapshots"
    snapshots.mkdir(parents=True)
    described(snapshots / COMMIT, {**HATE, "id2label": {"0": "nothate", "1": "hate"}})
    text = f'schema = 2\n[[models]]\nname = "m"\nsource = "hf:org/repo@{COMMIT}"\n'
    [card] = loaded(tmp_path, text).describe()
    assert card.labels == ("non-hateful", "hateful")
    assert card.outputs == ("nothate", "hate")


def test_a_file_of_version_1_means_what_it_meant(tmp_path: Path) -> None:
    described(tmp_path / "model", HATE)
    [card] = loaded(tmp_path, model("path:model")).describe()
    assert card.labels == card.outputs == ("normal", "hate speech", "offensive")
    assert (card.dtype, card.warnings) == ("float32", ())
    named = loaded(tmp_path, model("path:model", more='labels = ["a", "b", "c"]'))
    assert named.describe()[0].labels == ("a", "b", "c")


def test_an_array_of_labels_is_of_version_1(tmp_path: Path) -> None:
    catalogue = loaded(tmp_path, V2 + 'kind = "classifier"\nlabels = ["a", "b"]\n')
    assert "list the names of outputs under `outputs`" in catalogue.faults[0].reason


def test_the_shipped_file_is_of_version_2_and_has_no_fault() -> None:
    assert tomllib.loads((ROOT / "models.toml").read_text("utf-8"))["schema"] == 2
    cards = load_catalogue(ROOT / "models.toml").describe()
    assert [card.fault for card in cards] == [None] * len(cards)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no .*nowhere.toml"):
        load_catalogue(tmp_path / "nowhere.toml")


def test_relative_folders_start_at_the_file(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "model.safetensors").write_bytes(b"weights")
    catalogue = loaded(tmp_path, model("path:model"))
    assert catalogue.describe()[0].sha256 == hashlib.sha256(b"weights").hexdigest()
    assert catalogue.describe()[0].revision == "local"


def test_a_card_says_which_weights_answer_and_whose_they_are(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(b"weights")
    os.utime(weights, (7, 7))
    catalogue = loaded(tmp_path, model("path:model"))
    [card] = catalogue.describe({"m": "f" * 64})  # as a worker loaded them, before they changed
    assert (card.sha256, card.created, card.owned_by) == ("f" * 64, 7, "local")
    [unread] = catalogue.describe(hashed=False)
    assert unread.sha256 is None
    served = loaded(tmp_path, model(SERVER, "causal"))
    [card] = served.describe()
    assert (card.created, card.owned_by) == (served.changed, "v")
    shipped = load_catalogue(ROOT / "models.toml").describe()
    assert {card.owned_by for card in shipped} == {"embedded"}


def test_a_sharded_models_hash_names_every_shard(tmp_path: Path) -> None:
    for name in ("b.safetensors", "a.safetensors", "config.json"):
        (tmp_path / name).write_text(name)
    listed = subprocess.run(
        ["sha256sum", "a.safetensors", "b.safetensors"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    ).stdout
    assert folder_sha256(tmp_path) == hashlib.sha256(listed).hexdigest()


def test_a_hash_follows_a_changed_file(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"one")
    before = file_sha256(file)
    file.write_bytes(b"other")
    assert file_sha256(file) == hashlib.sha256(b"other").hexdigest() != before


def test_a_room_may_need_no_model_but_never_another_kind(tmp_path: Path) -> None:
    catalogue = loaded(tmp_path, model("embedded:base", "similarity"))
    catalogue.check_request(replace(ECHO, default_model=None, model_optional=True), None)
    with pytest.raises(BadInput, match="send `model`"):
        catalogue.check_request(replace(ECHO, default_model=None), None)
    with pytest.raises(BadInput, match="is of kind similarity"):
        catalogue.check_request(replace(ECHO, model_optional=True), "m")


def test_the_shipped_file_holds_a_block_of_every_preset(tmp_path: Path) -> None:
    """As comments; with the marks away and a commit in its place each is an entry."""
    text = (ROOT / "models.toml").read_text("utf-8")
    _, _, rest = text.partition("# Known models:")
    marked = "# [[models]]" + rest.partition("# [[models]]")[2]
    blocks = "".join(f"{line.removeprefix('#').strip()}\n" for line in marked.splitlines())
    catalogue = loaded(tmp_path, "schema = 2\n" + blocks.replace("@COMMIT", f"@{COMMIT}"))
    assert catalogue.faults == ()
    assert [entry.preset for entry in catalogue.entries] == preset_names()
    for entry in catalogue.entries:
        repository = entry.served_name or entry.location
        assert (entry.card or "").endswith(f"/{repository}")


CAUSAL = '[models.prompt]\nverbalizers = { hateful = ["yes"], "non-hateful" = ["no"] }'


@pytest.fixture
def several(tmp_path: Path) -> Catalogue:
    """A judge with a reader, a causal judge, one that allows no prompt."""
    entries = [
        'name = "judge"\nkind = "classifier"\nsource = "embedded:hate"\nreader_model = "writer"',
        f'name = "writer"\nsource = "{SERVER}"\n{CAUSAL}',
        f'name = "strict"\nsource = "{SERVER}"\nallow_request_prompt = false\n{CAUSAL}',
        'name = "misled"\nsource = "embedded:nli"\nreader_model = "judge"',
    ]
    text = "".join(f"[[models]]\n{entry}\n" for entry in entries)
    return loaded(tmp_path, "schema = 2\n" + text)


def asking(**fields: object) -> JobRequest:
    body = {"text": "a lovely day", "explanation": "hm", **fields}
    return flat_request(contracts()["hatexscore"].request, body)


@pytest.mark.parametrize(
    ("fields", "option", "reason"),
    [
        (
            {"reader_model": "judge"},
            "reader_model",
            "needs a causal model, but 'judge' is a classif",
        ),
        ({"reader_model": "gone"}, "reader_model", "no model 'gone' is configured"),
        ({"model": "judge", "prompt": {"user": "{text}"}}, "prompt", "takes no prompt"),
        ({"model": "strict", "prompt": {"user": "{text}"}}, "prompt", "allow_request_prompt"),
        ({"model": "writer", "prompt": {"draws": 2}}, "prompt", "`draws` above 1 needs thinking"),
        (
            {"model": "writer", "prompt": {"verbalizers": {"spam": ["a"], "ham": ["b"]}}},
            None,
            "'writer' has spam, ham",
        ),
    ],
)
def test_what_a_request_says_of_models_is_refused_where_it_does_not_fit(
    several: Catalogue, fields: dict[str, object], option: str | None, reason: str
) -> None:
    request = asking(**fields)
    with pytest.raises(BadInput, match=reason) as caught:
        several.check_request(contracts()["hatexscore"], request.model, request)
    assert caught.value.pointer == (f"/options/{option}" if option else "/model")


def test_a_requests_own_prompt_makes_a_causal_model_a_judge(several: Catalogue) -> None:
    keys = {"user": "Hm: {text}", "verbalizers": {"hateful": ["a"], "non-hateful": ["b"]}}
    request = asking(model="writer", prompt=keys, reader_model="writer", reader="llm")
    several.check_request(contracts()["hatexscore"], request.model, request)


def test_a_reader_that_writes_no_text_takes_its_entry_out(several: Catalogue) -> None:
    assert [entry.name for entry in several.entries] == ["judge", "writer", "strict"]
    [fault] = several.faults
    assert fault.name == "misled"
    assert "'judge' is not a configured causal model; choose one that is" in fault.reason


def test_labels_of_a_prompt_mean_what_its_preset_says_wherever_the_model_is() -> None:
    stated = {"name": "m", "preset": "qwen3guard", "threshold": 0.4}
    for source in ("path:m", "openai:http://127.0.0.1:1/v1"):
        entry = ModelEntry.model_validate(with_preset(stated | {"source": source}))
        assert prompt_label_fields(entry) == {
            "warnings": ("wider-label: P(Unsafe) stands for P(hateful)",),
            "thresholds": {"hateful": 0.4},
        }
