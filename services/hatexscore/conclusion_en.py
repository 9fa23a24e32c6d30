"""English clauses around a label word: subject, predicate, mood, and the negations that hold it.

Source: our own rules. A negation reaches forward through relative and complement clauses
("nothing that would make it hateful") up to a border: a contrast, a cause, a new finite clause.
Everything is looked for in at most `REACH` characters before a word and `BEYOND` after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.hatexscore import cues_en as cues
from services.hatexscore import label_patterns as labels
from services.hatexscore import moods_en as moods
from services.hatexscore.paraphrases import in_plain_words
from services.hatexscore.report import Form
from services.hatexscore.vocabulary import GAP, Clause, Mood, WordInText

REACH = 600  # characters before a label word that may belong to its clause
BEYOND = 200  # after it
OPENING = 60  # characters of a clause that may mark it as final
LONG = 200  # characters before a word, from which the sentence's own opening is another clause's
NEAR = 80
# "I cannot see how it could be anything but hateful": no hedge.
ANYTHING_BUT = re.compile(r"\b(?:could|may|might)\s+be\s+anything\s+(?:but|other\s+than)\b")
COULD_BE = re.compile(r"\b(?:could|may|might)\s+be\b")
# "We could find neither slurs nor hate speech": no hedge either.
COULD_FIND = re.compile(
    r"\b(?:i|we|one)\s+could\s+(?:\w+ly\s+)?(?:find|see|detect|identify|spot|discern|locate)\b"
)
CONTRACTED = re.compile(r"n['\u2019]t\b")
# "The author does not say that it is hateful": nor does the explanation.
AUTHOR_NOT = re.compile(
    r"\b(?:author|writer|user|speaker|poster|s?he)\s+(?:(?:do(?:es)?|did|ha[sd])\s+not|never)\s*$"
)
THAT_IT = re.compile(r"\s+(?:that|it|this|the)\b")

# "Hateful it is not": the predicate stands first.
FRONTED = re.compile(
    rf"^\s+(?:it|this|that|(?:this|the)\s+(?:{cues.TEXT_NOUN}))(?:\s+(?:(?:certainly|simply"
    rf"|most\s+certainly)\s+)?"
    r"(?:is|was|remains|stays)|['\u2019]s)(?P<no>n['\u2019]t|\s+not)?\s*(?:$|[.,;:!)\u2014])"
)
# "Sarcastic, yes; hateful, no."
ANSWERED_BEHIND = re.compile(
    r"^\s*(?:[,:]\s*)?(?:(?P<no>no|nope|not\s+(?:at\s+all|really|quite|so\s+much))|yes)\s*(?:$"
    r"|[.;!)])"
)
# "Far from being hateful, the post …": the subject comes with the main clause.
DANGLING = re.compile(
    r"\W*(?:(?:far|miles)\s+from|rather\s+than|instead\s+of|without)(?:\s+(?:being|constituting"
    r"|containing|amounting\s+to|promoting|spreading|using|an?|any|in\s+any\s+way|itself"
    r"|\w+ly))*\W*"
)
SUBJECT_NEXT = re.compile(
    rf"^(?:\s+(?:speech|content|language|conduct))?\s*,\s*(?:it|this|(?:this|the|that)\s+"
    rf"(?:[\w'\u2019-]+\s+){{0,2}}?(?:{cues.TEXT_NOUN})|what)\b"
)


# "… and should not be considered hateful": the subject is that of the clause before.
NO_SUBJECT = re.compile(
    r"(?:(?:should|must|can|cannot|will|would|does|do|did|has|have)(?:n['\u2019]t)?\s+"
    r"|(?:not|never|therefore|thus|hence|also|\w+ly)\s+)*"
)


def _as_stood_by(said: re.Match[str]) -> str:
    return " it is false that " if said["no"] else " it is true that "


def _without_gloss(before: str) -> str:
    gloss = cues.THAT_IS.match(before)
    if gloss is None or moods.NEGATION.search(gloss["said"]) or moods.HEDGE.search(gloss["said"]):
        return before
    return gloss["own"]


def read_word(sentence: str, word: WordInText) -> Clause | None:
    """How the lower-case sentence uses its label word; None where it is no predicate of anything.

    sentence: quotations blanked to quotation marks, offsets as those of `word`.
    """
    before, after = _word_context(sentence, word)
    if word.word.capitals and not cues.AFTER_BARE.match(after):
        return None
    own, prior = _scope(before)
    inverted = _inverse_order(sentence, own, after)
    if inverted is not None:
        return inverted
    denies = labels.unmet(own, after) if word.word.side == "hateful" else None
    if denies is None and word.word.kind != "verbs" and _is_name(word, own, before, after):
        return None
    rejects = rejects_label(own, after) if denies is None else None
    if rejects is None and labels.PREDICTED.match(own):
        return Clause("classification", "reported")
    form = _form(own, prior, after, word) if rejects is None else "classification"
    form = "predication" if denies is not None else form
    if form is None:
        defined = cues.BARE.fullmatch(own) and labels.DEFINES.match(after)
        return Clause("predication", "general") if defined else None
    return _judged(WordContext(sentence, own, prior, after), word, form, rejects, bool(denies))


@dataclass(frozen=True, slots=True)
class WordContext:
    """A label word's sentence: its clause before the word, what precedes that, what follows."""

    sentence: str
    own: str
    prior: str
    after: str


def clause_of(sentence: str, word: WordInText) -> WordContext:
    """A label word's clause, its part before the word without relative clauses and idioms."""
    before, after = _word_context(sentence, word)
    own, prior = _scope(before)
    return WordContext(sentence, own, prior, after)


def _judged(
    around: WordContext, word: WordInText, form: Form, rejects: bool | None, denies: bool
) -> Clause:
    """What is asserted of the word, once it is clear that something is predicated."""
    own, prior, after = around.own, around.prior, around.after
    mood = _mood(around.sentence, own, prior, after)
    if mood == "asserted":
        alone = _has_no_subject(own, after, word)
        mood = _subject_mood(own, prior, "bare" if alone else form)
    conceded = cues.CONCESSION.search(prior) is not None
    if mood == "asserted" and rejects is None and moods.EARLIER_JUDGE.search(own):
        mood = "earlier"
    elif mood == "asserted" and conceded and moods.BY_A_MODEL.search(own):
        mood = "reported"  # the explanation's own verdict stands in the main clause
    elif mood == "asserted" and _final(own, prior + own):
        form = "final"
    denials = _denials(own, asked=mood == "asked") + bool(rejects) + denies
    denials += rejects is None and _negated_after(own, after)
    denials += word.word.kind == "verbs" and cues.NO_OBJECT.match(after) is not None
    return Clause(form, mood, denials, bool(rejects), conceded)


def _has_no_subject(own: str, after: str, word: WordInText) -> bool:
    """Is it said of this text whatever stands before the word: "no hate was found"?"""
    if word.word.kind == "verbs" and GAP in word.word.text:  # "we have taken it down"
        return bool(cues.ACTOR.fullmatch(own) or cues.ACTED.fullmatch(own))
    present = cues.BARE.fullmatch(own) and cues.PRESENT.match(after)
    if labels.JUDGED_LABEL.match(after) or labels.LEVEL_AFTER.match(after):
        return True
    return bool(present or cues.FOUND.match(after) or labels.PREFERRED.match(after))


def _word_context(sentence: str, word: WordInText) -> tuple[str, str]:
    """What stands before and behind the word, each on one line and without brackets around it."""
    before, after = word.surroundings(sentence, REACH, BEYOND)
    after = cues.OWN_OPINION.sub(r"\1", after)
    before, after = in_plain_words(cues.QUOTED_ASIDE.sub(" ", before), after)
    before = cues.ABOUT_WHOM.sub(
        r"\1 ", cues.STAND_BY.sub(_as_stood_by, cues.SMALL_TALK.sub("", before))
    )
    before = _without_gloss(before)
    if labels.BRACKETED.search(before) and labels.CLOSED.match(after):
        return before.rstrip('( "'), labels.CLOSED.sub(r"\1 ", after)
    return before, after


def _inverse_order(sentence: str, own: str, after: str) -> Clause | None:
    """A verdict whose subject or answer stands behind the word; None where none does.

    Of "a thin line between mockery and hate" a general statement.
    """
    if labels.BETWEEN.search(own):
        return Clause("predication", "general")
    if moods.IF_NOT_THIS.fullmatch(own) and moods.NOTHING_IS.match(after):
        return Clause("predication")
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


def _is_name(word: WordInText, own: str, before: str, after: str) -> bool:
    """Is the word part of a name or itself the subject: "hate speech laws", "the term hateful"?

    Or said of a label: "the hateful label is appropriate".
    """
    if word.word.text in labels.FITTING and labels.OF_A_LABEL.search(own):
        return True
    if labels.ARGUED.fullmatch(own) and after.lstrip().startswith(":"):
        return True
    named = cues.NO_VERDICT_BEFORE.search(before[-NEAR:]) or cues.NO_VERDICT_AFTER.match(after)
    return named is not None


def _scope(before: str) -> tuple[str, str]:
    """The words that a negation of the label word may stand in, and those before them."""
    text = cues.WHOSE_TEXT.sub(r"\1", cues.PARENTHESIS.sub(" ", before))
    text = moods.RULE_AGAINST.sub(r"\1 on", moods.CLAUSE_NAMED.sub("category of ", text))
    text = moods.FACED_WITH.sub(_as_this, moods.LESS_THAN.sub(" ", text))
    text = moods.LYING.sub(" it is false that ", moods.RIGHT_IN_SAYING.sub(_as_judged, text))
    text = moods.DECISION_ACTS.sub(_as_label, moods.CLEFT.sub(" it ", text))
    text = moods.UNDER_NO.sub(r"\g<head> it is \g<no> ", text)
    adjunct = cues.ADJUNCT.match(text)
    cut = adjunct.end() if adjunct else 0
    for border in cues.BORDER.finditer(text, cut):
        cut = border.end()
    if earns := labels.WHICH_EARNS.search(text, cut):
        cut = earns.end()
    text = text[:cut] + cues.BEFORE_SELF.sub(" ", text[cut:])
    fronted = moods.DENIED_FIRST.sub(r" \g<subject> \g<verb> not ", text[cut:])
    fronted = moods.NO_OTHER.sub(_nothing_else, fronted)
    own = moods.IDIOM.sub(_idiom_left, moods.NO_LESS.sub(r" makes \1 ", fronted))
    own = moods.NOT_LIST.sub(" ", own)
    own = moods.NO_LIST.sub(" ", cues.SET_APART.sub(r"marks \1 as ", own))
    own = moods.SHARED_VIEW.sub(r"\g<dis> find ", own)
    own = labels.BETTER_LABEL.sub("the right label is ", moods.ANY_READER.sub("it is ", own))
    own = moods.GOING_WITH.sub(r"\1i go with ", moods.OPPOSITE.sub("anything but ", own))
    own = moods.SUBJECT_LACKS.sub(" ", own)
    of_a_person = moods.OF_A_PERSON.match(own.lstrip()) is not None
    return own if of_a_person else cues.RELATIVE.sub(" ", own), text[:cut]


def _as_this(faced: re.Match[str]) -> str:
    return " this is not " if faced["no"] else " this is "


def _as_label(act: re.Match[str]) -> str:
    """ "Removed it for" is "labelled it as", "was removed for" is "was labelled as"."""
    verb = "labelling" if act.group().split()[0].endswith("ing") else "labelled"
    return f" {verb}{''.join(filter(None, act.groups()))} as "


def _as_judged(said: re.Match[str]) -> str:
    return " it is false that " if said["wrong"] else " it is true that "


def _nothing_else(said: re.Match[str]) -> str:
    """ "Can't see how this could be anything but" leaves "see how this is"."""
    return " " if said.group().endswith("that") else f" {COULD_BE.sub('is', said['what'])} "


def _idiom_left(idiom: re.Match[str]) -> str:
    """ "We should not pretend this is anything other than" leaves "this is"."""
    said = moods.THIS_IS.search(idiom.group())
    return f" {said.group()} " if said else " "


def _denials(own: str, *, asked: bool = False) -> int:
    """asked: "isn't it hateful?" asks the same as "is it hateful?"."""
    if (last := cues.CONTRASTED.search(own)) and last.start() > 0:
        return 1
    found = [match.group() for match in moods.NEGATION.finditer(own)]
    # neither ... nor, not ... nor, not ..., neither ... nor: one denial
    doubled = sum(one in ("nor", "neither") for one in found[1:])
    turned = asked and moods.NEGATIVE_QUESTION.match(own) is not None
    return len(found) - doubled - turned


def _negated_after(own: str, after: str) -> bool:
    """ "Hate speech is not present", "toxic is not the right label"."""
    present = None if cues.PREDICATE.search(own) else cues.PRESENT.match(after)
    if moods.IN_ERROR.match(after):
        return True
    if moods.THAN.match(after) and own.rstrip().endswith("less"):
        return moods.NEGATION.search(own) is None  # "less hateful than frustrated"
    if present is not None:
        return (present["no"] is not None) != (present["absent"] is not None)
    preferred = labels.PREFERRED.match(after)
    return preferred is not None and preferred["no"] is not None


def rejects_label(own: str, after: str) -> bool | None:
    """Whether a label is rejected ("the classification as normal is not accurate") or confirmed;
    None where no label is spoken of."""
    if (rejected := labels.judged_label(own, after)) is not None:
        return rejected
    found = labels.JUDGED_LABEL.match(after) if labels.JUDGING.search(own) else None
    if found is not None:
        return (found["right"] is None) != bool(found["no"])
    if too_strong := labels.TOO_STRONG.match(after):
        return too_strong["no"] is None
    after = labels.BEHIND_THE_LABEL.split(after, maxsplit=1)[0]
    label = labels.LABEL_SUBJECT.search(own) or labels.LABEL_NOUN_AFTER.match(after)
    label = label or labels.GIVEN_LABEL.search(own)
    if labels.LABEL_NOUN_AFTER.match(after) and labels.ENDORSES.search(own):
        return False  # a disagreement is a negation like others
    if label and (labels.FAILS_AFTER.match(after) or labels.TRIVIALISES.match(after)):
        return True
    said = labels.VERDICT_AFTER.match(after) if label else None
    if said is None:
        return None
    judged, verb = said["judged"], said["verb"]
    if judged is None and verb not in labels.SUFFICES:
        return None
    negative = bool(said["no"]) or CONTRACTED.sub(" not", verb).split()[-2:-1] == ["not"]
    negative = negative or verb.endswith(("n't", "n\u2019t"))
    rejecting: bool = judged in labels.REJECTING or verb in labels.FAILS
    return rejecting != negative


def _form(own: str, prior: str, after: str, word: WordInText) -> Form | None:
    """How the word is predicated; None where it is not."""
    if word.word.kind == "verbs":
        return "predication"
    if cues.ACTED.fullmatch(own) and (cues.OBJECT.match(after) or cues.AFTER_BARE.match(after)):
        return "bare"
    predicates = list(cues.PREDICATE.finditer(own))
    if labels.PREFERRED.match(after) or labels.EARNS_LABEL.search(own):
        return "classification"
    if labels.NAMED_LABEL.match(own):
        return None
    if not predicates:
        return _bare(own, prior, after, word)
    expletive = cues.EXPLETIVE.search(own) and cues.EXPLETIVE_AFTER.match(after)
    spoken_of = cues.ABOUT_IT.search(own, predicates[-1].end()) and not (
        cues.JUDGED_AS.search(own) or cues.CONTRASTED.search(own)
    )
    if spoken_of or expletive:
        return None
    return "classification" if cues.CLASSIFICATION.search(own) else "predication"


def _bare(own: str, prior: str, after: str, word: WordInText) -> Form | None:
    """A verdict without a verb: "Not hateful: …", "offensive but not hateful"."""
    if cues.PRESENT.match(after):
        return "predication"
    if word.word.kind == "actions" and cues.OBJECT.match(after) and cues.ACTOR.fullmatch(own):
        return "bare"
    contrasted = _contrasted(own, prior, after)
    if contrasted or not cues.AFTER_BARE.match(after) or own.rstrip().endswith(" the"):
        return contrasted  # "but not the hate"
    listed = cues.ADJECTIVES.fullmatch(own) and word.word.text.endswith(cues.ADJECTIVAL)
    qualities = cues.QUALITIES.fullmatch(prior) and cues.BARE.fullmatch(own)
    if qualities or (listed and (not prior.strip() or moods.FINAL.match(prior))):
        return "bare"
    if not cues.BARE.fullmatch(own):
        return None
    if cues.PREDICATE.search(prior) and not cues.DROPPED_SUBJECT.search(prior):
        return "predication"
    verdict = cues.FIELD_OF_VERDICT.search(prior) or moods.FINAL.match(prior)
    kept = word.word.side == "non-hateful" and cues.NOT_FLAGGED.match(prior)
    if cues.FIELD.search(prior) and not (verdict or kept):
        return None
    stands_alone = cues.BARE.fullmatch(prior) or cues.CONCEDED.search(prior)
    return "bare" if stands_alone or cues.OPENS_BARE.search(prior) else None


def _contrasted(own: str, prior: str, after: str) -> Form | None:
    """Of "satire rather than hate", "not criticism of a state but hatred of its people"."""
    if moods.NOT_BUT.search(prior) and cues.BARE.fullmatch(own) and moods.OF_THEM.match(after):
        return "predication"
    alone = not any(map(str.isalnum, prior)) and cues.AFTER_BARE.match(after)
    return "bare" if alone and moods.BARE_CONTRAST.fullmatch(own) else None


def _mood(sentence: str, own: str, prior: str, after: str) -> Mood:
    """Why the clause asserts nothing; `asserted` where its verbs do, whatever the subject is."""
    asked = moods.ASKED.search(own) and not moods.ASKING.match(own)
    if _asks(sentence) or asked or moods.OR_NOT.match(after):
        return "asked"
    segment = f"{own} \x00 {cues.REASON.split(cues.CONTRAST.split(after)[0])[0]}"
    follows = moods.CONSEQUENCE.search(prior) or moods.FOLLOWS.match(own)
    condition = None if follows else moods.IF.search(cues.CONTRAST.split(prior)[-1])
    conditional = moods.IF.search(segment) or condition
    judging = (
        moods.WOULD_JUDGE.search(own)
        or cues.ACTOR.fullmatch(own)
        or labels.LABEL_WOULD_BE.search(own)
    )
    would = moods.WOULD.search(own) and not (judging or _is_conditional(own, prior))
    if conditional or (would and not cues.NONE_OF_IT.search(own)):
        return "hypothetical"
    opening = cues.CONTRAST.split(prior)[-1][-NEAR:] if prior.rstrip().endswith(",") else ""
    # What stands before a colon hedges a bare label behind it, as in "either way: hateful".
    ahead = prior[-NEAR:] if prior.rstrip().endswith(":") and labels.AS_ONE.fullmatch(own) else ""
    hedged = moods.DEPENDS.search(segment + opening) or _hedged(own) or moods.HEDGE.search(ahead)
    if hedged or moods.STILL_OPEN.search(after) or moods.DIVIDED.search(prior):
        return "hedged"
    begun = moods.FIRST_SIGHT.match(prior.lstrip()) and not cues.CONTRAST.search(prior)
    if begun or any(map(moods.FIRST_SIGHT.search, (own + after[:OPENING], opening))):
        return "earlier"
    if _reported(own) or labels.SAID_BY.match(after):
        return "reported"
    elsewhere = moods.PARTIAL.search(opening) and not cues.PREDICATE.search(opening)
    partial = moods.PARTIAL.search(own) or moods.PARTIAL.match(after.lstrip()) or elsewhere
    whole = cues.MAKES_IT.search(own) or moods.REVEALS.search(own)
    return "partial" if partial and not whole else "asserted"


def _is_conditional(own: str, prior: str) -> bool:
    """ "This would be considered hateful" asserts; after "without it, …" or "elsewhere, …" not."""
    opening = cues.CONTRAST.split(prior)[-1].strip()
    free = not opening.endswith(",") or moods.BECAUSE.match(opening) is not None
    return free and moods.WOULD_OF_TEXT.search(own) is not None


def _hedged(own: str) -> bool:
    """`Nothing that could be called hateful` hedges nothing."""
    hedge = moods.HEDGE.search(COULD_FIND.sub(" find ", ANYTHING_BUT.sub(" be ", own)))
    if hedge is None or hedge.group() not in ("could", "may", "might"):
        return hedge is not None
    return cues.NOTHING_THAT.search(own, 0, hedge.start()) is None


def _reported(own: str) -> bool:
    """Does somebody else say it? The model and its moderators speak for the explanation."""
    if labels.level_before(own) is not None:
        return False
    for verb in moods.VERBS.finditer(own):
        ahead = CONTRACTED.sub(" not", own[: verb.start()][-OPENING:])
        if verb.group().startswith("reported") and moods.WAS.search(ahead):
            return True
        if moods.SOME_PEOPLE.fullmatch(ahead):
            return True
        if verb["say"] and AUTHOR_NOT.search(ahead) and THAT_IT.match(own, verb.end()):
            return True
        if moods.AGENT.search(ahead) or moods.WHAT.search(ahead):
            continue
        if verb["say"] or moods.OTHERS.search(ahead):
            return True
    return False


def _final(own: str, before: str) -> bool:
    opens = moods.FINAL.search(own[:OPENING])
    return bool(opens or (len(before) < LONG and moods.FINAL.search(before[:OPENING])))


def _subject_mood(own: str, prior: str, form: Form) -> Mood:
    """An appeal, general, or asserted of this text."""
    if moods.APPEAL_ALWAYS.search(own):
        return "appeal"
    appeal = moods.APPEAL.search(own) or moods.APPEAL_ASKS.search(own)
    specific = cues.SPECIFIC.search(own, appeal.end() if appeal else 0)
    if appeal and not moods.APPEAL_EXCEPT.search(own) and not specific:
        return "appeal"
    if not specific and (moods.GENERAL.search(own) or _has_other_subject(own)):
        return "general"
    return "asserted" if form == "bare" or _about_text(own, prior) else "general"


def _has_other_subject(own: str) -> bool:
    """Is it said of persons or things that the text names: "mocks people who are hateful"?"""
    relative = moods.OTHER_THING.search(own)
    if relative is None:
        return False
    leading = cues.LEADING.match(own)
    outer = own[leading.end() if leading else 0 : relative.start()]
    return not (cues.NONE_OF_IT.search(outer) or cues.COPULA.search(outer)) and bool(outer.strip())


def _about_text(own: str, prior: str) -> bool:
    """Is the subject this text? A clause without one takes that of the clauses before it."""
    if cues.MAKES_IT.search(own) or labels.EARNS_LABEL.search(own):
        return True
    leading = cues.LEADING.match(own)
    head = own[leading.end() :] if leading else own
    if head.startswith("which"):
        return _resumes_text(head, prior)
    if moods.OF_A_PERSON.match(head) or moods.ONE_IN_GENERAL.match(head):
        return False
    if moods.INDEFINITE.match(head) or moods.GERUND.match(head):
        does = moods.GERUND.match(head) and '"' in head  # 'calling them "lazy" is hateful'
        says = moods.SAYING.match(head) and not _denials(own)
        return bool(does or says or cues.THIS_TEXT.search(own))
    if cues.DEFINITE.match(head):
        return _definite(head)
    predicate = cues.PREDICATE.search(head)
    if predicate is None and not (cues.BARE.fullmatch(head) or NO_SUBJECT.fullmatch(head)):
        return cues.THIS_TEXT.search(head) is not None
    if predicate is None or NO_SUBJECT.fullmatch(head, 0, predicate.start()):
        follows = moods.CONSEQUENCE.search(prior) or moods.FOLLOWS.match(own)
        return _takes_up_text(prior, concludes=predicate is None and follows is not None)
    until = len(head) if cues.CLASSIFICATION.search(head) else predicate.end()
    return cues.THIS_TEXT.search(head, 0, until) is not None


def _takes_up_text(prior: str, *, concludes: bool) -> bool:
    if concludes and not cues.KINDS_OF_TEXTS.match(prior):
        return True
    return _about_text(prior[-LONG:], "") if any(map(str.isalnum, prior)) else True


def _resumes_text(head: str, prior: str) -> bool:
    """ "…, which is hateful": of this text, not of a standard or of what is denied before it."""
    if moods.NO_TEXT_BEFORE.search(prior) or cues.SIGN_OF.search(head):
        return False
    refers_to = moods.REPORTS.split(cues.CONTRAST.split(prior)[-1])[0]
    return moods.PLAIN_NEGATION.search(refers_to) is None


def _definite(head: str) -> bool:
    """A definite subject is the text, unless it is no text; `we` must judge something definite."""
    if not cues.OURSELVES.match(head):
        return cues.NOT_A_TEXT.match(head) is None
    judged = moods.VERBS.search(head) and (
        cues.THIS_TEXT.search(head) or cues.NONE_OF_IT.search(head)
    )
    own_view = cues.JUDGED_OBJECT.search(head) or cues.OWN_VIEW.search(head)
    return bool(judged or own_view or cues.SPECIFIC.search(head))
