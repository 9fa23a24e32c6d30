"""The commands `touchstone models`: add your own models to models.toml, download their weights, and
try them. TOUCHSTONE_MODELS_FILE names the file and TOUCHSTONE_MODELS_DIR the folder of the weights.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from redis.exceptions import RedisError

from cli.models import entries
from cli.models.additions import PICKLED, addition, read_catalogue
from cli.models.download import download_model
from cli.models.hub import CommandError
from cli.stack.folder import is_acquired
from services.inference.weights.folder import (
    PICKLE,
    demand_usable,
    is_complete,
    model_folder,
    weights_folder,
)
from shared.contracts.language_names import language_names
from shared.models.catalogue import reload
from shared.models.catalogue.availability import LoadingError
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.checkpoint import folder_sha256
from shared.models.catalogue.entry import ModelEntry
from shared.models.catalogue.models_file import preset_names
from shared.process.numerics import fast_arithmetic
from shared.process.settings import (
    Settings,
    environment_default,
    environment_value,
    settings,
    settings_or_exit,
)

CHECK = "cli.models.check"
CONVERSION = "services.inference.weights.conversion"
KINDS = ("classifier", "causal", "similarity", "cross-encoder")
WITH_COMPOSE = "with compose: docker compose run --rm models reload"
ELSEWHERE = (
    "TOUCHSTONE_URL points to {url}, which is not the service of {folder}. A service "
    "cannot be told over HTTP to read models.toml again. Run `touchstone models reload` on "
    f"the machine of that service ({WITH_COMPOSE}), set REDIS_URL to its Redis, or add --var "
    "{folder} to reload the service of this folder"
)
NOWHERE = (
    "no service is running in {folder}, so there is nothing to reload: a service reads "
    "models.toml when it starts. For a service in another folder add --var FOLDER, for one "
    f"on another machine set REDIS_URL; {WITH_COMPOSE}"
)
STARTING = (
    "the service of {folder} is still starting, or is stopping. Run `touchstone models reload` "
    "again once `make serve` prints the address that it listens on"
)
PROTOCOLS = ("vllm", "sglang", "tei", "infinity")  # kserve-v2 needs a table of its own
ACTIVATIONS = ("softmax", "sigmoid", "one-output")
TASKS = ("hate", "nli", "sentiment", "free")
MOST_LANGUAGES = 3  # of a model, in a row of the list


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="touchstone models", description=__doc__)
    commands = result.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, says: str, run: Callable[..., int]) -> Callable[..., object]:
        """Add a sub-command. Return the function that adds its options."""
        subparser = commands.add_parser(name, help=says, description=says)
        subparser.set_defaults(run=run)
        return subparser.add_argument

    option = command(
        "add", "Add an entry for a model on the Hugging Face Hub, in a folder or on a server.", add
    )
    option(
        "source", metavar="SOURCE",
        help="hf:REPO[@BRANCH], path:FOLDER, openai:URL or classify:URL, such as "
        "path:/models/mine.",
    )  # fmt: skip
    option("--name", help="Name that requests use for the model.")
    option("--replace", action="store_true", help="Replace the existing entry with this name.")
    option(
        "--preset", help=f"Copy the settings of this well-known model: {', '.join(preset_names())}."
    )
    option("--kind", choices=KINDS, help="Kind of the model, if its files do not state it.")
    option(
        "--task",
        choices=TASKS,
        help="Task that gives the labels their meaning; free: labels of your own.",
    )
    option(
        "--label", action="append", default=[], metavar="LABEL=OUTPUT[,OUTPUT]",
        help="The model's outputs that mean a label, such as hateful=hate,offensive. For a causal "
            "model, the words that it writes for the label, such as hateful=yes,Yes. Repeatable.",
    )  # fmt: skip
    option(
        "--ignore",
        metavar="OUTPUT[,OUTPUT]",
        help="Outputs that belong to no label; * means all others.",
    )
    option(
        "--outputs",
        metavar="OUTPUT[,OUTPUT]",
        help="Names of the outputs LABEL_0, LABEL_1 and so on.",
    )
    option(
        "--activation",
        choices=ACTIVATIONS,
        help="Activation function, if the model's files do not state it.",
    )
    option(
        "--languages",
        metavar="TAG[,TAG]",
        help="Languages that the model was trained on, such as en,hi-Latn.",
    )
    option(
        "--protocol",
        choices=PROTOCOLS,
        help="Protocol of a classify: server that does not report its protocol.",
    )
    option(
        "--served-name", metavar="NAME", help="Name of the model on its server (default: --name)."
    )
    option(
        "--api-key-env",
        metavar="VARIABLE",
        help="Environment variable that holds the API key of the model's server.",
    )
    option = command(
        "pull", "Download weights from the Hugging Face Hub, and check them.", pull_all
    )
    option("names", nargs="*", metavar="NAME", help="Names of models.")
    option(
        "--all",
        action="store_true",
        help="Download the weights of every configured model from the hub.",
    )
    says = "Convert the pickled weights of a model into safetensors."
    command("convert", says, convert)("name", metavar="NAME", help="Name of the model.")
    commands.add_parser("check", help="Load models, and test each with some texts.", add_help=False)
    option = command("list", "List the configured models, and the weights on this machine.", show)
    option("--json", action="store_true", help="Print one JSON document instead of a table.")
    option = command("reload", "Make all processes read models.toml again.", request_reload)
    option("--var", type=Path, help="Data folder of the running `make serve` (default: var).")
    return result


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status, 0 for success."""
    if arguments[:1] == ["check"]:  # it loads models: a process with the libraries for that
        return _run(CHECK, *arguments[1:])
    options = parser().parse_args(arguments)
    run: Callable[[argparse.Namespace, Settings], int] = options.run
    try:
        return run(options, settings_or_exit())
    except CommandError as error:
        _print_line(f"touchstone: {error}")
    except KeyboardInterrupt:
        _print_line("interrupted; the part that was downloaded is kept")
        return 130
    return 1


def add(options: argparse.Namespace, settings: Settings) -> int:
    """Add a model to models.toml and print the new entry. With `--replace`, replace the entry of
    the same name."""
    block, lines = addition(options, settings)
    sys.stdout.write(block)
    for line in lines:
        _print_line(f"  {line}")
    name = next(line for line in block.splitlines() if line.startswith("name")).partition('"')[2]
    try:
        was_there = options.replace and entries.replace(settings.models_file, block, name[:-1])
        if not options.replace:
            entries.append(settings.models_file, block)
    except OSError as error:
        raise CommandError(
            f"{settings.models_file} cannot be written ({error.strerror}); add the lines "
            "above to this file yourself"
        ) from None
    needed = "convert" if PICKLED in lines else "pull" if 'source = "hf:' in block else None
    steps = [f"touchstone models {needed} {name[:-1]}"] if needed else []
    steps += [f"touchstone models check {name[:-1]}", "touchstone models reload"]
    done = "replaced in" if was_there else "added to"
    _print_line(f"{done} {settings.models_file}; next: {', then '.join(steps)}")
    return 0


def pull_all(options: argparse.Namespace, settings: Settings) -> int:
    """Download the named models, or all with `--all`. Return 0 if all are complete."""
    catalogue = read_catalogue(settings.models_file)
    if not options.names and not options.all:
        raise CommandError("no model is given; add one or more names, or --all")
    selected = [_entry(catalogue, name) for name in options.names]
    if options.all:
        selected = [entry for entry in catalogue.entries if entry.scheme == "hf"]
    failed = 0
    for entry in selected:
        if entry.scheme != "hf":
            _print_line(f"{entry.name}: {entry.scheme}: nothing to fetch")
            continue
        try:
            _download_entry(entry, settings)
        except CommandError as error:
            _print_line(f"touchstone: {error}")
            failed += 1
    return 1 if failed else 0


def _download_entry(entry: ModelEntry, settings: Settings) -> None:
    sha256 = folder_sha256(download_model(entry, settings))
    if entry.sha256 not in (None, sha256):
        raise CommandError(
            f"{entry.name}: its weights have SHA-256 {sha256}, but its entry in models.toml "
            f"says {entry.sha256}; download them again, or correct the entry"
        )
    _print_line(f"{entry.name}: complete, sha256 {sha256}")
    if entry.sha256 is None and sha256 is not None:
        try:
            entries.set_key(settings.models_file, entry.name, "sha256", sha256)
        except (OSError, ValueError) as error:
            _print_line(
                f"{entry.name}: the entry could not be changed ({error}); write sha256 = "
                f'"{sha256}" in it'
            )


def convert(options: argparse.Namespace, settings: Settings) -> int:
    """Convert pickled weights to safetensors, in a sandboxed process."""
    entry = _entry(read_catalogue(settings.models_file), options.name)
    folder = _pickle_folder(entry, settings)
    target = settings.models_dir.absolute() / "converted" / entry.name
    if _run(CONVERSION, str(folder), str(target), entry.commit or "local") != 0:
        raise CommandError(
            f"{entry.name}: the weights could not be converted; the lines above say why"
        )
    try:
        entries.set_key(settings.models_file, entry.name, "source", f"path:{target}")
    except (OSError, ValueError) as error:
        raise CommandError(
            f"{entry.name}: the entry could not be changed ({error}); write source = "
            f'"path:{target}" in it'
        ) from None
    _print_line(f"{entry.name}: source is path:{target} now")
    return 0


def _pickle_folder(entry: ModelEntry, settings: Settings) -> Path:
    if entry.scheme == "hf":
        folder = download_model(entry, settings, pickles=True)
    elif entry.scheme == "path":
        folder = model_folder(read_catalogue(settings.models_file), entry)
    else:
        raise CommandError(
            f"{entry.name}: a model with the source {entry.scheme}: has no files on this "
            "machine, so there is nothing to convert"
        )
    if is_complete(folder):
        raise CommandError(
            f"{entry.name} already has safetensors files, so there is nothing to convert"
        )
    if not (folder / PICKLE).is_file():
        raise CommandError(f"{entry.name}: there is no {PICKLE} in {folder} to convert")
    return folder


def show(options: argparse.Namespace, settings: Settings) -> int:
    """Print one line per model."""
    catalogue = read_catalogue(settings.models_file)
    rows = [("name", "kind", "state", "on disk", "dtype", "revision", "languages")]
    language_cell = ",".join if options.json else partial(language_names, most=MOST_LANGUAGES)
    rows += [_row(catalogue, entry, language_cell) for entry in catalogue.entries]
    rows += [(fault.name, "-", f"failed: {fault.reason}", *"----") for fault in catalogue.faults]
    if options.json:
        documents = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
        sys.stdout.write(json.dumps(documents, ensure_ascii=False, indent=2) + "\n")
        return 0
    widths = [max(len(row[index]) for row in rows) for index in (0, 1, 3, 4, 5, 6)]
    for name, kind, state, *cells in rows:
        padded = zip((name, kind, *cells), widths, strict=True)
        sys.stdout.write("  ".join([*(cell.ljust(width) for cell, width in padded), state]) + "\n")
    return 0


def _row(
    catalogue: Catalogue, entry: ModelEntry, language_cell: Callable[[Sequence[str]], str]
) -> tuple[str, str, str, str, str, str, str]:
    state, size = _disk_state(catalogue, entry)
    revision = catalogue.revision(entry)[:12]
    try:
        languages = language_cell(catalogue.languages(entry) or ()) or "-"
        catalogue.mapping(entry)
    except ValueError as error:
        state, languages = f"failed: {error}", "-"
    return entry.name, entry.kind, state, size, _dtype(entry), revision, languages


def _dtype(entry: ModelEntry) -> str:
    """Return the configured dtype. For `fast`, also return the dtype that it selects on this
    machine's processor."""
    if entry.is_served:
        return "-"
    if entry.runtime != "torch":
        return f"{entry.dtype} ({entry.runtime})"
    if entry.dtype != "fast" or entry.device.startswith("cuda"):
        return entry.dtype
    return f"fast (cpu: {fast_arithmetic(entry.kind).dtype})"


def _disk_state(catalogue: Catalogue, entry: ModelEntry) -> tuple[str, str]:
    if entry.is_served:
        return "of a server", "-"
    if entry.scheme == "embedded":
        return "ships with Touchstone", "-"
    try:
        folder = weights_folder(catalogue, entry)
        demand_usable(folder)
        size = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    except LoadingError as error:
        return f"{error.state}: {error.detail}", "-"
    except (OSError, ValueError) as error:
        return f"failed: {error}", "-"
    return ("here" if size else "failed: there are no safetensors files"), f"{size / 1e6:.1f} MB"


def request_reload(options: argparse.Namespace, startup_settings: Settings) -> int:
    """Make all processes read models.toml again. Fails if the local file cannot be read."""
    faults = (
        read_catalogue(startup_settings.models_file).faults
        if startup_settings.models_file.is_file()
        else ()
    )
    folder: Path = options.var or Path("var")
    note = folder / "stack.json"
    local = json.loads(note.read_text("utf-8")) if note.is_file() and note.stat().st_size else None
    url = environment_value("TOUCHSTONE_URL") if options.var is None else None
    if url is not None and (local is None or _plain_url(url) != _plain_url(local["url"])):
        if environment_value("REDIS_URL") is None:
            raise CommandError(ELSEWHERE.format(url=url, folder=folder))
    elif local is not None:  # the service of this folder, not another one
        environment_default("REDIS_URL", local["redis_url"])
        settings.cache_clear()
    elif environment_value("REDIS_URL") is None:
        message = STARTING if is_acquired(folder) else NOWHERE
        raise CommandError(message.format(folder=folder))
    try:
        reload.request_reload()
    except RedisError as error:
        raise CommandError(
            f"Redis cannot be reached ({type(error).__name__}); start Redis, or correct REDIS_URL"
        ) from None
    _print_line("all processes will read models.toml again within seconds")
    for fault in faults:
        _print_line(f"{fault.name} stays out: {fault.reason}")
    return 0


def _plain_url(url: str) -> str:
    return url.rstrip("/").replace("//localhost", "//127.0.0.1")


def _entry(catalogue: Catalogue, name: str) -> ModelEntry:
    for entry in catalogue.entries:
        if entry.name == name:
            return entry
    faults = {fault.name: fault.reason for fault in catalogue.faults}
    if name in faults:
        raise CommandError(f"{name}: {faults[name]}")
    names = ", ".join(entry.name for entry in catalogue.entries) or "none"
    raise CommandError(f"there is no model {name!r}; choose one of: {names}")


def _run(module: str, *arguments: str) -> int:
    return subprocess.run([sys.executable, "-m", module, *arguments], check=False).returncode  # noqa: S603


def _print_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
