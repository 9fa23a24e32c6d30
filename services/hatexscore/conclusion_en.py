"""English clauses around a label word: subject, predicate, mood, and the negations that hold it.

Source: our own rules. A negation reaches forward through relative and complement clauses
("nothing that would make it hateful") up to a border: a contrast, a cause, a new finite clause.
Everything is looked for in at most `REACH` characters before a word and `BEYOND` after it.
"""

from __future__ import annotations

import re

from services.hatexscore import cues_en as cues
from services.hatexscore import label_cues_en as labels
from services.hatexscore.readings import Clause, Mood
from services.hatexscore.report import Form
from services.hatexscore.vocabulary import WordInText
from services.hatexscore.words import one_line

REACH = 600  # characters before a label word that may belong to its clause
BEYOND = 200  # after it
OPENING = 60  # characters of a clause that may mark it as final
LONG = 200  # characters before a word, from which the sentence's own opening is another clause's
NEAR = 80
# "I cannot see how it could be anything but hateful": no hedge.
ANYTHING_BUT = re.compile(r"\b(?:could|may|might)\s+be\s+anything\s+(?:but|other\s+than)\b")
CONTRACTED = re.compile(r"n['\u2019]t\b")

# "Hateful it is not": the predicate stands first.
FRONTED = re.compile(
    rf"^\s+(?:it|this|that|(?:this|the)\s+(?:{cues.TEXT_NOUN}))\s+(?:(?:certainly|simply|most\s+certainly)\s+)?"
    r"(?:is|was|remains|stays)(?P<no>n['\u2019]t|\s+not)?\s*(?:$|[.,;:!)\u2014])"
)
# "Sarcastic, yes; hateful, no."
ANSWERED_BEHIND = re.compile(
    r"^\s*(?:[,:]\s*)?(?:(?P<no>no|nope|not\s+(?:at\s+all|really|quite|so\s+much))|yes)\s*(?:$|[.;!)])"
)
# "Far from being hateful, the post …": the subject comes with the main clause.
DANGLING = re.compile(
    r"\W*(?:(?:far|miles)\s+from|rather\s+than|instead\s+of|without)(?:\s+(?:being|constituting"
    r"|containing|amounting\s+to|promoting|spreading|using|an?|any|in\s+any\s+way|itself|\w+ly))*\W*"
)
SUBJECT_NEXT = re.compile(
    rf"^(?:\s+(?:speech|content|language|conduct))?\s*,\s*(?:it|this|(?:this|the|that)\s+"
    rf"(?:[\w'\u2019-]+\s+){{0,2}}?(?:{cues.TEXT_NOUN})|what)\b"
)


def read_clause(sentence: str, word: WordInText) -> Clause | None:
    """How the lower-case sentence uses its label word; None where it is no predicate of anything.

    sentence: quotations blanked to quotation marks, offsets as those of `word`.
    """
    before = one_line(sentence[max(0, word.start - REACH) : word.start])
    after = one_line(sentence[word.end : word.end + BEYOND])
    if labels.BRACKETED.search(before) and labels.CLOSED.match(after):
        before, after = before.rstrip('( "'), labels.CLOSED.sub(r"\1 ", after)
    verb = word.word.kind == "verbs"
    if word.word.capitals and not cues.AFTER_BARE.match(after):
        return None
    own, prior = _own_clause(before)
    inverted = _inverted(sentence, own, after)
    if inverted is not None:
        return inverted
    denies = labels.unmet(own, after) if word.word.side == "hateful" else None
    if denies is None and not verb and _only_named(before, after):
        return None
    rejects = _rejects(own, after) if denies is None else None
    form = _form(own, prior, after, word) if rejects is None else "classification"
    form = "predication" if denies is not None else form
    if form is None:
        return None
    mood = _mood(sentence, own, prior, after)
    if mood == "asserted":
        alone = cues.FOUND.match(after) or labels.PREFERRED.match(after)
        mood = _subject_mood(own, prior, "bare" if alone else form)
    if mood == "asserted" and _final(own, before):
        form = "final"
    conceded = cues.CONCESSION.search(prior) is not None
    denials = _denials(own, asked=mood == "asked") + bool(rejects) + bool(denies)
    denials += rejects is None and _denied_behind(own, after)
    return Clause(form, mood, denials, bool(rejects), conceded)


def _inverted(sentence: str, own: str, after: str) -> Clause | None:
    """A verdict whose subject or answer stands behind the word; None where none does."""
    if _asks(sentence):
        return None
    behind = FRONTED.match(after) or ANSWERED_BEHIND.match(after)
    if behind is not None and cues.BARE.fullmatch(own):
        return Clause("predication", denials=_denials(own) + bool(behind["no"]))
    if DANGLING.fullmatch(own) and SUBJECT_NEXT.match(after):
        return Clause("predication", denials=_denials(own))
    return None


def _asks(sentence: str) -> bool:
    return sentence.rstrip(" \"'*_)").endswith(("?", "\uff1f"))


def _only_named(before: str, after: str) -> bool:
    """Is the word part of a name or itself the subject: "hate speech laws", "the term hateful"?"""
    named = cues.NO_VERDICT_BEFORE.search(before[-NEAR:]) or cues.NO_VERDICT_AFTER.match(after)
    return named is not None


def _own_clause(before: str) -> tuple[str, str]:
    """The words that a negation of the label word may stand in, and those before them."""
    text = cues.PARENTHESIS.sub(" ", before)
    adjunct = cues.ADJUNCT.match(text)
    cut = adjunct.end() if adjunct else 0
    for border in cues.BORDER.finditer(text, cut):
        cut = border.end()
    own = cues.NO_LIST.sub(" ", cues.IDIOM.sub(" ", text[cut:]))
    return cues.RELATIVE.sub(" ", own), text[:cut]


def _denials(own: str, *, asked: bool = False) -> int:
    """asked: "isn't it hateful?" asks the same as "is it hateful?"."""
    if (last := cues.CONTRASTED.search(own)) and last.start() > 0:
        return 1
    found = [match.group() for match in cues.NEGATION.finditer(own)]
    doubled = sum(one == "nor" for one in found[1:])  # neither ... nor, not ... nor: one denial
    turned = asked and cues.NEGATIVE_QUESTION.match(own) is not None
    return len(found) - doubled - turned


def _denied_behind(own: str, after: str) -> bool:
    """ "Hate speech is not present", "toxic is not the right label"."""
    present = None if cues.PREDICATE.search(own) else cues.PRESENT.match(after)
    said = present or labels.PREFERRED.match(after)
    return said is not None and said["no"] is not None


def _rejects(own: str, after: str) -> bool | None:
    """Whether a label is rejected ("the classification as normal is not accurate") or confirmed;
    None where no label is spoken of."""
    label = labels.LABEL_SUBJECT.search(own) or labels.LABEL_NOUN_AFTER.match(after)
    if labels.LABEL_NOUN_AFTER.match(after) and labels.ENDORSES.search(own):
        return False  # a disagreement is a negation like others
    said = labels.VERDICT_AFTER.match(after) if label else None
    if said is None:
        return None
    judged, verb = said["judged"], said["verb"]
    if judged is None and verb not in labels.SUFFICES:
        return None
    negative = bool(said["no"]) or verb.endswith(("n't", "n\u2019t"))
    rejecting: bool = judged in labels.REJECTING or verb in ("fails", "misses", *labels.CHEAPENS)
    return rejecting != negative


def _form(own: str, prior: str, after: str, word: WordInText) -> Form | None:
    """How the word is predicated; None where it is not."""
    if word.word.kind == "verbs":
        return "predication"
    predicates = list(cues.PREDICATE.finditer(own))
    if labels.PREFERRED.match(after):
        return "classification"
    if not predicates:
        return _bare(own, prior, after, word)
    expletive = cues.EXPLETIVE.search(own) and cues.EXPLETIVE_AFTER.match(after)
    if cues.ABOUT_IT.search(own, predicates[-1].end()) or expletive:
        return None
    return "classification" if cues.CLASSIFICATION.search(own) else "predication"


def _bare(own: str, prior: str, after: str, word: WordInText) -> Form | None:
    """A verdict without a verb: "Not hateful: …", "offensive but not hateful"."""
    if cues.PRESENT.match(after):
        return "predication"
    if word.word.kind == "actions" and cues.OBJECT.match(after) and cues.ACTOR.fullmatch(own):
        return "bare"
    if not (cues.BARE.fullmatch(own) and cues.AFTER_BARE.match(after)):
        return None
    if cues.PREDICATE.search(prior) and not cues.DROPPED_SUBJECT.search(prior):
        return "predication"
    verdict = cues.FIELD_OF_VERDICT.search(prior) or cues.FINAL.match(prior)
    if cues.FIELD.search(prior) and not verdict:
        return None
    return "bare" if cues.BARE.fullmatch(prior) or cues.OPENS_BARE.search(prior) else None


def _mood(sentence: str, own: str, prior: str, after: str) -> Mood:
    """Why the clause asserts nothing; `asserted` where its verbs do, whatever the subject is."""
    if _asks(sentence) or cues.ASKED.search(own) or cues.OR_NOT.match(after):
        return "asked"
    segment = f"{own} \x00 {cues.CONTRAST.split(after)[0]}"
    conditional = cues.IF.search(segment) or cues.IF.search(cues.CONTRAST.split(prior)[-1])
    would = cues.WOULD.search(own) and not (cues.WOULD_JUDGE.search(own) or _would_be(own, prior))
    if conditional or (would and not cues.NONE_OF_IT.search(own)):
        return "hypothetical"
    opening = prior[-NEAR:] if prior.rstrip().endswith(",") else ""
    # What stands before a colon hedges a bare label behind it, as in "either way: hateful".
    ahead = prior[-NEAR:] if prior.rstrip().endswith(":") and not own.strip() else ""
    if cues.DEPENDS.search(segment + opening) or _hedged(own) or cues.HEDGE.search(ahead):
        return "hedged"
    begun = cues.FIRST_SIGHT.match(prior.lstrip()) and not cues.CONTRAST.search(prior)
    if begun or any(map(cues.FIRST_SIGHT.search, (own + after[:OPENING], opening))):
        return "earlier"
    if _reported(own):
        return "reported"
    elsewhere = cues.PARTIAL.search(opening) and not cues.PREDICATE.search(opening)
    partial = cues.PARTIAL.search(own) or cues.PARTIAL.match(after.lstrip()) or elsewhere
    return "partial" if partial else "asserted"


def _would_be(own: str, prior: str) -> bool:
    """ "This would be considered hateful" asserts; after "without it, …" or "elsewhere, …" not."""
    opening = cues.CONTRAST.split(prior)[-1].strip()
    free = not opening.endswith(",") or cues.BECAUSE.match(opening) is not None
    return free and cues.WOULD_OF_TEXT.search(own) is not None


def _hedged(own: str) -> bool:
    """`Nothing that could be called hateful` hedges nothing."""
    hedge = cues.HEDGE.search(ANYTHING_BUT.sub(" be ", own))
    if hedge is None or hedge.group() not in ("could", "may", "might"):
        return hedge is not None
    return cues.NOTHING_THAT.search(own, 0, hedge.start()) is None


def _reported(own: str) -> bool:
    """Does somebody else say it? The model and its moderators speak for the explanation."""
    for verb in cues.VERBS.finditer(own):
        ahead = CONTRACTED.sub(" not", own[: verb.start()][-OPENING:])
        if cues.AGENT.search(ahead) or cues.WHAT.search(ahead):
            continue
        if verb["say"] or cues.OTHERS.search(ahead):
            return True
    return False


def _final(own: str, before: str) -> bool:
    opens = cues.FINAL.search(own[:OPENING])
    return bool(opens or (len(before) < LONG and cues.FINAL.search(before[:OPENING])))


def _subject_mood(own: str, prior: str, form: Form) -> Mood:
    """An appeal, general, or asserted of this text."""
    appeal = cues.APPEAL.search(own) or cues.APPEAL_ASKS.search(own)
    specific = cues.SPECIFIC.search(own, appeal.end() if appeal else 0)
    if appeal and not cues.APPEAL_EXCEPT.search(own) and not specific:
        return "appeal"
    if not specific and (cues.GENERAL.search(own) or _of_another(own)):
        return "general"
    return "asserted" if form == "bare" or _about_text(own, prior) else "general"


def _of_another(own: str) -> bool:
    """Is it said of persons or things that the text names: "mocks people who are hateful"?"""
    relative = cues.OTHER_THING.search(own)
    if relative is None:
        return False
    leading = cues.LEADING.match(own)
    outer = own[leading.end() if leading else 0 : relative.start()]
    return not (cues.NONE_OF_IT.search(outer) or cues.COPULA.search(outer)) and bool(outer.strip())


def _about_text(own: str, prior: str) -> bool:
    """Is the subject this text? A clause without one takes that of the clauses before it."""
    if cues.MAKES_IT.search(own):
        return True
    leading = cues.LEADING.match(own)
    head = own[leading.end() :] if leading else own
    if head.startswith("which"):
        refers_to = cues.REPORTS.split(cues.CONTRAST.split(prior)[-1])[0]
        return cues.PLAIN_NEGATION.search(refers_to) is None and cues.SIGN_OF.search(head) is None
    if cues.ONE_IN_GENERAL.match(head):
        return False
    if cues.INDEFINITE.match(head) or cues.GERUND.match(head):
        does = cues.GERUND.match(head) and '"' in head  # 'calling them "lazy" is hateful'
        return bool(does or cues.THIS_TEXT.search(own))
    if cues.DEFINITE.match(head):
        return _definite(head)
    predicate = cues.PREDICATE.search(head)
    if predicate is None and not cues.BARE.fullmatch(head):
        return cues.THIS_TEXT.search(head) is not None
    if predicate is None or predicate.start() == 0:
        return _about_text(prior[-LONG:], "") if any(map(str.isalnum, prior)) else True
    until = len(head) if cues.CLASSIFICATION.search(head) else predicate.end()
    return cues.THIS_TEXT.search(head, 0, until) is not None


def _definite(head: str) -> bool:
    """A definite subject is the text, unless it is no text; `we` must judge something definite."""
    if not cues.OURSELVES.match(head):
        return cues.NOT_A_TEXT.match(head) is None
    judged = cues.VERBS.search(head) and (
        cues.THIS_TEXT.search(head) or cues.NONE_OF_IT.search(head)
    )
    own_view = cues.JUDGED_OBJECT.search(head) or cues.OWN_VIEW.search(head)
    return bool(judged or own_view or cues.SPECIFIC.search(head))
