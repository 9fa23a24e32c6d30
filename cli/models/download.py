"""The command `touchstone models pull`, which downloads weights from the model hub. Downloads can
be resumed. Afterwards, every file is checked against the hash that the hub states."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from cli.models.hub import CommandError, Hub
from shared.models.catalogue.checkpoint import hub_cache, hub_folder
from shared.models.catalogue.entry import ModelEntry
from shared.process.settings import Settings, secret

PATTERNS = ("*.json", "*.jinja", "*.safetensors", "*.txt", "*.model", "*.codes", "README.md")
PICKLE = "pytorch_model.bin"
LINE_SECONDS = 5.0  # between two lines of one file
PIECE_BYTES = 4_194_304


def download_model(entry: ModelEntry, settings: Settings, *, pickles: bool = False) -> Path:
    """Download and verify all files of a model, and return their folder. `pickles` allows pickled
    weights if there are no safetensors. Raises CommandError."""
    token = secret("HF_TOKEN")
    key = token.get_secret_value() if token else None
    with Hub(settings.hub, key) as hub:
        repository = hub.repository(entry.location, entry.commit or "")
    if not repository.has_safetensors and not (pickles and PICKLE in repository.files):
        raise CommandError(
            f"{entry.name}: {entry.location} has no safetensors files at this commit; run "
            f"`touchstone models convert {entry.name}`"
        )
    patterns = PATTERNS if repository.has_safetensors else (*PATTERNS, PICKLE)
    for file in select_files(repository.files, patterns):
        _fetch(entry, file, settings.hub, key)
    folder = hub_folder(entry.location, entry.commit or "")
    for path in changed_files(folder):
        path.resolve().unlink()
        path.unlink()
        raise CommandError(
            f"{entry.name}: {path.name} was damaged during the download and deleted; run "
            "`touchstone models pull` again"
        )
    return folder


def select_files(files: tuple[str, ...], patterns: tuple[str, ...]) -> list[str]:
    """Return the files that match the patterns, small files first."""
    selected = [file for file in files if any(fnmatch(file, pattern) for pattern in patterns)]
    return sorted(selected, key=lambda file: (file.endswith((".safetensors", ".bin")), file))


def _fetch(entry: ModelEntry, file: str, url: str, token: str | None) -> None:
    try:
        from huggingface_hub import hf_hub_download  # not in the bare wheel
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ModuleNotFoundError:
        raise CommandError(
            "`touchstone models pull` needs the client of the Hugging Face Hub; run pip "
            "install 'path/to/touchstone[command]'"
        ) from None
    label = f"{entry.name} {file}"
    try:
        hf_hub_download(
            entry.location,
            file,
            revision=entry.commit,
            cache_dir=hub_cache(),
            endpoint=url,
            token=token or False,
            tqdm_class=_lines(label),
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        first = str(error).strip().partition("\n")[0]
        raise CommandError(
            f"{label}: {first}. The downloaded part is kept; run `touchstone models pull` "
            "again to continue"
        ) from None


def _lines(label: str) -> Any:
    """Return a progress bar class for the hub's client that prints lines of text."""
    from tqdm.auto import tqdm  # it comes with the hub's client

    class ProgressLines(tqdm):  # type: ignore[misc]  # it has no types
        """Prints a progress line (bytes, rate and remaining time). A terminal shows one line that
        changes."""

        def __init__(self, *arguments: Any, **more: Any) -> None:
            more |= {"disable": False, "file": sys.stderr, "mininterval": 0}
            more.pop("name", None)
            self.last_line = 0.0
            super().__init__(*arguments, **more)

        def display(self, *_arguments: Any, **_more: Any) -> None:
            """Print a line periodically, and at the end."""
            done = self.total is not None and self.n >= self.total
            if not done and time.monotonic() - self.last_line < LINE_SECONDS:
                return
            self.last_line = time.monotonic()
            sys.stderr.write(progress(label, int(self.n), self.total, self.format_dict["elapsed"]))

        def close(self) -> None:
            """Do nothing, since there is no bar to clear."""
            self.disable = True

    return ProgressLines


def progress(label: str, done: int, total: int | None, seconds: float) -> str:
    """Return a progress text such as `hate model.safetensors: 120 of 440 MB, 31.0 MB/s, 10 s
    left`."""
    rate = done / seconds if seconds > 0 else 0.0
    amount = f"{done / 1e6:.1f} of {total / 1e6:.1f} MB" if total else f"{done / 1e6:.1f} MB"
    left = f", {(total - done) / rate:.0f} s left" if total and rate else ""
    return f"{label}: {amount}, {rate / 1e6:.1f} MB/s{left}\n"


def changed_files(folder: Path) -> Iterator[Path]:
    """Yield the downloaded files whose hash is wrong."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.is_symlink():
            blob = path.resolve()
            if blob.name not in (_sha256(blob), _git_sha1(blob)):
                yield path


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _git_sha1(file: Path) -> str:
    digest = hashlib.sha1(f"blob {file.stat().st_size}\0".encode(), usedforsecurity=False)
    with file.open("rb") as stream:
        while piece := stream.read(PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()
