"""`touchstone models add SOURCE`: from a source to an entry, without its weights.

A branch becomes the commit that it is now; the configuration and the model card say kind, outputs
and languages. What no worker would load is refused here, with what to do instead.
"""

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
    "; here: --label LABEL=OUTPUT[,OUTPUT], --ignore '*' for the rest, --outputs, --activation, "
    "--task"
)
SERVER_OUTPUTS = (
    "its outputs are asked for when it is first used; servers that number them (vLLM, SGLang) need "
    "--outputs, in order"
)
PICKLED = "it has no safetensors: run `touchstone models convert NAME` before it is used"
NO_TOKENIZER = (
    "it has no tokenizer: put tokenizer.json, or the files of its vocabulary, beside its weights "
    "before it is used"
)
TINY_TOKENIZER = (
    "its tokenizer.json has only {entries} entries, which is next to nothing: put the one that it "
    "was trained with beside its weights before it is used"
)
FEW_ENTRIES = 10  # of a vocabulary; its special tokens are five or so
MOST_BYTES = 100_000  # of a tokenizer.json that may hold so few
TOKENIZERS = ("tokenizer*", "vocab*", "*.model", "*.codes")  # one of them is of a tokenizer
SERVE_GGUF = (
    ": weights of that form are not read here: serve it (llama.cpp, Ollama), and name it as "
    "openai:http://host:8080/v1"
)


@dataclass(frozen=True)
class Found:
    """What a source is. notes: for whoever adds it."""

    source: str
    card: str | None = None
    licence: str | None = None
    revision: str | None = None
    checkpoint: Checkpoint | None = None
    notes: tuple[str, ...] = ()


def addition(asked: Namespace, chosen: Settings) -> tuple[str, list[str]]:
    """The entry's block, and what to say about it. Raises CommandError."""
    found = resolve_source(asked.source, chosen)
    keys: dict[str, entries.Value | None] = {
        "name": _free_name(asked, found, chosen.models_file),
        "kind": _kind(found, asked.preset, asked.kind),
        "source": found.source,
        "revision": found.revision,
        "preset": asked.preset,
        "protocol": asked.protocol,
        "served_name": asked.served_name,
        "api_key_env": _variable(asked.api_key_env),
        "task": asked.task,
        **_label_keys(asked),
        "licence": found.licence,
        "card": found.card,
    }
    prompt = _prompt(keys)
    try:
        stated = {key: value for key, value in keys.items() if value is not None}
        stated |= {"prompt": prompt} if prompt else {}
        entry = ModelEntry.model_validate(with_preset(stated))
        mapping = None
        if entry.kind == "classifier" and found.checkpoint is not None:
            mapping = label_mapping(entry, found.checkpoint.head)
    except ValidationError as error:
        raise CommandError(f"{found.source}: {reasons(error)}") from None
    except ValueError as error:
        raise CommandError(f"{found.source}: {error}{_advice(asked, keys, found)}") from None
    block = entries.block(keys) + entries.prompt_block(prompt)
    return block, [*_summary_lines(entry, mapping, found), *found.notes]


def _advice(asked: Namespace, keys: dict[str, entries.Value | None], found: Found) -> str:
    """What to add where labels and outputs do not fit."""
    labels = keys["labels"]
    if isinstance(labels, dict) and not any(labels.keys() & set(own) for own in CANONICAL.values()):
        return f"{SAY_SO}; {ASKED_LABELS}"
    outputs = found.checkpoint.head.outputs if found.checkpoint else ()
    names = presets_of(outputs) if outputs and not (asked.label or asked.preset) else []
    if not names:
        return SAY_SO
    known = f"; if it is {names[0]}, whose outputs have these names: --preset {names[0]}"
    return f"{SAY_SO}{known}"


def _prompt(keys: dict[str, entries.Value | None]) -> dict[str, Any]:
    """Of a causal model, whose labels are words that it writes: the entry's `prompt`, in the place
    of `labels`. Each word may begin the answer or follow a blank."""
    if keys["kind"] != "causal" or not isinstance(words := keys["labels"], dict):
        return {}
    keys["labels"] = None
    verbalizers = {
        label: tuple(form for one in own for form in (one, f" {one}"))
        for label, own in words.items()
    }
    return {"verbalizers": verbalizers}


def _free_name(asked: Namespace, found: Found, file: Path) -> str:
    """As asked for, else after its source. Raises CommandError for one that no request can say, and
    for one that the file has and keeps."""
    name: str | None = asked.name
    if name is None:  # the last word of what it is called
        scheme, _, rest = found.source.partition(":")
        own = rest.partition("@")[0]
        if scheme in SERVED:
            own = asked.preset or urlsplit(rest).hostname or scheme
        last = (asked.served_name or own).rstrip("/").rpartition("/")[2]
        name = re.sub(r"[^a-z0-9.]+", "-", last.lower()).strip("-") or "model"
    if not NAME.fullmatch(name):
        raise CommandError(
            f"{name!r} is no name that requests can say: letters, digits and ._:/- alone"
        )
    known = read_catalogue(file).entries if file.exists() and not asked.replace else ()
    if any(entry.name == name for entry in known):
        raise CommandError(
            f"{file} has a model {name!r} already: choose another --name, or say --replace"
        )
    return name


def _label_keys(asked: Namespace) -> dict[str, entries.Value | None]:
    """The keys of labels and languages that the command line states. Raises CommandError."""
    labels: dict[str, tuple[str, ...]] = {}
    for one in asked.label:
        label, equals, outputs = one.partition("=")
        if not equals:
            raise CommandError(
                f"--label {one!r} is not LABEL=OUTPUT[,OUTPUT], as in hateful=hate,abuse"
            )
        labels[label.strip()] = (*labels.get(label.strip(), ()), *_split_list(outputs))
    return {
        "outputs": _split_list(asked.outputs) or None,
        "labels": labels or None,
        "ignore": _split_list(asked.ignore) or None,
        "activation": asked.activation,
        "languages": _split_list(asked.languages) or None,
    }


def _variable(written: str | None) -> str | None:
    """The name of an environment variable. Raises CommandError for what may be the key itself."""
    if written is not None and not VARIABLE.fullmatch(written):
        raise CommandError(
            "--api-key-env is the name of the environment variable that holds the key, as in "
            "VLLM_API_KEY; the key itself is written nowhere"
        )
    return written


def _split_list(written: str | None) -> tuple[str, ...]:
    return tuple(one.strip() for one in (written or "").split(",") if one.strip())


def read_catalogue(file: Path) -> Catalogue:
    """The models of this file. Raises CommandError."""
    try:
        return load_catalogue(file)
    except ValueError as error:
        raise CommandError(str(error)) from None


def resolve_source(source: str, chosen: Settings) -> Found:
    """What stands behind a source, as a user writes it. Raises CommandError."""
    scheme, _, rest = source.partition(":")
    if scheme in (*SERVED, "embedded"):
        return Found(source)
    if scheme == "path":
        return _folder(rest, chosen.models_file.parent)
    if scheme == "hf":
        return _repository(rest, chosen)
    if Path(source).expanduser().is_dir():
        raise CommandError(f"{source!r} is a folder here: write path:{source}; of the hub: hf:REPO")
    if REPOSITORY.fullmatch(source):
        return _repository(source, chosen)
    raise CommandError(
        f"{source!r} is no source: hf:REPO[@BRANCH], path:FOLDER, openai:URL, classify:URL"
    )


def _folder(written: str, beside: Path) -> Found:
    """A folder of this machine; a relative one begins here or beside models.toml."""
    if not written.strip():
        raise CommandError("path: names no folder: write path:/models/mine")
    given = Path(written).expanduser()
    starts = [given] if given.is_absolute() else [beside.resolve() / given, Path.cwd() / given]
    folder = next((one for one in starts if one.is_dir()), None)
    if folder is None:
        is_file = any(one.is_file() for one in starts)
        more = f"{SERVE_GGUF}" if given.suffix == ".gguf" else ": it is a file" * is_file
        raise CommandError(f"there is no folder {written}{more}")
    notes = _weights_notes(folder)
    beside_file = folder == starts[0] and not written.startswith("~")  # no file's reader knows ~
    source = f"path:{written if beside_file else folder}"
    checkpoint, licence = _validate_model(folder, str(folder)), _licence(folder)
    if checkpoint.kind is not None and not any(map(any, map(folder.glob, TOKENIZERS))):
        notes += (NO_TOKENIZER,)
    elif (entries := _vocabulary_size(folder)) is not None and entries < FEW_ENTRIES:
        notes += (TINY_TOKENIZER.format(entries=entries),)
    return Found(source, checkpoint=checkpoint, licence=licence, notes=notes)


def _vocabulary_size(folder: Path) -> int | None:
    """Of a small tokenizer.json; None where it is large, or is none: what loads it says so."""
    file = folder / "tokenizer.json"
    try:
        if file.stat().st_size > MOST_BYTES:
            return None
        vocabulary = json.loads(file.read_text("utf-8"))["model"]["vocab"]
        return len(vocabulary)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _weights_notes(folder: Path) -> tuple[str, ...]:
    """What is to be done with its weights first. Raises CommandError where it has none, or they
    cannot be read."""
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
        raise CommandError(f"{folder} holds a GGUF file{SERVE_GGUF}")
    if not is_pickled:
        raise CommandError(f"{folder} holds no safetensors: weights are read from nothing else")
    return (PICKLED,)


def _repository(written: str, chosen: Settings) -> Found:
    """A repository of the hub, at a commit."""
    name, _, revision = written.partition("@")
    token = secret("HF_TOKEN")
    with Hub(chosen.hub, token.get_secret_value() if token else None) as hub:
        found = hub.repository(name, revision or "main")
        with TemporaryDirectory() as place:
            for file in SMALL:
                if (content := hub.file(found, file)) is not None:
                    (Path(place) / file).write_bytes(content)
            checkpoint = _validate_model(Path(place), name)
            licence = _licence(Path(place))
        pinned, notes = found, list[str]()
        if not found.has_safetensors:
            pinned = hub.converted(name) or found
            taken = f"taken is {pinned.commit}, a conversion of it"
            converted = f"{found.commit} has no safetensors; {taken}"
            notes.append(PICKLED if pinned is found else converted)
    is_name = not COMMIT.fullmatch(revision)
    return Found(
        source=f"hf:{name}@{pinned.commit}",
        card=f"{chosen.hub.rstrip('/')}/{name}",
        licence=licence,
        revision=(revision or "main") if is_name and pinned is found else None,
        checkpoint=checkpoint,
        notes=tuple(notes),
    )


def _validate_model(folder: Path, name: str) -> Checkpoint:
    """What its files say. Raises CommandError where no worker would load it."""
    try:
        found = read_checkpoint(folder)
    except ValueError as error:
        raise CommandError(f"{name}: {error}") from None
    if found is None:
        raise CommandError(f"{name}: there is no config.json: it is no model of Transformers")
    if found.own_code:
        files = sorted(
            {f"{one.rpartition('--')[2].partition('.')[0]}.py" for one in found.own_code}
        )
        raise CommandError(
            f"{name} needs its own code ({', '.join(files)}), and a model's own code is never run: "
            "serve it elsewhere, and name it as openai: or classify:"
        )
    if found.quantised:
        raise CommandError(
            f"{name} is quantised ({found.quantised}): serve it, and name it as openai:"
        )
    return found


def _licence(folder: Path) -> str | None:
    said = front_matter(folder).get("license")
    return said if isinstance(said, str) else None


def _kind(found: Found, preset_name: str | None, asked: str | None) -> str:
    """As asked for, else as the preset or the files say. Raises CommandError where they differ."""
    try:
        of_preset = preset(preset_name).entry.get("kind") if preset_name else None
    except ValueError as error:
        raise CommandError(str(error)) from None
    stated = found.checkpoint.kind if found.checkpoint else None
    if of_preset and stated and of_preset != stated:
        raise CommandError(
            f"the preset {preset_name} is of kind {of_preset}, and its files are of kind {stated}"
        )
    if stated and {stated, asked} == {"classifier", "causal"}:
        raise CommandError(f"its files are of kind {stated}: they hold no {asked} model")
    kind = asked or fixed_kind(found.source) or of_preset or stated
    if kind is None:
        raise CommandError(
            "its files do not say what kind it is: add --kind classifier, causal, similarity or "
            "cross-encoder"
        )
    return str(kind)


def _summary_lines(entry: ModelEntry, mapping: LabelMapping | None, found: Found) -> list[str]:
    """Labels and languages, a line each."""
    said = []
    if mapping is not None:  # which outputs stand for which label, and what that means for metrics
        labels = [*mapping.by_label.items()]
        said += [
            f"{listed([label])}: {listed(outputs) or '1 minus the other'}"
            for label, outputs in labels[:SHOWN]
        ]
        if len(labels) > SHOWN:
            said.append(f"and {len(labels) - SHOWN} more labels")
        ignored = f"; ignored: {listed(mapping.ignored)}" if mapping.ignored else ""
        said += [f"{mapping.activation}{ignored}", *doubts(mapping), *mapping.warnings]
    if entry.kind == "causal":
        words = (entry.prompt.verbalizers if entry.prompt else None) or {}
        said += [
            f"{label}: {', '.join(dict.fromkeys(one.strip() for one in own))}"
            for label, own in words.items()
        ] or [NO_LABELS]
    if entry.scheme == "classify" and not entry.outputs:
        said.append(SERVER_OUTPUTS)
    stated = entry.languages or (found.checkpoint.languages if found.checkpoint else None)
    advice = 'not stated: add `languages = ["en"]`, or what it was trained on, to the entry'
    shown = describe_languages(stated or (), entry.language_f1)
    said.append(f"languages: {', '.join(shown) or advice}")
    return said
