"""Adds to every pin on the input the SHA-256 of its files: `pip freeze | python hashes.py`.

pip's own finder says which files there are, on its indices and in folders of this machine; nothing
is downloaded. Kept are the files that a CPython from 3.11 to 3.14 on Linux or macOS may install.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from pip._internal.commands.index import IndexCommand
from pip._internal.index.collector import parse_links
from pip._internal.index.package_finder import PackageFinder
from pip._internal.models.link import Link
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.tags import Tag
from pip._vendor.packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from pip._vendor.packaging.version import InvalidVersion, Version

MINORS = range(11, 15)
PLATFORM = re.compile(
    r"any|(manylinux|linux).*_(x86_64|aarch64)|macosx_.*_(x86_64|arm64|universal2)"
)
PIECE_BYTES = 1_048_576


def main() -> None:
    """Read pins, write them with hashes, in the same order."""
    command = IndexCommand("index", "requirements")
    options, _ = command.parse_args([])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session)  # noqa: SLF001 - pip has no API
        for line in filter(None, map(str.strip, sys.stdin)):
            found = sorted(hashes(Requirement(line), finder))
            if not found:
                sys.exit(f"no index has a file of {line}")
            lines = [line, *(f"--hash=sha256:{digest}" for digest in found)]
            sys.stdout.write(" \\\n    ".join(lines) + "\n")


def hashes(pin: Requirement, finder: PackageFinder) -> set[str]:
    """SHA-256 of all files of this version."""
    (only,) = pin.specifier
    return {
        sha256(link)
        for link in links(canonicalize_name(pin.name), finder)
        if is_wanted(link.filename, only.version)
    }


def links(name: str, finder: PackageFinder) -> Iterator[Link]:
    """Every file of this project."""
    collector = finder._link_collector  # noqa: SLF001

    def on_page(page: Link) -> Iterable[Link]:
        response = collector.fetch_response(page)
        return [] if response is None else parse_links(response)

    sources = collector.collect_sources(project_name=name, candidates_from_page=on_page)
    for source in filter(None, [*sources.index_urls, *sources.find_links]):
        yield from source.page_candidates()
        yield from source.file_links()


def is_wanted(filename: str, version: str) -> bool:
    """Whether the file is of this version, and of one of our platforms."""
    try:
        if filename.endswith(".whl"):
            _, found, _, tags = parse_wheel_filename(filename)
        else:
            (_, found), tags = parse_sdist_filename(filename), frozenset()
    except (InvalidSdistFilename, InvalidWheelFilename, InvalidVersion):
        return False
    return found == Version(version) and (not tags or any(map(is_ours, tags)))


def is_ours(tag: Tag) -> bool:
    """Whether one of our interpreters takes this tag."""
    return takes_interpreter(tag) and PLATFORM.fullmatch(tag.platform) is not None


def takes_interpreter(tag: Tag) -> bool:
    """Whether a CPython of ours takes the tag's interpreter and ABI; free-threaded ones are not."""
    minor = tag.interpreter.removeprefix("cp3").removeprefix("py3")
    if tag.abi == "abi3":
        return minor.isdecimal() and int(minor) <= MINORS[-1]
    is_named = not minor or (minor.isdecimal() and int(minor) in MINORS)
    return is_named and not tag.abi.endswith("t")


def sha256(link: Link) -> str:
    """As the index says; of a file of this machine, as it is."""
    if link.hash_name == "sha256" and link.hash:
        return link.hash
    if not link.is_file:
        sys.exit(f"no index says the SHA-256 of {link.filename}")
    digest = hashlib.sha256()
    with Path(link.file_path).open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()


if __name__ == "__main__":
    main()
