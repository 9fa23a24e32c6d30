"""What a model's own files say of it: JSON and the model card, read without any model library.

The gateway shows it and the loader relies on it. Of hub models, what the hub client's cache holds:
nothing is fetched. Source: specs "models" §1, §1.1.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from shared.contracts import ModelKind
from shared.models.embedded import Language
from shared.models.labels import Head
from shared.settings import settings

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
    """A folder of a model's files."""

    kind: ModelKind | None  # of its architecture; None: neither classifier nor causal
    head: Head
    languages: tuple[str, ...] | None  # BCP 47, of its card; None: not stated
    own_code: tuple[str, ...]  # what it would have to import from its repository
    quantised: str | None  # the method, such as gptq


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """None where there is no `config.json`. Raises ValueError where it cannot be understood."""
    try:
        written = (folder / "config.json").read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"its config.json cannot be read: {error}") from error
    try:
        config = _Config.model_validate(json.loads(written))
    except (ValueError, RecursionError) as error:  # no JSON, no configuration, numbers without end
        raise ValueError(f"its config.json is not one of a model: {error}") from error
    quantised = config.quantization_config or config.compression_config
    return Checkpoint(
        kind=_kind(config.architectures or ()),
        head=Head(_outputs(config), config.problem_type),
        languages=_languages(folder),
        own_code=tuple(map(str, (config.auto_map or {}).values())),
        quantised=str(quantised.get("quant_method", "unnamed")) if quantised else None,
    )


def _kind(architectures: tuple[str, ...]) -> ModelKind | None:
    found = (
        kind for name in architectures for ending, kind in KINDS.items() if name.endswith(ending)
    )
    return next(found, None)


def _outputs(config: _Config) -> tuple[str, ...]:
    """(K,) names, in order; as Transformers fills them in where they are not stated."""
    if config.id2label:
        return tuple(config.id2label[place] for place in sorted(config.id2label))
    return tuple(f"LABEL_{place}" for place in range(config.num_labels or 2))


def front_matter(folder: Path) -> dict[str, Any]:
    """What the model card says before its text, every scalar a string; {} where it says nothing."""
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
    return tuple(filter(_is_tag, listed)) or None


def _is_tag(said: object) -> bool:
    try:
        _LANGUAGE.validate_python(said, strict=True)
    except ValidationError:
        return False
    return True


def hub_folder(repository: str, commit: str) -> Path:
    """Where the hub client keeps this commit's files, whether they are there or not."""
    return hub_cache() / f"models--{repository.replace('/', '--')}" / "snapshots" / commit


def hub_cache() -> Path:
    """The hub client's cache: in one folder for every way to run the service."""
    return settings().models_dir.absolute() / "hub"


def files_of(source: str, root: Path) -> Checkpoint | None:
    """What the files of a `path:` or fetched `hf:` source say. Raises ValueError."""
    scheme, _, rest = source.partition(":")
    if scheme == "path":
        return read_checkpoint(root / rest)
    if scheme == "hf":
        repository, _, commit = rest.partition("@")
        return read_checkpoint(hub_folder(repository, commit))
    return None
