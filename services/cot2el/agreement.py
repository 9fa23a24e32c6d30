"""Agreement with an annotator's explanations by nine similarities. Sets of explanations are matched
in both directions. Source: Chen et al., EMNLP 2025, Appendix C, Eqs. 5-12 and Table 8. Pure
functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from services.cot2el import kernel
from services.cot2el.report import Cot2elAgreement, Cot2elSimilarities
from shared.contracts.questions import STANCES, Explanation, Stance

GROUPS: dict[str, tuple[str, ...]] = {
    "lexical": ("lexical_1", "lexical_2", "lexical_3"),
    "syntactic": ("syntactic_1", "syntactic_2", "syntactic_3"),
    "semantic": ("semantic_cosine", "semantic_euclidean"),
    "levenshtein": ("levenshtein",),
}
COLUMNS = tuple(column for columns in GROUPS.values() for column in columns)

Cell = Mapping[str, float | None]  # column → similarity; absent: not measured; None: undefined
Mean = Callable[[Cell], float]
Texts = tuple[str, str]


@dataclass(frozen=True)
class TextSimilarity:
    words: Callable[[str], Sequence[str]]
    tags: Mapping[str, Sequence[str]] | None  # text → tags
    cosines: Mapping[Texts, float] | None  # (parsed, human) → [0, 1]

    def of(self, parsed: str, human: str) -> Cell:
        cell: dict[str, float | None] = {"levenshtein": kernel.levenshtein(parsed, human)}
        for n in (1, 2, 3):
            cell[f"lexical_{n}"] = kernel.jaccard(self.words(parsed), self.words(human), n)
            if self.tags is not None:
                cell[f"syntactic_{n}"] = kernel.jaccard(self.tags[parsed], self.tags[human], n)
        if self.cosines is not None:
            cell["semantic_cosine"] = cosine = self.cosines[parsed, human]
            cell["semantic_euclidean"] = kernel.euclidean(cosine)
        return cell


def group_mean(cell: Cell) -> float:
    """Average the similarities within each group, then the groups' means (Eq. 10). Undefined
    columns are left out."""
    means = []
    for columns in GROUPS.values():
        values = [value for column in columns if (value := cell.get(column)) is not None]
        if values:
            means.append(float(np.mean(values)))
    return float(np.mean(means))


def column_mean(cell: Cell) -> float:
    """Return the mean of a cell's similarities, as in the paper's Table 3. Undefined similarities
    are left out."""
    return float(np.mean([value for value in cell.values() if value is not None]))


def agreement(
    parsed: Sequence[Explanation],
    human: Sequence[Explanation],
    keys: Sequence[str],
    measures: TextSimilarity,
    mean: Mean,
) -> Cot2elAgreement:
    """Compare parsed explanations with an annotator's. The result has a score for each direction
    (S_instance in the paper), and the similarities of the best matches."""
    scores: dict[Stance, list[tuple[float, float]]] = {stance: [] for stance in STANCES}
    matches: list[Cell] = []
    for key in keys:
        for stance in STANCES:
            ours, theirs = (
                [pair.explanation for pair in pairs if (pair.label, pair.stance) == (key, stance)]
                for pairs in (parsed, human)
            )
            cells = [[measures.of(e, h) for h in theirs] for e in ours]
            matrix = np.array(
                [[mean(cell) for cell in row] for row in cells], dtype=np.float64
            ).reshape(len(ours), len(theirs))
            scores[stance].append((kernel.set_score(matrix), kernel.set_score(matrix.T)))
            if ours and theirs:
                best = matrix.argmax(axis=1).tolist()  # the most similar human explanation
                matches += [row[column] for row, column in zip(cells, best, strict=True)]
    all_scores = [*scores["support"], *scores["oppose"]]
    precision, recall = map(kernel.instance_score, zip(*all_scores, strict=True))
    support = list(map(kernel.instance_score, zip(*scores["support"], strict=True)))
    columns: dict[str, float | None] = {}
    for name in COLUMNS:
        values = [value for cell in matches if (value := cell.get(name)) is not None]
        columns[name] = min(1.0, float(np.mean(values))) if values else None
    return Cot2elAgreement(
        precision=precision,
        recall=recall,
        f1=kernel.harmonic(precision, recall),
        support_precision=support[0],
        support_recall=support[1],
        support_f1=kernel.harmonic(*support),
        columns=Cot2elSimilarities(**columns),
    )
