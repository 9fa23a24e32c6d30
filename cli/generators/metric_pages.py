"""What a metric's page of the guide has from the code: fields, parts, an answer, words of its card.

Each page of `docs/guide/metrics/` is written by hand down to a mark; what stands behind it is made
of the metric's card (`services/<metric>/README.md`), its contract, the plain names of its parts and
the recorded example. `cli.generators.reference` writes and checks it with the other pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cli.generators.api_reference import DESCRIPTION, ROOT
from services.gateway.pages.terms import terms
from services.registry import metrics

FOLDER = ROOT / "docs" / "guide" / "metrics"
BEGIN = (
    "<!-- from here on written by `make reference` from the card, the contract and an example -->\n"
)
# to files that are not in the guide
LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\((?!https?:)[^()]*\)")
KEPT = ("score", "range", "direction", "verdict", "reason", "components", "warnings")
LONGEST = 6  # entries of a list or object of an answer that are shown
# of a card: the page's heading → what the card's paragraph or section is called
CARD = {
    "What is undefined": r"\*\*Undefined\.\*\*",
    "What it costs": r"\*\*Cost\.\*\*|## Cost",
    "Languages": r"## Languages",
    "Where it departs from the paper": r"## The (?:three )?variants",
    "Limits": r"## Limits",
    "Reference": r"\*\*Source\.\*\*",
}


def metric_pages() -> dict[Path, str]:
    """file → what it should hold. Raises ValueError where a page lacks its mark."""
    return {FOLDER / f"{name}.md": page(name) for name in sorted(metrics())}


def page(name: str) -> str:
    """The page of this metric: what is there by hand, and what is written."""
    file = FOLDER / f"{name}.md"
    by_hand, mark, _ = file.read_text("utf-8").partition(BEGIN)
    if not mark:
        raise ValueError(f"{file} has no line {BEGIN.strip()}")
    return by_hand + mark + "\n" + "\n".join(sections(name))


def sections(name: str) -> Iterator[str]:
    """All that the code knows, a section at a time."""
    yield "## A request and its answer\n\n" + "".join(_example(name))
    yield "## The fields of a request\n\n" + "".join(_fields(name))
    yield "## The parts of a result\n\n" + "".join(_parts(name))
    card = (ROOT / "services" / name / "README.md").read_text("utf-8")
    for heading, mark in CARD.items():
        words = find_section(card, mark)
        if words:
            yield f"## {heading}\n\n{words}\n"


def find_section(card: str, mark: str) -> str:
    """The paragraph or section of a card that begins so; links within the repository as text."""
    found = re.search(rf"(?m)(?:^|(?<=\. )|(?<=\.\*\* ))(?:{mark})", card)
    if found is None:
        return ""
    ends = r"\n## |\Z" if found[0].startswith("##") else r"\n\n|\Z"
    rest = card[found.end() :]
    words = rest[: re.search(ends, rest).start()]  # type: ignore[union-attr]  # \Z is always found
    return LINK.sub(r"\1", re.sub(r"(?m)^#{2,4} (.+)$", r"**\1**", words)).strip()


def _example(name: str) -> Iterator[str]:
    """The metric's first example, and the answer to it that docs/openapi.json holds."""
    description = json.loads(DESCRIPTION.read_text("utf-8"))
    responses = description["paths"][f"/v1/scores/{name}"]["post"]["responses"]
    result = responses["200"]["content"]["application/json"]["example"]["result"]
    request = next(iter(metrics()[name].examples.values()))
    yield f"`POST /v1/scores/{name}`, recorded with the models that ship with the service:\n\n"
    yield f"```json\n{_indent_json(request)}\n```\n\n"
    answer = {key: truncate(result[key]) for key in KEPT}
    yield "The `result` of the job, its first entries, numbers rounded:\n\n"
    yield f"```json\n{_indent_json(answer)}\n```\n"


def _indent_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def truncate(value: Any) -> Any:
    """The first entries of everything, numbers to three digits."""
    if isinstance(value, float):
        return float(f"{value:.3g}")
    if isinstance(value, dict):
        return {key: truncate(one) for key, one in list(value.items())[: 2 * LONGEST]}
    if isinstance(value, list):
        return [truncate(one) for one in value[:2]]
    return value


def _fields(name: str) -> Iterator[str]:
    """A row a field, what is required first."""
    schema = metrics()[name].request.model_json_schema(mode="validation")
    required = schema.get("required", [])
    yield "| field | type | default | meaning |\n|---|---|---|---|\n"
    for field in sorted(schema["properties"], key=lambda field: field not in required):
        said = schema["properties"][field]
        default = "**required**" if field in required else _code(said.get("default"))
        cells = (f"`{field}`", kind_of(said), default, said.get("description", ""))
        yield "| " + " | ".join(_cell(cell) for cell in cells) + " |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _code(value: Any) -> str:
    return "none" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def kind_of(schema: dict[str, Any]) -> str:
    """A type in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    for union in ("anyOf", "oneOf", "allOf"):
        if union in schema:
            arms = (kind_of(arm) for arm in schema[union] if arm.get("type") != "null")
            return " or ".join(dict.fromkeys(arms))
    if "enum" in schema:
        return " or ".join(_code(word) for word in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    bounds = [
        f"{sign} {schema[key]}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"))
        if key in schema
    ]
    words = {"integer": "whole number", "string": "text", "boolean": "yes or no"}
    kind = str(schema.get("type", "anything"))
    return f"{words.get(kind, kind)} {', '.join(bounds)}".strip()


def _parts(name: str) -> Iterator[str]:
    """Plain name, meaning, range, direction and chance of each."""
    yield "| part | plain name | what moves it | range, direction, chance |\n|---|---|---|---|\n"
    for term in terms().of(name).values():
        cells = (f"`{term.symbol}`", term.name, term.says, " ".join(term.details))
        yield "| " + " | ".join(_cell(cell) for cell in cells) + " |\n"


def coop_cards() -> str:
    """The model cards of examples/integrations/coop, as JSON."""
    cards = {name: _coop_card(name) for name in sorted(metrics())}
    return json.dumps(cards, ensure_ascii=False, indent=1) + "\n"


def _coop_card(name: str) -> dict[str, str]:
    card = (ROOT / "services" / name / "README.md").read_text("utf-8")
    by_hand = (FOLDER / f"{name}.md").read_text("utf-8")
    title = by_hand.removeprefix("# ").partition("\n")[0]
    schema = metrics()[name].request.model_json_schema(mode="validation")
    needs = ", ".join(schema.get("required", []))
    needed = re.search(r"\*\*Needs\.\*\* (.+)", by_hand)
    return {
        "name": title,
        "question": metrics()[name].summary,
        "purpose": find_section(card, r"\*\*Claim\.\*\*"),
        "input": f"Fields of the item, as the request names them: {needs}.",
        "output": "A score, higher is better; no signal where it is undefined.",
        "limitations": find_section(card, "## Limits"),
        "requirements": LINK.sub(r"\1", needed[1]) if needed else "",
        "practices": "Send what scores low to a person; decide nothing by one score. "
        "Look at the distribution of your own model's scores before you choose a threshold.",
        "reference": find_section(card, r"\*\*Source\.\*\*"),
    }
