"""Reported speech in English: verbs, speakers, and where the platform speaks again.

Of the post and its author the whole predicate is reported ("offers delivery in all countries"), of
others what follows "that", a colon or a verb of claiming. "…, so we removed it", "…, which breaches
Rule 3" are the platform's again. Time is linear in the words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.sor.concepts import LOOKUP
from services.sor.lexicon import POST_NOUNS
from services.sor.reported_speech import (
    REACH,
    Grammar,
    KnownWords,
    Region,
    Speaker,
    SpokenSentence,
    reports,
    spoken,
    word_set,
)
from services.sor.sentences import Span, StatementSentence


def _forms(bases: str) -> frozenset[str]:
    """Of regular verbs."""
    found = set[str]()
    for base in word_set(bases):
        if base.endswith("e"):
            found |= {base, f"{base}s", f"{base}d", f"{base[:-1]}ing"}
        elif base.endswith("y") and base[-2] not in "aeo":
            found |= {base, f"{base[:-1]}ies", f"{base[:-1]}ied", f"{base}ing"}
        else:
            found |= {base, f"{base}s", f"{base}ed", f"{base}ing"}
    return frozenset(found)


PARENTHESIS = 6  # words of "…, as the author says, …" at most
CLAIMING = word_set("""
denies denied swear swears swore sworn say says said saying write writes wrote written
""") | _forms("""
claim allege assert maintain insist declare announce argue suggest warn promise guarantee assure
threaten boast joke predict deny accuse imply hint pretend lament moan assume suspect proclaim brag
state quote cite remark explain shout recount recall complain repeat believe
""")  # fmt: skip
SHOWING = word_set("""
give gives gave given giving seek seeks sought seeking read reads tell tells told telling ships
""") | _forms("""
offer contain show list describe ask call invite urge advise advertise recommend encourage demand
request depict compare name link spread instruct portray mock blame label mention add comment report
""")  # fmt: skip
VERBS = (CLAIMING | SHOWING) - word_set("listing warning")  # nouns of the post
PARTICIPLES = word_set("read said written told given sought sworn")  # without -ed
INTO_CLAUSES = _forms("report ask add comment mention complain") | word_set("""
tell tells told telling
""")  # of others than the post only with "that" or a colon: else they say how it was found
AMBIGUOUS = word_set("""
claim claims state states report reports promise promises offer offers call calls list lists show
shows request requests demand demands comment comments answer answers name names link links quote
quotes joke jokes boast boasts label labels read reads mention mentions spread spreads reply blame
""")
NOUNS = word_set("""
claim claims allegation allegations statement assertion rumour rumor rumours promise promises threat
threats accusation accusations assurance announcement insinuation prediction legend story myth
sentence belief theory news slogan suggestion notion remark
""")
ALLEGED = word_set("allegedly supposedly purportedly reportedly")
PLATFORM = word_set("""
we we've our ours moderator moderators moderation team staff decision decisions notice measure
system systems classifier software algorithm tool reviewer reviewers editor editors admin admins
administrator handler colleague colleagues employee examiner platform
""")
RULES = word_set("""
rule rules policy policies guideline guidelines standard standards section sec clause paragraph
article art act law laws code terms netiquette regulation directive conditions chapter t&c t&cs
annex nr no statute charter \u00a7 \u00a7\u00a7
""")
OF_POST = (POST_NOUNS - {"group"}) | word_set("""
you author authors uploader commenter creator advertiser speaker narrator op caption captions
headline subtitle petition advert poem blogger petitioner reviewer story song refrain sticker chart
graph cartoon drawing meme flyer leaflet reply replies slogan banner line lines
""")
PRONOUNS = word_set("he she they it")
PERSONS = (
    word_set("""
user users member person people somebody someone reader readers visitor visitors doctor expert man
woman neighbour friend source sources critic critics owner mother father teacher parent everybody
everyone nobody others customer customers buyer court authority police who which
""")
    | PRONOUNS
)
MODALS = word_set("""
can could may might must shall should will would to cannot can't please wish want free entitled
right let
""")
MEANT_TO = [[word, "to"] for word in ("meant", "supposed", "intended", "designed")]
BEING = word_set("was were been is are be being")
BETWEEN = BEING | word_set("""
also even then now further only already just again has have had having do does did not doesn't
didn't himself herself themselves yourself itself first later there here still never always no
longer
""")  # a subject and its verb
CONDITIONS = word_set("if whether should unless when")
CONJUNCTIONS = CONDITIONS | word_set("""
and but or because since as that where while although though so whereas after before until what how
why which who
""")
JOINING = word_set("and but or so yet then also plus")
OPENERS = word_set("because since as although after following given while despite in with when")
KNOWING = word_set(
    "agreed accepted know knew understand understood see saw note noted confirm confirmed"
)
STRONG = word_set("therefore thus hence consequently accordingly")
REASONS = word_set("as since because why so which that for this reason in of is hence")
POINTING = word_set("""
which this that such it both contrary in under as a an these thereby violating breaching infringing
""")
WISHES = word_set("wants wanted wishes wished hopes hoped")  # of the post, not of its author
INTO_RULES = word_set("under contrary prohibited forbidden banned which within pursuant against")
PLACED = word_set("in across throughout for until worldwide globally everywhere effective from")
OF_MEASURES = word_set("removal decision measure restriction deletion suspension")
BROKEN = (
    "violat", "breach", "infring", "contraven", "prohibit", "forbid", "forbad", "illegal",
    "unlawful", "punishable", "harass", "defam", "discriminat", "breaks",
)  # fmt: skip


def english_reports(text: str, sentences: Sequence[StatementSentence]) -> Iterator[Span]:
    """What others are reported to say, in order."""
    known = KnownWords(PLATFORM, RULES, OF_POST)
    return reports(list(spoken(text, sentences, known)), GRAMMAR, known)


def _region(one: SpokenSentence, place: int, floor: int, speaker: Speaker | None) -> Region | None:
    """What the word at this place brings. floor: the end of the region before."""
    word, after = one.words[place], one.part(place + 1, 3)
    if word == "put" and after[:1] == ["it"] and one.has(OF_POST | PERSONS, place - 1, 1):
        return place, _end(one, place)  # "as you put it"
    if place == 0 and (region := _set_in_post(one)) is not None:
        return region
    behind = after[:1] in (["that"], ["to"]) or _that_behind(one, place)
    retold = behind and not one.has(PLATFORM, place - 4, 4)
    if word in ALLEGED or (word in ("has", "have") and after[:2] == ["it", "that"]):
        return place, _end(one, place)
    if word == "according" and after[:1] == ["to"]:
        return _according(one, place, floor)
    if _is_verb(one, place) and speaker in ("post", "other"):
        return _spoken(one, place, floor, of_post=speaker == "post")
    if word in VERBS and speaker is None:
        return _inverted(one, place, floor)
    return (place + 1, _end(one, place)) if word in NOUNS and retold else None


def _set_in_post(one: SpokenSentence) -> Region | None:
    """Such as "In your story a mayor orders the removal …": what goes on in there."""
    head = one.part(0, 3)
    if len(head) < 3 or head[0] not in ("in", "on") or head[1] not in ("your", "the", "this"):
        return None
    inside = head[2] in OF_POST and 3 not in one.borders
    if not inside or one.has(PLATFORM | RULES | {"you"}, 3, REACH) or one.has(BEING, 3, 4):
        return None
    return 3, _end(one, 2)


def _is_verb(one: SpokenSentence, place: int) -> bool:
    """Any other verb, too, where what the post does with it is a clause: "Your headline screams
    that". Not where that clause is about a rule."""
    word = one.words[place]
    if word in VERBS:
        return True
    if word in WISHES:
        return place > 0 and one.words[place - 1] in OF_POST - {"you"}
    if place == 0 or one.part(place + 1, 1) != ["that"] or word in BETWEEN | KNOWING:
        return False
    told = word.endswith(("s", "ed")) and one.words[place - 1] in OF_POST - {"you"}
    return told and not one.is_of_rule(place + 2, RULES, BROKEN)


def _that_behind(one: SpokenSentence, place: int) -> bool:
    """Such as "the rumour you passed on, that"."""
    _, end = one.clause(place)
    return end - place < 6 and one.part(end, 1) == ["that"]


def _spoken(one: SpokenSentence, place: int, floor: int, *, of_post: bool) -> Region | None:
    """The predicate of the post, or what another says."""
    word, (start, end) = one.words[place], one.clause(place)
    if of_post and any(map(_breaks, one.part(place + 1, 2))):
        return None  # "the post you wrote breaches Rule 3"
    if place + 1 == end and start in one.borders and end - start < PARENTHESIS:
        return (floor, end) if end == len(one) else (place, _end(one, place))  # "…, he says."
    clause = "that" in one.part(place + 1, 4) or (end < len(one) and ":" in one.gap(end))
    if of_post:
        rest = _end(one, place, of_object=word in SHOWING and not clause)
        return place, _main_clause(one, place, rest) if _is_relative(one, place, floor) else rest
    if word in SHOWING | INTO_CLAUSES and not clause:
        return None
    return place + (word not in CLAIMING), _end(one, place)


def _is_relative(one: SpokenSentence, place: int, floor: int) -> bool:
    """Such as "the post in which you offer", "your post promising": the sentence has a verb yet."""
    start = max(floor, one.clause(place)[0])
    before = one.words[start + 1 : place]
    relative = (
        not {"which", "that", "who", "where"}.isdisjoint(before) or one.words[start] == "what"
    )
    relative = relative and not any(word.endswith("ed") for word in before)
    return relative or (one.words[place].endswith("ing") and place > start)


def _main_clause(one: SpokenSentence, place: int, end: int) -> int:
    """The last "was removed", "is no longer shown" before the end, else the end."""
    for at in range(end - 1, place, -1):
        if one.words[at] in BEING | {"has", "have", "had"}:
            rest = [word for word in one.part(at + 1, 4) if word not in BETWEEN - {"no", "longer"}]
            measure = bool(rest) and "restriction" in LOOKUP.of_word(rest[0])
            if measure or rest[:2] == ["no", "longer"]:
                return at - 1 if one.words[at - 1] in ("has", "have", "had") else at
    return end


def _inverted(one: SpokenSentence, place: int, floor: int) -> Region | None:
    """Such as "…, says the author.": at the end, and about what stands before."""
    start, end = one.clause(place)
    last = place == start and start in one.borders and end == len(one)
    last = last and not one.has(BEING, place, end - place)
    named = one.has(OF_POST | PERSONS, place + 1, 4) and not one.has(PLATFORM, place + 1, 4)
    return (floor, end) if last and named else None


def _according(one: SpokenSentence, place: int, floor: int) -> Region | None:
    """To the post, or whoever is neither the platform nor a rule: what follows, else what stands
    before."""
    _, end = one.clause(place)
    if one.has(PLATFORM | RULES, place + 2, min(6, end - place - 2)):
        return None
    rest = _end(one, place)
    return (place, rest) if rest > end or end < len(one) or place <= floor else (floor, end)


def _speaker(one: SpokenSentence, place: int, floor: int, before: Speaker | None) -> Speaker | None:
    """The subject of a verb; None: it has none, or does not report. before: of the verb before."""
    last = _behind_subject(one, place, floor)
    if one.part(last - 1, 2) in MEANT_TO:
        last = _behind_subject(one, last - 1, floor)
    if last >= floor and one.words[last] in MODALS:
        return None
    first = last + 1
    while first > max(floor, last - REACH) and one.words[first - 1] not in CONJUNCTIONS:
        if first in one.borders and first <= last:
            break
        first -= 1
    joint = one.words[first - 1] if first > floor and first not in one.borders else ""
    if (
        joint in CONDITIONS
        or joint.endswith("ever")
        or one.words[first].endswith("ever")
        or one.part(place + 1, 1) == ["by"]
    ):
        return None
    answered = one.part(place + 1, 1) == ["why"] and place + 2 in one.borders
    if one.words[place].startswith("ask") and (answered or one.part(place + 1, 1) == ["us"]):
        return None
    if first > last or place in one.borders:  # no subject of its own
        return before if joint in JOINING else _relative(joint)
    found = _class(one, first, last, place)
    return _passive(one, place, found) if _is_passive(one, last, place) else found


def _behind_subject(one: SpokenSentence, place: int, floor: int) -> int:
    """The last word before a verb and what may stand before it."""
    last = place - 1
    while last >= floor and (one.words[last] in BETWEEN or _is_adverb(one.words[last])):
        if last + 1 in one.borders:
            break
        last -= 1
    return last


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") and word not in OF_POST


def _is_passive(one: SpokenSentence, last: int, place: int) -> bool:
    done = one.words[place].endswith("ed") or one.words[place] in PARTICIPLES
    return done and one.has(BEING, last + 1, place - last - 1)


def _passive(one: SpokenSentence, place: int, found: Speaker | None) -> Speaker | None:
    """Somebody of "is cited as saying", "is said to", "it is claimed that"; else it tells what was
    done to the post."""
    told = one.has(word_set("that as to"), place + 1, 1)
    return "other" if told and found != "platform" else None


def _relative(joint: str) -> Speaker | None:
    """Of "who claims": somebody."""
    return "other" if joint in ("who", "which") else None


def _class(one: SpokenSentence, first: int, last: int, place: int) -> Speaker | None:
    """Of a subject."""
    subject, verb = one.words[first : last + 1], one.words[place]
    head = subject[-1]
    if one.part(place + 1, 1) == ["you"] and verb in INTO_CLAUSES:
        return "platform"  # "this message tells you that"
    if subject[-2:] == ["member"] or (head == "member" and verb.startswith("state")):
        return None
    if head in PRONOUNS and len(subject) == 1:
        about_us = one.after_platform or one.has(PLATFORM, place + 1, 4)
        return "platform" if about_us else "post"
    if not {"reviewer", "reviewers"}.isdisjoint(subject) and verb in CLAIMING:
        return "post" if "our" not in subject else "platform"
    if not (PLATFORM | RULES).isdisjoint(subject):
        return "platform"
    if not OF_POST.isdisjoint(subject):
        sure = verb not in AMBIGUOUS or one.part(place + 1, 1) == ["that"]
        return "post" if sure or head in OF_POST | PERSONS else None
    named = last > 0 and one.sentence.words[last].text[0].isupper()
    told = one.part(place + 1, 1) == ["that"] or (first > 0 and one.words[first - 1] == "what")
    return "other" if head in PERSONS or named or told else None


def _end(one: SpokenSentence, place: int, *, of_object: bool = False) -> int:
    """Where the platform speaks again. of_object: "offers eggs and was removed" ends, too."""
    inside = one.words[0] in OPENERS or _is_inserted(one, place)
    of_ours = one.words[0] == "we" and "restriction" in {
        concept for word in one.words[: min(place, REACH)] for concept in LOOKUP.of_word(word)
    }
    for at in range(place + 1, len(one)):
        joined = at + 1 if one.words[at] in JOINING else at
        if inside and at in one.borders and _is_main(one, at):
            return at
        if of_ours and at in one.borders and one.words[at] in PLACED:
            return at  # "We hid the post in which you claim that …, in all countries'
        if at not in one.borders and joined == at:
            if of_object and one.words[at] in INTO_RULES and one.is_of_rule(at, RULES, BROKEN):
                return at
            continue
        if joined > at and _is_breach(one, joined, of_object=of_object):
            return at
        if _speaks_again(one, at, joined, of_object=of_object):
            return at
    return len(one)


def _breaks(word: str) -> bool:
    """A finite verb: "breaches", "violated"."""
    return word.startswith(BROKEN) and word.endswith(("s", "ed"))


def _is_breach(one: SpokenSentence, place: int, *, of_object: bool) -> bool:
    """Such as "and breaches Section 5.2"; behind "that" only where the clause is cited or ours."""
    if not any(map(_breaks, one.part(place, 1))) or not one.is_of_rule(place + 1, RULES, ()):
        return False
    rest = one.part(place + 1, 4)
    return of_object or "our" in rest or any(word[0].isdigit() for word in rest)


def _is_inserted(one: SpokenSentence, place: int) -> bool:
    """Such as "The post, which says that bees are birds, was removed"."""
    start, _ = one.clause(place)
    return start in one.borders and one.words[start] in ("which", "who", "whose")


def _is_main(one: SpokenSentence, at: int) -> bool:
    """Whether what was done begins behind this comma: "…, was removed", "…, it was removed"."""
    being = BEING | {"has", "had", "have", "remains", "stays"}
    subject = word_set("it this that the your") | POST_NOUNS
    return one.words[at] in being or (one.words[at] in subject and one.has(being, at + 1, 3))


def _speaks_again(one: SpokenSentence, at: int, joined: int, *, of_object: bool) -> bool:
    """Behind a border, or a word that joins."""
    head = one.part(joined, 3)
    while len(head) > 1 and head[0] in REASONS and head[1] in REASONS:
        head = head[1:]
    if not head or not STRONG.isdisjoint(head[:2]) or head[0] in ("we", "our", "i", "we've"):
        return bool(head)
    if head[0] in REASONS and not {"we", "our"}.isdisjoint(head[1:2]):
        return True
    being = BEING | {"has", "had", "have", "will", "stays", "remains", "applies"}
    if head[0] in ("your", "this", "the") and not being.isdisjoint(head[2:]):
        turned = head[0] != "the" or (joined > at and one.words[at] in ("but", "yet"))
        ours = OF_MEASURES | POST_NOUNS | {"account"} if turned else OF_MEASURES
        if head[1] in ours:
            return True
    if of_object and joined > at and head[0] in being:
        return True
    broken = head[0].startswith(BROKEN) or head[0] in POINTING
    return at in one.borders and broken and one.is_of_rule(joined, RULES, BROKEN)


GRAMMAR = Grammar(_is_verb, _speaker, _region)
