"""TGI of variant `paper`: Eq. 4 as printed.

Source: Hu & Lee, EACL 2026 (arXiv:2601.13547), §3.3. Lemma n-grams up to trigrams against the
printed terms, slurs among them, and nothing that we add. Quotations are not taken out and a denial
is not seen, because the paper speaks of neither; so the printed 0 of table 4, perturbed 2, is not
met: its group word stands inside a quoted slur.

Without `hateful` this is Eq. 4 alone. With it, the hateful-context check is ours (`linking`), as
"NER and part-of-speech patterns" names no rule. Terms of more than three words
cannot be found; that is the paper's limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from services.hatexscore.groups.context import understand
from services.hatexscore.groups.linking import EQUATION_4, NO_LINK, link
from services.hatexscore.groups.mention import FoundAs, GroupMention
from services.hatexscore.groups.passage import Passage, read
from services.hatexscore.groups.robust import reported
from services.hatexscore.groups.tree import Match
from services.hatexscore.languages import Language, Span, Word, words
from services.hatexscore.lexicons import Entry, Lexicon

LONGEST = 3  # "up to trigrams"

Gram = tuple[str, ...]


def mentions_paper(
    explanation: str,
    language: Language,
    lexicon: Lexicon,
    *,
    hateful: bool = False,
    quotations: Sequence[Span] = (),
) -> list[GroupMention]:
    """Every printed term among the n-grams, in order; of overlapping ones the first and longest."""
    context = understand(read(explanation, language, quotations))
    found = []
    for match in _matches(context.passage, lexicon):
        tie = link(context, match) if hateful else EQUATION_4
        found.append(reported(context.passage, match, tie is not None, tie or NO_LINK))
    return found


def _matches(passage: Passage, lexicon: Lexicon) -> Iterator[Match]:
    """Scan the words once; n-grams of words only, punctuation left out."""
    listed = _listed(lexicon, passage.language)
    plain = [word for word in passage.words if word.is_word]
    first = 0
    while first < len(plain):
        match = _longest(plain[first : first + LONGEST], listed)
        if match is not None:
            yield match
        end = match.end if match else plain[first].end
        first += 1
        while first < len(plain) and plain[first].start < end:
            first += 1


def _longest(found: Sequence[Word], listed: dict[Gram, Entry]) -> Match | None:
    """The longest n-gram at the first word that is a printed term."""
    lemmas = tuple(word.lemma for word in found)
    for size in range(len(found), 0, -1):
        entry = listed.get(lemmas[:size])
        if entry is not None:
            seen = " ".join(word.text.lower() for word in found[:size])
            kind: FoundAs = entry.kind if entry.kind != "term" or seen == entry.term else "lemma"
            return Match(entry, found[0].start, found[size - 1].end, kind)
    return None


@lru_cache(maxsize=16)
def _listed(lexicon: Lexicon, language: Language) -> dict[Gram, Entry]:
    """The printed terms, "similarly processed": as lemmas of words; the first entry stays."""
    listed: dict[Gram, Entry] = {}
    for entry in lexicon.entries():
        if entry.kind in ("term", "slur_alias"):
            gram = tuple(word.lemma for word in words(entry.term, language) if word.is_word)
            if 0 < len(gram) <= LONGEST:
                listed.setdefault(gram, entry)
    return listed
