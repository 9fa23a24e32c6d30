"""The commands to run the service on one machine. `python -m cli.stack serve` keeps running.
`python -m cli.stack demo` scores examples and stops."""

from __future__ import annotations

import signal

if __name__ == "__main__":  # Ctrl-C while the rest is imported: nothing runs that must be ended
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import argparse
import os
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from cli.stack import demo
from cli.stack.folder import NotReady, close, restrict_access
from cli.stack.model_watch import ModelWatch
from cli.stack.processes import Say, ServiceNames
from cli.stack.stack import Stack, running
from cli.stack.startup import Reporter, progress_reporter
from services.registry import contracts, process_settings
from shared.process import telemetry
from shared.process.settings import Settings, settings

EXAMPLES = Path("examples/posts.jsonl")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
STDOUT, STDERR = 1, 2
WEBHOOK_HINT = (
    "to send webhooks to a receiver on this machine, start with "
    "TOUCHSTONE_WEBHOOK_ALLOW=127.0.0.1/32"
)
_came: list[int] = []  # signals, of which the first one ends us
PIPED_WIDTH = 132  # columns, where nobody's terminal says


class RobustConsole(Console):
    """A console that becomes silent, without stopping the service, when its output can no longer be
    written."""

    def on_broken_pipe(self) -> None:
        """Discard all further output. If the log goes to the same pipe, discard it, too."""
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if os.path.sameopenfile(STDOUT, STDERR):
            os.dup2(nowhere, STDERR)
        os.dup2(nowhere, STDOUT)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m cli.stack",
        description="Run Touchstone on one machine. If REDIS_URL and DATABASE_URL are set, it uses "
        "them. Otherwise it starts its own Redis and PostgreSQL, with their data in --var.",
    )
    parser.add_argument(
        "command",
        choices=("serve", "demo"),
        help="serve: run until Ctrl-C; demo: score some examples, then stop",
    )
    parser.add_argument(
        "--var", type=Path, default=Path("var"), help="folder for data and logs (default: var)"
    )
    parser.add_argument("--port", type=int, help="port of the gateway; 0: any free port")
    parser.add_argument(
        "--separate", action="store_true", help="start one worker for each service, as in a cluster"
    )
    parser.add_argument(
        "--services",
        nargs="+",
        choices=list(contracts()),
        default=[],
        metavar="SERVICE",
        help="serve only these metrics",
    )
    parser.add_argument(
        "--models", type=Path, help="models.toml file to use (default: the one of this repository)"
    )
    parser.add_argument(
        "--wait-models",
        action="store_true",
        help="wait until all models are loaded before reporting that the service listens",
    )
    parser.add_argument(
        "--examples", type=Path, default=EXAMPLES, help="JSON Lines file with examples for the demo"
    )
    options = parser.parse_args(arguments)
    if options.command == "demo" and options.services and demo.METRIC not in options.services:
        parser.error(f"the demo's examples are scored by {demo.METRIC}: add it to --services")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status, 0 for success."""
    options = parse(arguments)
    for name in SIGNALS:
        signal.signal(name, _handle_signal)
    overrides: dict[str, Any] = {}
    if options.port is not None or options.command == "demo":
        overrides["port"] = options.port or 0  # a demo is never in the way of a running service
    if options.models is not None:
        overrides["models_file"] = options.models.absolute()
    settings = process_settings().model_copy(update=overrides)
    telemetry.configure_logging("warning", "console")
    restrict_access()
    console = RobustConsole() if options.command == "serve" else Console()
    if not console.is_terminal:
        console.width = max(console.width, PIPED_WIDTH)
    try:
        _run(options, settings, console)
    except SystemExit:
        if options.command != "serve":
            raise  # a demo that was interrupted showed nothing
        console.print("stopped")
    except (NotReady, demo.DemoFailed) as error:
        console.print(Text(str(error), style="bold red"), soft_wrap=True)
        return error.status if isinstance(error, NotReady) else 1
    return 0


def _run(options: argparse.Namespace, settings: Settings, console: Console) -> None:
    folder = options.var / "demo" if options.command == "demo" else options.var
    with ExitStack() as stack:
        served = ServiceNames(tuple(options.services), options.separate)
        with progress_reporter(console, over=lambda: bool(_came)) as say:
            begun = running(folder, settings, served, _check_signal(say), Reporter(console))
            started = stack.enter_context(begun)
            close(options.var)  # of the demo, the folder above its own
        if not _came:
            _use(options, started, console)


def _check_signal(say: Say) -> Say:
    """Return a wrapper of `say` that first exits if a signal arrived. The signal's own exception
    may have been lost."""

    def check_and_say(*waited_for: str) -> None:
        if _came:
            raise SystemExit(128 + _came[0])
        say(*waited_for)

    return check_and_say


def _use(options: argparse.Namespace, stack: Stack, console: Console) -> None:
    models = ModelWatch(stack.supervisor.children, console)
    if options.wait_models:
        models.wait()
    console.print(f"Touchstone listens on [bold]{stack.url}[/bold], API page {stack.url}/docs")
    if options.command == "demo":
        demo.run(stack, options.examples, console)
        return
    if not settings().webhook_allow:
        console.print(WEBHOOK_HINT)
    console.print(f"logs in {stack.folder / 'logs'}; Ctrl-C stops")
    models.watch(until=lambda: bool(_came))


def _handle_signal(number: int, _frame: object) -> None:
    """Exit on the first signal. A second signal must not interrupt the shutdown."""
    with suppress(OSError):  # whoever read it has gone; no buffer may be in use here
        os.write(STDERR, b"\nstopping; processes end their work first\n")
    for name in SIGNALS:
        signal.signal(name, signal.SIG_IGN)
    _came.append(number)  # an exception in a finalizer is lost: whoever waits looks here
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
