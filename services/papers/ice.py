"""ICE's win rates by data set (Table 5) and language (Table 6), effects (Table 9), and agreement
with people (Table 14).

Source: Basu & Chakraborty, arXiv:2603.18579. Deviates: each win rate is tested against chance,
1/2, over texts, and corrected (Table 12 has intervals alone).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from services.ice.contract import CONTRACT
from services.ice.report import IceResult, IceTest
from services.papers.answers import PaperRequest
from services.papers.columns import MeanColumn, Observation, ShareColumn
from services.papers.elicitation import failed, jobs_of, request_about
from services.papers.protocol import Answers, Case, RunOptions
from services.papers.tables import Place, TablePlan
from shared.statistics.intervals import UNBOUNDED

METHODS = ("attention", "gradient")
CHANCE = 0.5
FAITHFUL = "faithful"


class IcePaper:
    """Do the model's own attributions point at what matters?"""

    name = CONTRACT.name
    source = "Basu & Chakraborty, arXiv:2603.18579"

    def settings(self, options: RunOptions) -> tuple[str, ...]:
        return ("",)

    def requests(self, case: Case, answers: Answers, options: RunOptions) -> Iterator[PaperRequest]:
        yield self._request(case, options)

    def _request(self, case: Case, options: RunOptions) -> PaperRequest:
        marked = case.row.list_of("rationale")
        human = {"human": marked} if marked else {}
        fields = {"model": case.model, "attribution": list(METHODS), **human}
        return request_about(self.name, case, ("text",), options, fields)

    def observations(
        self, case: Case, answers: Answers, options: RunOptions
    ) -> Iterator[Observation]:
        answer = answers(self._request(case, options))
        if answer is None or answer.result is None:
            yield failed(case, [answer])
            return
        found = IceResult.model_validate(answer.result)
        yield Observation(
            model=case.model,
            setting=case.setting,
            row=case.row,
            outcome="answered",
            jobs=jobs_of([answer]),
            decision=found.predicted_label,
            result=found,
        )

    def tables(self, options: RunOptions) -> Sequence[TablePlan]:
        methods = _methods(options)
        rates = tuple(
            MeanColumn(
                f"{one}_win_rate", f"{one}: win rate", partial(_win_rate, one), chance=CHANCE
            )
            for one in methods
        )
        pairs = tuple(_gap(*pair) for pair in combinations(methods, 2))
        effects, overlaps = _effects(methods), _overlaps(methods)
        of_data, of_language = ("data set", "model"), ("language", "model")
        said = "Standardised effects, and the share of faithful verdicts"
        return (
            TablePlan("Table 5", "Win rates by data set", of_data, _by_dataset, rates + pairs),
            TablePlan("Table 6", "Win rates by language", of_language, _by_language, rates + pairs),
            TablePlan("Table 9", said, of_data, _by_dataset, effects),
            TablePlan("Table 14", "Overlap with what people marked", of_data, _marked, overlaps),
        )


def _methods(options: RunOptions) -> tuple[str, ...]:
    """As the run asks for them."""
    told: Any = options.fields(CONTRACT.name).get("attribution", METHODS)
    each = [told] if isinstance(told, str | dict) else told
    return tuple(one if isinstance(one, str) else one["name"] for one in each)


def _by_dataset(one: Observation) -> Iterator[Place]:
    yield one.dataset, one.model


def _by_language(one: Observation) -> Iterator[Place]:
    """As the row says, else as it was identified."""
    told = one.row.text("language")
    if told is None and one.result is not None and one.result.languages is not None:
        told = one.result.languages.text.code
    yield told or "und", one.model


def _marked(one: Observation) -> Iterator[Place]:
    if one.row.list_of("rationale"):
        yield one.dataset, one.model


def _test(method: str, one: Observation) -> IceTest | None:
    """Sufficiency, at the first budget under the first operator."""
    if one.result is None:
        return None
    tests: tuple[IceTest, ...] = one.result.components.tests
    return next(
        (test for test in tests
         if test.explanation.partition(":")[0] == method and test.aspect == "sufficiency"),
        None,
    )  # fmt: skip


def _win_rate(method: str, one: Observation) -> float | None:
    test = _test(method, one)
    return None if test is None else test.win_rate


def _gap(first: str, second: str) -> MeanColumn:
    """Of two methods' win rates, text by text."""

    def value(one: Observation) -> float | None:
        a, b = _win_rate(first, one), _win_rate(second, one)
        return None if a is None or b is None else a - b

    title = f"{first} - {second}"
    return MeanColumn(f"{first}_minus_{second}", title, value, (-1.0, 1.0), chance=0.0)


def _effect(method: str, one: Observation) -> float | None:
    test = _test(method, one)
    return None if test is None else test.effect


def _faithful(method: str, one: Observation) -> float | None:
    test = _test(method, one)
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


def _overlaps(methods: Sequence[str]) -> tuple[MeanColumn, ...]:
    return tuple(MeanColumn(f"{one}_iou", f"{one}: IoU", partial(_overlap, one)) for one in methods)
