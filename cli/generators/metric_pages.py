"""Writes the generated parts of each metric's page in the guide: an example, and a table of the
result's fields. The rest of these pages (`docs/guide/metrics/`) is written by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cli.generators.api_reference import ROOT
from services.gateway.pages.terms import terms
from services.registry import metrics

FOLDER = ROOT / "docs" / "guide" / "metrics"
ANSWERS = ROOT / "docs" / "answers.json"
WRITTEN = re.compile(
    r"(<!-- (example|parts): written by `make reference` -->\n)"
    r".*?(<!-- end of generated part -->\n)",
    re.DOTALL,
)
LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\((?!https?:)[^()]*\)")
SHOWN = ("score", "verdict", "reason", "components")
LONGEST = 10  # entries of an object in an answer
WIDTH = 96  # characters of a line of JSON
CUT = "…"


def metric_pages() -> dict[Path, str]:
    """Return the up-to-date text of each page by its path. Raises ValueError if a page has no place
    for the generated parts."""
    return {FOLDER / f"{name}.md": page(name) for name in sorted(metrics())}


def page(name: str) -> str:
    """Return the metric's page with its generated parts up to date."""
    file = FOLDER / f"{name}.md"
    parts = {"example": _example, "parts": _parts}
    text, count = WRITTEN.subn(
        lambda match: f"{match[1]}\n{''.join(parts[match[2]](name))}\n{match[3]}",
        file.read_text("utf-8"),
    )
    if count != len(parts):
        raise ValueError(
            f"{file} must have one block for each of {' and '.join(parts)}, but has {count} blocks"
        )
    return text


def _example(name: str) -> Iterator[str]:
    """Yield the metric's first example and its recorded response."""
    result = json.loads(ANSWERS.read_text("utf-8"))[f"score_{name}"]["result"]
    request = _format_json(next(iter(metrics()[name].examples.values())))
    answer = {key: _shorten(result[key]) for key in SHOWN} | {CUT: CUT}
    yield f"""\
```sh {{.tested}}
curl -s http://127.0.0.1:8000/v1/scores/{name} \\
  -H 'Content-Type: application/json' -H 'Prefer: wait=30' -d @- <<'END'
{request}
END
```

The answer, shortened and rounded:

```json {{.tested}}
{_format_json({"status": "succeeded", "result": answer, CUT: CUT})}
```
"""


def _shorten(value: Any, depth: int = 0) -> Any:
    """Return an object in shortened form: its first entries, rounded, without long or nested
    values."""
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        entries = {key: entry for key, entry in value.items() if _is_short(entry, depth)}
        first = dict(list(entries.items())[:LONGEST])
        shortened = {key: _shorten(entry, depth + 1) for key, entry in first.items()}
        return shortened if len(first) == len(value) else shortened | {CUT: CUT}
    if isinstance(value, list):
        return [_shorten(entry, depth + 1) for entry in value]
    return value


def _is_short(value: Any, depth: int) -> bool:
    if isinstance(value, list):
        return depth == 0 and 0 < len(value) <= 2
    return not isinstance(value, dict)


def _format_json(value: Any, indent: int = 0) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or indent + len(text) <= WIDTH:
        return text
    pad = "  " * (indent // 2 + 1)
    if isinstance(value, dict):
        entries = [
            f"{pad}{json.dumps(key, ensure_ascii=False)}: {_format_json(entry, indent + 2)}"
            for key, entry in value.items()
        ]
        return "{\n" + ",\n".join(entries) + f"\n{pad[2:]}}}"
    entries = [f"{pad}{_format_json(entry, indent + 2)}" for entry in value]
    return "[\n" + ",\n".join(entries) + f"\n{pad[2:]}]"


def _parts(name: str) -> Iterator[str]:
    """Yield a table of the parts of a result: name, meaning, range and direction."""
    yield "| part | plain name | meaning | range, direction, chance |\n|---|---|---|---|\n"
    for term in terms().of(name).values():
        cells = (f"`{term.symbol}`", term.name, term.says, " ".join(term.details))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def coop_cards() -> str:
    """Return the model cards of examples/integrations/coop, as JSON."""
    cards = {name: _coop_card(name) for name in sorted(metrics())}
    return json.dumps(cards, ensure_ascii=False, indent=1) + "\n"


def _coop_card(name: str) -> dict[str, str]:
    text = (FOLDER / f"{name}.md").read_text("utf-8")
    title, _, rest = text.removeprefix("# ").partition("\n")
    schema = metrics()[name].request.model_json_schema(mode="validation")
    required = ", ".join(schema.get("required", []))
    return {
        "name": title,
        "question": metrics()[name].summary,
        "purpose": LINK.sub(r"\1", rest.strip().partition("\n\n")[0]),
        "input": f"Fields of the item, as the request names them: {required}.",
        "output": "A score, higher is better; no signal where it is undefined.",
        "limitations": _section(text, "Limits"),
        "requirements": _section(text, "Inputs"),
        "practices": "Send what scores low to a person; decide nothing by one score. "
        "Look at the distribution of your own model's scores before you choose a threshold.",
        "reference": _section(text, "Source"),
    }


def _section(text: str, heading: str) -> str:
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return LINK.sub(r"\1", section).strip()
