"""The key that seals webhook secrets on one machine: made once, kept beside the ledger's folder."""

from __future__ import annotations

from pathlib import Path

from shared.webhooks.sealing import new_key


def webhook_key(folder: Path) -> str:
    """The key in this folder, readable by its owner alone; a new one where there is none."""
    file = folder / "webhook.key"
    if not file.exists():
        fresh = folder / "webhook.key.new"
        fresh.unlink(missing_ok=True)
        fresh.touch(mode=0o600)
        fresh.write_text(new_key())
        fresh.rename(file)
    return file.read_text().strip()
