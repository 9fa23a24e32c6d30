"""What a Chinese or Korean sentence denies and what it attacks: scopes of negation.

A Chinese negation reaches forward to the end of its clause, or to a weakening that is denied
("没有减轻对…的攻击"); a Korean one stands at the end of its clause and reaches back, "A이 아니라 B"
over A alone. See `negation` for English and for what a denial is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from services.hatexscore.group_terms import Cues, Sentence
from services.hatexscore.hateful_context import denials as korean_denials
from services.hatexscore.negation import Denial, SentenceReading, denied
from services.hatexscore.words import Span

_ATTACKS_ZH = re.compile(
    "说成|称作|叫做|叫作|视作|当作|当成|骂|斥责|贬|嘲弄|取笑|奚落|看不起|瞧不起|赶走|赶出|轰走|滚|剥夺|害虫|寄生虫"
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
    "(?P<only>不仅|不只|不但|不光|不单|不止|无非|毫不|无疑|毫无疑问|不得不|不断|不过|无论|不管|非常|非得|难免|无不|莫不|不愧"
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
_PRESENCE_ZH = re.compile("提到|提及|出现|点名|写到|说到|讲到|涉及|谈到|谈及|列出|列举|登场")
_LATER_ZH = re.compile(
    "[^，；。]{0,8}(?:，|,)?(?:但是|但|却|而|不过|只是)?(?:作者|文中|文本|这里|这段话|他|它|并|也|都|完全|却|从)*"
    "(?:没有|没|未|不|从未)(?:人)?(?:被|受到|遭到|遭|受|在|对)?(?P<rest>.{0,14})"
)
_OBJECT_ZH = re.compile("(?:他们|她们|它们|该群体|这一群体|这些人|之)?(?:$|[，,。；;！!、的])")


def read_chinese(text: str, offset: int, attacked: Sequence[Span]) -> SentenceReading:
    """text: the sentence, with blanks for what it quotes; attacked: spans of the explanation."""
    rejections: list[Span] = []
    found = [
        Denial(offset + unrelated.start(), offset + unrelated.end(), attack=False)
        for unrelated in _UNRELATED_ZH.finditer(text)
    ]
    for negator in _NEGATOR_ZH.finditer(text):
        if negator["rejects"]:
            rejections.append((offset + negator.start(), offset + negator.end()))
        elif not negator["only"] and not _within(found, offset + negator.start()):
            span = _scope_zh(text, negator.end(), offset, attacked)
            if span is not None:
                found.append(span)
    holding = [span for span in attacked if not denied(found, span[0])]
    every = tuple(sorted({*attacked, *rejections}))
    return SentenceReading((), tuple(found), (*holding, *rejections), every)


def _within(denials: Sequence[Denial], position: int) -> bool:
    return any(not one.attack and one.start <= position < one.end for one in denials)


def _scope_zh(text: str, start: int, offset: int, attacked: Sequence[Span]) -> Denial | None:
    border = _CLAUSE_ZH.search(text, start)
    end = border.start() if border else len(text)
    attacks = [a for a, _ in attacked if offset + start <= a < offset + end]
    opaque = _OPAQUE_ZH.search(text, start, end)
    if opaque and (not attacks or offset + opaque.start() <= min(attacks)):
        return None
    return Denial(offset + start, offset + end, bool(attacks)) if start < end else None


def denied_later_zh(text: str, end: int, attacks: Sequence[Span]) -> bool:
    """ "提到 X，但没有攻击他们", "X 没有受到攻击". Offsets are those of the sentence."""
    later = _LATER_ZH.match(text, end)
    if later is None:
        return False
    negated = [span for span in attacks if later.start("rest") <= span[0] < later.end("rest")]
    return any(_OBJECT_ZH.match(text, stop) for _, stop in negated)


_OPAQUE_KO = re.compile(
    "줄|약해|약하|사라지|바뀌|변하|숨기|감추|가려|가리|완화|덜|누그러|희석|정당화|망설이|주저|거리낌|서슴|그치|멈추|아끼|의심|부인"
    "|무마|지우|상쇄|용서|마다하|빼놓|벗어나|거침|다름|틀림|끊이|근거|이유|증거|외|밖|뿐|존중|사람으로|인간으로|대우|배려|달라지|변명|막|가볍"
)
_INSTEAD_KO = re.compile("아니라|아니고|아니며|아닌|아니요|말고")
_TOPIC_KO = frozenset({"은", "는"})
_HOLDS_KO = frozenset({"존중", "사람", "인간", "대우", "배려"})
NEAR_KO = 6  # morphemes before a Korean negator that say what it negates


def read_korean(
    sentence: Sentence, cues: Cues, text: str, attacked: Sequence[Span]
) -> SentenceReading:
    """text: the explanation; attacked: spans of it."""
    found: list[Denial] = []
    rejections: list[Span] = []
    for start, end in korean_denials("ko", sentence, cues):
        inside = [word for word in sentence.words if start <= word.start < end]
        near = inside[-1 - NEAR_KO : -1]
        if any(word.text in _HOLDS_KO for word in near):
            rejections.append((near[0].start, end))
        elif not any(_OPAQUE_KO.match(word.text) for word in near[-4:]):
            begin = _instead(text, inside, start, end)
            attack = any(begin <= a < end for a, _ in attacked)
            found.append(Denial(begin, end, attack))
    holding = [span for span in attacked if not denied(found, span[0])]
    every = tuple(sorted({*attacked, *rejections}))
    return SentenceReading((), tuple(found), (*holding, *rejections), every)


def _instead(text: str, inside: Sequence[object], start: int, end: int) -> int:
    """Of "A이 아니라 B" the denial begins after the last topic before A."""
    if not _INSTEAD_KO.match(text, max(start, end - 2)) and not _INSTEAD_KO.search(
        text, max(start, end - 3), end + 2
    ):
        return start
    topics = [
        word.end  # type: ignore[attr-defined]
        for word in inside
        if word.text in _TOPIC_KO and word.is_stop  # type: ignore[attr-defined]
    ]
    return max(topics, default=start)


def extra_attacks(language: str, text: str) -> Iterator[Span]:
    """Attack predicates that version 1 did not know; spans of the text."""
    pattern = _ATTACKS_KO if language == "ko" else _ATTACKS_ZH
    return (found.span() for found in pattern.finditer(text))
