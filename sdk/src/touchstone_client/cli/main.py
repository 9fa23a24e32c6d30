"""The command `touchstone`. It runs a subcommand and returns an exit code."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, CycloptsError, Parameter, UnknownOptionError
from pydantic import ValidationError

from touchstone_client._http import CLIENT_VERSION, Access, Http, Request
from touchstone_client._languages import language_names
from touchstone_client._sync.client import HERE, Touchstone
from touchstone_client.cli import (  # noqa: F401 - these modules add their commands to `app`
    doctor,
    endpoints,
    local,
    mcp_server,
    objects,
    reports,
    scoring,
)
from touchstone_client.cli.app import app
from touchstone_client.cli.output import (
    DONE,
    INTERRUPTED,
    REFUSED,
    WRONG,
    Output,
    WrongUse,
    exit_code,
)
from touchstone_client.errors import ConnectionFailed, TouchstoneError

LIST = ("list", "--json")
USAGE = 2  # the exit code of argparse
PATIENT = ("score", "submit", "watch")
PATIENCE_SECONDS = 60.0  # of retries while the service does not respond
OF_THE_SERVICE = {  # command -> help; the service's own code parses its options
    "models": "List models; add, download, convert, check or reload your own.",
    "keys": "Create, list and revoke API keys, on the service's own machine.",
    "bench": "Print the tables of a paper: models side by side on several data sets.",
}
for name, says in OF_THE_SERVICE.items():
    app.command(App(name=name, help=says))
Words = Annotated[str, Parameter(show=False, allow_leading_hyphen=True)]
VERSION_SECONDS = 2.0
OTHER_ADDRESS = "If the service has another address, set TOUCHSTONE_URL to it."
MOST_LANGUAGES = 3  # of a model, in a row of the list


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code, as `--help` lists them. A closed pipe is not
    an error.
    """
    words = sys.argv[1:] if arguments is None else arguments
    try:
        if words[:1] and words[0] in OF_THE_SERVICE:
            return _of_the_service(words[0], words[1:])
        return app.meta(words, exit_on_error=False, print_error=False) or DONE
    except CycloptsError as error:
        return _fail(_usage(error), WRONG)
    except BrokenPipeError:
        _forget_stdout()
        return DONE
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except WrongUse as error:
        return _fail(str(error), WRONG)
    except ValidationError as error:
        detail = (
            f"{error.error_count()} fields of {error.title} are not in the form that this client "
            "version expects; install the client of the service's version"
        )
        return _fail(f"the service's answer cannot be read: {detail}", REFUSED)
    except (ValueError, OSError) as error:
        return _fail(_words(error), WRONG)
    except ConnectionFailed as error:
        return _fail(f"{error}. {OTHER_ADDRESS}", REFUSED)
    except TouchstoneError as error:
        return _fail(str(error), exit_code(error))


def run() -> None:
    """Run the command line. After the first Ctrl-C, a second one ends the process at once."""
    code = main()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
    raise SystemExit(code)


@app.meta.default
def launch(
    *words: Words,
    url: str | None = None,
    json: bool = False,
    version: Annotated[bool, Parameter(show=False)] = False,
) -> int:
    """Run the command that the words name. Return its exit code.

    Args:
        url: Address of the service, instead of TOUCHSTONE_URL.
        json: Print one JSON document instead of tables.
    """
    if version:
        return _version(url)
    command, bound, shared = app.parse_args(words, exit_on_error=False, print_error=False)
    if command == app.help_print:
        names = " ".join(["touchstone", *words])
        raise WrongUse(f"no command is given; `{names} --help` lists the commands")
    values: dict[str, Any] = {"output": Output(json)}
    with ExitStack() as stack:
        if "ts" in shared:
            patience = PATIENCE_SECONDS if command.__name__ in PATIENT else 0.0
            client = Touchstone(url, api_key(), patience=patience)
            values["ts"] = stack.enter_context(client)
        code = command(*bound.args, **bound.kwargs, **{name: values[name] for name in shared})
    return code or DONE


def api_key() -> str | None:
    """Return the API key from the file that TOUCHSTONE_API_KEY_FILE names, or None if it is not
    set. Raises OSError."""
    file = os.environ.get("TOUCHSTONE_API_KEY_FILE")
    return Path(file).read_text("utf-8").strip() if file else None


def _of_the_service(name: str, arguments: list[str]) -> int:
    """Run a command from the service's package and return its exit status. If the package is not
    installed, the command `models` gets its list from the running service, and others raise
    WrongUse."""
    command = local.service_command(name)
    asks_service = name == "models" and all(word in LIST for word in arguments)
    if asks_service and (command is None or arguments[:1] != ["list"]):
        return _models("--json" in arguments)
    if command is None:
        raise WrongUse(local.ELSEWHERE.format(name=" ".join([name, *arguments[:1]])))
    try:
        code: Any = command(arguments)
    except SystemExit as ended:
        code = ended.code
    return WRONG if code == USAGE else int(code or DONE)


def _models(is_json: bool) -> int:
    output = Output(is_json)
    with Touchstone(None, api_key(), patience=0.0) as ts:
        models = list(ts.models.list())
    rows = [
        (
            model.name,
            model.kind,
            model.state or "not loaded",
            model.revision[:12],
            _languages(model.languages),
        )
        for model in models
    ]
    output.table(("model", "kind", "state", "revision", "languages"), rows)
    output.document(models)
    return DONE


def _languages(tags: Sequence[str] | None) -> str:
    return language_names(tags or (), MOST_LANGUAGES)


def _version(url: str | None) -> int:
    """Print the version of the client, and that of the service if it responds in time. Return an
    exit code."""
    sys.stdout.write(f"client {CLIENT_VERSION}\n")
    address = (url or os.environ.get("TOUCHSTONE_URL") or HERE).rstrip("/")
    http = Http(Access(address))
    try:
        answer = http.send(Request("GET", "/v1/models", seconds=VERSION_SECONDS))
    except ConnectionFailed as error:
        sys.stderr.write(f"{error}. {OTHER_ADDRESS}\n")
        return DONE
    finally:
        http.close()
    sys.stdout.write(f"service {answer.headers.get('x-touchstone-version', 'unknown')}\n")
    return DONE


def _usage(error: CycloptsError) -> str:
    """Return the fault of the command line, and the command that prints its help."""
    if isinstance(error, UnknownOptionError):  # suggest the options of all commands, too
        error.argument_collection.extend(app.meta.assemble_argument_collection())
    command = " ".join(["touchstone", *(error.command_chain or ())])
    return f"{error} `{command} --help` shows how to use it."


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"touchstone: {message}\n")
    return code


def _forget_stdout() -> None:
    """Redirect stdout to nowhere, so that the interpreter does not flush it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
