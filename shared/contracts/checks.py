"""Derives the verdict on an explanation from a metric's checks. A metric lists its checks, gravest
first, and names those that a conclusion requires. This module derives the verdict, its reason, the
problems, and the advice for an untested check."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from shared.contracts.messages import (
    LONGEST_REASON,
    Check,
    Finding,
    NullReason,
    Report,
    Untested,
    VerdictWord,
)

Route = Literal["use", "person", "ask again", "decide without it"]
TO_A_PERSON = frozenset(
    {"opposite-decision", "misquoted", "quote-not-in-post", "quote-not-in-text"}
)

_LONGER = "Test longer posts, or read the batch report, which tests many results together."
_MORE = "A single result cannot show more. The batch report tests many results together."
_LOGPROBS = "Use a model server that returns log-probabilities of the answer's tokens."

ACTIONS: Mapping[str, str] = {  # why a check has no answer → what the caller can do
    "refused": "Ask the model again, or ask another model.",
    "explanation-unfit": "Send an explanation that the metric can read. `warnings` says why it"
    " could not read this explanation.",
    "no-rules": "Name a language model in `reader_model` that reads the explanation's language.",
    "conclusion-unread": "State the decision in one sentence, such as “Conclusion: hateful.”",
    "no-words": "Send a text that contains words, and mark words in it.",
    "language-undecided": "Send `language`, with the request or for a whole batch.",
    "untrained-language": "Name a `model` that was trained on the language, or send "
    "`accept_untrained_languages`.",
    "probability-missing": "Send both probabilities: with and without the quotes.",
    "label-unknown": "Send the decision that the explanation is about.",
    "model-disagrees": "Send your own model's probabilities, with and without the quotes, or name "
    "your model in `model`.",
    "judge-has-no-such-label": "Name a judge in `model` that has the label, or send your own "
    "model's probabilities of the label.",
    "quote-not-found": "Copy the quoted words exactly from the text.",
    "quote-unread": "Quote from the beginning of the text, or name a `model` that reads more.",
    "answer-unread": "Name a model that answers with one of the labels.",
    "label-not-listed": _LOGPROBS,
    "answer-cut-by-reasoning": "Raise the model's token limit, or switch off its reasoning.",
    "no-logprobs": _LOGPROBS,
    "text-too-long": "Send a shorter text, or name a model that reads more.",
    "votes-too-coarse": "Raise the number of `votes`.",
    "quotes-carry-hate": "Check the quotes: the model finds them hateful.",
    "whole-post-quoted": "Quote the words that matter, not the whole post.",
    "quotes-translated": "Quote the post in its own language.",
    "quotes-not-searched": "Quote fewer passages.",
    "no-control": "Leave out `control_draws`, and let the service call a model.",
    "too-few-places": _LONGER,
    "too-few-rivals": _LONGER,
    "no-clear-difference": _MORE,
    "small-effect": _MORE,
    "group-not-listed": "Send a `policy` that lists the group.",
    "group-not-attacked": "Say which group the post attacks.",
    "other-group": "Compare the groups that the post and the explanation name. They may be the "
    "same.",
    "attack-told": "Say that the post does not attack the group.",
    "not-about-post": "Describe the post, or quote more of its words.",
    "nothing-to-test": "Send an explanation that states which words lead to the label.",
    "one-of-two": _MORE,
    "no-later-stage": "Send the answers of at least one later stage.",
    "upheld-in-part": "Check which of its reasons the model no longer supports.",
    "no-baseline": "Also let the judge answer without the explanations.",
    "fits-other-posts": "Name facts that only this post has.",
    "no-reasoning": "Use a model that writes its reasoning.",
    "no-threshold": "Leave `min_similarity` out.",
    "some-dropped": "Read the explanations that were dropped.",
    "unscored": "Choose a metric that can score this kind of answer.",
    "no-check": "Read the score: this metric has no test.",
}


def passed(name: str, sentence: str) -> Check:
    """Return a check that the explanation passes."""
    return Check(name=name, outcome="passed", sentence=fitted(sentence))


def failed(name: str, problem: str, sentence: str) -> Check:
    """Return a failed check. `problem` is one of the metric's problem names."""
    return Check(name=name, outcome="failed", reason=problem, sentence=fitted(sentence))


def inconclusive(name: str, reason: str, sentence: str) -> Check:
    """Return an inconclusive check. `reason` is a key of `ACTIONS`."""
    return Check(name=name, outcome="inconclusive", reason=reason, sentence=fitted(sentence))


def not_tested(name: str, reason: str, sentence: str) -> Check:
    """Return an untested check. `reason` is a key of `ACTIONS`."""
    return Check(name=name, outcome="not_tested", reason=reason, sentence=fitted(sentence))


def not_applicable(name: str, sentence: str) -> Check:
    """Return a check that does not apply to this result."""
    return Check(name=name, outcome="not_applicable", sentence=fitted(sentence))


def undefined(name: str, report: Report, *components: str) -> Check | None:
    """Return a check marked as not tested if the report has a reason why one of these components is
    null, else None. The first such component in `components` gives the reason."""
    matching = (
        reason_ for name_ in components for reason_ in report.reasons if reason_.component == name_
    )
    reason: NullReason | None = next(matching, None)
    if reason is None:
        return None
    sentence = f"{reason.detail[:1].upper()}{reason.detail[1:].rstrip('.')}."
    return not_tested(name, reason.code, sentence)


def conclude(checks: Iterable[Check], carrying: Collection[str]) -> Finding:
    """Return the verdict on a list of checks, which must begin with the most severe. `carrying`
    names the checks that a positive verdict needs: one must have passed, and none may be
    unanswered."""
    listed = tuple(checks)
    failures = [check for check in listed if check.outcome == "failed"]
    unanswered = [check for check in listed if check.outcome in ("inconclusive", "not_tested")]
    unanswered.sort(key=lambda one: one.name not in carrying)
    has_carrying = any(check.outcome == "passed" and check.name in carrying for check in listed)
    verdict: VerdictWord
    if failures:
        verdict, reason = "problem_found", failures[0].sentence
    elif has_carrying and not any(check.name in carrying for check in unanswered):
        verdict, reason = "holds_up", _summary(listed)
    else:
        verdict, reason = "not_tested", unanswered[0].sentence if unanswered else ""
    codes = dict.fromkeys(check.reason for check in unanswered if check.reason)
    return Finding(
        verdict=verdict,
        reason=reason,
        checks=listed,
        problems=tuple(dict.fromkeys(check.reason for check in failures if check.reason)),
        untested=tuple(Untested(reason=code, action=ACTIONS[code]) for code in codes),
    )


def route_of(verdict: str | None, problems: Iterable[str]) -> Route | None:
    """Return what to do with an explanation, as the guide's page “From score to decision” says.
    Return None without a verdict."""
    if verdict == "problem_found":
        return "ask again" if TO_A_PERSON.isdisjoint(problems) else "person"
    routes: Mapping[str | None, Route] = {"holds_up": "use", "not_tested": "decide without it"}
    return routes.get(verdict)


def _summary(checks: Sequence[Check]) -> str:
    passes = [check for check in checks if check.outcome == "passed"]
    rest = sum(check.outcome in ("inconclusive", "not_tested") for check in checks)
    if len(passes) == 1:
        return passes[0].sentence
    if not rest:
        return f"It passes all {len(passes)} checks that apply."
    return f"It passes all {len(passes)} checks that could be tested; {rest} could not be tested."


def fitted(sentence: str) -> str:
    """Return the sentence, cut after a word if longer than `LONGEST_REASON`."""
    if len(sentence) <= LONGEST_REASON:
        return sentence
    beginning = sentence[: LONGEST_REASON - 1]
    words, _, _ = beginning.rpartition(" ")
    return f"{(words or beginning).rstrip(' ,;:(')}…"
