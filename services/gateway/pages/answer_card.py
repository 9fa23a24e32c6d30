"""The summary at the top of a batch's page: one sentence, the worst problems, and what to do next.
Only lines that match the page's filter count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from sqlalchemy import Connection

from services.gateway.pages.result_query import ResultQuery, value_name
from services.gateway.results import result_pages
from services.gateway.results.result_pages import ROUTE, CardCounts
from services.registry import NO_SCORE, page, surprising_words
from shared.contracts.checks import ACTIONS, Route
from shared.contracts.fields import options_of
from shared.contracts.service import ReportedContract
from shared.reports.pages.report_summary import verdict_phrase

OPPOSITE = "opposite-decision"  # the problem that the first sentence counts by itself
NO_RESULT = {"failed": "failed", "cancelled": "cancelled", "expired": "not scored in time"}

NO_LABEL = "judge-has-no-such-label"  # the decision is of a third class, which the model lacks
FOLDED = ("facet", "class=hateful")  # lines whose decision counts as hateful

Control = Literal[
    "language",
    "accept_untrained_languages",
    "reader_model",
    "model",
    "without",
    "further_class",
    "counts_as",
]
CONTROLS: Mapping[str, Control] = {  # reason for no test → the field of the form that resolves it
    "language-undecided": "language",
    "untrained-language": "accept_untrained_languages",
    "no-rules": "reader_model",
    "conclusion-unread": "reader_model",
    "model-disagrees": "model",
    "too-few-places": "without",
    "too-few-rivals": "without",
}


@dataclass(frozen=True)
class CardItem:
    """A group of lines that have the same problem, or whose check was not done for the same reason.
    `query` is the filter that shows the lines. `control` is the form field that resolves the
    problem, or None. `word` is a decision that is neither hateful nor non-hateful. `scored` counts
    the lines that the form scores again, if there may be more than `count`."""

    name: str
    count: int
    address: str
    code: str = ""
    query: str = ""
    action: str = ""
    control: Control | None = None
    word: str = ""
    kind: str = ""  # the name of its filter
    scored: int = 0


@dataclass(frozen=True)
class AnswerCard:
    """A summary sentence for a batch, with lists of problems and of checks that were not done. It
    also lists decisions of a third class (neither hateful nor non-hateful) that count as hateful.
    `phrases` are the parts of the sentence, each with the address of the lines that it counts or
    "". `routes` says what to do with the explanations."""

    phrases: Sequence[tuple[str, str]]
    missing: Sequence[CardItem]
    problems: Sequence[CardItem]
    untested: Sequence[CardItem]
    folded: Sequence[CardItem]
    routes: Sequence[CardItem]

    @property
    def sentence(self) -> str:
        return "".join(words for words, _ in self.phrases)


def card_of(
    view: ResultQuery,
    contract: ReportedContract | None,
    counts: CardCounts,
    lines: int,
    folded: Mapping[str, int] = {},
    unlabelled: Mapping[str, tuple[int, int]] = {},
) -> AnswerCard:
    """Build the summary from the counts of the filtered lines of a batch of `lines` lines. `folded`
    maps each decision of a third class to the number of lines in which the decision counts as
    hateful. `unlabelled` maps each decision for which the model has no label to the numbers of its
    untested lines and of all its lines."""
    phrases = {} if contract is None else contract.problems
    return AnswerCard(
        _phrases(view, counts, lines),
        [
            CardItem(name, counts.states[state], view.within(("status", state)))
            for state, name in NO_RESULT.items()
            if state in counts.states
        ],
        [
            CardItem(phrase, counts.problems[code], view.within(("reason", code)))
            for code, phrase in phrases.items()
            if code in counts.problems
        ],
        [
            item
            for code, count in counts.untested.items()
            for item in (
                _unlabelled(view, unlabelled)
                if code == NO_LABEL and unlabelled
                else [_untested(view, contract, code, count)]
            )
        ],
        [
            CardItem(
                word,
                count,
                view.within(("decision_sent", word), FOLDED),
                query=view.query_within(("decision_sent", word), FOLDED),
                control="further_class",
                word=word,
            )
            for word, count in folded.items()
        ],
        [
            CardItem(route, counts.routes[route], view.within(("facet", f"{ROUTE}{route}")))
            for route in get_args(Route)
            if route in counts.routes
        ],
    )


def unlabelled_words(connection: Connection, view: ResultQuery) -> dict[str, tuple[int, int]]:
    """Count the untested lines and all lines per decision for which the model has no label."""
    untested = replace(view.filter, untested=[NO_LABEL])
    counts, every = (
        result_pages.split_counts(connection, selection, "decision_sent")
        for selection in (untested, view.any_failure.filter)
    )
    lines = {count.value: count.rows for count in every}
    return {
        count.value: (count.rows, lines.get(count.value, count.rows))  # of 51 decisions at most
        for count in counts
        if count.value
    }


def folded_words(connection: Connection, view: ResultQuery, words: Sequence[str]) -> dict[str, int]:
    """Count the lines whose decision is of a third class (neither hateful nor non-hateful) but
    counts as hateful. `words` holds all decisions of the batch. Returns the number of lines per
    decision."""
    third_classes = getattr(page(view.metric), "third_classes", None)
    third = third_classes(words) if third_classes is not None else ()
    if not third:
        return {}
    selection = replace(view.filter, facets=[*view.filter.facets, FOLDED[1]])
    counts = result_pages.split_counts(connection, selection, "decision_sent")
    return {count.value: count.rows for count in counts if count.value and count.value in third}


def clusters_of(view: ResultQuery, counts: CardCounts) -> list[CardItem]:
    """Return one entry per problem, worst first, then one per reason why checks were not done."""
    problems = [
        CardItem(words, counts.problems[code], view.within(("reason", code)), code, kind="reason")
        for code, words in surprising_words(view.metric).items()
        if code in counts.problems and code != NO_SCORE.name
    ]
    return problems + [
        CardItem(value_name("why", code), count, view.within(("why", code)), code, kind="why")
        for code, count in counts.untested.items()
    ]


def _phrases(view: ResultQuery, counts: CardCounts, lines: int) -> list[tuple[str, str]]:
    shown = sum(counts.states.values())
    match = "the 1 line that matches" if shown == 1 else f"the {shown:,} lines that match"
    whole = f"{sum(counts.verdicts.values()):,} explanations"
    if not view.is_whole:
        whole = f"{match} the filters (of {lines:,})"
    holding, wrong = (counts.verdicts.get(word, 0) for word in ("holds_up", "problem_found"))
    if not sum(counts.verdicts.values()):
        return [
            (f"No line{'' if view.is_whole else ' that matches the filters'} has a result.", "")
        ]
    if not holding + wrong:
        return [(f"None of {whole} could be checked.", "")]
    parts = [(f"We checked {holding + wrong:,} of {whole}: ", "")]
    if holding:
        parts.append((verdict_phrase("holds_up", holding), view.within(("verdict", "holds_up"))))
    if wrong:
        parts += [(" and ", "")] if holding else []
        parts.append(
            (verdict_phrase("problem_found", wrong), view.within(("verdict", "problem_found")))
        )
    if opposite := counts.problems.get(OPPOSITE, 0):
        says = f"{opposite:,} {'says' if opposite == 1 else 'say'} the opposite of the decision"
        parts += [(" (", ""), (says, view.within(("reason", OPPOSITE))), (")", "")]
    return [*parts, (".", "")]


def _unlabelled(view: ResultQuery, words: Mapping[str, tuple[int, int]]) -> list[CardItem]:
    """Return one summary item per decision without a label, most frequent first. Each item has a
    form that assigns the decision to a class, in all lines with this decision."""
    return [
        CardItem(
            f"{value_name('why', NO_LABEL)}: {word}",
            count,
            view.within(("why", NO_LABEL), ("decision_sent", word)),
            NO_LABEL,
            view.any_failure.query_within(("decision_sent", word)),
            ACTIONS[NO_LABEL],
            "counts_as",
            word,
            scored=lines,
        )
        for word, (count, lines) in sorted(words.items(), key=lambda item: -item[1][0])
    ]


def _untested(
    view: ResultQuery, contract: ReportedContract | None, code: str, count: int
) -> CardItem:
    control = CONTROLS.get(code)
    fields = contract.request.model_fields | options_of(contract.request) if contract else {}
    if control != "without" and control not in fields:
        control = None
    return CardItem(
        value_name("why", code),
        count,
        view.within(("why", code)),
        code,
        view.query_within(("why", code)),
        ACTIONS.get(code, ""),
        control,
    )
