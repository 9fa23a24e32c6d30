"""Runs the command line: `python -m touchstone_client.cli`."""

from touchstone_client.cli.main import run

run()
