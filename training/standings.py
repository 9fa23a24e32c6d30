"""Measures how much masking random passages changes the prediction, in posts that an embedded judge
calls hateful.

`python -m training.standings --data ../shared/data/hatexplain.jsonl` masks passages of each
length at every position of each short post. It asks `embedded-hate` for predictions and writes
`standings.json` next to the judge's weights. The file contains numbers only, no text.
HateXScore and ICE calibrate their tests of short posts on this file if the weights are the
measured ones. Run it again after training.

The posts of `--data` are English. `--also ../shared/data/multilingual_hatecheck.jsonl` measures how
often a random passage of a post in another language passes the test. A language with a share of at
most .05 is listed in the file, and the test is used for it, too."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from services.hatexscore.contract import DEFAULT_MODEL, HATEFUL
from services.hatexscore.kernel import DECIDING
from services.hatexscore.model_calls import RandomPlacements
from services.hatexscore.quotes import count_units, mask_spans
from services.worker import local
from shared.contracts.calls import Example
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.checkpoint import EMBEDDED, STANDINGS, PassageStandings
from shared.models.ports import Floats, Judge
from shared.statistics.other_texts import (
    FEWEST_OTHERS,
    MOST_OTHERS,
    OtherText,
    calibrated_p,
    removal_standings,
)

LENGTHS = range(1, 4)  # words of a passage
LEVEL = 0.05
MOST_TEXTS = 150  # of a language
AT_ONCE = 256
DIGITS = 3
ROOT = Path(__file__).parents[1]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m training.standings", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a JSONL file with `text`")
    parser.add_argument("--also", type=Path, required=True, help="a JSONL file with `text`, `lang`")
    parser.add_argument("--out", type=Path, default=EMBEDDED / "hate" / STANDINGS)
    options = parser.parse_args(arguments)
    ports.bind(local(load_catalogue(ROOT / "models.toml")))
    judge = ports.models().judge(DEFAULT_MODEL)
    lines = options.data.read_text("utf-8").splitlines()
    found = measure(judge, dict.fromkeys(json.loads(line)["text"] for line in lines))
    sha256 = judge.use.sha256
    if sha256 is None:
        parser.error(f"{DEFAULT_MODEL} is no embedded model")
    languages = ["en"]
    for code, texts in _by_language(options.also).items():
        size = size_against(found, measure(judge, texts))
        languages += [code] if size <= LEVEL else []
        print(f"{code}: a random passage passes {size:.4f}")  # noqa: T201 - a command's answer
    rows = ",\n".join(passage.model_dump_json() for passage in found)
    head = json.dumps({"adapter_sha256": sha256, "languages": languages, "passages": []})
    head = head.removesuffix("]}")
    options.out.write_text(f"{head}\n{rows}\n]}}\n", "utf-8")
    print(f"{len(found)} passages in {options.out}")  # noqa: T201 - a command's answer


def _by_language(path: Path) -> dict[str, list[str]]:
    """Return up to `MOST_TEXTS` texts of each language that the model was trained on."""
    from training.hate import CODES, LANGUAGES

    found: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        code = CODES.get(row["lang"])
        if code in LANGUAGES:
            found.setdefault(code, []).append(row["text"])
    return {code: texts[:MOST_TEXTS] for code, texts in found.items()}


def size_against(reference: Sequence[PassageStandings], other: Sequence[PassageStandings]) -> float:
    """Return the share of random passages of the `other` texts with a p-value of at most .05,
    calibrated on `reference`. This is the size (false positive rate) of the test."""
    texts = [OtherText(one.words, np.array(one.standings)) for one in reference]
    shares = []
    for passage in other:
        others = len(passage.standings) - 1
        p = [calibrated_p(one, others, passage.words, texts) for one in passage.standings]
        shares.append(np.mean([one.p_value <= LEVEL for one in p if one is not None]))
    return float(np.mean(shares))


def measure(judge: Judge, texts: Iterable[str]) -> list[PassageStandings]:
    """Measure how far each position of a passage stands out, in every text that the model calls
    hateful. Return the sorted values for each passage length of each text."""
    listed = list(texts)
    hateful = [
        text for text, p in zip(listed, _hateful(judge, listed), strict=True) if p >= DECIDING
    ]
    passages = [passage for text in hateful for passage in passages_of(text)]
    p = iter(_hateful(judge, [text for _, masked in passages for text in masked]))
    found = []
    for words, masked in passages:
        own = np.sort(removal_standings(np.array([next(p) for _ in masked])))
        rounded = tuple(round(float(one), DIGITS) for one in own)
        found.append(PassageStandings(words=words, standings=rounded))
    return found


def passages_of(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (words of a passage, copies of the text, each with the passage at another position
    masked). Lengths with too few or too many positions are skipped."""
    units = count_units(text)
    for length in LENGTHS:
        if FEWEST_OTHERS <= len(units) - length <= MOST_OTHERS:
            first = RandomPlacements.of(text, [(units[0][0], units[length - 1][1])])
            spans = (first.spans(first.space.at(rank)) for rank in range(first.space.count))
            yield length, [mask_spans(text, each) for each in spans]


def _hateful(judge: Judge, texts: Sequence[str]) -> Floats:
    """Return P(hateful) of each text, shape (N,)."""
    found: list[float] = []
    for start in range(0, len(texts), AT_ONCE):
        examples = [Example(text=text) for text in texts[start : start + AT_ONCE]]
        judged = judge.judgements(examples)
        found += [one.unwrap()[one.labels.index(HATEFUL)] for one in judged]
    return np.array(found)


if __name__ == "__main__":
    main()
