"""Converts pickled weights to safetensors.

Usage: `python -m services.inference.weights.conversion FOLDER TARGET COMMIT`. It runs in a separate
process, since it reads an untrusted pickle (tensors only, `weights_only=True`). It first disables
the network and limits memory and time.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import resource
import shutil
import sys
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from services.inference.weights.folder import PICKLE
from shared.models.catalogue.checkpoint import file_sha256, folder_sha256

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
MEMORY_TIMES, MEMORY_MORE = 4, 8_000_000_000  # of the file, and bytes for the libraries
SECONDS = 3_600  # of processor time
NOTE = "CONVERTED.json"
REFUSED = re.compile(r"GLOBAL ([\w.]{1,100})")  # in what torch says of a pickle
COPIED = ("*.json", "*.txt", "*.model", "*.codes", "*.jinja", "README.md")


class SandboxViolation(Exception):
    """The weights tried to access the network or to start a process."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("commit", help="commit of the source, stored with the converted weights")
    options = parser.parse_args(arguments)
    disable_network()  # first: it needs a process of one thread
    import torch  # noqa: F401 - before the limits: it reads many files

    restrict_process((options.folder / PICKLE).stat().st_size)
    try:
        convert(options.folder, options.target, options.commit)
    except UnpicklingError as error:  # the library goes on with how to run it all the same
        match = REFUSED.search(str(error))
        contents = f"data other than numbers ({match[1]})" if match else "no readable weights"
        sys.stderr.write(
            f"{options.folder / PICKLE} holds {contents}, so nothing of it is loaded\n"
        )
        return 1
    except Exception as error:  # noqa: BLE001 - whatever a stranger's file does
        sys.stderr.write(f"{options.folder / PICKLE}: {type(error).__name__}: {error}\n")
        return 1
    return 0


def disable_network() -> None:
    """Disable the network if the kernel allows this. `restrict_process` blocks it as well."""
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "unshare"):
        libc.unshare(CLONE_NEWUSER | CLONE_NEWNET)


def restrict_process(size: int) -> None:
    """Forbid sockets and new processes, and limit memory and time. `size` is in bytes."""
    most = MEMORY_TIMES * size + MEMORY_MORE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    sys.addaudithook(_block_event)


def _block_event(event: str, _arguments: tuple[Any, ...]) -> None:
    if event.startswith(("socket.", "subprocess.", "os.exec", "os.system", "os.posix_spawn")):
        raise SandboxViolation(event)


def convert(folder: Path, target: Path, commit: str) -> None:
    import torch
    from safetensors.torch import save_file

    weights = torch.load(folder / PICKLE, map_location="cpu", weights_only=True)
    tensors = {str(name): value for name, value in weights.items() if torch.is_tensor(value)}
    if not tensors:
        raise ValueError("the file contains no tensors")
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for pattern in COPIED:
        for file in folder.rglob(pattern):  # modules of a bi-encoder have folders of their own
            copy = fresh / file.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    # tensors that share memory are stored each for itself
    whole = {name: value.detach().clone().contiguous() for name, value in tensors.items()}
    save_file(whole, fresh / "model.safetensors", metadata={"format": "pt"})
    note = {
        "commit": commit,
        "from": {PICKLE: file_sha256(folder / PICKLE)},
        "to": {"model.safetensors": folder_sha256(fresh)},
    }
    (fresh / NOTE).write_text(json.dumps(note, indent=1) + "\n", "utf-8")
    shutil.rmtree(target, ignore_errors=True)
    os.replace(fresh, target)  # noqa: PTH105 - Path.replace is the same, less plainly atomic


if __name__ == "__main__":
    sys.exit(main())
