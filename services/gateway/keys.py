"""The command `touchstone keys` (also `python -m services.gateway.keys`). It creates, lists and
revokes API keys, and sets how long a tenant's data is kept.

It changes the database at `DATABASE_URL`. With `--var var` it uses the database of a stack on this
machine. A new key is printed once on standard output. Only its SHA-256 hash is stored.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

from rich.console import Console
from rich.table import Table
from sqlalchemy import Connection, Engine

from shared.contracts.errors import Unavailable
from shared.ledger import keys, tenants
from shared.ledger.engine import connect, ledger, transaction
from shared.ledger.keys import MOST_REVIEWER, Key, NewKey, Scope
from shared.ledger.tables import DEFAULT_TENANT
from shared.process.settings import settings_or_exit

SCOPES: tuple[Scope, ...] = get_args(Scope)

WRONG = 64  # exit code of a wrong command line, as of `touchstone`
FIRST = (
    "This is the first key. Every request now needs a key, unless TOUCHSTONE_AUTHENTICATION is "
    "none. Revoking the key does not open the service again."
)
PIPE_COLUMNS = 200  # of a table, for who reads it line by line


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="touchstone keys", description=__doc__)
    result.add_argument(
        "--var", type=Path, help="Data folder of the running `make serve`, usually var."
    )
    commands = result.add_subparsers(dest="command", required=True)
    create = commands.add_parser("create", help="Create a key and print it.")
    create.add_argument(
        "--tenant", type=_tenant, default=DEFAULT_TENANT, help="Tenant that the key belongs to."
    )
    create.add_argument("--name", default="", help="Note on what the key is used for.")
    create.add_argument(
        "--scope",
        action="append",
        choices=SCOPES,
        help="Scopes of the key. score: jobs; batch: files and batches; review: reading and "
        "judging results; admin: all of these, and webhook endpoints. Repeatable (default: score "
        "and batch).",
    )
    create.add_argument(
        "--requests-per-minute",
        type=_count,
        help="Requests per minute of this key (default: the gateway's limit).",
    )
    create.add_argument(
        "--accept-untrained-languages",
        action="store_true",
        help="Score texts in languages that the model did not learn, with a warning, unless a "
        "request sets this itself.",
    )
    create.add_argument(
        "--reviewer",
        type=_reviewer,
        help="Name of the person who judges with this key (default: users enter their name).",
    )
    create.add_argument("--days", type=_count, help="Days until the key expires (default: never).")
    listing = commands.add_parser("list", help="List all keys, or the keys of one tenant.")
    listing.add_argument("--tenant", type=_tenant, help="List only keys of this tenant.")
    revoke = commands.add_parser("revoke", help="Revoke a key.")
    revoke.add_argument("id", help="Id of the key, which begins with key_.")
    retention = commands.add_parser("retention", help="Show or set how long data is kept.")
    retention.add_argument("tenant", type=_tenant, help="Tenant whose data it is.")
    value = retention.add_mutually_exclusive_group()
    value.add_argument(
        "--days",
        type=_count,
        help="Days until the tenant's ended jobs, batches, deliveries and files are deleted. A "
        "longer time does not apply to files that are already stored.",
    )
    value.add_argument(
        "--default",
        action="store_true",
        help="Return to the default, TOUCHSTONE_RETENTION_HOURS.",
    )
    return result


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status, 0 for success."""
    options = parser().parse_args(arguments)
    console = Console(stderr=True, width=None if sys.stderr.isatty() else PIPE_COLUMNS)
    try:
        return _run(options, _engine(options.var), console)
    except Unavailable as error:
        where = (
            ""
            if options.var
            else ("; to manage keys of a service on this machine, add --var FOLDER (usually var)")
        )
        console.print(f"[bold red]{error}{where}[/bold red]", soft_wrap=True)
        return 1
    except (OSError, ValueError) as error:
        console.print(f"[bold red]{error}[/bold red]", soft_wrap=True)
        return 1 if isinstance(error, OSError) else WRONG


def _run(options: argparse.Namespace, engine: Engine, console: Console) -> int:
    with transaction(engine) as connection:
        match options.command:
            case "create":
                is_first = not keys.has_any(connection)
                key, secret = keys.make(
                    connection,
                    NewKey(
                        tenant=options.tenant,
                        name=options.name,
                        scopes=tuple(dict.fromkeys(options.scope or ("score", "batch"))),
                        requests_per_minute=options.requests_per_minute,
                        accept_untrained_languages=options.accept_untrained_languages,
                        lasts=None if options.days is None else timedelta(days=options.days),
                        reviewer=options.reviewer,
                    ),
                )
            case "list":
                listed = Console(width=None if sys.stdout.isatty() else PIPE_COLUMNS)
                listed.print(table(keys.all_of(connection, options.tenant)))
                return 0
            case "retention":
                console.print(_retention(connection, options))
                return 0
            case _:
                revoked = keys.revoke(connection, options.id)
                if revoked is None:
                    raise ValueError(f"there is no key {options.id!r}")
                console.print(table([revoked]))
                return 0
    console.print(table([key]))
    if is_first:
        console.print(FIRST, soft_wrap=True)
    console.print("Save the key now; it is not shown again:")
    sys.stdout.write(secret + "\n")
    return 0


def _retention(connection: Connection, options: argparse.Namespace) -> str:
    """Set the tenant's retention if asked to; return it as a sentence."""
    tenant = options.tenant
    if tenant != DEFAULT_TENANT and not keys.all_of(connection, tenant):
        raise ValueError(
            f"there is no tenant {tenant!r}; a tenant exists once a key is created for it"
        )
    if options.days or options.default:
        term = timedelta(days=options.days) if options.days else None
        tenants.set_retention(connection, tenant, term)
    own = tenants.retention_of(connection, tenant)
    length = "TOUCHSTONE_RETENTION_HOURS, the default" if own is None else f"{own.days} d"
    return f"Retention of the tenant {tenant}: {length}"


def _engine(var: Path | None) -> Engine:
    if var is None:
        settings_or_exit()
        return ledger()
    try:
        note = json.loads((var / "stack.json").read_text())
    except FileNotFoundError:
        raise ValueError(
            f"no service runs in {var}, because it has no stack.json; name the folder of a "
            "running service"
        ) from None
    return connect(str(note["database_url"]))


def table(rows: list[Key]) -> Table:
    """Return one row per key, without its secret."""
    result = Table(title="API keys", title_justify="left")
    names = ("id", "tenant", "name", "reviewer", "begins")
    for column in (*names, "scopes", "a minute", "languages", "made", "state"):
        result.add_column(column, no_wrap=column in ("id", "begins"), overflow="fold")
    for key in rows:
        rate = "-" if key.requests_per_minute is None else str(key.requests_per_minute)
        scopes = " ".join(key.scopes)
        who = key.reviewer or "-"
        cells = (key.id, key.tenant, key.name, who, f"{key.beginning}…", scopes, rate)
        accepted = "untrained too" if key.accept_untrained_languages else "trained"
        result.add_row(*cells, accepted, f"{key.created_at:%Y-%m-%d}", state(key))
    return result


def state(key: Key) -> str:
    """Return the state of a key in words (valid, expired or revoked), with the time."""
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at:%Y-%m-%d %H:%M}"
    if key.expires_at is None:
        return "valid"
    verb = "expired" if key.expires_at <= datetime.now(UTC) else "valid until"
    return f"{verb} {key.expires_at:%Y-%m-%d %H:%M}"


def _tenant(text: str) -> str:
    if not keys.TENANT.fullmatch(text):
        raise argparse.ArgumentTypeError(
            "a tenant's name must have 1 to 63 of the characters a-z, 0-9, - and _"
        )
    return text


def _reviewer(text: str) -> str:
    name = text.strip()
    if not name or len(name) > MOST_REVIEWER or not name.isprintable():
        raise argparse.ArgumentTypeError(
            f"a name must have 1 to {MOST_REVIEWER} printable characters"
        )
    return name


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError("must be a whole number from 1 to 1,000,000")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
