"""`touchstone models` against a hub on this machine: added, pulled, converted, listed, checked."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file

from cli.models import command as models_command
from cli.models.check import RUNTIME_BYTES, memory
from cli.models.entries import replace as replace_entry
from cli.models.entries import set_key
from cli.stack.folder import acquire_folder
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.checkpoint import folder_sha256
from shared.process.settings import disable_download, settings
from tests.cli.hub_double import HubDouble, hub_double
from tests.end_to_end.service import ROOT
from tests.tiny_models.encoders import ENCODERS, save_encoder

COMMIT, OTHER, THIRD = "a" * 40, "b" * 40, "c" * 40
CARD = "---\nlanguage:\n- en\nlicense: apache-2.0\n---\n# A model\n"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny classifier of hate, with a card."""
    folder = tmp_path_factory.mktemp("tiny") / "model"
    save_encoder(folder, ENCODERS["dynabench"], 0)
    (folder / "README.md").write_text(CARD, "utf-8")
    return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with an empty models.toml, and where weights go."""
    (tmp_path / "models.toml").write_text("# ours\nschema = 2\n", "utf-8")
    monkeypatch.setenv("TOUCHSTONE_MODELS_FILE", str(tmp_path / "models.toml"))
    monkeypatch.setenv("TOUCHSTONE_MODELS_DIR", str(tmp_path / "weights"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    settings.cache_clear()
    yield tmp_path
    settings.cache_clear()


@pytest.fixture
def remote(place: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubDouble]:
    """A hub with the tiny model as org/hate."""
    with hub_double() as double:
        monkeypatch.setenv("HF_ENDPOINT", double.url)
        settings.cache_clear()
        double.add("org/hate", "main", tiny, COMMIT)
        yield double


def pickled(tiny: Path, folder: Path) -> Path:
    """The same model, of an older time."""
    shutil.copytree(tiny, folder)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


def test_a_branch_becomes_a_commit_and_the_entry_says_what_the_files_say(
    remote: HubDouble, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert models_command.main(["add", "hf:org/hate"]) == 0
    said = capsys.readouterr()
    [entry] = tomllib.loads((place / "models.toml").read_text("utf-8"))["models"]
    assert entry == {
        "name": "hate",
        "kind": "classifier",
        "source": f"hf:org/hate@{COMMIT}",
        "revision": "main",
        "licence": "apache-2.0",
        "card": f"{remote.url}/org/hate",
    }
    assert said.out == "[[models]]\n" + said.out.partition("[[models]]\n")[2]
    assert (place / "models.toml").read_text("utf-8").startswith("# ours\nschema = 2\n")
    assert "hateful: hate" in said.err
    assert "languages: English (en)" in said.err
    assert not any(path.endswith((".safetensors", ".bin")) for path in remote.asked)
    assert models_command.main(["add", "org/hate"]) == 1  # the name is taken
    assert "already has a model 'hate'" in capsys.readouterr().err


def test_weights_are_pulled_checked_and_pinned_and_then_they_are_here(
    remote: HubDouble, place: Path, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models_command.main(["add", "hf:org/hate", "--name", "mine"])
    assert models_command.main(["list"]) == 0
    assert "run `touchstone models pull mine`" in capsys.readouterr().out
    assert models_command.main(["pull", "mine"]) == 0
    said = capsys.readouterr().err
    assert "mine model.safetensors: 0." in said
    assert "MB/s" in said
    catalogue = load_catalogue(place / "models.toml")
    [entry] = catalogue.entries
    assert entry.sha256 == folder_sha256(tiny)
    assert catalogue.languages(entry) == ("en",)
    assert models_command.main(["list"]) == 0
    said = capsys.readouterr().out
    assert "here" in said
    assert "English (en)" in said
    assert models_command.main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["languages"] == "en"  # a program reads the code
    remote.asked.clear()
    assert models_command.main(["pull", "--all"]) == 0
    assert not any(path.startswith("GET") and "resolve" in path for path in remote.asked)


def test_a_download_that_breaks_off_goes_on_and_what_came_is_kept(
    remote: HubDouble, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models_command.main(["add", "hf:org/hate"])
    remote.cut = 10_000
    models_command.main(["pull", "hate"])  # the hub's client itself goes on, or tells us to
    assert models_command.main(["pull", "hate"]) == 0
    assert "complete" in capsys.readouterr().err


def test_other_weights_than_the_hub_states_are_deleted(
    remote: HubDouble, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models_command.main(["add", "hf:org/hate"])
    assert models_command.main(["pull", "hate"]) == 0
    [file] = (place / "weights").rglob("model.safetensors")
    blob = file.resolve()
    blob.write_bytes(blob.read_bytes()[:-1] + b"x")
    assert models_command.main(["pull", "hate"]) == 1
    assert "was damaged during the download" in capsys.readouterr().err
    assert not blob.exists()
    assert models_command.main(["pull", "hate"]) == 0


def test_a_conversion_by_pull_request_is_taken_and_named(
    remote: HubDouble, tiny: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remote.add("org/old", "main", pickled(tiny, place / "old"), OTHER)
    remote.add("org/old", "refs/pr/3", tiny, THIRD)
    assert models_command.main(["add", "hf:org/old"]) == 0
    assert f"using {THIRD}, a commit with the converted weights" in capsys.readouterr().err
    [entry] = load_catalogue(place / "models.toml").entries
    assert (entry.commit, entry.revision) == (THIRD, None)


def test_pickles_are_converted_by_a_child_and_loaded_from_the_folder(
    remote: HubDouble, tiny: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remote.add("org/old", "main", pickled(tiny, place / "old"), OTHER)
    assert models_command.main(["add", "hf:org/old"]) == 0
    assert models_command.main(["pull", "old"]) == 1
    assert "touchstone models convert old" in capsys.readouterr().err
    assert models_command.main(["convert", "old"]) == 0
    [entry] = load_catalogue(place / "models.toml").entries
    folder = place / "weights" / "converted" / "old"
    assert entry.source == f"path:{folder}"
    before, after = load_file(tiny / "model.safetensors"), load_file(folder / "model.safetensors")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    note = json.loads((folder / "CONVERTED.json").read_text("utf-8"))
    assert (note["commit"], note["to"]["model.safetensors"]) == (OTHER, folder_sha256(folder))


def test_a_folder_of_pickles_is_added_and_converted(
    tiny: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pooling = pickled(tiny, place / "old") / "1_Pooling" / "config.json"
    pooling.parent.mkdir()
    pooling.write_text("{}", "utf-8")
    assert models_command.main(["add", f"path:{place / 'old'}", "--name", "mine"]) == 0
    said = capsys.readouterr().err
    assert "next: touchstone models convert mine, then touchstone models check mine" in said
    assert models_command.main(["list"]) == 0
    assert (
        "failed: the model 'mine' has no safetensors files; run `touchstone models convert mine`"
        in (capsys.readouterr().out)
    )
    assert models_command.main(["convert", "mine"]) == 0
    [entry] = load_catalogue(place / "models.toml").entries
    converted = place / "weights" / "converted" / "mine"
    assert entry.source == f"path:{converted}"
    assert (converted / "1_Pooling" / "config.json").is_file()
    assert models_command.main(["convert", "mine"]) == 1  # nothing is left to convert


class Evil:
    """A pickle that would run something."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (print, ("it ran",))


def test_a_pickle_that_runs_something_is_refused(
    tiny: Path, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = pickled(tiny, place / "evil")
    torch.save({"weight": Evil()}, folder / "pytorch_model.bin")
    (place / "models.toml").write_text(
        f'schema = 2\n[[models]]\nname = "evil"\nkind = "classifier"\nsource = "path:{folder}"\n'
    )
    assert models_command.main(["convert", "evil"]) == 1
    said = capfd.readouterr()
    assert "it ran" not in said.out
    assert "holds data other than numbers (print)" in said.err
    assert "arbitrary code" not in said.err  # no advice to run it all the same
    assert "could not be converted" in said.err
    assert not (place / "weights" / "converted" / "evil").exists()


def test_what_no_worker_would_load_is_refused_with_what_to_do(
    remote: HubDouble, tiny: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, more, reason in (
        (
            "own",
            {"auto_map": {"AutoModel": "modeling_own.Own"}},
            "Python code from its repository (modeling_own.py)",
        ),
        ("small", {"quantization_config": {"quant_method": "gptq"}}, "quantised (gptq)"),
    ):
        folder = place / name
        shutil.copytree(tiny, folder)
        config = json.loads((folder / "config.json").read_text("utf-8"))
        (folder / "config.json").write_text(json.dumps(config | more), "utf-8")
        remote.add(f"org/{name}", "main", folder, OTHER)
        assert models_command.main(["add", f"hf:org/{name}"]) == 1
        said = capsys.readouterr().err
        assert reason in said
        assert "openai:" in said
    assert models_command.main(["add", "hf:org/none"]) == 1
    assert "no repository, revision or file of this name" in capsys.readouterr().err
    assert "[[models]]" not in (place / "models.toml").read_text("utf-8")


def test_a_gated_model_needs_a_token_that_no_entry_keeps(
    remote: HubDouble,
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remote.gated.add("org/hate")
    assert models_command.main(["add", "hf:org/hate"]) == 1
    assert "HF_TOKEN" in capsys.readouterr().err
    monkeypatch.setenv("HF_TOKEN", "word")
    assert models_command.main(["add", "hf:org/hate"]) == 0
    assert models_command.main(["pull", "hate"]) == 0
    assert "word" not in (place / "models.toml").read_text("utf-8")


def test_a_folder_and_servers_are_added_without_a_hub(place: Path, tiny: Path) -> None:
    assert models_command.main(["add", f"path:{tiny}", "--name", "mine"]) == 0
    assert models_command.main(["add", "openai:http://127.0.0.1:1/v1", "--name", "llama"]) == 0
    assert models_command.main(["add", "path:nowhere"]) == 1
    entries = load_catalogue(place / "models.toml").entries
    assert [(one.name, one.kind, one.scheme) for one in entries] == [
        ("mine", "classifier", "path"),
        ("llama", "causal", "openai"),
    ]


def test_a_causal_model_becomes_a_judge_in_one_command(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--label", "hateful=yes,Yes", "--label", "non-hateful=no"]
    server = ["--served-name", "org/gemma3:4b", "--api-key-env", "KEY", "--languages", "de,en"]
    assert models_command.main(["add", "openai:http://127.0.0.1:1/v1", *server, *words]) == 0
    [entry] = load_catalogue(place / "models.toml").entries
    assert (entry.name, entry.served_name, entry.api_key_env) == (
        "gemma3-4b",
        "org/gemma3:4b",
        "KEY",
    )
    assert entry.prompt is not None
    assert entry.prompt.verbalizers == {
        "hateful": ("yes", " yes", "Yes", " Yes"),
        "non-hateful": ("no", " no"),
    }
    said = capsys.readouterr().err
    assert "hateful: yes, Yes" in said
    assert "has no labels" not in said
    assert models_command.main(["add", "openai:http://127.0.0.1:1/v1", *words[:2]]) == 1
    assert "prompt.verbalizers: must have at least 2 entries" in capsys.readouterr().err


def test_a_key_in_the_place_of_its_variable_is_written_nowhere(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["openai:http://127.0.0.1:1/v1", "--api-key-env", "sk-secret"]
    assert models_command.main(["add", *arguments]) == 1
    said = capsys.readouterr()
    assert "the name of the environment variable that holds the key" in said.err
    assert "sk-secret" not in said.err + said.out + (place / "models.toml").read_text("utf-8")


def test_the_kind_of_a_server_that_does_not_say_it_is_stated(place: Path) -> None:
    assert models_command.main(["add", "classify:http://gpu:1", "--protocol", "tei"]) == 0
    [entry] = load_catalogue(place / "models.toml").entries
    assert entry.protocol == "tei"
    assert models_command.main(["add", "openai:http://gpu:2/v1", "--protocol", "tei"]) == 1


@pytest.mark.parametrize(
    ("arguments", "name", "said"),
    [
        (["openai:http://gpu.example:1/v1"], "gpu.example", "languages: not stated"),
        (["openai:http://gpu:1/v1", "--preset", "qwen3guard"], "qwen3guard", "hateful: Unsafe"),
        (["classify:http://gpu:1"], "gpu", "need --outputs, in their order"),
        (["classify:http://gpu:1", "--outputs", "hate,nothate"], "gpu", "languages: not stated"),
    ],
)
def test_a_server_is_added_with_what_is_not_known_of_it(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], name: str, said: str
) -> None:
    assert models_command.main(["add", *arguments]) == 0
    assert [one.name for one in load_catalogue(place / "models.toml").entries] == [name]
    assert said in capsys.readouterr().err


def test_files_that_cannot_be_read_are_one_models_fault(
    place: Path, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link in a circle, one to nowhere, a folder in the place of a file."""
    for name in ("fine", "loop", "nowhere", "folder"):
        shutil.copytree(tiny, place / name)
        entry = f'\n[[models]]\nname = "{name}"\nkind = "classifier"\nsource = "path:{name}"\n'
        with (place / "models.toml").open("a") as file:
            file.write(entry)
        if name != "fine":
            (place / name / "model.safetensors").unlink()
    (place / "loop" / "model.safetensors").symlink_to("model.safetensors")
    (place / "nowhere" / "model.safetensors").symlink_to("gone")
    (place / "folder" / "model.safetensors").mkdir()
    assert models_command.main(["list"]) == 0
    shown = capsys.readouterr().out
    assert [line.split()[-1] for line in shown.splitlines() if line.startswith("fine")] == ["here"]
    assert shown.count("model.safetensors in ") == shown.count(" cannot be read: ") == 3
    catalogue = load_catalogue(place / "models.toml")
    assert [one.sha256 is None for one in catalogue.describe()] == [False, True, True, True]
    assert memory(catalogue) > RUNTIME_BYTES
    assert models_command.main(["add", f"path:{place / 'loop'}", "--name", "other"]) == 1
    assert "cannot be read: Too many levels" in capsys.readouterr().err
    assert models_command.main(["add", "path:", "--name", "other"]) == 1
    assert "path: has no folder" in capsys.readouterr().err


def test_what_is_no_folder_of_weights_is_refused_with_what_to_do(
    place: Path, tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "one.gguf").write_bytes(b"GGUF")
    assert models_command.main(["add", f"path:{place / 'one.gguf'}"]) == 1
    assert (
        "Run the model on a server (llama.cpp, Ollama), and add the server as openai:"
        in capsys.readouterr().err
    )
    (place / "folder").mkdir()
    (place / "one.gguf").rename(place / "folder" / "one.gguf")
    assert models_command.main(["add", f"path:{place / 'folder'}"]) == 1
    assert "contains a GGUF file, and Touchstone cannot load" in capsys.readouterr().err
    assert models_command.main(["add", f"path:{tiny / 'config.json'}"]) == 1
    assert "config.json, because it is a file" in capsys.readouterr().err
    shutil.copytree(tiny, place / "cut")
    file = place / "cut" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-9])
    assert models_command.main(["add", f"path:{place / 'cut'}"]) == 1
    assert "cut off" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "more", "said"),
    [
        (
            "path:{}",
            ("--preset", "nothing"),
            "preset: there is no preset 'nothing'; choose one of cardiff",
        ),
        (
            "path:{}",
            ("--kind", "causal"),
            "files are of kind classifier, so they cannot be used as a causal",
        ),
        ("path:{}", ("--languages", "english, de"), "languages"),
        ("{}", (), "is a folder on this machine; write path:"),
    ],
)
def test_what_was_mistyped_is_said_and_nothing_is_written(
    place: Path,
    tiny: Path,
    capsys: pytest.CaptureFixture[str],
    source: str,
    more: tuple[str, ...],
    said: str,
) -> None:
    assert models_command.main(["add", source.format(tiny), *more]) == 1
    assert said in capsys.readouterr().err
    assert "[[models]]" not in (place / "models.toml").read_text("utf-8")


def test_a_folder_at_home_is_written_where_it_is(
    place: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell leaves `~` after a colon alone, and nobody reads it in a file."""
    monkeypatch.setenv("HOME", str(tiny.parent))
    assert models_command.main(["add", f"path:~/{tiny.name}", "--name", "mine"]) == 0
    file = place / "models.toml"
    file.write_text(file.read_text("utf-8"), "utf-8-sig")  # as Windows' editors save it
    [entry] = load_catalogue(file).entries
    assert entry.source == f"path:{tiny}"


def test_outputs_of_a_known_model_are_recognised(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, like in (("known", "toxic-bert"), ("unnamed", "textdetox")):
        save_encoder(place / name, ENCODERS[like], 0)
    assert models_command.main(["add", f"path:{place / 'known'}"]) == 1
    said = capsys.readouterr().err
    assert -1 < said.find("--label LABEL=OUTPUT") < said.find("--preset toxic-bert")
    assert models_command.main(["add", f"path:{place / 'known'}", "--preset", "toxic-bert"]) == 0
    assert models_command.main(["add", f"path:{place / 'unnamed'}"]) == 0
    said = capsys.readouterr().err
    assert "these names do not show what the outputs mean" in said
    assert "not stated; list the model's training languages" in said
    again = [
        "add",
        f"path:{place / 'unnamed'}",
        *said.partition("if this is right, ")[2].split()[:4],
    ]
    assert models_command.main(again) == 1
    assert "add --replace" in capsys.readouterr().err
    assert models_command.main([*again, "--replace"]) == 0
    assert "replaced in" in capsys.readouterr().err
    entries = load_catalogue(place / "models.toml").entries
    assert [one.name for one in entries] == ["known", "unnamed"]
    assert entries[1].labels == {"hateful": ("LABEL_1",), "non-hateful": ("LABEL_0",)}


def test_the_service_of_another_machine_is_not_asked_through_a_local_folder(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`TOUCHSTONE_URL` says which service is meant; nobody tells it over HTTP."""
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.setenv("TOUCHSTONE_URL", "https://scores.example.org")
    monkeypatch.chdir(place)
    assert models_command.main(["reload"]) == 1
    said = capsys.readouterr().err
    assert "TOUCHSTONE_URL points to https://scores.example.org" in said
    assert "docker compose run --rm models reload" in said
    asked = list[str]()
    monkeypatch.setattr(
        "shared.models.catalogue.reload.request_reload", lambda: asked.append("now")
    )
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    assert models_command.main(["reload"]) == 0
    monkeypatch.delenv("REDIS_URL")
    (place / "var").mkdir()
    note = {"url": "http://127.0.0.1:8000", "redis_url": "redis://127.0.0.1:2/0"}
    (place / "var" / "stack.json").write_text(json.dumps(note), "utf-8")
    assert models_command.main(["reload"]) == 1  # this folder's service is another one
    for told in (["--var", "var"], []):
        monkeypatch.setenv("TOUCHSTONE_URL", "http://localhost:8000/")
        monkeypatch.delenv("REDIS_URL", raising=False)
        assert models_command.main(["reload", *told]) == 0
    assert len(asked) == 3


@pytest.mark.parametrize("is_being_written", [False, True])
def test_a_service_that_is_starting_is_not_taken_for_none(
    place: Path,
    is_being_written: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("REDIS_URL", "TOUCHSTONE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(place)
    folder = place / "var"
    folder.mkdir()
    if is_being_written:
        (folder / "stack.json").touch()
    with acquire_folder(folder):
        assert models_command.main(["reload"]) == 1
        said = capsys.readouterr().err
        assert "the service of var is still starting" in said
        assert "Run `touchstone models reload` again" in said
    assert models_command.main(["reload"]) == 1  # its lock remains, but nobody holds it
    assert "no service is running in var" in capsys.readouterr().err


def test_keys_are_set_in_their_block_and_comments_stay(tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    text = (
        '# first\n[[models]]\nname = "a"\nsource = "path:a"  # here\n[models.prompt]\nname = "b"\n'
    )
    file.write_text(text + '\n[[models]]\nname = "b"\nsource = "path:b"', "utf-8")
    set_key(file, "b", "sha256", "0" * 64)
    set_key(file, "a", "source", "path:c")
    written = file.read_text("utf-8")
    assert written.startswith(
        '# first\n[[models]]\nname = "a"\nsource = "path:c"\n[models.prompt]\n'
    )
    assert tomllib.loads(written)["models"][1] == {
        "name": "b",
        "source": "path:b",
        "sha256": "0" * 64,
    }
    with pytest.raises(ValueError, match="block with the name"):
        set_key(file, "c", "source", "path:c")


def test_an_entry_is_replaced_with_its_tables_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    head = 'schema = 2\n\n# of a\n[[models]]\nname = "a"\nsource = "path:a"\n\n# of b\n'
    own = '[[models]]\nname = "b"\nsource = "path:b"\n# inside\n[models.prompt]\nprefix = "x"\n'
    tail = '\n# of c\n[[models]]\nname = "c"\nsource = "path:c"\n'
    new = '[[models]]\nname = "b"\nsource = "path:new"\n'
    file.write_text(head + own + tail, "utf-8")
    assert replace_entry(file, new, "b")
    assert file.read_text("utf-8") == head + new + tail
    last = tail.replace("path:c", "path:d").lstrip()
    assert replace_entry(file, last.partition("\n")[2], "c")
    assert file.read_text("utf-8") == head + new + "\n" + last
    assert not replace_entry(file, '[[models]]\nname = "e"\nsource = "path:e"\n', "e")
    assert file.read_text("utf-8").startswith(head + new + "\n" + last)


def test_check_loads_asks_and_probes(place: Path, tiny: Path) -> None:
    models_command.main(["add", f"path:{tiny}", "--name", "mine"])
    with (place / "models.toml").open("a") as file:
        file.write('\n[[models]]\nname = "gone"\nkind = "classifier"\nsource = "path:gone"\n')
    command = [sys.executable, "-m", "cli", "models", "check", "--json"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    mine, gone = json.loads(ran.stdout)
    assert ran.returncode == 1
    assert (gone["state"], "no folder" in gone["error"]) == ("absent", True)
    assert (mine["state"], mine["labels"]["hateful"]) == ("ready", ["hate"])
    assert mine["sha256"] == folder_sha256(tiny)
    assert len(mine["probes"]) == 6
    assert all(probe["good"] for probe in mine["probes"].values()), mine["probes"]
    assert 0 < mine["memory_needed"] < mine["memory_free"]


BARE = """
import sys
class Refuse:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {"torch", "transformers", "rich", "huggingface_hub", "numpy"}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Refuse())
from cli.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def test_add_list_and_help_work_from_the_bare_package(remote: HubDouble, place: Path) -> None:
    """Without torch, rich and the hub's client; `pull` then says what it needs."""

    def bare(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", BARE, *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    shown = bare("--help")
    assert (shown.returncode, "models" in shown.stdout) == (0, True), shown.stderr
    for arguments in (("models", "add", "hf:org/hate"), ("models", "list"), ("models", "--help")):
        ran = bare(*arguments)
        assert ran.returncode == 0, ran.stderr
    assert "touchstone[command]" in bare("models", "pull", "hate").stderr


def test_what_a_models_files_do_not_say_is_said_at_once(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unclear = replace(ENCODERS["toxic-bert"], outputs=("spam", "abuse", "hate", "other"))
    save_encoder(tmp_path / "mine", unclear)
    assert models_command.main(["add", f"path:{tmp_path / 'mine'}"]) == 1
    assert "spam, abuse, other belong to no label" in (said := capsys.readouterr().err)
    assert "--label LABEL=OUTPUT" in said
    told = ["--label", "hateful=hate, abuse", "--ignore", "*", "--languages", "de,hi-Latn"]
    assert models_command.main(["add", f"path:{tmp_path / 'mine'}", *told]) == 0
    [entry] = load_catalogue(place / "models.toml").entries
    assert entry.labels == {"hateful": ("hate", "abuse")}
    assert (entry.ignore, entry.languages) == (("*",), ("de", "hi-Latn"))
    again = ["add", f"path:{tmp_path / 'mine'}", "--name", "n"]
    assert models_command.main([*again, "--label", "hate"]) == 1
    assert "must have the form LABEL=OUTPUT" in capsys.readouterr().err
    assert models_command.main([*again, *told[:-1], "deutsch"]) == 1
    assert "languages.0: must be a language tag" in capsys.readouterr().err
    own = ["--label", "a=hate", "--label", "b=spam", "--ignore", "*", "--activation", "softmax"]
    assert models_command.main([*again, *own]) == 0
    assert "labels of its own: HateXScore needs hateful" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", " ", "my model", " mine", "a\tb", "-x", "a" * 129])
def test_a_name_is_one_that_requests_can_say(
    place: Path, tiny: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert models_command.main(["add", f"path:{tiny}", f"--name={name}"]) == 1
    assert "not a valid name" in capsys.readouterr().err
    assert not load_catalogue(place / "models.toml").entries


def test_a_name_that_ends_in_blanks_takes_its_entry_out(place: Path) -> None:
    entry = '[[models]]\nname = "mine "\nsource = "embedded:hate"\n'
    (place / "models.toml").write_text(f"schema = 2\n{entry}", "utf-8")
    [fault] = load_catalogue(place / "models.toml").faults
    assert "name" in fault.reason


def test_reloading_says_which_entries_stay_out(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TOUCHSTONE_URL", raising=False)
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr("shared.models.catalogue.reload.request_reload", lambda: None)
    with (place / "models.toml").open("a", encoding="utf-8") as file:
        file.write('[[models]]\nname = "odd"\nkind = "classifer"\nsource = "path:odd"\n')
    assert models_command.main(["reload"]) == 0
    assert "odd stays out: models.toml: models.0.kind" in capsys.readouterr().err


@pytest.mark.parametrize("forbids", [True, False])
def test_downloads_that_one_test_forbids_are_allowed_in_the_next(forbids: bool) -> None:
    assert not constants.HF_HUB_OFFLINE
    if forbids:
        disable_download()
        constants.HF_HUB_OFFLINE = True  # as if it were imported only now
