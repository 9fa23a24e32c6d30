"""ICE's win rates by data set (Table 5) and language (Table 6), effects (Table 9), agreement with
people (Table 14), by prompt (Table 15, Figure 2) and by length of the rationale (Table 16).

Source: Basu & Chakraborty, arXiv:2603.18579. Differs from the paper: each win rate is tested
against chance (1/2) over texts, with a correction (Table 12 only has intervals). With several
prompts, all tables except Table 15 use the first prompt of a data set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

from bench.papers.answers import KeptAnswer, PaperRequest
from bench.papers.columns import MeanColumn, Observation, ShareColumn, TableColumn
from bench.papers.correlation import CorrelationColumn
from bench.papers.elicitation import failed, jobs_of, request_about
from bench.papers.protocol import Answers, Case, RunOptions
from bench.papers.tables import Place, TablePlan
from services.ice.contract import CONTRACT
from services.ice.report import IceResult, IceTest
from shared.statistics.intervals import UNBOUNDED

METHODS = ("attention", "gradient")
CHANCE = 0.5
FAITHFUL = "faithful"
OF_DATA, OF_LANGUAGE = ("data set", "model"), ("language", "model")
OF_BOTH = ("data set", "language", "model")
WITH_PEOPLE = "Overlap with what people marked, and its correlation with the win rate"


class IcePaper:
    """Tests whether a model's own attributions point at the words that matter."""

    name = CONTRACT.name
    source = "Basu & Chakraborty, arXiv:2603.18579"
    takes = frozenset({"templates"})

    def settings(self, options: RunOptions) -> tuple[str, ...]:
        return tuple(options.templates) or ("",)

    def requests(self, case: Case, answers: Answers, options: RunOptions) -> Iterator[PaperRequest]:
        if (template := options.templates.get(case.setting)) is not None:
            options.label(case.row, tuple(template.fields.get("verbalizers", ())))
        yield from self._requests(case, options)

    def _requests(self, case: Case, options: RunOptions) -> Iterator[PaperRequest]:
        """Yield the requests, or none if the prompt is for other data sets."""
        marked = case.row.list_of("rationale")
        fields: dict[str, Any] = {"model": case.model, "attribution": list(METHODS)}
        fields |= {"human": marked} if marked else {}
        if options.templates:
            if case.setting not in _settings_of(case.row.dataset, options):
                return
            fields["options"] = {"template": dict(options.templates[case.setting].fields)}
        yield request_about(self.name, case, ("text",), options, fields)

    def observations(
        self, case: Case, answers: Answers, options: RunOptions
    ) -> Iterator[Observation]:
        for request in self._requests(case, options):
            yield self._observation(case, answers(request))

    def _observation(self, case: Case, answer: KeptAnswer | None) -> Observation:
        if answer is None or answer.result is None:
            return failed(case, [answer])
        found = IceResult.model_validate(answer.result)
        return Observation(
            model=case.model,
            setting=case.setting,
            row=case.row,
            outcome="answered",
            jobs=jobs_of([answer]),
            decision=found.model_decision,
            result=found,
        )

    def tables(self, options: RunOptions) -> Sequence[TablePlan]:
        methods, budgets = _methods(options), _budgets(options)
        rates, shown = _rates(methods), _ShownPlaces(options)
        by_prompt = ("data set", "model", "prompt")
        said = "Standardised effects, and the share of faithful verdicts"
        found = [
            TablePlan("Table 5", "Win rates by data set", OF_DATA, shown.by_dataset, rates),
            TablePlan("Table 6", "Win rates by language", OF_LANGUAGE, shown.by_language, rates),
            TablePlan("Table 9", said, OF_DATA, shown.by_dataset, _effects(methods)),
            TablePlan("Table 14", WITH_PEOPLE, OF_DATA, shown.marked, _overlaps(methods)),
        ]
        if options.templates:
            columns = (*_decisions(options), *rates)
            found.append(TablePlan("Table 15", "Win rates by prompt", by_prompt, _by_prompt,
                                   columns, compared="prompt"))  # fmt: skip
        if len(budgets) > 1:
            said = "Win rates by the share k of the text that a rationale has"
            lengths = _by_length(methods, budgets)
            found.append(TablePlan("Table 16", said, OF_BOTH, shown.by_both, lengths))
        return found


def _settings_of(dataset: str, options: RunOptions) -> list[str]:
    return [
        name
        for name, template in options.templates.items()
        if not template.datasets or dataset in template.datasets
    ]


@dataclass(frozen=True)
class _ShownPlaces:
    """The lines of tables that use only the first prompt of each data set."""

    options: RunOptions

    def by_dataset(self, one: Observation) -> Iterator[Place]:
        if one.setting == next(iter(_settings_of(one.dataset, self.options)), ""):
            yield one.dataset, one.model

    def by_both(self, one: Observation) -> Iterator[Place]:
        """Yield the row's language, or else the identified language."""
        told = one.row.text("language")
        if told is None and one.result is not None and one.result.languages is not None:
            told = one.result.languages.text.code
        for dataset, model in self.by_dataset(one):
            yield dataset, told or "und", model

    def by_language(self, one: Observation) -> Iterator[Place]:
        for _, language, model in self.by_both(one):
            yield language, model

    def marked(self, one: Observation) -> Iterator[Place]:
        if one.row.list_of("rationale"):
            yield from self.by_dataset(one)


def _by_prompt(one: Observation) -> Iterator[Place]:
    yield one.dataset, one.model, one.setting


def _methods(options: RunOptions) -> tuple[str, ...]:
    told: Any = options.fields(CONTRACT.name).get("attribution", METHODS)
    each = [told] if isinstance(told, str | dict) else told
    return tuple(one if isinstance(one, str) else one["name"] for one in each)


def _budgets(options: RunOptions) -> tuple[float, ...]:
    told: Any = options.fields(CONTRACT.name).get("options", {}).get("k", ())
    return tuple(told) if isinstance(told, list | tuple) else (told,)


def _test(method: str, k: float | None, one: Observation) -> IceTest | None:
    """Return the sufficiency test under the first operator at this budget, or at the first budget
    if it is None."""
    if one.result is None:
        return None
    tests: tuple[IceTest, ...] = one.result.components.tests
    return next(
        (test for test in tests
         if test.explanation.partition(":")[0] == method and test.aspect == "sufficiency"
         and k in (None, test.k)),
        None,
    )  # fmt: skip


def _win_rate(method: str, one: Observation, k: float | None = None) -> float | None:
    test = _test(method, k, one)
    return None if test is None else test.win_rate


def _rates(methods: Sequence[str]) -> tuple[MeanColumn, ...]:
    """Return the columns of each method, and of the difference of each pair of methods."""
    own = (
        MeanColumn(f"{one}_win_rate", f"{one}: win rate", partial(_win_rate, one), chance=CHANCE)
        for one in methods
    )
    return (*own, *(_gap(*pair) for pair in combinations(methods, 2)))


def _by_length(methods: Sequence[str], budgets: Sequence[float]) -> tuple[MeanColumn, ...]:
    return tuple(
        MeanColumn(f"{one}_k_{k}", f"{one}: k {k}", partial(_win_rate, one, k=k), chance=CHANCE)
        for one in methods
        for k in budgets
    )


def _gap(first: str, second: str) -> MeanColumn:
    def value(one: Observation) -> float | None:
        a, b = _win_rate(first, one), _win_rate(second, one)
        return None if a is None or b is None else a - b

    title = f"{first} - {second}"
    return MeanColumn(f"{first}_minus_{second}", title, value, (-1.0, 1.0), chance=0.0)


def _effect(method: str, one: Observation) -> float | None:
    test = _test(method, None, one)
    return None if test is None else test.effect


def _faithful(method: str, one: Observation) -> float | None:
    test = _test(method, None, one)
    return None if test is None or test.verdict is None else float(test.verdict == FAITHFUL)


def _effects(methods: Sequence[str]) -> tuple[MeanColumn, ...]:
    found: list[MeanColumn] = []
    for one in methods:
        effect: Callable[[Observation], float | None] = partial(_effect, one)
        found.append(MeanColumn(f"{one}_effect", f"{one}: d", effect, UNBOUNDED))
        found.append(ShareColumn(f"{one}_faithful", f"{one}: faithful", partial(_faithful, one)))
    return tuple(found)


def _overlap(method: str, one: Observation) -> float | None:
    found = () if one.result is None else one.result.components.plausibility
    return next((p.iou for p in found if p.explanation.partition(":")[0] == method), None)


def _overlaps(methods: Sequence[str]) -> tuple[TableColumn, ...]:
    """Return columns of the overlap with people's marks, and its correlation with the win rate."""
    found: list[TableColumn] = []
    for one in methods:
        overlap: Callable[[Observation], float | None] = partial(_overlap, one)
        found.append(MeanColumn(f"{one}_iou", f"{one}: IoU", overlap))
        title = f"{one}: r of IoU and win rate"
        found.append(CorrelationColumn(f"{one}_r", title, overlap, partial(_win_rate, one)))
    return tuple(found)


def _decisions(options: RunOptions) -> tuple[MeanColumn, ...]:
    def right(one: Observation) -> float | None:
        gold = one.row.gold
        if gold is None or one.decision is None:
            return None
        return float(options.labels.get(gold, gold) == one.decision)

    return (
        ShareColumn("accuracy", "Accuracy", right),
        MeanColumn("confidence", "Confidence", _confidence),
    )


def _confidence(one: Observation) -> float | None:
    return max(one.result.probabilities.values(), default=None) if one.result else None
