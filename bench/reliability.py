"""Measures the stability of results in a rerun: `python -m bench.reliability` prints tables, then
JSON.

HateXplain posts that no adapter was trained on, under adapters of all-MiniLM-L6-v2 trained on the
English data of `embedded-hate` with other seeds (the split of the data fixed), three operators and
several seeds of the null, crossed. The values are ICE's win rates of attention, gradient and the
human rationale. For HateXScore, without operators, they are the change of P(hateful) by masking the
human rationale as a quotation, and the share of random spans with a smaller change. Adapters are
trained once and kept in `--store`, by the hash of their inputs. Prints variance components, the
change of a result and of a mean in a rerun, and whether "A beats B" survives one, with jackknife
intervals over texts. Small: `--texts 20 --adapters 2`; smaller still: `--epochs`, `--rows`,
`--draws`, `--infills`. Aggregate numbers only: no text is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoTokenizer

from bench.components import (
    FACTORS,
    Components,
    Variances,
    components,
    jackknife_ends,
    survival_expected,
    survival_observed,
)
from bench.environment import environment
from bench.explanations import marked_runs
from bench.ice_faithfulness import COMPUTED, DATA, marked_spans, posts
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE as HATEXSCORE
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.inference.embedded.adapter import load_adapter
from services.worker import local
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.checkpoint import BASE_SHA256, NOTE, EmbeddedMetadata, base_folder
from shared.statistics.clusters import Floats
from shared.statistics.seeds import generator
from training.calibration import best_temperature
from training.examples import Split, save_adapter
from training.hate import HATE, PART
from training.train import THREADS
from training.training import TrainingConfig, columns, logits, train

TEXTS, ADAPTERS, SEEDS, SPLITS, POOL = 100, 5, 3, 200, 60
INFILLS = 4  # fills that are averaged
OPERATORS = ("delete", "mask_unk", "infill")
EXPLANATIONS = (*COMPUTED[:2], "human")
WANTED = 0.8  # generalisability
SURVIVES = 0.9
STORE = Path("var/adapters")
QUOTED = FACTORS[:2]  # HateXScore masks in one way
QUOTATIONS = ("share_beaten", "signed_drop")
FREE, NO_LESS, SHARE, KEPT = (-np.inf, np.inf), (0.0, np.inf), (0.0, 1.0), (0.5, 1.0)
DOUBT = "a retrained model may say otherwise"

Json = dict[str, Any]
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Design:
    """The levels of each factor, and how much of the training data each adapter sees."""

    texts: int
    adapters: int
    seeds: int
    draws: int
    epochs: int
    rows: int | None  # None: all
    infills: int = INFILLS


def measure(design: Design, data: Path, store: Path) -> Json:
    """Return `ratios`, how often each comparison keeps its result, and `figures`, the variance
    components of each explanation."""
    parts = _english(HATE.split(HATE.read(data / name for name in HATE.files)))
    made = [adapter(parts, _recipe(design, seed), design.rows, store) for seed in
            range(1, design.adapters + 1)]  # fmt: skip
    ports.bind(local(load_catalogue(_catalogue(made, store))))
    held_back = {post.id for post in parts.held_back}
    try:
        values = win_rates(design, data, held_back)
        quoted = quotations(design, data, held_back)
    finally:
        ports.bind(None)
    found = {name: explained(values[name], design.texts) for name in EXPLANATIONS}
    of_quotes = {name: explained(one, design.texts, QUOTED) for name, one in quoted.items()}
    pairs = {
        f"{one} - {other}": compared(values[one] - values[other])
        for one, other in combinations(EXPLANATIONS, 2)
    }
    ratios = {f"{name} survival": pair["survival_observed"][0] for name, pair in pairs.items()}
    figures = {"design": asdict(design), "texts": len(values[EXPLANATIONS[0]]),
               "components": found, "comparisons": pairs,
               "quoted_texts": len(quoted[QUOTATIONS[0]]), "quotations": of_quotes}  # fmt: skip
    return {"ratios": ratios, "figures": figures}


def _recipe(design: Design, seed: int) -> TrainingConfig:
    return TrainingConfig(seed=seed, epochs=design.epochs)


def _english(parts: Split) -> Split:
    """Return only whole English texts, because all-MiniLM-L6-v2 is an English model."""
    return replace(
        parts,
        train=[one for one in parts.train if one.language == "en" and PART not in one.id],
        calibration=[
            one for one in parts.calibration if one.language == "en" and PART not in one.id
        ],
    )


def adapter(parts: Split, recipe: TrainingConfig, rows: int | None, store: Path) -> Path:
    """Return the folder of this adapter as a complete checkpoint; train it if missing."""
    examples = parts.train[:rows]
    about = json.dumps([BASE_SHA256, asdict(recipe), [example.id for example in examples]])
    folder = store / hashlib.sha256(about.encode()).hexdigest()[:16]
    if (folder / NOTE).exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    model = train(examples, HATE.labels, recipe, partial(_progress, recipe.seed))
    note = EmbeddedMetadata(
        revision=HATE.revision,
        labels=HATE.labels,
        languages=("en",),
        temperature=1.0,
        base_sha256=BASE_SHA256,
        adapter_sha256=save_adapter(model, folder),
    )
    merged = load_adapter(folder, note)[0].eval()
    raw = logits(merged, parts.calibration)
    note = note.model_copy(
        update={"temperature": best_temperature(raw, columns(parts.calibration))}
    )
    merged.save_pretrained(folder)
    AutoTokenizer.from_pretrained(base_folder(), local_files_only=True).save_pretrained(folder)
    (folder / NOTE).write_text(note.model_dump_json(), "utf-8")  # last: what is there is whole
    return folder


def _progress(seed: int, done: int, steps: int, loss: float) -> None:
    if done % 20 == 0 or done == steps:
        print(f"adapter {seed}: {done} of {steps}, loss {loss:.3f}", file=sys.stderr, flush=True)


def _catalogue(folders: Sequence[Path], store: Path) -> Path:
    entries = []
    for number, folder in enumerate(folders):
        note = EmbeddedMetadata.model_validate_json((folder / NOTE).read_bytes())
        entries.append(
            f'[[models]]\nname = "adapter{number}"\nkind = "classifier"\ndevice = "cpu"\n'
            f'source = "path:{folder.name}"\ntemperature = {note.temperature}\n'
            'languages = ["en"]\n'
        )
    path = store / "models.toml"
    path.write_text("\n".join(entries), "utf-8")
    return path


def win_rates(design: Design, data: Path, held_back: set[str]) -> dict[str, Floats]:
    """Return for each explanation an array of win rates (texts, adapters, operators, seeds),
    without undefined texts."""
    rows = posts(data)
    pool = [row["text"] for row in rows if row["id"] not in held_back][-POOL:]
    chosen = [row for row in rows if row["id"] in held_back][: design.texts]
    shape = (len(chosen), design.adapters, len(OPERATORS), design.seeds)
    found = {name: np.full(shape, np.nan) for name in EXPLANATIONS}
    for number in range(design.adapters):
        for seed in range(design.seeds):
            asked = {"model": f"adapter{number}", "seed": seed}
            bodies = [_body(row, design, pool) | asked for row in chosen]
            reports = SERVICE.score_batch([IceRequest.model_validate(body) for body in bodies])
            for text, report in enumerate(reports):
                for test in report.components.tests:
                    if test.win_rate is not None:
                        place = text, number, OPERATORS.index(str(test.operator)), seed
                        found[test.explanation][place] = test.win_rate
            print(f"adapter {number}, seed {seed}: scored", file=sys.stderr, flush=True)
    whole = ~np.any([np.isnan(values).any(axis=(1, 2, 3)) for values in found.values()], axis=0)
    return {name: values[whole] for name, values in found.items()}


def _body(row: Json, design: Design, pool: Sequence[str]) -> Json:
    """Return a request that explains the same label for all adapters."""
    return {
        "text": row["text"],
        "decision": "hateful",
        "attribution": COMPUTED[:2],
        "explanations": [{"name": "human", "rationale": list(marked_spans(row))}],
        "options": {
            "operators": OPERATORS,
            "infills": design.infills,
            "infill_pool": pool,
            "draws": design.draws,
            "aspects": ["sufficiency"],
        },
    }


def quotations(design: Design, data: Path, held_back: set[str]) -> dict[str, Floats]:
    """Return for each number of HateXScore an array (texts, adapters, seeds), without undefined
    texts."""
    rows = [(row, marked_runs(row)) for row in posts(data) if row["id"] in held_back]
    chosen = [(row, runs) for row, runs in rows if runs][: design.texts]
    shape = (len(chosen), design.adapters, design.seeds)
    found = {name: np.full(shape, np.nan) for name in QUOTATIONS}
    for number in range(design.adapters):
        for seed in range(design.seeds):
            options = {"control_draws": design.draws}
            asked = {"model": f"adapter{number}", "seed": seed, "options": options}
            bodies = [_quoting(row, runs) | asked for row, runs in chosen]
            reports = HATEXSCORE.score_batch([HatexscoreRequest.model_validate(b) for b in bodies])
            for text, report in enumerate(reports):
                if report.control is not None and report.signed_drop is not None:
                    found["share_beaten"][text, number, seed] = report.control.share_beaten
                    found["signed_drop"][text, number, seed] = report.signed_drop
    whole = ~np.isnan(found["signed_drop"]).any(axis=(1, 2))
    return {name: values[whole] for name, values in found.items()}


def _quoting(row: Json, runs: Sequence[str]) -> Json:
    quoted = " and ".join(f'"{run}"' for run in runs)
    return {
        "text": row["text"],
        "explanation": f"It says {quoted}. Conclusion: hateful.",
        "decision": "hateful",
        "language": "en",
    }


def explained(values: Floats, texts: int, factors: Sequence[str] = FACTORS) -> Json:
    """Return each variance component with its share, and derived numbers, with jackknife
    intervals."""

    def shown(of: Callable[[Components], float | None], bounds: Bounds) -> list[float | None]:
        return with_ends(values, lambda some: of(components(some, factors)), bounds)

    def part(name: str) -> Json:
        return {
            "variance": shown(lambda some: some.raw[name], FREE),
            "share": round(found.variances[name] / total, 3) if total else None,
        }

    found = components(values, factors)
    total = sum(found.variances.values())
    return {
        "mean": round(float(values.mean()), 3),
        "components": {name: part(name) for name in found.variances},
        "sd_rerun": shown(lambda some: some.sd_rerun, NO_LESS),
        f"sd_rerun_of_mean_{texts}": shown(lambda some: some.sd_rerun_of_mean(texts), NO_LESS),
        "generalisability": shown(lambda some: some.generalisability(), SHARE),
        "seeds_for_0.8": found.seeds_for(WANTED),
    }


def compared(differences: Floats) -> Json:
    by_text = differences.mean(axis=(2, 3))

    def observed(some: Floats) -> float | None:
        means = some.mean(axis=(2, 3)).T
        return survival_observed(means, SPLITS, generator(0, "survival", *means.shape))

    kept = with_ends(differences, observed, SHARE)
    doubtful = kept[0] is not None and kept[0] < SURVIVES
    return {
        "difference": round(float(by_text.mean()), 4),
        "survival_observed": kept,
        "survival_expected": with_ends(differences, expected, KEPT),
        "says": DOUBT if doubtful else None,
    }


def expected(differences: Floats) -> float:
    found: Components = components(differences)
    mean = float(differences.mean())
    return survival_expected(mean, Variances.of(found), found.levels["text"], found.levels["seed"])


def with_ends(
    values: Floats, of: Callable[[Floats], float | None], bounds: Bounds = FREE
) -> list[float | None]:
    """Return [value, low, high]. The ends of the interval are limited to the possible range."""
    value, ends = of(values), jackknife_ends(values, of)
    found = (value, *(np.clip(ends, *bounds) if ends else (None, None)))
    return [None if one is None else round(float(one), 4) for one in found]


def markdown(figures: Json) -> Iterator[str]:
    yield from _parts("ICE", figures["texts"], figures["components"])
    yield ""
    yield from _parts("HateXScore", figures["quoted_texts"], figures["quotations"])
    yield "\n| win rates | mean difference | survival observed | expected | |"
    yield "|---|---|---|---|---|"
    for name, pair in figures["comparisons"].items():
        yield (
            f"| {name} | {pair['difference']} | {ranged(pair['survival_observed'])} | "
            f"{ranged(pair['survival_expected'])} | {pair['says'] or ''} |"
        )


def _parts(metric: str, texts: int, found: dict[str, Json]) -> Iterator[str]:
    names = list(found)
    yield f"| {metric}: share of the variance, {texts} texts | {' | '.join(names)} |"
    yield "|---|" + "---|" * len(names)
    for name in found[names[0]]["components"]:
        cells = (
            f"{found[one]['components'][name]['share']} "
            f"({ranged(found[one]['components'][name]['variance'])})"
            for one in names
        )
        yield f"| {name} | {' | '.join(cells)} |"
    for name in (key for key in found[names[0]] if key not in ("components", "mean")):
        yield f"| {name} | {' | '.join(ranged(found[one][name]) for one in names)} |"


def ranged(found: Any) -> str:
    if not isinstance(found, list):
        return "–" if found is None else str(found)
    value, low, high = ("–" if one is None else str(one) for one in found)
    return value if low == "–" else f"{value} [{low}, {high}]"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.reliability", description=__doc__)
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--adapters", type=int, default=ADAPTERS, help="2 at least")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of the null, 2 at least")
    parser.add_argument("--draws", type=int, default=50, help="random rationales, at most")
    parser.add_argument("--epochs", type=int, default=TrainingConfig().epochs)
    parser.add_argument("--rows", type=int, help="of the training data; default: all")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--infills", type=int, default=INFILLS, help="fills that are averaged")
    asked = parser.parse_args()
    if min(asked.adapters, asked.seeds) < 2:
        parser.error("what varies must have two levels at least")
    torch.set_num_threads(THREADS)
    design = Design(
        asked.texts,
        asked.adapters,
        asked.seeds,
        asked.draws,
        asked.epochs,
        asked.rows,
        asked.infills,
    )
    found = measure(design, asked.data, asked.store.resolve())
    print("\n".join(markdown(found["figures"])))
    about = environment(torch=torch.__version__, dtype="float32")
    print(json.dumps({"bench": "reliability", **found, "environment": about}))


if __name__ == "__main__":
    main()
