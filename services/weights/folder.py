"""Where a model's weights lie, or why they are not there, and the command that mends it.

No model library is needed. Nothing is fetched: only `touchstone models` goes out.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from shared.models.availability import LoadingError
from shared.models.catalogue import Catalogue
from shared.models.checkpoint import BASE, base_folder, hub_folder
from shared.models.entry import ModelEntry

INDEX = "model.safetensors.index.json"
PICKLE = "pytorch_model.bin"
STILL_SECONDS = 60.0  # a download that has written nothing for so long has been given up


def weights_folder(catalogue: Catalogue, entry: ModelEntry) -> Path:
    """The folder of its files. Raises LoadingError where they are not whole."""
    folder = model_folder(catalogue, entry)
    if entry.scheme == "hf":
        _check_downloaded(entry, folder)
    elif not folder.is_dir():
        raise LoadingError(
            f"the model {entry.name!r} is not there: no folder {folder}. Put its files there, or "
            f"change its source",
            "absent",
        )
    elif entry.scheme == "path" and not is_complete(folder):
        _check_converted(entry, folder)
    return folder


def model_folder(catalogue: Catalogue, entry: ModelEntry) -> Path:
    """The folder for its files, whether they are there or not."""
    if entry.source == BASE:
        return base_folder()
    if entry.scheme == "hf":
        return hub_folder(entry.location, entry.commit or "")
    folder = catalogue.folder(entry)
    if folder is None:
        raise ValueError(f"{entry.name!r} is held by another server")
    return folder


def is_complete(folder: Path) -> bool:
    """Whether safetensors are here: all that an index names, where there is one."""
    try:
        listed = json.loads((folder / INDEX).read_text("utf-8"))["weight_map"].values()
    except FileNotFoundError:
        return any(folder.glob("*.safetensors"))
    except (OSError, ValueError, KeyError, AttributeError):
        return False
    return all((folder / str(name)).is_file() for name in set(listed))


def _check_downloaded(entry: ModelEntry, folder: Path) -> None:
    if is_complete(folder):
        return
    name = entry.name
    if (bytes_ := downloaded_size(folder)) is not None:
        said = f"the model {name!r} is being downloaded: {bytes_ / 1e9:.2f} GB so far"
        raise LoadingError(said, "downloading")
    _check_converted(entry, folder)
    said = f"the model {name!r} is not on this disk: run `touchstone models pull {name}`"
    raise LoadingError(said, "absent")


def _check_converted(entry: ModelEntry, folder: Path) -> None:
    if (folder / PICKLE).is_file():
        said = f"run `touchstone models convert {entry.name}`"
        raise LoadingError(f"the model {entry.name!r} has no safetensors: {said}", "failed")


def downloaded_size(snapshot: Path) -> int | None:
    """Bytes of a download that is under way; None: there is none."""
    try:
        parts = [file.stat() for file in (snapshot.parents[1] / "blobs").glob("*.incomplete")]
    except OSError:
        return None
    latest = max((part.st_mtime for part in parts), default=0.0)
    moves = time.time() - latest < STILL_SECONDS
    return sum(part.st_size for part in parts) if moves else None
