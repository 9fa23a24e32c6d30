"""Quotation marks that quote something else than the text: labels, idioms, glosses, other sources.

Of 599 quotations in real explanations that the text did not hold, 413 were names of labels or
idioms. Calling a quotation hallucinated is an accusation, so only one that the explanation
attributes to the text ("the word …", "it says …") can be; all others are reported with a reason.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from services.hatexscore.negation import word_classes
from services.hatexscore.quote_speakers import speaks_in_the_case
from services.hatexscore.quote_spelling import idioms, is_label, plain_name
from services.hatexscore.quotes import Quotation, Span, merge_spans, quoted_spans
from services.hatexscore.report import QuotationReason
from services.hatexscore.vocabulary import base_forms
from services.hatexscore.words import Language, sentences
from shared.queue.job_context import check_each

REACH = 240  # characters of the clause on either side of a quotation
BLANK = "\u25a1"  # stands for another quotation
MOST_LISTED = 20  # quotations before one that may stand in a list with it


def kinds_of(
    explanation: str,
    language: Language,
    quoted: Sequence[Quotation],
    occurring: Collection[Quotation],
) -> dict[Quotation, QuotationReason]:
    """Why a quotation is none of the text, for those that are none.

    occurring: the quotations that the text holds word for word, up to inflection. Such a one is
               none of the text only where it is the name of a label that nothing attributes to it.
    """
    clauses = clauses_of(explanation, language, quoted)
    located = sorted(quotation.start for quotation in occurring)
    found: dict[Quotation, QuotationReason] = {}
    for quotation in check_each(quoted):
        clause = clauses[quotation]
        first = bisect_left(located, clause.sentence)
        explains = first < len(located) and located[first] < quotation.start
        kind = _kind(clause, language, quotation in occurring, explains)
        if kind is not None:
            found[quotation] = kind
    return found


def attributed(explanation: str, language: Language, quoted: Sequence[Quotation]) -> set[Quotation]:
    """The quotations that the explanation says are words of the text."""
    clauses = clauses_of(explanation, language, quoted)
    return {quotation for quotation in quoted if _is_attributed(clauses[quotation], language)}


def _kind(
    clause: QuotedClause, language: Language, occurs: bool, explains: bool
) -> QuotationReason | None:
    """explains: whether the sentence quotes something of the text before it."""
    if is_label(clause.quoted, language):
        kept = occurs and (_is_attributed(clause, language) or not _labels(clause, language))
        return None if kept else "label"
    if occurs:
        return None
    cues = QUOTE_CUES[language]
    if plain_name(clause.quoted) in idioms(language) or _EUPHEMISM.fullmatch(clause.quoted):
        return "idiom"
    if explains and (cues.gloss(clause) or _IN_BRACKETS.search(clause.before)):
        return "gloss"
    return "other_source" if _is_elsewhere(clause, language) else None


# Where a quotation names the label that the text is given.
_LABELS: dict[Language, tuple[re.Pattern[str], re.Pattern[str]]] = {
    "en": (
        re.compile(
            r"(?:(?:labels?|verdict|conclusion|decision|answer|class(?:ification)?|categor(?:y|ies)|rating"
            r"|prediction|output|judge?ment|severity|side|criteria|definition|toxicity|policy)\W*"
            r"|\b(?:as|is|are|be|been|being|was|were|seems?|considers?|consider(?:ed)?|deem(?:ed)?|rated?"
            r"|label(?:l?ed)?|marked|judged?|found|classified|called|not|of|to|between|choose|chose|pick|or|than"
            r"|a|an|the|it|therefore|thus|hence|clearly|=)\W*)$"
        ),
        re.compile(
            r"\W{0,3}(?:label|class|category|verdict|rating|tag|classification|side|threshold|definition"
            r"|content|speech|text|post|comment|\s(?:because|since|as|under|according|by|or|rather|and)\b)"
        ),
    ),
    "zh": (
        re.compile("(?:为|是|作|成|标签|结论|判断|类别|判定|属于|非|不|[:：])\\W*$"),
        re.compile("(?:类|标签|这一类|的?(?:定义|标准|范畴|范围|内容|言论))"),
    ),
    "ko": (
        re.compile("(?:라벨|결론|판단|분류|범주|판정|[:：])\\W*$"),
        re.compile("(?:으로|로|라고|이라고|에 해당|이다|입니다|라벨|범주|표현)"),
    ),
}


def _labels(clause: QuotedClause, language: Language) -> bool:
    """Does the clause label the text with it: "it is "hateful"", "the "normal" class"?"""
    before, after = _LABELS[language]
    alone = not any(map(str.isalnum, clause.before + clause.after))
    return alone or bool(before.search(clause.before) or after.match(clause.after))


def _is_attributed(clause: QuotedClause, language: Language) -> bool:
    cues = QUOTE_CUES[language]
    return cues.attributes(clause) and not _is_elsewhere(clause, language)


def _is_elsewhere(clause: QuotedClause, language: Language) -> bool:
    said = speaks_in_the_case(clause.quoted, clause.before, clause.after, language)
    return said or QUOTE_CUES[language].elsewhere(clause)


@dataclass(frozen=True, slots=True)
class QuotedClause:
    """A quotation and the words of its clause; other quotations there are a blank box.

    before, after: at most 240 characters, lower case, up to the clause's borders.
    lead:          all of its sentence before it, likewise.
    sentence:      where its sentence begins in the explanation.
    """

    quoted: str
    before: str
    after: str
    lead: str
    sentence: int


def clauses_of(
    explanation: str, language: Language, quoted: Sequence[Quotation]
) -> dict[Quotation, QuotedClause]:
    marked = merge_spans(quoted_spans(explanation))
    starts, masked = [start for start, _ in marked], _Masked.of(explanation, marked)
    borders = [start for start, _ in sentences(_without_quotes(explanation, marked), language)]
    found: dict[Quotation, QuotedClause] = {}
    for quotation in check_each(quoted):
        place = bisect_right(starts, quotation.start) - 1
        start, end = marked[place] if place >= 0 else (quotation.start, quotation.end)
        sentence = bisect_right(borders, start) - 1
        first = borders[sentence] if sentence >= 0 else 0
        last = borders[sentence + 1] if sentence + 1 < len(borders) else len(explanation)
        lead = masked.stretch(max(first, start - REACH), start)
        tail = masked.stretch(end, min(last, end + REACH))
        before, after = _clause(lead, tail, language)
        found[quotation] = QuotedClause(quotation.text, before, after, lead, first)
    return found


def _without_quotes(explanation: str, marked: Sequence[Span]) -> str:
    """The same length; what is quoted ends no sentence."""
    pieces: list[str] = []
    position = 0
    for start, end in marked:
        pieces += [explanation[position:start], BLANK * (end - start)]
        position = end
    return "".join([*pieces, explanation[position:]])


@dataclass(frozen=True, slots=True)
class _Masked:
    """An explanation with a box for each quotation. gaps: where the words after it begin, of the
    explanation and here, with the beginning before the first."""

    text: str
    marked: Sequence[Span]
    ends: Sequence[int]
    gaps: Sequence[Span]

    @classmethod
    def of(cls, explanation: str, marked: Sequence[Span]) -> _Masked:
        pieces: list[str] = []
        gaps, length = [(0, 0)], 0
        for start, end in marked:
            pieces += [explanation[gaps[-1][0] : start], BLANK]
            length += start - gaps[-1][0] + 1
            gaps.append((end, length))
        masked = "".join([*pieces, explanation[gaps[-1][0] :]])
        return cls(masked, marked, [end for _, end in marked], gaps)

    def stretch(self, first: int, last: int) -> str:
        """A stretch of the explanation in lower case; of a quotation that it cuts, the box."""
        cut = self.text[self._place(first, 0) : self._place(last, 1)]
        return cut.lower().replace("\u2019", "'").replace("*", "")

    def _place(self, offset: int, behind: int) -> int:
        """behind: 1 if the place behind the box is asked for, of an offset in a quotation."""
        number = bisect_right(self.ends, offset - behind)
        start = self.marked[number][0] if number < len(self.marked) else offset
        own, here = self.gaps[number]
        return here + min(offset, start) - own + behind * (offset > start)


_BORDER: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"[;\u2014]|\u2013 |:(?!\s?\u25a1|\s?$)|,\s(?=(?:in|on|at|while|whereas|which|where|who|but"
        r"|though|although|because|so|as|unlike|instead|not|rather|contrary|yet|since|whose)\b)|\b(?:but|whereas|while|although|though|because)\b"
    ),
    "zh": re.compile("[；;，](?!\u25a1)|\u2014\u2014|但是?|而(?=不|非)"),
    "ko": re.compile(r"[;；]|지만|는데|,\s(?!\u25a1)|(?:하고|하며|이며|이고|으며)\s"),
}


def _clause(lead: str, tail: str, language: Language) -> tuple[str, str]:
    before = lead
    for border in _BORDER[language].finditer(lead):
        if border.end() < len(lead):
            before = lead[border.start() :] if border.group()[0].isalpha() else lead[border.end() :]
    closing = _BORDER[language].search(tail)
    return before, tail[: closing.start()] if closing else tail


Condition = Callable[[QuotedClause], bool]


@dataclass(frozen=True, slots=True)
class QuoteCues:
    """What a clause says of its quotation."""

    attributes: Condition
    gloss: Condition
    elsewhere: Condition


_PART = (
    r"(?:words?|phrases?|terms?|expressions?|slogans?|lines?|sentences?|hashtags?|wordings?|verbs?"
    r"|nouns?|adjectives?|adverbs?|pronouns?|epithets?|slurs?|nicknames?|insults?|questions?"
    r"|exclamations?|commands?|imperatives?|statements?|clauses?|openings?|endings?|passages?"
    r"|remarks?|metaphors?|names?|swearwords?|quotes?|quotations?|fragments?|emojis?|acronyms?)"
)
_SPEAKS = (
    r"(?:says?|said|saying|writes?|wrote|written|writing|uses?|used|using|calls?|called|calling"
    r"|speaks?\sof|speaking\sof|spoke\sof|states?|stated|stating|reads?|reading|puts?\sit|tells?"
    r"|told|telling|claims?|claimed|claiming|asks?|asked|asking|shouts?|exclaims?|declares?|adds?"
    r"|mentions?|mentioning|contains?|containing|includes?|including|repeats?|repeating|quotes?"
    r"|opens\swith|ends\swith|begins\swith|closes\swith|starts\swith|refer\w*\sto\s[\w\s']{1,30}\sas"
    r"|describ\w+\s[\w\s']{1,30}\sas|label\w*\s(?:them|him|her|people|women|men|[\w\s]{1,20})\sas"
    r"|(?:brand|labell?|dubb?|term|nam|nicknam)(?:ed|es|s|e|ing)?\s[\w\s']{1,30}|accus\w+\s[\w\s]{1,30}\sof|compar\w+\s[\w\s]{1,30}\s(?:to|with)"
    r"|liken\w*\s[\w\s]{1,30}\sto|employ\w*|utter\w*|threatens?\swith|concludes\swith|insists?|complains?|announces?|demands?)"
)
# "Phrases like … are sexist": of their kind, and not said of this text.
_KIND_EN = re.compile(
    r"\W*(?:(?:other|many|some|such|common)\s)?(?:phrases|words|terms|slogans|expressions|sentences|statements"
    r"|remarks|comments|lines|claims|slurs|jokes)\s(?:like|such\sas)\s*$"
)
_JUDGED_KIND_EN = re.compile(
    r"\W*\s(?:are|can\sbe|would\sbe|tend)\s(?!(?:\w+ly\s)?(?:used|found|employed|present|directed|aimed|repeated|included|meant|here)\b)"
)
_ATTRIBUTED_EN = re.compile(
    rf"\b{_PART}\b|\b(?:the|this|its|his|her)\suse\sof\b|\baccording\sto\s(?:the|this)\s(?:author|writer|poster|speaker|text|post)\b|\b(?<!so-)(?<!so\s){_SPEAKS}(?![\w'])"
)
# "This counts as …": the name of a category.
_COUNTS_AS_EN = re.compile(
    r"\b(?:counts?|qualif(?:y|ies)|classified|categori[sz]ed|falls?)\s(?:as|under)\W*$"
)
_SPEAKING_EN = re.compile(rf"\b{_SPEAKS}(?![\w'])")
_ATTRIBUTED_AFTER_EN = re.compile(
    rf"\W{{0,3}}(?:is|are|was|were)\s(?:\w+\s)?(?:used|written|said|called|found\sin\sthe|a\s{_PART}"
    r"|an?\s(?:\w+\s)?(?:call|threat|order|demand|charge|appeal|generali[sz]ation|stereotype|comparison|wish)\b"
    rf"|the\s{_PART}|in\sthe\s(?:text|post))|\W{{0,3}}(?:the|this)\s(?:author|writer|text|post|speaker"
    r"|comment|tweet|user)\s(?:says|writes|wrote|said|calls|asks|claims|adds|states)"
    rf"|\s(?:as\sa\s{_PART})"
)
_GLOSS_EN = re.compile(
    r"\b(?:mean(?:s|t|ing)?|impl(?:y|ies|ied|ying)|suggest(?:s|ed|ing)?|st(?:and|ands|ood)\s(?:in\s)?for"
    r"|standing\sfor|paraphras\w+|i\.\s?e\.|that\sis|in\sother\swords|signif(?:y|ies|ied|ying)"
    r"|amounts?\sto|equals?|translat\w+|(?:code|shorthand|euphemism|metaphor|symbol|stand-in|cipher|image)\sfor|synonym\s(?:for|of)"
    r"|convey\w*|insinuat\w+|hint\w*(?:\sat)?|connot\w+|denot\w+|refer(?:s|red|ring)?\sto|read\sas"
    r"|understood\sas|interpreted\sas|rephras\w+|essentially|tantamount\sto|aka|namely|equivalent"
    r"|to\ssay|evok\w+|the\smessage|sense\sof|points?\sto|alludes?\sto|substitute\sfor|a\sway\sof)(?!\w)"
)
_DOCUMENT = (
    r"(?:guidelines?|polic(?:y|ies)|rules?|standards|laws?|statute|code\sof\sconduct|act|terms\sof"
    r"|definitions?|dictionar(?:y|ies)|constitution|charter|convention|court|tribunal"
    r"|other\s(?:posts?|comments?)|(?:a|the|one|his|her|their)\srepl(?:y|ies)|repl(?:y|ies)|responses?"
    r"|newspapers?|article|reports?|literature|prompt|instructions?|task|question\sasked|platform"
    r"|community\s\w+|headline\sof|song|proverb|saying|bible|quran|book|film|handbook|manual|faq"
    r"|regulations?|encyclop\w+|wikipedia|scripture|verse\sof|website|press|another\s\w+)"
)
_PERSON = (
    r"(?:other\s(?:users?|people|readers?|commenters?)|judges?|commenters|(?:an?|one)\scommenter|journalists?|scholars?"
    r"|researchers?|experts?|moderators?|readers?|a\sreader|friends?|someone|somebody|critics?|teacher"
    r"|annotators?|raters?|reviewers?|labell?ers?|classifiers?|models?|editors?|a\sthird\sparty|opponents?|neighbou?rs?|colleagues?|my\s\w+|our\s\w+"
    r"|minister|president|mayor|parents?)"
)
_ASIDE = r"\b(?!\s(?:of|in)\sthe\s(?:text|post|comment|tweet))"
_OTHER_EN = re.compile(rf"\b{_DOCUMENT}{_ASIDE}|\baccording\sto\b")
_OTHER_SPEAKER_EN = re.compile(rf"\b(?:{_DOCUMENT}|{_PERSON}){_ASIDE}|\baccording\sto\b")
_OWN_EN = re.compile(
    r"\b(?:this|the|its|that)\s(?:\w+\s)?(?:text|post|comment|tweet|author|writer|speaker|user|poster|commenter"
    r"|message|statement|caption|poem|joke|headline)\b|\bit\b|\bhe\b|\bshe\b|\bthey\b"
)
_SUPPOSED_EN = re.compile(
    r"\b(?:if|suppose|imagine|assuming|had\s(?:it|the|he|she|they)|were\s(?:it|the)|(?:would|could|might)\s"
    r"(?:\w+\s)?(?:have|say|write|read|call|use|be|sound|become|put|ask))\b[^\u25a1]{0,80}$"
)
_CONTRAST_EN = re.compile(
    r"(?:\b(?:instead\sof|rather\sthan|unlike|as\sopposed\sto|in\splace\sof|compared?\s(?:\w+\s)?(?:to|with)"
    r"|in\scontrast\s(?:to|with)|different\sfrom|contrary\sto|in\slieu\sof|replac\w+\s(?:it\s)?(?:with|by)"
    r"|not|never|nor|nothing|nobody|without|neither|lacks?|no|nowhere|avoids?|avoiding|absent|e\.g\.|omits?"
    r"|short\sof|refrain(?:s|ed|ing)?\sfrom)|n['\u2019]t)\b"
    r"(?!\s(?:only|just|merely|but))(?P<asks>\s(?:does|do|did|has|have|is|was)\s(?:it|they|s?he|(?:the|this)\s\w+)\b"
    r"|\sgo\sso\sfar\sas|\spoint\s(?:does|do|did)\s(?:it|they|s?he|(?:the|this)\s\w+)\b)?(?:\s[\w'-]+){0,5}\W*(?:\u25a1\W*(?:or|and|nor|,)\W*)*$"
)
_TWICE_EN = re.compile(
    rf"\s(?:stop|refrain|avoid|fail|omit|without)\w*\b|\band\s(?:\w+ly\s|then\s)?{_SPEAKS}(?![\w'])"
)
_SUPPOSED_AFTER_EN = re.compile(
    r"\s(?:(?:would|might|could)\s(?:have\s)?(?:be|been|sound|read)|(?:does|do|did)\snot\s(?:appear|occur"
    r"|stand|come|exist)|never\s(?:appears?|occurs?)|is\s(?:not\s(?:in|part|there|said|used|written)|nowhere|absent))\b"
)
_I_EN = re.compile(
    r"\b(?:i|we|one|you|some|many|people|others|critics|nobody|no\sone)\s(?:\w+\s)?(?:say|says|call|calls"
    r"|argue|claim|think|write|add|answer|name|label|describe|speak|put|use|expect|prefer|reply|object|ask|read|see)\s(?:[\w']+\s){0,3}\W*$"
)

# "As I wrote above, this is …": the explanation's own earlier words, unless the text speaks next.
_OWN_WORDS_EN = re.compile(
    r"\b(?:i|we)\s(?:\w+\s){0,2}(?:said|wrote|called|used|noted|mentioned|termed|labell?ed|described|put|stated"
    r"|concluded|chose|answered|written|calling|using)\b"
    r"|\bas\s(?:\w+\s)?(?:noted|said|stated|mentioned|argued|discussed|explained|established|described|written|shown)"
    r"\s(?:above|earlier|before|previously|already)\b"
    r"|\bmy\s(?:\w+\s){0,2}(?:answer|label|verdict|note|summary|explanation|reasoning|assessment|response|analysis)\b"
)


_CHAIN_EN = re.compile(
    r"\W*(?:(?:and|or|nor|but|then|also|even|plus|finally|later|as\swell\sas|along\swith|together\swith"
    r"|followed\sby|combined\swith|with|both|either|to|the|a|an|such\sas|like|at\sthe\send|in\sthe\send)\W+)*"
)
_PARAPHRASE_EN = re.compile(
    r"\b(?:amount(?:s|ing)?\sto|(?:is|sounds?|reads?)\s(?:much\s)?like|as\s(?:if|though)|tantamount\sto|akin\sto"
    r"|equivalent\s(?:to|of)|essentially|basically|effectively|in\s(?:effect|essence|other\swords|short)"
    r"|impl(?:y|ies|ied|ying)|insinuat\w+|hint\w*|suggest(?:s|ed|ing)?|boils\sdown|comes\sdown|a\sway\sof"
    r"|paraphras\w+|read\sbetween|between\sthe\slines|mean(?:s|t|ing)?|roughly|loosely|to\sthe\seffect"
    r"|the\s(?:idea|notion|view|message|sentiment|stereotype|belief|implication|assumption|claim|trope|theme"
    r"|narrative|theory|cliche|cliché|myth|attitude)\s(?:of|that|is|behind|here))\b"
)
_LOOSELY_EN = re.compile(
    r"\b(?:essentially|basically|effectively|roughly|loosely|in\s(?:effect|essence|other\swords|short)|to\sthe\seffect|more\sor\sless)\b"
)
_NAMED_EN = re.compile(rf"\b{_PART}(?:\s(?:like|such\sas|is|are|was|were|as|itself))?[\s:,]*$")
_TEXT_SPEAKS_EN = re.compile(rf"(?:{_OWN_EN.pattern})[^,]{{0,40}}\b{_SPEAKS}(?![\w'])")
_NEW_SPEAKER_EN = re.compile(rf",\s(?:and\s)?{_TEXT_SPEAKS_EN.pattern}")


def _attributes_en(clause: QuotedClause) -> bool:
    before = _attribution_window(clause.before)
    said = _ATTRIBUTED_EN.search(before) or _ATTRIBUTED_AFTER_EN.match(clause.after)
    return bool(said) and not (_COUNTS_AS_EN.search(before) or _paraphrases_en(before))


def _attribution_window(before: str) -> str:
    """The words that may attribute a quotation: those before an earlier one only in a list."""
    boxes = before.rsplit(BLANK, MOST_LISTED)
    place = len(boxes) - 1
    while place > 0 and _CHAIN_EN.fullmatch(boxes[place]):
        place -= 1
    return BLANK.join(boxes[place:])


def _paraphrases_en(before: str) -> bool:
    """ "Amounts to saying", "in other words": not said word for word, unless "the word" is."""
    said = [found.end() for found in _PARAPHRASE_EN.finditer(before)]
    if not said:
        return False
    rest = before[said[-1] :]
    if _NEW_SPEAKER_EN.search(rest, 1) or _NAMED_EN.search(rest):
        return False
    loosely = _LOOSELY_EN.search(before) is not None
    return loosely or _SPEAKING_EN.search(before, 0, said[-1]) is None


def _elsewhere_en(clause: QuotedClause) -> bool:
    """Words of somebody else, or words that the text might have had, or has not."""
    before = clause.before
    if (
        (_KIND_EN.match(before) and _JUDGED_KIND_EN.match(clause.after))
        or _SUPPOSED_EN.search(before)
        or _SUPPOSED_AFTER_EN.match(clause.after)
    ):
        return True
    if _I_EN.search(before) or _are_own_words(before):
        return True
    return _is_contrast(before) or _has_other_speaker(before)


def _are_own_words(before: str) -> bool:
    own = [found.end() for found in _OWN_WORDS_EN.finditer(before)]
    return bool(own) and _TEXT_SPEAKS_EN.search(before, own[-1]) is None


def _is_contrast(before: str) -> bool:
    """ "instead of", "does not use"; not "does not hesitate to write", "without shame it says"."""
    found = _CONTRAST_EN.search(before)
    if found is None:
        return False
    said = found.group()
    opaque = any(not word_classes().opaque.isdisjoint(base_forms(w)) for w in said.split())
    asked = before[found.end("asks") :] if found["asks"] else said
    return not (opaque or _TWICE_EN.search(said, 1) or _OWN_EN.search(asked))


def _has_other_speaker(before: str) -> bool:
    """Is the speaker somebody else: the last who is named before the last verb of speaking?"""
    spoken = [found.start() for found in _SPEAKING_EN.finditer(before)]
    named = before[: spoken[-1]] if spoken else before
    others = _OTHER_SPEAKER_EN if spoken else _OTHER_EN
    other = [found.end() for found in others.finditer(named)]
    own = [found.end() for found in _OWN_EN.finditer(named)]
    return max(other, default=-1) > max(own, default=-1)


def _glosses_en(clause: QuotedClause) -> bool:
    """A verb of meaning behind the first quotation of the clause, and no attribution behind it."""
    _, box, later = clause.before.partition(BLANK)
    said = [found.end() for found in _GLOSS_EN.finditer(later if box else clause.before)]
    if not said:
        return False
    rest = (later if box else clause.before)[said[-1] :]
    return _ATTRIBUTED_EN.search(rest) is None


def _pattern_condition(pattern: re.Pattern[str], part: str) -> Condition:
    return lambda clause: bool(pattern.search(getattr(clause, part)))


_ATTRIBUTED_ZH = re.compile(
    "一词|词语|短语|词汇|用词|写道|写着|写|骂|喊|称呼|形容|比作|把[^□]{1,12}叫|用(?=□|$)|说|声称|宣称|称|叫做|喊|使用|用了|用到|提到|句子|句|表述|措辞"
    "|标语|口号|话题|标签#|原文|文中|作者|文本|该文|帖子|评论中|里有|出现|包含|含有|问道|如"
)
_ATTRIBUTED_AFTER_ZH = re.compile(
    "(?:和□|、□)*(?:一词|这个词|这一词|两词|等词|等字|这些词|一语|这句|一句|这样的话|这种话|的话|的说法|这种说法|这一说法"
    "|的表述|这一表述|这种表述|短语|这个短语|的字样|字眼|等字眼|之类"
    "|(?:这样|这种|那样|那种|此类|这类|这些|如此|等)的?(?:\\w{0,4})?(?:字眼|话语?|说法|词语?|表述|措辞|言辞|词句|用语|字样|句子|表达|称呼|标签|词汇))"
)
_GLOSS_ZH = re.compile(
    "(?:意思是|意为|意味着|意即|指的是|是指|暗指|暗示|代指|指代|指|影射|相当于|等于|等同于|即|也就是|换言之|表示|隐含|代表|意在说)[^□]{0,12}$"
)
_ELSEWHERE_ZH = re.compile(
    "(?:准则|规定|规则|政策|规范|法律|条款|法院|判决|词典|定义|条例|宪法|另一[名位个]用户|其他用户|别的用户|网友回复|回复|回复者|读者"
    "|报道|新闻|学者|专家|平台|审核员|朋友|老师|有人|别人)[^□]{0,40}$"
    "|(?:而不是|不是|而非|并非|没有说|没说|没有写|没有使用|未使用|没有出现|不像|不同于|如果|假如|要是|若|倘若|换成|换作|改成)"
    "[^□]{0,20}(?:□[和或、])*$"
)
_OWN_WORDS_ZH = re.compile(
    "(?:如|正如|像)(?:前|上|之前|前面|上面)(?:文)?(?:所)?(?:述|说|言|提)|我(?:在?(?:上文|前面|之前|刚才))?(?:说|写|称|提到|用)(?:过|了|的)"
)
_ELSEWHERE_AFTER_ZH = re.compile("不同|相比|没有出现|并未出现|会更|就会")
_ATTRIBUTED_KO = re.compile(
    r"(?:단어|표현|문구|구절|문장|용어|구호|해시태그|낱말|어구|원문|본문에서|본문은|글쓴이|작성자|글은|글에서|게시물은|댓글은|저자는|화자는)"
)
_ATTRIBUTED_AFTER_KO = re.compile(
    r"(?:[,과와]\s?□)*\s?(?:이?라는|다?는|이?란|같은)\s(?:\w+\s)?(?:말|단어|표현|문장|구절|용어|구호|글귀|문구|주장|낱말|어구|해시태그|식)"
    r"|\s?(?:이?라고|고)\s(?:\w+\s)?(?:쓰|쓴|썼|말|적|부르|부른|불|표현|외치|외친|주장|한다|하며|했|묻|지칭|언급)|\s?(?:이?라며|이?라는\s말)"
)
_GLOSS_AFTER_KO = re.compile(
    r"\s?(?:을|를|이?라는|임을|이?란|라고)?\s?(?:뜻|의미|암시|가리키|가리킨|지칭하는|뜻하|나타내|함축|시사)"
)
_ELSEWHERE_KO = re.compile(
    r"(?:정책|규정|지침|가이드라인|법|법원|판결|사전|정의|약관|다른\s사용자|다른\s이용자|다른\s사람|답글|답변|독자|기사|신문|학자|전문가"
    r"|운영자|친구|누군가)(?:은|는|이|가|에서|에는|에)?\s[^□]{0,40}$|(?:만약|만일|대신)[^□]{0,40}$"
)
_OWN_WORDS_KO = re.compile(
    r"(?:앞에서|앞서|위에서|이미|전술한|상술한)\s?(?:\w+\s)?(?:말|언급|설명|서술|적|쓴|밝|지적|본|바와)|(?:내가|제가|필자가)\s(?:\w+\s)?(?:말|쓴|썼|부른|적)"
)
_ELSEWHERE_AFTER_KO = re.compile(
    r"\s?(?:대신|와\s달리|과\s달리|이?라고\s(?:썼다면|했다면|말했다면|하지\s않|쓰지\s않)|이?라는\s(?:말|표현|단어)(?:은|는|이|가)\s(?:없|나오지|쓰이지))"
)


def _attributes_zh(clause: QuotedClause) -> bool:
    return bool(_ATTRIBUTED_ZH.search(clause.before) or _ATTRIBUTED_AFTER_ZH.match(clause.after))


def _elsewhere_zh(clause: QuotedClause) -> bool:
    if _OWN_WORDS_ZH.search(clause.before):
        return True
    return bool(_ELSEWHERE_ZH.search(clause.before) or _ELSEWHERE_AFTER_ZH.match(clause.after))


def _attributes_ko(clause: QuotedClause) -> bool:
    return bool(_ATTRIBUTED_KO.search(clause.before) or _ATTRIBUTED_AFTER_KO.match(clause.after))


def _elsewhere_ko(clause: QuotedClause) -> bool:
    if _OWN_WORDS_KO.search(clause.before):
        return True
    return bool(_ELSEWHERE_KO.search(clause.before) or _ELSEWHERE_AFTER_KO.match(clause.after))


QUOTE_CUES: dict[Language, QuoteCues] = {
    "en": QuoteCues(_attributes_en, _glosses_en, _elsewhere_en),
    "zh": QuoteCues(_attributes_zh, _pattern_condition(_GLOSS_ZH, "lead"), _elsewhere_zh),
    "ko": QuoteCues(
        _attributes_ko,
        lambda clause: bool(_GLOSS_AFTER_KO.match(clause.after)),
        _elsewhere_ko,
    ),
}

_IN_BRACKETS = re.compile(rf"{BLANK}\s?[(\uff08]\s?$")  # behind a quotation, in brackets
_EUPHEMISM = re.compile(r"(?:the\s)?[a-z]-?word", re.IGNORECASE)  # "s-word"
