"""`python sdk/generate.py`: writes the generated files of the client.

`models.py` and `_requests.py` are generated from docs/openapi.json by datamodel-code-generator.
`_terms.py` comes from the plain names on the pages and in the guide. `_languages.py` comes from
the service's names of languages, and `data/_columns.py` from its guesses of columns. `_sync/`
is `_async/` without `async` and `await`, so that no logic is written twice. A test generates
all files again and compares them."""

from __future__ import annotations

import io
import json
import re
import sys
import tokenize
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tomllib

ROOT = Path(__file__).parent
PACKAGE = ROOT / "src" / "touchstone_client"
MODELS = PACKAGE / "models.py"
REQUESTS = PACKAGE / "_requests.py"
TERMS = PACKAGE / "_terms.py"
LANGUAGES = PACKAGE / "_languages.py"
DESCRIPTION = ROOT.parent / "docs" / "openapi.json"
PLAIN_NAMES = ROOT.parent / "services" / "gateway" / "pages" / "terms.toml"
COLUMNS = PACKAGE / "data" / "_columns.py"
COLUMN_NAMES = ROOT.parent / "shared" / "contracts" / "column_names.py"
LANGUAGE_NAMES = ROOT.parent / "shared" / "contracts" / "language_names.py"
WORDS_OF_STATISTICS = "words"  # no metric has them as parts
HEADING = "# Made by sdk/generate.py from {source}; do not edit.\n"
MODELS_HEADING = (
    '"""The messages of the API, as docs/openapi.json describes them."""\n\n'
    + HEADING.format(source="docs/openapi.json")
)
REQUESTS_HEADING = (
    '"""The fields of requests, for type checkers: keyword arguments of the methods."""\n\n'
    + HEADING.format(source="docs/openapi.json")
)
REQUEST = re.compile(r"(?!.*Bulk).+Request|EndpointChange")
# The service checks requests, and says where they are wrong: a limit that is repeated here would
# refuse what a later service allows.
LIMITS = frozenset({
    "maxLength", "minLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "minItems", "maxItems", "uniqueItems", "maxProperties", "minProperties",
    "multipleOf", "propertyNames", "format",
})  # fmt: skip
NO_TYPES = frozenset({"example", "examples", "contentMediaType", "contentSchema"})
NAMED = frozenset({"properties", "schemas", "mapping"})
VALUES = frozenset({"const", "default", "enum"})
BASE = "touchstone_client._base"
KINDS = (  # the last word of a component's name -> its base
    (re.compile(r"MetricResult"), "Result"),
    (re.compile(r"ExplanationsResult"), "Answered"),
    (re.compile(r"BatchReport"), "Report"),
    (re.compile(r"SystemComparison"), "Shown"),
    (re.compile(r"Job(Summary)?"), "JobMessage"),
)
WORDS = {
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "aclosing": "closing",
    "asynccontextmanager": "contextmanager",
    "AsyncIterator": "Iterator",
    "_async": "_sync",
}
ASYNC_NAME = re.compile(r"Async(?=[A-Z])")


def main() -> None:
    """Write all generated files of the SDK."""
    MODELS.write_text(models(), "utf-8")
    REQUESTS.write_text(requests(), "utf-8")
    TERMS.write_text(terms(), "utf-8")
    LANGUAGES.write_text(languages(), "utf-8")
    COLUMNS.write_text(columns(), "utf-8")
    for name, text in synchronous().items():
        (PACKAGE / "_sync" / name).write_text(text, "utf-8")


def models() -> str:
    """Return the content of models.py."""
    schemas = described()
    return generated(
        schemas,
        output_model_type="pydantic_v2.BaseModel",
        base_class=f"{BASE}.Message",
        base_class_map=bases(schemas),
        use_annotated=True,
        strict_nullable=True,
        use_one_literal_as_default=True,
        custom_file_header=MODELS_HEADING,
    )


def requests() -> str:
    """Return the content of _requests.py: dictionaries in which every field may be left out."""
    schemas = described()
    names = [name for name in schemas if REQUEST.fullmatch(name)]
    for name in names:
        schemas[name].pop("required", None)
    wanted = {name: schemas[name] for name in with_references(names, schemas)}
    for schema in wanted.values():
        if schema.get("additionalProperties") is False:
            del schema["additionalProperties"]
    return generated(
        wanted, output_model_type="typing.TypedDict", custom_file_header=REQUESTS_HEADING
    )


def with_references(names: list[str], schemas: dict[str, Any]) -> list[str]:
    """Return these schemas and all schemas that they refer to."""
    known = list(names)
    for name in known:  # which grows
        for other in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(schemas[name])):
            if other not in known:
                known.append(other)
    return known


def described() -> dict[str, Any]:
    """Return the schemas of the API's OpenAPI description, without limits, examples and titles."""
    return simplified(json.loads(DESCRIPTION.read_text("utf-8"))["components"]["schemas"], True)


def generated(schemas: dict[str, Any], *, output_model_type: str, **options: Any) -> str:
    """Return Python types of these schemas. Needs datamodel-code-generator."""
    from datamodel_code_generator import DataModelType, InputFileType, LiteralType, generate
    from datamodel_code_generator.format import Formatter, PythonVersion

    title = {"title": "Touchstone", "version": "1"}
    parts: dict[str, Any] = {"paths": {}, "components": {"schemas": schemas}}
    whole = {"openapi": "3.1.0", "info": title, **parts}
    with TemporaryDirectory() as folder:
        target = Path(folder) / "models.py"
        generate(
            json.dumps(whole),
            input_filename=DESCRIPTION.name,
            input_file_type=InputFileType.OpenAPI,
            output=target,
            output_model_type=DataModelType(output_model_type),
            target_python_version=PythonVersion.PY_310,
            use_union_operator=True,
            use_standard_collections=True,
            enum_field_as_literal=LiteralType.All,
            use_type_alias=True,
            disable_timestamp=True,
            use_title_as_name=True,
            formatters=[Formatter.BUILTIN],
            **options,
        )
        return target.read_text("utf-8")


def terms() -> str:
    """Return the content of _terms.py."""
    heading = HEADING.format(source="services/gateway/pages/terms.toml")
    groups = tomllib.loads(PLAIN_NAMES.read_text("utf-8"))
    lines = [f'"""The names of the parts of a result."""\n\n{heading}']
    lines.append("NAMES: dict[str, dict[str, str]] = {  # metric -> part -> its name")
    for metric, parts in groups.items():
        if metric != WORDS_OF_STATISTICS:
            named = (f'        "{part}": "{term["name"]}",' for part, term in parts.items())
            lines += [f'    "{metric}": {{', *named, "    },"]
    return "\n".join([*lines, "}", ""])


def languages() -> str:
    """Return the content of _languages.py: the service's file, without notes for its authors."""
    _, names = LANGUAGE_NAMES.read_text("utf-8").split("from __future__ import annotations\n")
    heading = HEADING.format(source="shared/contracts/language_names.py")
    said = '"""The names of languages: tables use `Korean (ko)`, messages use the code."""'
    return f"{said}\n\n{heading}\nfrom __future__ import annotations\n{names}"


def columns() -> str:
    """Return the content of data/_columns.py, a copy of the rules by which the service guesses the
    field of a column."""
    heading = HEADING.format(source="shared/contracts/column_names.py")
    docstring, code = COLUMN_NAMES.read_text("utf-8").split("from __future__", 1)
    return f"{docstring}{heading}\nfrom __future__{code}"


def simplified(node: Any, named: bool = False) -> Any:
    """Return the schema without limits, examples and titles. `named` is True if the keys of
    `node` are field names."""
    if isinstance(node, list):
        return [simplified(one) for one in node]
    if not isinstance(node, dict):
        return node
    if named:
        return {name: simplified(one) for name, one in node.items()}
    return {
        name: value if name in VALUES else simplified(value, name in NAMED)
        for name, value in node.items()
        if name not in LIMITS | NO_TYPES and not (name == "default" and isinstance(value, dict))
    }


def bases(schemas: dict[str, Any]) -> dict[str, str]:
    """Map each component with a special base class to the name of that base."""
    return {
        name: f"{BASE}.{base}"
        for name, schema in schemas.items()
        for pattern, base in KINDS
        if pattern.fullmatch(name) and "properties" in schema
    }


def synchronous() -> dict[str, str]:
    """Return the content of each file of `_sync` by its name, generated from `_async`."""
    return {
        path.name: without_async(path.read_text("utf-8"), path.name)
        for path in sorted((PACKAGE / "_async").glob("*.py"))
    }


def without_async(source: str, name: str) -> str:
    """Return the blocking version of async code."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines = source.splitlines(keepends=True)
    made, row, column = [], 1, 0
    skip = False
    for token in tokens:
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        made.append(_between(lines, (row, column), token.start) if not skip else "")
        skip = token.type == tokenize.NAME and token.string in ("async", "await")
        made.append("" if skip else _word(token))
        row, column = token.end
    text = "".join(made)
    return HEADING.format(source=f"_async/{name}") + text if text else text


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    gap = [lines[start[0] - 1][start[1] :] if start[0] <= len(lines) else ""]
    gap += lines[start[0] : end[0] - 1]
    gap.append(lines[end[0] - 1][: end[1]])
    return "".join(gap)


def _word(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return ASYNC_NAME.sub("", WORDS.get(token.string, token.string))
    if token.type == tokenize.STRING:
        return ASYNC_NAME.sub("", token.string).replace("await ", "")
    return token.string


if __name__ == "__main__":
    sys.exit(main())
