"""From an entry of the catalogue to a sentence-transformers model in memory.

Safetensors only, a model's own code is never run, and what is loaded is hashed first.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sentence_transformers
import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError
from safetensors import safe_open

from services.similarity.encoders import LoadedEncoder
from services.similarity.layers import compute_repeats_once, read_first_token_only
from services.similarity.quiet import quiet
from shared.contracts import ModelUse
from shared.errors import ScoringError, Unavailable
from shared.models.availability import unloadable
from shared.models.catalogue import BASE, Catalogue, ModelEntry, base_folder, folder_sha256
from shared.numerics import promised
from shared.positions import usable_positions

FILES = ["*.json", "*.safetensors", "*.txt"]  # settings, weights, vocabulary
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


def load(catalogue: Catalogue, entry: ModelEntry) -> LoadedEncoder:
    """A similarity's or a cross-encoder's weights, on its device.

    Raises Unavailable where the hub is out of reach or the device is full (a retry can help),
    ScoringError where the files are missing, altered, damaged or of another kind.
    """
    try:
        return _load(catalogue, entry)
    except (LocalEntryNotFoundError, torch.OutOfMemoryError, MemoryError) as error:
        raise Unavailable(f"the model {entry.name!r} cannot be loaded now: {error}") from error
    except Exception as error:  # whatever the libraries make of files that others wrote
        raise ScoringError(unloadable(entry.name, error)) from error


def _load(catalogue: Catalogue, entry: ModelEntry) -> LoadedEncoder:
    device = _device(entry.device)
    folder = _folder(catalogue, entry)
    sha256, revision = _checked_hash(folder, entry), catalogue.revision(entry)
    settings = {
        "device": str(device),
        "trust_remote_code": False,
        "local_files_only": True,
        "model_kwargs": {"use_safetensors": True, "dtype": getattr(torch, entry.dtype)},
    }
    with quiet():
        make = _bi_encoder if entry.kind == "similarity" else _cross_encoder
        model = make(folder, settings)
    model.to(dtype=getattr(torch, entry.dtype)).eval()  # modules after the transformer too
    _cut_to_positions(model)
    return LoadedEncoder(
        model=model,
        output="sentence_embedding" if entry.kind == "similarity" else "scores",
        use=ModelUse(
            name=entry.name,
            revision=revision,
            sha256=sha256,
            device=str(device),
            dtype=entry.dtype,
            numerics=promised(str(device), entry.dtype, small_products=True),  # nothing is padded
        ),
    )


def _cut_to_positions(model: Any) -> None:
    """Texts end where the positions do; the library counts those before the first one too."""
    network = getattr(model[0], "auto_model", None)  # static embeddings have no positions
    usable = None if network is None else usable_positions(network)
    if usable is not None:
        model.max_seq_length = min(usable, model.max_seq_length or usable)


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name != "cpu" and not torch.cuda.is_available():
        raise ValueError(f"it is configured for {name}, and this machine has no GPU")
    return torch.device(name)


def _folder(catalogue: Catalogue, entry: ModelEntry) -> Path:
    """Where the files lie; a hub model's are fetched if they are not in the cache."""
    if entry.source == BASE:
        return base_folder()
    if entry.scheme == "hf":
        return Path(snapshot_download(entry.location, revision=entry.commit, allow_patterns=FILES))
    if entry.scheme != "path":
        raise ValueError(f"{entry.source} is no similarity")
    return catalogue.root / entry.location


def _checked_hash(folder: Path, entry: ModelEntry) -> str:
    found = folder_sha256(folder)
    if found is None:
        raise ValueError(f"there are no safetensors files in {folder}")
    if entry.sha256 not in (None, found):
        raise ValueError(f"its weights have SHA-256 {found}, configured is {entry.sha256}")
    return found


def _bi_encoder(folder: Path, settings: dict[str, Any]) -> Any:
    """What the folder's own `modules.json` describes."""
    file = folder / "modules.json"
    if not file.exists():
        raise ValueError("it is no bi-encoder: it has no modules.json, so nothing says how to pool")
    for module in json.loads(file.read_text("utf-8")):
        part = folder / module["path"]
        pickled = any(found for pattern in PICKLES for found in part.glob(pattern))
        if pickled and not list(part.glob("*.safetensors")):
            raise ValueError(f"the weights of its module {module['path']!r} are no safetensors")
    return sentence_transformers.SentenceTransformer(str(folder), **settings)


def _cross_encoder(folder: Path, settings: dict[str, Any]) -> Any:
    """A sequence classifier of one output, read through a sigmoid."""
    model = sentence_transformers.CrossEncoder(str(folder), **settings)
    if model.num_labels != 1:
        raise ValueError(f"it is no cross-encoder for similarity: {model.num_labels} outputs")
    if not isinstance(model.activation_fn, torch.nn.Sigmoid):
        raise ValueError(f"its activation is {model.activation_fn}; only Sigmoid gives [0, 1]")
    stored = {name for file in folder.glob("*.safetensors") for name in _names(file)}
    if not any(name.split(".")[0] in ("classifier", "score") for name in stored):
        raise ValueError("its files hold no classification head")  # it would be random
    read_first_token_only(model[0].auto_model)
    compute_repeats_once(model[0].auto_model)
    return model


def _names(file: Path) -> list[str]:
    with safe_open(file, framework="pt") as weights:
        return list(weights.keys())
