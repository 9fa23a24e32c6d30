"""How far random passages stand out in the posts that an embedded judge calls hateful.

`python -m training.standings --data ../shared/data/hatexplain.jsonl` asks `embedded-hate`, masks
every place of a passage of each length in each short post, as HateXScore does, deletes it, as ICE
does, and writes `standings.json` beside the judge's weights: numbers only, no text. Both metrics
calibrate their tests of short posts on them, as long as the weights are the ones that were asked.
Run it again after training.
"""

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
from services.ice.contract import IceRequest
from services.ice.experiment import Experiment
from services.ice.model_calls import run_experiments
from services.worker import local
from shared.contracts.calls import Example
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.checkpoint import EMBEDDED, STANDINGS, PassageStandings, Removal
from shared.models.ports import Floats, Judge
from shared.statistics.other_texts import FEWEST_OTHERS, MOST_OTHERS, removal_standings

LENGTHS = range(1, 4)  # words of a passage
AT_ONCE = 256
DIGITS = 3
ROOT = Path(__file__).parents[1]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m training.standings", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a JSONL file with `text`")
    parser.add_argument("--out", type=Path, default=EMBEDDED / "hate" / STANDINGS)
    options = parser.parse_args(arguments)
    ports.bind(local(load_catalogue(ROOT / "models.toml")))
    judge = ports.models().judge(DEFAULT_MODEL)
    lines = options.data.read_text("utf-8").splitlines()
    texts = dict.fromkeys(json.loads(line)["text"] for line in lines)
    hateful = [
        text for text, p in zip(texts, _hateful(judge, list(texts)), strict=True) if p >= DECIDING
    ]
    found = [*masked(judge, hateful), *deleted(hateful)]
    sha256 = judge.use.sha256
    if sha256 is None:
        parser.error(f"{DEFAULT_MODEL} is no embedded model")
    rows = ",\n".join(passage.model_dump_json() for passage in found)
    head = json.dumps({"adapter_sha256": sha256, "passages": []}).removesuffix("]}")
    options.out.write_text(f"{head}\n{rows}\n]}}\n", "utf-8")
    print(f"{len(found)} passages in {options.out}")  # noqa: T201 - a command's answer


def masked(judge: Judge, hateful: Iterable[str]) -> list[PassageStandings]:
    """Return the standings of all places, ascending, for each passage of each text."""
    passages = [passage for text in hateful for passage in passages_of(text)]
    p = iter(_hateful(judge, [text for _, places in passages for text in places]))
    return [_standings("masked", words, [next(p) for _ in places]) for words, places in passages]


def deleted(hateful: Sequence[str]) -> list[PassageStandings]:
    """Return the same of passages that ICE deletes. Its places are of tokens' words."""
    requests = []
    for text in hateful:
        units = count_units(text)
        for length in LENGTHS if max(LENGTHS) <= len(units) <= MOST_OTHERS + max(LENGTHS) else ():
            passage = {"start": units[0][0], "end": units[length - 1][1]}
            body = {"text": text, "rationale": [passage], "target": HATEFUL, "language": "en"}
            requests.append(IceRequest.model_validate(body))
    found = []
    for start in range(0, len(requests), AT_ONCE):
        for experiment, _ in run_experiments(requests[start : start + AT_ONCE]):
            if not isinstance(experiment, Experiment):
                continue
            [trial] = experiment.trials
            few = FEWEST_OTHERS <= trial.null.others <= MOST_OTHERS
            if few and trial.null.kind == "spans":
                without = experiment.without("delete", trial).tolist()
                found.append(_standings("deleted", trial.null.longest, without))
    return found


def _standings(removal: Removal, words: int, without: Sequence[float]) -> PassageStandings:
    own = np.sort(removal_standings(np.array(without)))
    rounded = tuple(round(float(one), DIGITS) for one in own)
    return PassageStandings(removal=removal, words=words, standings=rounded)


def passages_of(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (words of a passage, the text with each place of it masked), for each length that has
    few places."""
    units = count_units(text)
    for length in LENGTHS:
        if FEWEST_OTHERS <= len(units) - length <= MOST_OTHERS:
            first = RandomPlacements.of(text, [(units[0][0], units[length - 1][1])])
            spans = (first.spans(first.space.at(rank)) for rank in range(first.space.count))
            yield length, [mask_spans(text, each) for each in spans]


def _hateful(judge: Judge, texts: Sequence[str]) -> Floats:
    """(N,) P(hateful)."""
    found: list[float] = []
    for start in range(0, len(texts), AT_ONCE):
        examples = [Example(text=text) for text in texts[start : start + AT_ONCE]]
        judged = judge.judgements(examples)
        found += [one.unwrap()[one.labels.index(HATEFUL)] for one in judged]
    return np.array(found)


if __name__ == "__main__":
    main()
