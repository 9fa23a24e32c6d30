"""Make the lexicon files from the transcribed tables and from our own additions.

    python -m services.hatexscore.build_lexicons --from PATH_TO_protected_groups.json

Source: Hu & Lee, EACL 2026 (arXiv:2601.13547), appendix A.6, tables 10-13. What is printed stays in
`terms` and `slur_aliases`; what we add (`additions.json`) goes to `added`, `demonyms` and
`category_terms`, so the two never mix. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data" / "lexicons"
TABLES = {"en": "tables 10-11", "ko": "table 12", "zh": "table 13"}
NOTE = (
    "Printed terms are lower-cased, without duplicates, alternatives split, slurs moved to "
    "slur_aliases. `added`, `demonyms` and `category_terms` are ours (additions.json)."
)

Json = dict[str, Any]


def build(source: Path, target: Path) -> list[Path]:
    """Write one file per policy and language to `target`; return the paths, sorted."""
    policies = json.loads(source.read_text(encoding="utf-8"))["policies"]
    additions = json.loads((FOLDER / "additions.json").read_text(encoding="utf-8"))
    written = []
    for policy, languages in sorted(policies.items()):
        for language, printed in sorted(languages.items()):
            path = target / f"{policy}.{language}.json"
            content = _lexicon(policy, language, printed, additions)
            text = json.dumps(content, ensure_ascii=False, indent=1)
            path.write_text(text + "\n", encoding="utf-8")
            written.append(path)
    return written


def _lexicon(policy: str, language: str, printed: Json, additions: Json) -> Json:
    """One policy's lists in one language, printed and added side by side."""
    taken = {term for category in printed.values() for term in category["terms"]}
    placement = additions["placement"][f"{policy}.{language}"]
    unknown = set(placement) - set(printed)
    if unknown:
        raise ValueError(f"additions.json places terms in categories not printed: {unknown}")
    concepts = additions["concepts"][language]
    categories = {}
    for name, category in printed.items():
        placed = [concepts[concept] for concept in placement.get(name, ())]
        added = _new((term for concept in placed for term in concept["added"]), taken)
        categories[name] = {
            "terms": category["terms"],
            "slur_aliases": category.get("slur_aliases", []),
            "added": added,
            "demonyms": _demonyms(category["terms"], additions["demonyms"], taken),
            "category_terms": [term for concept in placed for term in concept["category_terms"]],
        }
    source = f"Hu & Lee, EACL 2026, arXiv:2601.13547, appendix A.6, {TABLES[language]}"
    return {
        "policy": policy,
        "language": language,
        "source": source,
        "note": NOTE,
        "categories": categories,
    }


def _new(terms: Iterable[str], taken: set[str]) -> list[str]:
    """The terms that no category of this policy holds yet, in order; they are taken then."""
    fresh = []
    for term in terms:
        if term not in taken:
            taken.add(term)
            fresh.append(term)
    return fresh


def _demonyms(terms: list[str], demonyms: Json, taken: set[str]) -> Json:
    """The peoples of the printed countries, as far as they are not terms themselves."""
    peoples = {
        country: [people for people in demonyms[country] if people not in taken]
        for country in terms
        if country in demonyms
    }
    return {country: people for country, people in peoples.items() if people}


def main() -> None:
    """Rebuild the files in this folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="source", type=Path, required=True)
    build(parser.parse_args().source, FOLDER)


if __name__ == "__main__":
    main()
