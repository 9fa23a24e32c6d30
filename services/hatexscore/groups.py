"""Target-group identification (TGI): which mentions of protected groups name the target, and why.

Source: Hu & Lee, EACL 2026 (arXiv:2601.13547), §3.3 and Eq. 4: TGI = 1 iff the n-grams of the
explanation and the group list share an element; for hateful samples tied to hateful context.

Deviates: quotations, slurs, prefixes, ordinary words, institutions, bystanders and mentions on
which an attack is denied do not identify anybody; plurals, demonyms, groups that the printed lists
miss and grounds ("based on their race") do.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from services.hatexscore import group_fields
from services.hatexscore.group_contexts import (
    HEDGES,
    ONE_OF_THEM,
    PRAISES,
    SOFT_ATTACK,
    THING,
    TOPIC,
    WINDOW,
    SentenceSaid,
    are_of_others,
    around,
    concession,
    find_en_attacks,
    is_predicated,
    is_supposed,
    names_of_persons,
    ordinary_word,
)
from services.hatexscore.group_cues import (
    AND_YET,
    BROUGHT_UP,
    BYSTANDERS,
    CONTRASTED,
    GROUNDS,
    HIM_OR_HER,
    LEAVES,
    LEFT_OUT,
    LIVING_WITH,
    NO_GROUP_MEANT,
    ONE_PERSON,
    PLACE,
    SEVERAL,
    SPEAKERS,
    THEM,
    is_object,
    people_span,
)
from services.hatexscore.group_terms import (
    Cues,
    GroupMention,
    Passage,
    TermMatch,
    find_terms,
    load_cues,
)
from services.hatexscore.lexicon import Lexicon, TextGroups, canonical_group
from services.hatexscore.negation import (
    Denial,
    SentenceReading,
    denied_here,
    denied_later,
    read_en,
)
from services.hatexscore.negation_cjk import (
    extra_attacks,
    is_rejected_zh,
    read_ko,
    read_zh,
)
from services.hatexscore.words import Span

QUOTED = "inside a quotation"
SLUR = "a slur is an alias, not an identification"
NO_GROUND = "a category is named, but not as the ground of anything"
NEGATED = "an attack on it is denied"
ABSENT = "denied to be there, or to be what is meant"
OF_ANOTHER = "of a text that is not this one"
BYSTANDER = "it reads, reports or judges, and is no target"
ITS_COUNTRY = "a place is named, and its people are said not to be meant"
RELATED = "whom one has or brings up, and not who is meant"
IN_SENTENCE = "in a sentence with an attack predicate"
IN_FIELD = "in a field that names the target"
IN_GROUP_FIELD = "in a field that names the group"
IN_NEXT = "the next sentence refers to it with an attack predicate"
WITH_QUOTE = "linked to a quote in the same sentence"
NO_LINK = "no link to the hateful content"
EQUATION_4 = "named, and the text is judged non-hateful: Eq. 4 requires no link"

FOLLOWING = 3  # sentences behind the one that says what a text is about
OBJECT = 16  # characters between an attack and its object
LISTED = 12  # mentions that may form one list


def find_mentions(
    passage: Passage, lexicon: Lexicon, *, hateful: bool, moderated: TextGroups | None = None
) -> list[GroupMention]:
    """Every mention of a protected group in the explanation, in order, with its verdict.

    passage:   the explanation, with what stands inside its quotation marks.
    hateful:   the prediction that is explained; a hateful one needs a link to hateful content.
    moderated: the groups that the moderated text names; None where that is unknown.
    """
    cues = load_cues(passage.language)
    context = MentionReading(passage, cues, tuple(find_terms(passage, lexicon)))
    if moderated is not None:
        context.persons |= moderated.persons
    found: list[GroupMention] = []
    for match, following in zip_longest(context.matches, context.matches[1:]):
        one = context.mention(match, hateful, moderated)
        meets = following is not None and one.end > following.start  # "black Muslims": two groups
        end = match.end if meets else one.end
        start = match.start if found and one.start < found[-1].end else one.start
        found.append(replace(one, start=start, end=end, text=passage.text[start:end]))
    return found


def target_group_identified(found: Sequence[GroupMention]) -> bool:
    """TGI, Eq. 4: does any mention count?"""
    return any(mention.counts for mention in found)


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a mention identifies nobody. attack_only: an attack is denied, the group is named."""

    reason: str
    attack_only: bool = False


class MentionReading:
    """A passage, its group terms, and what its sentences deny and attack, each read once."""

    def __init__(self, passage: Passage, cues: Cues, matches: tuple[TermMatch, ...]) -> None:
        self.passage = passage
        self.cues = cues
        self.matches = matches
        self.spans = tuple((match.start, match.end) for match in matches)
        self.persons = names_of_persons(passage, matches)
        self._readings: dict[int, SentenceReading] = {}
        self._plains: dict[int, str] = {}
        self._spans: dict[TermMatch, Span] = {}
        self._mild: dict[int, tuple[bool, bool]] = {}
        self._denied: bool | None = None

    def mention(
        self, match: TermMatch, hateful: bool, moderated: TextGroups | None
    ) -> GroupMention:
        start, end = self._people(match)
        objection = self._objection(match)
        tie = None if objection or self.is_bystander(match) else self.link(match)
        known = moderated.names(match.entry.group) if moderated is not None else None
        named = objection is None or (objection.attack_only and bool(known))
        if objection is not None and (hateful or not named):
            reason = objection.reason
        elif not hateful:
            reason = EQUATION_4
        else:
            reason = BYSTANDER if self.is_bystander(match) else tie or NO_LINK
        return GroupMention(
            group=match.entry.group,
            category=match.entry.category,
            start=start,
            end=end,
            text=self.passage.text[start:end],
            found_as=match.found_as,
            counts=tie is not None if hateful else named,
            reason=reason,
            attacked=self._is_attacked(match, tie),
            in_text=known,
        )

    def _objection(self, match: TermMatch) -> Objection | None:
        """What is against the mention, whatever the prediction; None if nothing is."""
        passage, kind = self.passage, match.entry.kind
        if kind == "slur_alias":
            return Objection(SLUR)
        if passage.quoted(match.start, match.end) and not self._is_quoted_value(match):
            return Objection(QUOTED)
        if kind == "category_term" and not self._is_ground(match):
            return Objection(NO_GROUND)
        ordinary = self._ordinary_word(match)
        if ordinary is not None:
            return Objection(ordinary)
        denial = self._denial(match)
        if denial is not None:
            return Objection(NEGATED, True) if denial.attack else Objection(ABSENT)
        if self._would_be(self._place(match.start)):
            return Objection(OF_ANOTHER, True)
        return self._lesser_part(match)

    def _is_quoted_value(self, match: TermMatch) -> bool:
        """`target: "Muslims"`: a string of a field, and no quotation of the text."""
        return group_fields.field_of(self.passage.text, match.start) in ("target", "group")

    def _lesser_part(self, match: TermMatch) -> Objection | None:
        """One person, or a place, where the sentence says that the group is not meant."""
        before, after = around(self.passage, match)
        if BROUGHT_UP[self.passage.language].search(before):
            return Objection(RELATED)
        one = ONE_PERSON[self.passage.language].search(before)
        if one and (NO_GROUP_MEANT.search(after) or self._is_spared(match)):
            return Objection(ONE_OF_THEM, True)
        if PLACE.search(before) and self._is_spared(match):
            return Objection(ITS_COUNTRY)
        return None

    def _is_spared(self, match: TermMatch) -> bool:
        """Is the same group denied by another name of it in the sentence: "…, not Turks"?"""
        place = self._place(match.start)
        own = canonical_group(match.entry.group)
        first = bisect_right(self.spans, (match.start, match.end))
        others = self.matches[max(0, first - LISTED) : first + LISTED]
        return any(
            other.start != match.start
            and self._place(other.start) == place
            and canonical_group(other.entry.group) == own
            and self._denial(other) is not None
            for other in others
        )

    def _is_ground(self, match: TermMatch) -> bool:
        """Is the category a ground of discrimination: "because of their race"?

        The paper's own example (table 3) identifies its target by "based on their race" alone. An
        adjective or an -ism ("racist", 种族主义) names nobody.
        """
        rules = GROUNDS[self.passage.language]
        term = self.passage.text[match.start : match.end].lower()
        if rules.no_noun.search(term):
            return False
        before, after = around(self.passage, match)
        return bool(
            rules.before.search(before)
            or rules.after.match(after)
            or (self.passage.language == "en" and LIVING_WITH.search(before))
        )

    def _ordinary_word(self, match: TermMatch) -> str | None:
        """Why this occurrence names no group: an ordinary word, or a thing; None if it does."""
        before, _ = around(self.passage, match)
        if self.cues.matches("other_than_before", before):
            return "prefixed with 'non-': others than this group"
        surface = self.passage.text[match.start : match.end].lower()
        if surface == match.entry.term and surface in self.persons:
            return ONE_OF_THEM  # and not "Christians"
        against = self.cues.matches("anti_before", before)
        if not against and is_object(self.passage, match):
            return THING
        with_noun = self._people(match)[1] > match.end
        if against or with_noun:
            return None
        return ordinary_word(self.passage, match, self.cues)

    def _denial(self, match: TermMatch) -> Denial | None:
        place = self.passage.sentence_at(match.start)
        reading = self.reading(place)
        here = denied_here(reading, match.start)
        if here is not None:
            taken_up = here.attack and self._is_taken_up(reading, here, match)
            return None if taken_up else here
        start, end = self._people(match)
        if self.passage.language == "en":
            first = bisect_right(self.spans, (match.start, match.end))
            others = self.spans[first : first + LISTED]
            later = denied_later(reading, end, others)
            before = self.passage.text[max(0, start - WINDOW) : start]
            after = around(self.passage, match)[1]
            if LEAVES.search(before) and LEFT_OUT.search(after):
                later = "presence"
            return Denial(start, end, later == "attack") if later else None
        if self.passage.language == "zh" and self._is_rejected_zh(place, end):
            return Denial(start, end, attack=True)
        return None  # a Korean denial stands behind what it denies

    def _is_taken_up(self, reading: SentenceReading, denial: Denial, match: TermMatch) -> bool:
        """ "Does not threaten X, yet calls them vermin": attacked after all?"""
        first = bisect_right(reading.attacks, (denial.end, denial.end))
        if self.passage.language != "en" or first == len(reading.attacks):
            return False
        start, end = reading.attacks[first]
        text = self.passage.text
        if AND_YET.fullmatch(text, denial.end, start) is None:
            return False
        if THEM.match(text, end, end + OBJECT):
            return True
        first_of, last_of = self._people(match)
        several = SEVERAL.fullmatch(text, first_of, last_of) is not None
        return not several and HIM_OR_HER.match(text, end, end + OBJECT) is not None

    def _is_rejected_zh(self, place: int, end: int) -> bool:
        sentence = self.passage.sentences[place]
        near = self.reading(place).attacks_from(end, end + WINDOW)
        attacks = [(start - sentence.start, stop - sentence.start) for start, stop in near]
        return is_rejected_zh(self._plain(place), end - sentence.start, attacks)

    def _plain(self, place: int) -> str:
        """A sentence with blanks for what it quotes, character for character."""
        if place not in self._plains:
            self._plains[place] = self._without_quotations(place)
        return self._plains[place]

    def _without_quotations(self, place: int) -> str:
        sentence, text = self.passage.sentences[place], self.passage.text
        pieces: list[str] = []
        position = sentence.start
        for start, end in self.passage.quotations_in(sentence.start, sentence.end):
            start, end = max(start, position), min(end, sentence.end)
            pieces += [text[position:start], " " * (end - start)]
            position = end
        return "".join([*pieces, text[position : sentence.end]])

    def reading(self, place: int) -> SentenceReading:
        """What the sentence denies and attacks."""
        if place not in self._readings:
            self._readings[place] = self._read(place)
        return self._readings[place]

    def _read(self, place: int) -> SentenceReading:
        sentence, language = self.passage.sentences[place], self.passage.language
        plain = self._plain(place)
        spans = {match.span() for match in self.cues.patterns["predicates"].finditer(plain)}
        if language == "en":
            spans |= {match.span() for match in find_en_attacks().finditer(plain)}
        else:
            spans |= set(extra_attacks(language, plain))
        attacked = sorted(
            (sentence.start + a, sentence.start + b)
            for a, b in spans
            if not group_fields.is_no_attack(plain, a, b)
        )
        if language == "en":
            found = read_en(plain, sentence.start, attacked)
        elif language == "zh":
            found = read_zh(plain, sentence.start, attacked)
        else:
            found = read_ko(sentence, self.cues, self.passage.text, attacked)
        return replace(found, attacks=()) if self._would_be(place) else found

    def _would_be(self, place: int) -> bool:
        """ "Had it named Muslims, it would be hateful": of another text?"""
        return is_supposed(self._plain(place), self.passage.language)

    def link(self, match: TermMatch) -> str | None:
        """How the mention is tied to the hateful content (§3.3); None if it is not.

        Deviates: the paper uses "NER and part-of-speech patterns"; here a mention is tied if its
        sentence holds an attack predicate that is not denied, or a quotation, or if the next
        sentence refers back to it ("they", 该群体, 이들) with such a predicate.
        """
        passage = self.passage
        place = passage.sentence_at(match.start)
        if self._attacks(place, match) or self._is_contrasted(place, match):
            return IN_SENTENCE
        field = group_fields.field_of(passage.text, match.start)
        if field is not None:
            return {"target": IN_FIELD, "group": IN_GROUP_FIELD, "mentioned": None}[field]
        if passage.sentences[place].quotes:
            return WITH_QUOTE
        if place > 0 and self._is_answer(place, match):
            return IN_FIELD
        if self._is_topic(place, match):
            return IN_NEXT
        if place + 1 == len(passage.sentences) or not self._attacks(place + 1, match):
            return None
        return IN_NEXT if self.cues.matches("follow_up", self._plain(place + 1)) else None

    def _is_topic(self, place: int, match: TermMatch) -> bool:
        """ "The text is about Muslims. Its last words are an insult.": an attack on nobody else?"""
        start = max(self._start(place), match.start - WINDOW)
        if TOPIC.search(self.passage.text[start : match.start]) is None:
            return False
        following = range(place + 1, min(place + 1 + FOLLOWING, len(self.passage.sentences)))
        return any(
            is_predicated(self.passage.text, *span)
            for later in following
            for span in self.reading(later).attacks
        )

    def _attacks(self, place: int, match: TermMatch) -> bool:
        """Does the sentence hold an attack that is not denied, other than the mention itself?

        "islamophobic" is both at once; a printed term is only a group.
        """
        own = (match.start, match.end) if match.entry.kind == "term" else (0, 0)
        attacks = self.reading(place).attacks
        return any(not (own[0] <= start and end <= own[1]) for start, end in attacks)

    def _is_answer(self, place: int, match: TermMatch) -> bool:
        """Does it answer the sentence before: "Target? Women.", "Find the target. Muslims."?"""
        sentence, asked = self.passage.sentences[place], self._plain(place - 1).strip()
        start, end = self._people(match)
        text = self.passage.text
        before, after = text[sentence.start : start], text[end : sentence.end]
        if group_fields.names_nobody(before[:WINDOW]):
            return False
        return group_fields.asks_for_target(asked) or group_fields.answers(asked, before, after)

    def _is_contrasted(self, place: int, match: TermMatch) -> bool:
        """ "It is not X who are insulted but Y": the denied attack holds of Y."""
        reading = self.reading(place)
        before, _ = around(self.passage, match)
        denied = len(reading.every_attack) > len(reading.attacks)
        return denied and CONTRASTED.search(before) is not None

    def is_bystander(self, match: TermMatch) -> bool:
        """ "My Muslim colleague agrees", "reported by two Korean moderators": no target."""
        rules = BYSTANDERS[self.passage.language]
        start, end = self._people(match)
        sentence = self.passage.sentences[self.passage.sentence_at(start)]
        before = self.passage.text[max(sentence.start, start - WINDOW) : start]
        after = self.passage.text[end : min(sentence.end, end + WINDOW)]
        noun = self.passage.text[match.end : end] or after
        if rules.by.search(before) and rules.judge.search(noun):
            return True
        if rules.own.search(before) and rules.acquaintance.search(noun):
            attacks = self.reading(self._place(start)).attacks_from(start - WINDOW, start)
            return not any(self._has_object(stop, start) for _, stop in attacks)
        if self._is_the_speaker(before, after):
            return True
        judges = rules.judge.search(noun) and rules.judges.match(after)
        if judges is None and end > match.end:  # any person may complain
            judges = rules.complains.match(after)
        return bool(judges) and bool(rules.some.search(before))

    def _is_the_speaker(self, before: str, after: str) -> bool:
        """ "Speaking as a woman", "the author, a Korean man himself"."""
        rules = SPEAKERS[self.passage.language]
        is_one = rules.is_one.search(before) and rules.himself.match(after)
        return bool(rules.as_one.search(before) or is_one)

    def _has_object(self, stop: int, start: int) -> bool:
        """Does an attack that ends there have the name as its object: "insults our Muslim …"?"""
        between = self.passage.text[stop:start]
        return 0 < len(between) <= OBJECT and not re.search(r"[,;:.，。、]|\band\b", between)

    def _people(self, match: TermMatch) -> Span:
        if match not in self._spans:
            self._spans[match] = people_span(self.passage, match)
        return self._spans[match]

    def _start(self, place: int) -> int:
        return self.passage.sentences[place].start

    def _place(self, position: int) -> int:
        return self.passage.sentence_at(position)

    def _is_attacked(self, match: TermMatch, tie: str | None) -> bool:
        """Tied, without a "may" in its sentence. A quotation that praises attacks nobody; nor does
        one, a field or a mere "describes", where every attack on a group is denied."""
        place = self._place(match.start)
        hedged, praised = self._hedge_and_praise(place)
        if tie is None or hedged or tie == IN_GROUP_FIELD or (tie == WITH_QUOTE and praised):
            return False
        attacking = tie in (IN_SENTENCE, IN_NEXT)
        told = place + (tie == IN_NEXT)
        attacks = self.reading(told).attacks if attacking else ()
        said = SentenceSaid(self._plain(told), self._start(told), self.passage.language)
        if are_of_others(said, attacks, match.start):
            return False
        hard = attacking and (tie == IN_NEXT or self._is_hard(place))
        return hard or not (praised or self._is_denied_throughout())

    def _is_hard(self, place: int) -> bool:
        """Does an attack hold there that is one whatever else is said: not "describes as"?"""
        plain, start = self._plain(place), self._start(place)
        begins = start + (concession(plain) if self._hedge_and_praise(place)[1] else 0)
        return any(
            span[0] >= begins and SOFT_ATTACK.match(self.passage.text, *span) is None
            for span in self.reading(place).attacks
        )

    def _is_denied_throughout(self) -> bool:
        """Does the explanation speak of attacks, and deny each of them that a group is near?"""
        if self._denied is None:
            places = range(len(self.passage.sentences))
            labels = any(group_fields.denies_attack(self._plain(place)) for place in places)
            read = list(map(self.reading, places))
            denied = labels or any(len(one.every_attack) > len(one.attacks) for one in read)
            named = {
                self._place(match.start)
                for match in self.matches
                if match.entry.kind != "category_term"
            }
            self._denied = denied and not any(map(self._is_hard, named))
        return self._denied

    def _hedge_and_praise(self, place: int) -> tuple[bool, bool]:
        """Does the sentence hedge, does it praise?"""
        if place not in self._mild:
            language, plain = self.passage.language, self._plain(place)
            start, denials_over = self._start(place), self.reading(place).denials_over
            praised = any(
                len(denials_over(start + found.start())) % 2 == 0
                for found in PRAISES[language].finditer(plain)
            )
            self._mild[place] = (HEDGES[language].search(plain) is not None, praised)
        return self._mild[place]
