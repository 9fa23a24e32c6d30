"""The command `touchstone models add SOURCE`, which adds a model to `models.toml` without
downloading its weights. A branch is pinned to its current commit. The model's kind, outputs and
languages come from its configuration and model card. Models that cannot be loaded are refused with
advice."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from cli.models import entries
from cli.models.hub import CommandError, Hub
from services.inference.weights.folder import PICKLE, demand_readable
from services.inference.weights.label_use import ASKED_LABELS, doubts
from shared.contracts.labels import CANONICAL, SHOWN, LabelMapping, label_mapping, listed
from shared.contracts.prompt_table import NO_LABELS
from shared.models.catalogue.catalogue import Catalogue, describe_languages, load_catalogue
from shared.models.catalogue.checkpoint import Checkpoint, front_matter, read_checkpoint
from shared.models.catalogue.entry import COMMIT, SERVED, ModelEntry, fixed_kind
from shared.models.catalogue.models_file import preset, presets_of, reasons, with_preset
from shared.process.settings import Settings, secret

SMALL = ("config.json", "tokenizer_config.json", "README.md")
REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(@\S+)?")
NAME = re.compile(r"[A-Za-z0-9][\w.:/-]{0,127}")
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
SAY_SO = (
    ". Add the missing values with --label LABEL=OUTPUT[,OUTPUT], --ignore '*' for all other "
    "outputs, --outputs, --activation or --task"
)
SERVER_OUTPUTS = (
    "Touchstone asks the server for the names of its outputs at the first use. Servers that "
    "only number their outputs (vLLM, SGLang) need --outputs, in their order"
)
PICKLED = (
    "the model has no safetensors files; run `touchstone models convert NAME` before you use it"
)
NO_TOKENIZER = (
    "the model has no tokenizer; put tokenizer.json or its vocabulary files next to the "
    "weights before you use it"
)
TINY_TOKENIZER = (
    "the model's tokenizer.json has only {entries} entries; put the tokenizer that it was "
    "trained with next to the weights before you use it"
)
FEW_ENTRIES = 10  # of a vocabulary; its special tokens are five or so
MOST_BYTES = 100_000  # of a tokenizer.json that may hold so few
TOKENIZERS = ("tokenizer*", "vocab*", "*.model", "*.codes")  # one of them is of a tokenizer
SERVE_GGUF = (
    ", and Touchstone cannot load GGUF files. Run the model on a server (llama.cpp, Ollama), and "
    "add the server as openai:http://host:8080/v1"
)


@dataclass(frozen=True)
class Found:
    """The facts found about a model. `notes` are messages for the user."""

    source: str
    card: str | None = None
    licence: str | None = None
    revision: str | None = None
    checkpoint: Checkpoint | None = None
    notes: tuple[str, ...] = ()


def addition(options: Namespace, settings: Settings) -> tuple[str, list[str]]:
    """Return the text to add to `models.toml`, and messages for the user. Raises CommandError."""
    source = resolve_source(options.source, settings)
    keys: dict[str, entries.Value | None] = {
        "name": _free_name(options, source, settings.models_file),
        "kind": _kind(source, options.preset, options.kind),
        "source": source.source,
        "revision": source.revision,
        "preset": options.preset,
        "protocol": options.protocol,
        "served_name": options.served_name,
        "api_key_env": _variable(options.api_key_env),
        "task": options.task,
        **_label_keys(options),
        "licence": source.licence,
        "card": source.card,
    }
    prompt = _prompt(keys)
    try:
        stated = {key: value for key, value in keys.items() if value is not None}
        stated |= {"prompt": prompt} if prompt else {}
        entry = ModelEntry.model_validate(with_preset(stated))
        mapping = None
        if entry.kind == "classifier" and source.checkpoint is not None:
            mapping = label_mapping(entry, source.checkpoint.head)
    except ValidationError as error:
        raise CommandError(f"{source.source}: {reasons(error)}") from None
    except ValueError as error:
        raise CommandError(f"{source.source}: {error}{_advice(options, keys, source)}") from None
    block = entries.block(keys) + entries.prompt_block(prompt)
    return block, [*_summary_lines(entry, mapping, source), *source.notes]


def _advice(options: Namespace, keys: dict[str, entries.Value | None], source: Found) -> str:
    """Return advice for labels that do not match the model's outputs."""
    labels = keys["labels"]
    if isinstance(labels, dict) and not any(
        labels.keys() & set(canonical) for canonical in CANONICAL.values()
    ):
        return f"{SAY_SO}; {ASKED_LABELS}"
    outputs = source.checkpoint.head.outputs if source.checkpoint else ()
    names = presets_of(outputs) if outputs and not (options.label or options.preset) else []
    if not names:
        return SAY_SO
    suggestion = (
        f"; if the model is {names[0]}, whose outputs have these names: --preset {names[0]}"
    )
    return f"{SAY_SO}{suggestion}"


def _prompt(keys: dict[str, entries.Value | None]) -> dict[str, Any]:
    """Return the table `prompt` for a causal model, and set `labels` in `keys` to None. The table
    maps each label to its words, which may begin the answer or follow a space. For other models
    return {}."""
    if keys["kind"] != "causal" or not isinstance(words := keys["labels"], dict):
        return {}
    keys["labels"] = None
    verbalizers = {
        label: tuple(form for word in label_words for form in (word, f" {word}"))
        for label, label_words in words.items()
    }
    return {"verbalizers": verbalizers}


def _free_name(options: Namespace, source: Found, file: Path) -> str:
    """Return the requested name, or a name derived from the source. Raises CommandError if the name
    is invalid or already used."""
    name: str | None = options.name
    if name is None:  # the last word of what it is called
        scheme, _, rest = source.source.partition(":")
        base = rest.partition("@")[0]
        if scheme in SERVED:
            base = options.preset or urlsplit(rest).hostname or scheme
        last = (options.served_name or base).rstrip("/").rpartition("/")[2]
        name = re.sub(r"[^a-z0-9.]+", "-", last.lower()).strip("-") or "model"
    if not NAME.fullmatch(name):
        raise CommandError(f"{name!r} is not a valid name; use letters, digits and ._:/- only")
    existing = read_catalogue(file).entries if file.exists() and not options.replace else ()
    if any(entry.name == name for entry in existing):
        raise CommandError(
            f"{file} already has a model {name!r}; choose another --name, or add --replace"
        )
    return name


def _label_keys(options: Namespace) -> dict[str, entries.Value | None]:
    """Return the keys of a `models.toml` entry for labels and languages, from the command line.
    Raises CommandError."""
    labels: dict[str, tuple[str, ...]] = {}
    for argument in options.label:
        label, equals, outputs = argument.partition("=")
        if not equals:
            raise CommandError(
                f"--label {argument!r} must have the form LABEL=OUTPUT[,OUTPUT], as in "
                "hateful=hate,abuse"
            )
        labels[label.strip()] = (*labels.get(label.strip(), ()), *_split_list(outputs))
    return {
        "outputs": _split_list(options.outputs) or None,
        "labels": labels or None,
        "ignore": _split_list(options.ignore) or None,
        "activation": options.activation,
        "languages": _split_list(options.languages) or None,
    }


def _variable(name: str | None) -> str | None:
    """Return the name of an environment variable. Raises CommandError if it is not a valid name,
    because the user may have typed the API key instead."""
    if name is not None and not VARIABLE.fullmatch(name):
        raise CommandError(
            "--api-key-env must be the name of the environment variable that holds the "
            "key, as in VLLM_API_KEY; the key itself is not stored"
        )
    return name


def _split_list(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def read_catalogue(file: Path) -> Catalogue:
    """Return the models of this file. Raises CommandError."""
    try:
        return load_catalogue(file)
    except ValueError as error:
        raise CommandError(str(error)) from None


def resolve_source(source: str, settings: Settings) -> Found:
    """Parse a source that a user typed, and return the facts about the model. Raises
    CommandError."""
    scheme, _, rest = source.partition(":")
    if scheme in (*SERVED, "embedded"):
        return Found(source)
    if scheme == "path":
        return _folder(rest, settings.models_file.parent)
    if scheme == "hf":
        return _repository(rest, settings)
    if Path(source).expanduser().is_dir():
        raise CommandError(
            f"{source!r} is a folder on this machine; write path:{source}, or hf:REPO for a "
            "repository on the Hugging Face Hub"
        )
    if REPOSITORY.fullmatch(source):
        return _repository(source, settings)
    raise CommandError(
        f"{source!r} is not a source; use hf:REPO[@BRANCH], path:FOLDER, openai:URL or classify:URL"
    )


def _folder(text: str, beside: Path) -> Found:
    """Return the facts about a model folder. A relative path is resolved against the folder of
    models.toml, or else the working directory."""
    if not text.strip():
        raise CommandError("path: has no folder; write a folder, as in path:/models/mine")
    path = Path(text).expanduser()
    starts = [path] if path.is_absolute() else [beside.resolve() / path, Path.cwd() / path]
    folder = next((folder for folder in starts if folder.is_dir()), None)
    if folder is None:
        is_file = any(folder.is_file() for folder in starts)
        more = f"{SERVE_GGUF}" if path.suffix == ".gguf" else ", because it is a file" * is_file
        raise CommandError(f"there is no folder {text}{more}")
    notes = _weights_notes(folder)
    beside_file = folder == starts[0] and not text.startswith("~")  # no file's reader knows ~
    source = f"path:{text if beside_file else folder}"
    checkpoint, licence = _validate_model(folder, str(folder)), _licence(folder)
    if checkpoint.kind is not None and not any(map(any, map(folder.glob, TOKENIZERS))):
        notes += (NO_TOKENIZER,)
    elif (entries := _vocabulary_size(folder)) is not None and entries < FEW_ENTRIES:
        notes += (TINY_TOKENIZER.format(entries=entries),)
    return Found(source, checkpoint=checkpoint, licence=licence, notes=notes)


def _vocabulary_size(folder: Path) -> int | None:
    """Return the vocabulary size in a small tokenizer.json. Return None if the file is large or
    invalid."""
    file = folder / "tokenizer.json"
    try:
        if file.stat().st_size > MOST_BYTES:
            return None
        vocabulary = json.loads(file.read_text("utf-8"))["model"]["vocab"]
        return len(vocabulary)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _weights_notes(folder: Path) -> tuple[str, ...]:
    """Return notes on what the user must do with the weights. Raises CommandError if the weights
    are missing or unreadable."""
    try:
        next(folder.iterdir(), None)  # one that may not be read looks empty to `glob`
        demand_readable(folder)
        if any(folder.glob("*.safetensors")):
            return ()
        is_pickled = (folder / PICKLE).is_file()
    except OSError as error:
        raise CommandError(f"{folder} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise CommandError(str(error)) from None
    if any(folder.glob("*.gguf")):
        raise CommandError(f"{folder} contains a GGUF file{SERVE_GGUF}")
    if not is_pickled:
        raise CommandError(
            f"{folder} has no safetensors files, the only weight format that Touchstone "
            "loads; convert the weights"
        )
    return (PICKLED,)


def _repository(text: str, settings: Settings) -> Found:
    """Return the facts about a repository on the model hub at a fixed commit."""
    name, _, revision = text.partition("@")
    token = secret("HF_TOKEN")
    with Hub(settings.hub, token.get_secret_value() if token else None) as hub:
        repository = hub.repository(name, revision or "main")
        with TemporaryDirectory() as temporary:
            for file in SMALL:
                if (content := hub.file(repository, file)) is not None:
                    (Path(temporary) / file).write_bytes(content)
            checkpoint = _validate_model(Path(temporary), name)
            licence = _licence(Path(temporary))
        pinned, notes = repository, list[str]()
        if not repository.has_safetensors:
            pinned = hub.converted(name) or repository
            conversion = f"using {pinned.commit}, a commit with the converted weights"
            converted = f"{repository.commit} has no safetensors; {conversion}"
            notes.append(PICKLED if pinned is repository else converted)
    is_name = not COMMIT.fullmatch(revision)
    return Found(
        source=f"hf:{name}@{pinned.commit}",
        card=f"{settings.hub.rstrip('/')}/{name}",
        licence=licence,
        revision=(revision or "main") if is_name and pinned is repository else None,
        checkpoint=checkpoint,
        notes=tuple(notes),
    )


def _validate_model(folder: Path, name: str) -> Checkpoint:
    """Return the checkpoint in a folder. Raises CommandError if no worker could load it."""
    try:
        checkpoint = read_checkpoint(folder)
    except ValueError as error:
        raise CommandError(f"{name}: {error}") from None
    if checkpoint is None:
        raise CommandError(
            f"{name} has no config.json, so it is not a Transformers model; choose another "
            "folder or repository"
        )
    if checkpoint.own_code:
        files = sorted(
            {
                f"{code_file.rpartition('--')[2].partition('.')[0]}.py"
                for code_file in checkpoint.own_code
            }
        )
        raise CommandError(
            f"{name} needs Python code from its repository ({', '.join(files)}), which "
            "Touchstone never runs. Run the model on a server, and add the server as openai: "
            "or classify:"
        )
    if checkpoint.quantised:
        raise CommandError(
            f"{name} is quantised ({checkpoint.quantised}), which Touchstone cannot load. Run "
            "the model on a server, and add the server as openai:"
        )
    return checkpoint


def _licence(folder: Path) -> str | None:
    licence = front_matter(folder).get("license")
    return licence if isinstance(licence, str) else None


def _kind(source: Found, preset_name: str | None, requested: str | None) -> str:
    """Return the kind from the request, the preset or the files. Raises CommandError if they
    differ."""
    try:
        of_preset = preset(preset_name).entry.get("kind") if preset_name else None
    except ValueError as error:
        raise CommandError(str(error)) from None
    stated = source.checkpoint.kind if source.checkpoint else None
    if of_preset and stated and of_preset != stated:
        raise CommandError(
            f"the preset {preset_name} is of kind {of_preset}, but the model's files "
            f"are of kind {stated}; choose another preset"
        )
    if stated and {stated, requested} == {"classifier", "causal"}:
        raise CommandError(
            f"the model's files are of kind {stated}, so they cannot be used as a {requested} "
            "model; correct --kind"
        )
    kind = requested or fixed_kind(source.source) or of_preset or stated
    if kind is None:
        raise CommandError(
            "the model's files do not state its kind; add --kind with classifier, "
            "causal, similarity or cross-encoder"
        )
    return str(kind)


def _summary_lines(entry: ModelEntry, mapping: LabelMapping | None, source: Found) -> list[str]:
    """Return lines about labels and languages, one line each."""
    lines = []
    if mapping is not None:  # which outputs stand for which label, and what that means for metrics
        labels = [*mapping.by_label.items()]
        lines += [
            f"{listed([label])}: {listed(outputs) or '1 minus the other'}"
            for label, outputs in labels[:SHOWN]
        ]
        if len(labels) > SHOWN:
            lines.append(f"and {len(labels) - SHOWN} more labels")
        ignored = f"; ignored: {listed(mapping.ignored)}" if mapping.ignored else ""
        lines += [f"{mapping.activation}{ignored}", *doubts(mapping), *mapping.warnings]
    if entry.kind == "causal":
        words = (entry.prompt.verbalizers if entry.prompt else None) or {}
        lines += [
            f"{label}: {', '.join(dict.fromkeys(word.strip() for word in forms))}"
            for label, forms in words.items()
        ] or [NO_LABELS]
    if entry.scheme == "classify" and not entry.outputs:
        lines.append(SERVER_OUTPUTS)
    stated = entry.languages or (source.checkpoint.languages if source.checkpoint else None)
    advice = (
        'not stated; list the model\'s training languages in its entry, as in `languages = ["en"]`'
    )
    shown = describe_languages(stated or (), entry.language_f1)
    lines.append(f"languages: {', '.join(shown) or advice}")
    return lines
