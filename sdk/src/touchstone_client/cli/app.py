"""The application that all commands belong to, and the types of their shared parameters. The
docstring of a command is its help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter, Token

from touchstone_client._sync.client import Touchstone
from touchstone_client.cli.output import Output
from touchstone_client.data.mapping import from_words
from touchstone_client.data.readers import Reading

HELP = """Score explanations with a Touchstone service.

TOUCHSTONE_URL is the address of the service (default http://127.0.0.1:8000). If the service
requires a key, set TOUCHSTONE_API_KEY to it, or TOUCHSTONE_API_KEY_FILE to a file that contains it.
`touchstone --version` prints the versions of client and service.

Data goes to stdout, messages to stderr. Exit codes: 0 done, 1 the service failed or cannot do this
now, 2 worse than the baseline (compare --fail-if), 3 some lines failed, 64 wrong command line,
input, id or setting, 130 Ctrl-C.

- touchstone score hatexscore --text 'A post.' --explanation 'Why.' --decision hateful
- touchstone submit posts.csv --metric hatexscore --map text=body --wait --output scores.parquet
- touchstone report batch_01a1fc...
- touchstone compare batch_01a1fc... batch_02b7de... --fail-if 'high < 0'
- touchstone plan batch_01a1fc... --effect 0.05
"""
app = App(
    name="touchstone",
    help=HELP,
    help_format="markdown",
    version_flags=(),
    default_parameter=Parameter(
        negative="", show_default=lambda value: str(value) if value else None
    ),
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)


def pairs(_: Any, tokens: Sequence[Token]) -> tuple[tuple[str, str], ...]:
    """Split words of the form NAME=VALUE. Raises ValueError."""
    split = [token.value.partition("=") for token in tokens]
    for name, equals, value in split:
        if not name or not equals:
            raise ValueError(f"{name + equals + value!r} does not have the form NAME=VALUE")
    return tuple((name, value) for name, _, value in split)


Client = Annotated[Touchstone, Parameter(parse=False)]
Out = Annotated[Output, Parameter(parse=False)]
Pairs = Annotated[
    tuple[tuple[str, str], ...], Parameter(converter=pairs, n_tokens=1, metavar="NAME=VALUE")
]
Text = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
Target = Annotated[str | None, Parameter(name="--output", metavar="FILE")]
Ids = Annotated[str, Parameter(required=True, help="Ids of jobs or batches.")]
Source = Annotated[
    str,
    Parameter(
        help="JSON Lines, CSV, TSV, Parquet, Arrow, or a folder that `datasets` saved. Addresses "
        "such as s3://, gs://, az:// and hf:// work, too."
    ),
]
Verdict = Literal["holds_up", "problem_found", "not_tested"]


@Parameter(name="*")
@dataclass(frozen=True)
class Columns:
    """The options that map the columns of a table to request fields."""

    metric: str | None = None
    """Metric of lines that do not name one, such as hatexscore."""
    map: Annotated[tuple[str, ...], Parameter(metavar="FIELD=COLUMN")] = ()
    """Column of a field, such as text=body. Repeatable. Without this option columns are guessed
    from their names. With it only the columns named here are sent."""
    value: Annotated[tuple[str, ...], Parameter(metavar="FIELD:VALUE=CELL")] = ()
    """Meaning of a cell: decision:hateful=1 reads a cell 1 as hateful. Repeatable."""
    field: Pairs = ()
    """Field with the same value in every line, such as seed=7. Repeatable."""
    keep: Annotated[tuple[str, ...], Parameter(metavar="COLUMN,…")] = ()
    """Column to store as metadata of each line. Repeatable."""
    delimiter: str | None = None
    """Delimiter of a CSV file (default: a comma; for .tsv files a tab)."""
    split: str | None = None
    """Split to read from a folder that contains several."""

    def mapping(self) -> dict[str, Any] | None:
        """Return the mapping, or None if columns are guessed. Raises ValueError."""
        return from_words(self.map, self.value, self.field, self.keep)

    def reading(self, refused: dict[int, str] | None = None) -> Reading:
        """Return how to read the table. Invalid lines are added to `refused` if it is not None."""
        return Reading(delimiter=self.delimiter, split=self.split, refused=refused)


GUESSED = Columns()
