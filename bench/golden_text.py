"""Extracts the parts of an answer that are compared, without ids, times and addresses. A page
becomes a list of tags."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

FOLDED: tuple[tuple[re.Pattern[str], str], ...] = (  # pattern → what stands for it
    (re.compile(r"\b(job|batch|file|we|batch_req)_[0-9a-f]{32}(_\d+)?"), r"\1_ID"),
    (re.compile(r"http://127\.0\.0\.1:\d+"), "http://service"),
    (re.compile(r"<time[^>]*>[^<]*</time>"), "<time>"),
    (re.compile(r'(name="csrf" value=")[^"]*'), r"\1"),
    (re.compile(r"(<code[^>]*>)[0-9a-f]{6}(?=</code>)"), r"\1"),  # the end of a job's id
    (re.compile(r"(/static/[^\"?]*\?v=)[0-9a-f]+"), r"\1"),
    (re.compile(r"(<dt>Took</dt>\s*<dd>)[^<]*"), r"\1"),
    (re.compile(r"(Parameters used</h3>\s*<pre[^>]*>).*?(?=</pre>)", re.DOTALL), r"\1"),
)
PICTURE = re.compile(r"<svg.*?</svg>|data:[\w/+.-]+;base64,[^\"']*", re.DOTALL)
SHORT = 400  # characters: a bar in a table is no picture
VOLATILE = frozenset(
    {"error_id", "created_at", "created", "since", "instance", "request_id", "timing"}
    | {"text_key"}
)
COUNTED = re.compile(r"<li>\d+: ")  # a reason with its lines; equal counts come in any order


def folded(text: str) -> str:
    """Return the text without parts that differ between runs."""
    for pattern, instead in FOLDED:
        text = pattern.sub(instead, text)
    return text


def settled(value: Any) -> Any:
    """Return the JSON without parts that differ between runs."""
    if isinstance(value, Mapping):
        return {folded(key): settled(inner) for key, inner in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [settled(inner) for inner in value]
    return folded(value) if isinstance(value, str) else value


def digest(text: str) -> str:
    """Return a short hash of a picture."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def page_lines(html: str) -> list[str]:
    """Return the tags of a page's body (of its `main`, if any) with their texts; white space is
    folded, pictures are digests."""
    start = max(html.find("<body"), html.find("<main"), 0)
    end = html.find("</main>", start)
    body = folded(html[start : end if end > 0 else None])
    drawn = PICTURE.sub(lambda found: found[0] if len(found[0]) < SHORT else digest(found[0]), body)
    tags = re.split(r"(?=<)", re.sub(r"\s+", " ", drawn))
    return in_order([tag.strip() for tag in tags if tag.strip()])


def in_order(lines: list[str]) -> list[str]:
    places = [place for place, line in enumerate(lines) if COUNTED.match(line)]
    reasons = sorted(lines[place] for place in places)
    for place, reason in zip(places, reasons, strict=True):
        lines[place] = reason
    return lines


def table_rows(text: str) -> list[list[str | float]]:
    """Return the cells of a CSV file. Cells that Python can parse as numbers become numbers."""
    return [[_cell(cell) for cell in row] for row in csv.reader(io.StringIO(folded(text)))]


def _cell(cell: str) -> str | float:
    try:
        number = float(cell)
    except ValueError:
        return cell
    return number if repr(number) == cell else cell


def pictures_digested(report: Json) -> Json:
    """Return a batch report with digests for its plots."""
    return report | {
        "plots": [
            plot | {"svg": digest(plot["svg"]), "png_base64": digest(plot["png_base64"])}
            for plot in report.get("plots", ())
        ]
    }


SCHEMAS = "#/components/schemas/"


def resolved(node: Any, schemas: Mapping[str, Any], inside: tuple[str, ...] = ()) -> Any:
    """Return a part of an OpenAPI document with schemas in place of their names.

    Names of classes are dropped. A recursive schema is replaced by the number of levels up to its
    start. References to other components (headers, responses) stay: these are written out once.
    """
    if isinstance(node, list):
        return [resolved(inner, schemas, inside) for inner in node]
    if not isinstance(node, Mapping):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str) and reference.startswith(SCHEMAS):
        name = reference.rpartition("/")[2]
        if name in inside:
            return {"recursive": len(inside) - inside.index(name)}
        named = {key: inner for key, inner in schemas[name].items() if key != "title"}
        return resolved(named, schemas, (*inside, name))
    if isinstance(mapping := node.get("mapping"), Mapping) and "propertyName" in node:
        return {**node, "mapping": sorted(mapping)}
    return {key: resolved(inner, schemas, inside) for key, inner in node.items()}
