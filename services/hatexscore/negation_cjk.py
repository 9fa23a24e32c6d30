"""What a Chinese or Korean sentence denies and what it attacks: scopes of negation.

A Chinese negation reaches forward to the end of its clause, or to a weakening that is denied
("没有减轻对…的攻击"); a Korean one stands at the end of its clause and reaches back, "A이 아니라 B"
over A alone. See `negation` for English and for what a denial is. `denials` and `rejections` are
version 1's, by lists of cues, in three languages: variant `paper` keeps them; Korean needs them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from services.hatexscore.group_terms import Cues, Sentence
from services.hatexscore.negation import Denial, SentenceReading, sentence_reading
from services.hatexscore.words import Language, Span, TextWord

_ATTACKS_ZH = re.compile(
    "讥笑|讥讽|讥嘲|嗤笑|挖苦|揶揄|说成|称作|叫做|叫作|视作|当作|当成|骂|斥责|贬|嘲弄|取笑|奚落|看不起|瞧不起|赶走|赶出|轰走|滚|剥夺|害虫|寄生虫"
    "|垃圾|累赘|懒|脏|低贱|低人一等|下等|愚蠢|蠢|卑鄙|小偷|骗子|野蛮|落后|怪罪|抹杀|唾弃|痛斥|嫌弃|敌人|攻讦|毁谤"
    "|不能胜任|不配|无能|丢脸|冷嘲|影射|欺压|打压|驱赶|踩|恶心|踢出去|非人|歧视性|冒犯性"
)
_ATTACKS_KO = re.compile(
    "부르|부른|몰아|비웃|벌레|해충|기생충|취급|더럽|더러|게으르|게으른|쫓|얕보|손가락질|조리돌림|도둑|쓸모없|하찮|미개|야만"
    "|천박|저열|비아냥|능멸|업신여|희롱|헐뜯|모독|구박|깔아뭉개|낮잡"
    "|욕을 한|욕을 하|욕을 퍼|욕한|욕했|트집|험담|악담|저격|독설|대상으로|폭언"
)
_CLAUSE_ZH = re.compile("[，,；;：:。！？!?]|但是|但|而是|却|然而|不过|反而|只是")
_NEGATOR_ZH = re.compile(
    "(?P<only>(?:掩盖|掩饰|遮掩|减轻|改变|否认|掩|藏|瞒)不[了住掉]|不仅|不只|不但|不光|不单|不止|无非|毫不|无疑|毫无疑问|不得不|不断|不过|无论|不管|非常|非得|难免|无不|莫不|不愧"
    "|未免|不良|不公|不当|不雅|不友|不礼|无知|无耻|无能|无礼|无故|无端|无情|非人|不屑|不洁|不同|不少|不堪|不满|无理|非洲|非裔"
    "|不如|不必|不免|不时|不久|不料|不惜|未来|未成年|无神论|无国籍|无性恋|非二元|非法|不可知论|不配|不欢迎|不外乎|无一例外|无处不|无时无刻不)"
    "|(?P<rejects>不尊重|没有尊重|不把|没把|没有把|不接纳|不接受|不容忍|不信任|不允许)"
    "|并没有|没有|并非|并不|并未|而不是|不是|而非|从未|从不|从来不|未曾|绝非|绝不|毫无|不存在|不含|不涉及|不针对|无意|避免|没|未|不|无"
)
_OPAQUE_ZH = re.compile(
    "减轻|削弱|掩盖|掩饰|遮掩|遮盖|改变|缓和|淡化|犹豫|隐瞒|隐藏|疑|仅|只|阻止|妨碍|抵消|弥补|冲淡|否认|否定|辩解|开脱|手软|留情"
    "|节制|底线|顾忌|理由|根据|依据|证据|道理|脏话|脏字|粗口|别的|其他|其它|一点同情|同情|善意|好话|消除|降低|变得|尊重|平等|遮住"
)
_UNRELATED_ZH = re.compile(
    "[与和跟同][^，。；,;]{1,24}?(?:无关|没有?(?:任何|什么|一点)?(?:关系|关联|联系)"
    "|毫无(?:关系|关联|联系)|并无(?:关系|关联|联系)|不相干|毫不相干|不沾边)"
)
_LATER_ZH = re.compile(
    "[^，；。]{0,8}(?:，|,)?(?:但是|但|却|而|不过|只是)?(?:作者|文中|文本|这里|这段话|他|它|并|也|都|完全|却|从)*"
    "(?:没有|没|未|不(?![配该应能可会准许得])|从未)(?:人)?(?:被|受到|遭到|遭|受|在|对)?(?P<rest>.{0,14})"
)
_OBJECT_ZH = re.compile("(?:他们|她们|它们|该群体|这一群体|这些人|之)?(?:$|[，,。；;！!、的])")


def read_zh(text: str, offset: int, attacked: Sequence[Span]) -> SentenceReading:
    """text: the sentence, with blanks for what it quotes; attacked: spans of the explanation."""
    rejections: list[Span] = []
    found: list[Denial] = []
    position = 0
    for negator in _NEGATOR_ZH.finditer(text):
        unrelated = _UNRELATED_ZH.search(text, position, negator.end() + LONGEST_RELATION)
        if unrelated and unrelated.start() <= negator.start() < unrelated.end():
            position = unrelated.end()
            span = (offset + unrelated.start(), offset + unrelated.end())
            found.append(Denial(*span, attack=False))
        elif negator["rejects"]:
            rejections.append((offset + negator.start(), offset + negator.end()))
        elif not negator["only"] and negator.start() >= position:
            found += _scope_zh(text, negator.end(), offset, attacked)
        position = max(position, negator.start() - LONGEST_RELATION)
    return sentence_reading((), found, attacked, rejections)


def _scope_zh(text: str, start: int, offset: int, attacked: Sequence[Span]) -> list[Denial]:
    border = _CLAUSE_ZH.search(text, start, start + LONGEST_SCOPE)
    end = border.start() if border else min(len(text), start + LONGEST_SCOPE)
    first = bisect_left(attacked, (offset + start, 0))
    attack = attacked[first][0] if first < len(attacked) else len(text) + offset
    opaque = _OPAQUE_ZH.search(text, start, end)
    if start == end or (opaque and offset + opaque.start() <= attack):
        return []
    return [Denial(offset + start, offset + end, attack < offset + end)]


def is_rejected_zh(text: str, end: int, attacks: Sequence[Span]) -> bool:
    """ "提到 X，但没有攻击他们", "X 没有受到攻击". Offsets are those of the sentence."""
    later = _LATER_ZH.match(text, end)
    if later is None:
        return False
    return any(
        later.start("rest") <= start < later.end("rest") and _OBJECT_ZH.match(text, stop)
        for start, stop in attacks
    )


_OPAQUE_KO = re.compile(
    "줄|약해|약하|사라지|바뀌|변하|숨기|감추|가려|가리|완화|덜|누그러|희석|정당화|망설이|주저|거리낌|서슴|그치|멈추|아끼|의심|부인"
    "|무마|지우|상쇄|용서|마다하|빼놓|벗어나|거침|다름|틀림|끊이|근거|이유|증거|외|밖|뿐|존중|사람으로|인간으로|대우|배려|달라지|변명|막|가볍"
)
_INSTEAD_KO = re.compile("아니라|아니고|아니며|아닌|아니요|말고")
_TWICE_KO = re.compile("[는은지]?\\s?[가-힣]{1,8}\\s?(?:거의\\s)?없")  # "않는 문장이 없다"
_TOPIC_KO = frozenset({"은", "는"})
_VERBAL_KO = frozenset({"하", "되", "받", "당하", "시키", "이"})
# What a Korean explanation denies of a group that plays no part in a text.
_SAID_KO = re.compile(
    "관계|상관|관련|연관|말|이야기|얘기|등장|다루|거론|나오|언급|가리키|논하|이르|향하|목표|해당|의미|뜻하|관여|연결"
    "|떠올리|지목|지칭|찾|보이|상대"
)
_HOLDS_KO = frozenset({"존중", "대우", "배려"})
LONGEST_RELATION = 40  # characters of "与 … 无关"
LONGEST_SCOPE = 120  # characters of a Chinese clause
FAR_KO = 40  # morphemes of a Korean clause
NEAR_KO = 6  # morphemes before a Korean negator that say what it negates


def read_ko(sentence: Sentence, cues: Cues, text: str, attacked: Sequence[Span]) -> SentenceReading:
    """text: the explanation; attacked: spans of it."""
    found: list[Denial] = []
    rejections: list[Span] = []
    starts = [word.start for word in sentence.words]
    for start, end in denials("ko", sentence, cues):
        last = bisect_left(starts, end)
        near = sentence.words[max(0, last - 1 - NEAR_KO) : max(0, last - 1)]
        if _TWICE_KO.match(text, end):
            continue
        if any(map(_is_decent, near, near[1:])):
            rejections.append((near[0].start, end))
        elif not any(_OPAQUE_KO.match(word.text) for word in near[-4:]):
            if any(_SAID_KO.fullmatch(word.text) for word in near):
                start = min(start, _clause_start(sentence.words[:last], cues))
            begin = max(start, _contrast_start(text, sentence.words[:last], start, end))
            first = bisect_left(attacked, (begin, 0))
            attack = first < len(attacked) and attacked[first][0] < end
            found.append(Denial(begin, end, attack))
    return sentence_reading((), found, attacked, rejections)


def _is_decent(word: TextWord, following: TextWord) -> bool:
    """존중하(지 않다), 사람으로 (대하지 않다)."""
    if word.text in ("사람", "인간"):
        return following.text.startswith("으로")
    return word.text in _HOLDS_KO


def _contrast_start(text: str, before: Sequence[TextWord], start: int, end: int) -> int:
    """Of "A이 아니라 B" the denial begins after the last topic before A."""
    if not _INSTEAD_KO.search(text, max(start, end - 3), end + 2):
        return start
    near = before[-FAR_KO:]
    topics = (word.end for ahead, word in reversed(list(pairwise(near))) if _is_topic(ahead, word))
    return next(topics, start)


def _is_topic(ahead: TextWord, word: TextWord) -> bool:
    """A particle behind a noun, and not the ending of 공격하는."""
    verbal = ahead.text in _VERBAL_KO or ahead.lemma.endswith("다")
    return word.is_stop and word.text in _TOPIC_KO and not verbal


def _clause_start(before: Sequence[TextWord], cues: Cues) -> int:
    """Where the clause at the end of these words begins: behind a contrast or a linking comma."""
    near = before[-FAR_KO:]
    for ahead, word in reversed(list(pairwise(near))):
        linked = ahead.text in cues.linking and word.text == ","
        if linked or ahead.text in cues.clause_ends:
            return word.start
    return near[0].start if near else 0


def extra_attacks(language: str, text: str) -> Iterator[Span]:
    """Attack predicates that version 1 did not know; spans of the text."""
    pattern = _ATTACKS_KO if language == "ko" else _ATTACKS_ZH
    return (found.span() for found in pattern.finditer(text))


REACH_DENIABLE = 5  # morphemes between what is denied and a Korean negator
REACH_DIRECT = 2  # morphemes: noun + particle right before a Korean negator


def denials(language: Language, sentence: Sentence, cues: Cues) -> Iterator[Span]:
    """Spans of the explanation that the sentence denies: "not to any race, religion or gender".

    In English and Chinese a denial runs forward from its negator to the end of the clause, and a
    mention may be denied afterwards ("Muslims are not attacked"). In Korean the negator stands at
    the end, so a denial runs backward. "not only" and "no doubt" deny nothing; "does not respect"
    is an attack.
    """
    direction = _backward if language == "ko" else _forward
    return direction(sentence.words, cues)


def rejections(sentence: Sentence, cues: Cues) -> bool:
    """Does the sentence say of somebody "does not respect", "不尊重", "존중하지 않"?"""
    found = sentence.words
    negators = (place for place in range(len(found)) if _is_negator(found, place, cues))
    return any(_has_neighbors(found, place, cues.rejecting) for place in negators)


def _forward(found: Sequence[TextWord], cues: Cues) -> Iterator[Span]:
    """From each negator to the end of its clause."""
    opened: int | None = None
    for place, word in enumerate(found):
        if opened is not None and _is_clause_end(found, place, cues):
            yield opened, word.start
            opened = None
        if opened is None and _starts_denial(found, place, cues):
            opened = word.end
    if opened is not None:
        yield opened, found[-1].end


def _backward(found: Sequence[TextWord], cues: Cues) -> Iterator[Span]:
    """From the start of the clause to a negator, if a predicate stands right before that."""
    opened = 0
    for place, word in enumerate(found):
        if _is_backward_end(found, place, cues):
            opened = place + 1
        if not _starts_denial(found, place, cues):
            continue
        before = found[max(opened, place - REACH_DENIABLE) : place]
        deniable = any(_is_deniable(morpheme, cues) for morpheme in before)
        first = opened if deniable else max(opened, place - REACH_DIRECT)
        yield found[min(first, place)].start, word.end


def _is_deniable(word: TextWord, cues: Cues) -> bool:
    """What a Korean explanation denies: an attack, or being the object or the content of one."""
    listed = word.text in cues.deniable or word.lemma in cues.deniable
    return listed or cues.matches("predicates", word.text)


def _is_backward_end(found: Sequence[TextWord], place: int, cues: Cues) -> bool:
    """A contrast, or a linking ending before a comma, is where a Korean clause ends."""
    word = found[place]
    if word.text in cues.linking:
        return _text_at(found, place + 1) == ","
    return word.text in cues.clause_ends


def _starts_denial(found: Sequence[TextWord], place: int, cues: Cues) -> bool:
    """Does a denial open here?"""
    return (
        _is_negator(found, place, cues)
        and not _has_neighbors(found, place, cues.cancelling)
        and not _has_neighbors(found, place, cues.rejecting)
    )


def _is_negator(found: Sequence[TextWord], place: int, cues: Cues) -> bool:
    """One word, its lemma, or two words: "rather than"."""
    word = found[place]
    pair = f"{_lower(word)} {_text_at(found, place + 1)}"
    lemma_pair = f"{word.lemma} {_text_at(found, place + 1)}"
    return not cues.negators.isdisjoint({_lower(word), word.lemma, pair, lemma_pair})


def _has_neighbors(found: Sequence[TextWord], place: int, listed: frozenset[str]) -> bool:
    """Is a listed word next to the negator: after it, or (in Korean) before it?"""
    if f"{_lower(found[place])} {_text_at(found, place + 1)}" in listed:
        return True
    korean = found[place].lemma.endswith("다") or found[place].text == "무관"
    near = found[max(0, place - 4) : place] if korean else found[place + 1 : place + 3]
    return any(_lower(word) in listed or word.lemma in listed for word in near)


def _is_clause_end(found: Sequence[TextWord], place: int, cues: Cues) -> bool:
    """Does the clause end before this word?"""
    word = found[place]
    if _ends_clause(word, cues):
        return True
    following = _text_at(found, place + 1)
    if word.text == ",":
        return following in cues.comma_starters or _is_finite(following, cues)
    return _lower(word) in ("and", "or") and _is_finite(following, cues)


def _is_finite(text: str, cues: Cues) -> bool:
    """ "…, attacking Muslims", "and attacks Muslims": a new predicate, not one more object."""
    return text.endswith(("s", "ing")) and cues.matches("predicates", text)


def _ends_clause(word: TextWord, cues: Cues) -> bool:
    return _lower(word) in cues.clause_ends


def _lower(word: TextWord) -> str:
    return word.text.lower().replace("\u2019", "'")


def _text_at(found: Sequence[TextWord], place: int) -> str:
    return _lower(found[place]) if place < len(found) else ""
