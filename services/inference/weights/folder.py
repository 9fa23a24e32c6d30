"""Finds the folder of a model's weights. If the folder is missing, the error gives the reason and a
command that fixes it. Only `touchstone models` downloads weights."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from shared.models.catalogue.availability import LoadingError
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.checkpoint import (
    BASE,
    base_folder,
    demand_files,
    hub_folder,
    read_checkpoint,
)
from shared.models.catalogue.entry import ModelEntry

INDEX, WHOLE = "model.safetensors.index.json", "model.safetensors"
LFS_POINTER = b"version https://git-lfs"
MOST_HEADER = 100_000_000  # bytes, as safetensors has it
PICKLE = "pytorch_model.bin"
ANEW = "download or copy it again, then run `touchstone models reload`"
SERVE_IT = "run the model on a server, and add the server as openai:"
ROWS = (
    "the classification head must have one row for each name in `id2label` of config.json, or "
    "two rows if there is no `id2label`"
)
HEADS = ("classifier.", "pre_classifier.", "score.", "bert.pooler.", "pooler.")
LAYER = re.compile(r"(?:^|\.)(?P<layer>(?:layers?|h|blocks?)\.\d+)\.")
STILL_SECONDS = 60.0  # a download that has written nothing for so long has been given up


def weights_folder(catalogue: Catalogue, entry: ModelEntry) -> Path:
    """Return the folder of the model's files. Raises LoadingError if they are incomplete, and
    OSError."""
    folder = model_folder(catalogue, entry)
    if entry.scheme == "hf":
        _check_downloaded(entry, folder)
    elif not folder.is_dir():
        raise LoadingError(
            f"the model {entry.name!r} is missing: there is no folder {folder}. Put the model's "
            "files there, or change `source` in its entry",
            "absent",
        )
    elif entry.scheme == "path":
        next(folder.iterdir(), None)  # a folder that may not be read looks empty to `glob`
        try:
            demand_files(folder)
        except ValueError as error:
            message = f"the model {entry.name!r} cannot be loaded: {error}"
            raise LoadingError(message, "failed") from error
        if not is_complete(folder):
            _check_converted(entry, folder)
            _demand_shards(entry, folder)
    return folder


def model_folder(catalogue: Catalogue, entry: ModelEntry) -> Path:
    """Return the folder for the model's files, which may not exist."""
    if entry.source == BASE:
        return base_folder()
    if entry.scheme == "hf":
        return hub_folder(entry.location, entry.commit or "")
    folder = catalogue.folder(entry)
    if folder is None:
        raise ValueError(f"{entry.name!r} runs on another server and has no folder here")
    return folder


def is_complete(folder: Path) -> bool:
    """Return True if the folder has safetensors files. If it has an index, all listed files must
    exist."""
    try:
        listed = json.loads((folder / INDEX).read_text("utf-8"))["weight_map"].values()
    except FileNotFoundError:
        return any(folder.glob("*.safetensors"))
    except (OSError, ValueError, KeyError, AttributeError):
        return False
    return all((folder / str(name)).is_file() for name in set(listed))


def _demand_shards(entry: ModelEntry, folder: Path) -> None:
    """Raise LoadingError if the folder's index lists missing files."""
    if (folder / INDEX).is_file() and not (folder / WHOLE).is_file():
        reason = f"the folder {folder} lacks files that its {INDEX} lists; add these files"
        raise LoadingError(f"the model {entry.name!r} is incomplete: {reason}", "absent")


def demand_usable(folder: Path) -> None:
    """Raise ValueError for weights that are quantised, damaged or unreadable, and for models that
    need their own code."""
    if any(folder.glob("*.gguf")) and not any(folder.glob("*.safetensors")):
        raise ValueError(f"the model's weights are quantised (gguf); {SERVE_IT}")
    demand_readable(folder)
    if (checkpoint := read_checkpoint(folder)) is None:
        return
    if checkpoint.quantised is not None:
        raise ValueError(f"the model's weights are quantised ({checkpoint.quantised}); {SERVE_IT}")
    if checkpoint.own_code:
        raise ValueError(
            "needs-own-code: the model needs Python code from its repository "
            f"({', '.join(checkpoint.own_code)}), which Touchstone never runs"
        )


def demand_readable(folder: Path) -> None:
    """Raise ValueError for incomplete files and for files that are not safetensors. The first eight
    bytes of such a file are the length of its header. The header is JSON with the end of each
    tensor. Source: https://github.com/huggingface/safetensors, "Format"."""
    for file in sorted(folder.glob("*.safetensors")):
        try:
            fault = _unreadable(file)
        except OSError as error:  # a link that leads nowhere, or in a circle; no right to read
            fault = f"cannot be read: {error.strerror}"
        if fault is not None:
            raise ValueError(f"{file.name} in {folder} {fault}")


def _unreadable(file: Path) -> str | None:
    """Return why a file cannot be read, or None. Raises OSError."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        first = stream.read(8)
        if LFS_POINTER.startswith(first) and first:
            return "is a pointer of Git LFS, not the weights; run `git lfs pull` in the folder"
        length = int.from_bytes(first, "little")
        if not 0 < length <= min(MOST_HEADER, size - 8):
            return f"is not a safetensors file, or is cut off; {ANEW}"
        try:
            tensors = json.loads(stream.read(length))
            ends = [
                tensor["data_offsets"][1] for name, tensor in tensors.items() if name[:2] != "__"
            ]
            whole = 8 + length + max(ends, default=0) == size
        except (ValueError, AttributeError, LookupError, TypeError):
            return f"is not a safetensors file; {ANEW}"
    return None if whole else f"is cut off, or has too many bytes; {ANEW}"


def _check_downloaded(entry: ModelEntry, folder: Path) -> None:
    if is_complete(folder):
        return
    name = entry.name
    if (bytes_ := downloaded_size(folder)) is not None:
        message = f"the model {name!r} is being downloaded: {bytes_ / 1e9:.2f} GB so far"
        raise LoadingError(message, "downloading")
    _check_converted(entry, folder)
    message = f"the model {name!r} is not on this disk; run `touchstone models pull {name}`"
    raise LoadingError(message, "absent")


def _check_converted(entry: ModelEntry, folder: Path) -> None:
    if (folder / PICKLE).is_file():
        cure = f"run `touchstone models convert {entry.name}`"
        raise LoadingError(f"the model {entry.name!r} has no safetensors files; {cure}", "failed")


def downloaded_size(snapshot: Path) -> int | None:
    """Return the number of bytes that a running download has written so far, or None if no download
    is running."""
    try:
        parts = [file.stat() for file in (snapshot.parents[1] / "blobs").glob("*.incomplete")]
    except OSError:
        return None
    latest = max((part.st_mtime for part in parts), default=0.0)
    moves = time.time() - latest < STILL_SECONDS
    return sum(part.st_size for part in parts) if moves else None


def demand_same_network(report: Mapping[str, Any], network: Iterable[str]) -> None:
    """Raise ValueError if the configuration describes a different network from the files. `report`
    is from Transformers' `from_pretrained`. `network` has the names of the loaded network's
    weights."""
    if missing := sorted(report["missing_keys"]):
        if all(name.startswith(HEADS) for name in missing):
            head = ", ".join(missing)
            raise ValueError(
                f"the model's files lack the classifier's weights ({head}); fine-tune the "
                "model first"
            )
        raise ValueError(f"the model's files lack the weights {missing}; copy the files again")
    if report["mismatched_keys"]:
        names = sorted(name for name, *_ in report["mismatched_keys"])
        of_head = f": {ROWS}" if names[0].startswith(HEADS) else ""
        which = ", ".join(names[:3])
        raise ValueError(
            f"the model's weights ({which}) have different shapes than its configuration "
            f"says{of_head}"
        )
    if unused := _layers(report["unexpected_keys"]) - _layers(network):
        raise ValueError(
            "the model's config.json describes fewer layers than its files contain (no "
            f"{min(unused)}); use the config.json of these weights"
        )


def _layers(names: Iterable[str]) -> set[str]:
    return {match["layer"] for name in names if (match := LAYER.search(name))}
