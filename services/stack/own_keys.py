"""The keys of one machine's service: made once, kept in its folder, readable by its owner alone."""

from __future__ import annotations

from pathlib import Path

from shared.encryption import new_key


def own_key(folder: Path, name: str) -> str:
    """The key `<name>.key` in this folder; a new one where there is none."""
    file = folder / f"{name}.key"
    if not file.exists():
        fresh = folder / f"{name}.key.new"
        fresh.unlink(missing_ok=True)
        fresh.touch(mode=0o600)
        fresh.write_text(new_key())
        fresh.rename(file)
    return file.read_text().strip()
