"""Words that state a decision in structured data: labels, the keys before them, yes and no, and
ticked boxes.

All readers of fields and lists use this vocabulary, for answers of models and for explanations in
HateXScore. They therefore agree on keys, denials and missing answers. The patterns are pieces of
regular expressions without capturing groups, for IGNORECASE or lower case. Labels that a metric's
caller defines, and full sentences, are recognised elsewhere."""

from __future__ import annotations

import re
from typing import Literal

Side = Literal["hateful", "non-hateful"]

# The label of what is hateful, in the languages that models answer in.
HATEFUL = (
    r"(?:hateful(?:[\s_-]+(?:speech|content))?|hate(?:[\s_-]+(?:speech|content)|\s?/\s?\w{1,30})?"
    r"|仇恨(?:言论|性)?|혐오(?:\s?표현|적)?|hass(?:erfüllt|rede)?|hain(?:e|eux|euse)|[oó]dio(?:s[oa])?"
    r"|haat(?:dragend|zaaiend)?|hatelijk|ненависть"
    r"|(?:discurso|discorso)s?\s(?:de|do|di|d['\u2019])\s?[oó]dio|discours\shaineux"
    r"|ヘイトスピーチ|ヘイト|ненавистническ\w{2,3}|разжигание\sненависти)"
)
# What stands before it, and makes it the other one; what stands behind it.
NOT = (
    r"(?:(?:not|non|no|nicht|keine?|pas|não|niet|geen|не|без|sin|sem|sans|senza|ohne|nessun)[\s_-]*"
    r"(?:an?\s+|de\s+)?|[非비]\s?|不是)"
)
IS_NOT = r"(?:\s?아님|\s?ではない)"

TICKS, CROSSES = "\u2705\u2714\u2611\u2713", "\u274c\u2717\u2718\u2716\u274e\u2715"
TICK, CROSS = rf"[{TICKS}]\ufe0f?", rf"[{CROSSES}]\ufe0f?"

# Values that say yes and no, whatever the key asks.
YES = (
    r"(?:yes|y|true|t|1(?![.,]\d)|是的?|有|对|예|네|그렇다|있음|해당(?!\s?없)|ja|oui|sí|sim|да|はい"
    rf"|{TICK})"
)
NO = (
    r"(?:no|n|false|f|0(?![.,]\d)|none|nope|否|不是|无|没有|아니[요오다]|아님|없음|해당\s?없음|nein|nee|non|não"
    rf"|нет|いいえ|absent|negative|(?:none|not|nothing|un)[\s_-]?(?:present|found|detected|flagged)|{CROSS})"
)
# Grades of what a key names, by which it is there or not.
HIGH = r"(?:(?:very\s+)?high|severe|strong|moderate|高|높음)"
LOW = r"(?:(?:very\s+)?low|minimal|negligible|zero|低|낮음)"
# Values that leave it open.
OPEN = (
    r"(?:null|nil|unknown|unclear|undecided|undetermined|n/?a|unsure|uncertain|maybe|possibly|cannot\ssay"
    r"|pending|tb[dc]|to\sbe\s(?:decided|determined|confirmed|reviewed|discussed|checked|seen)"
    r"|not\s(?:sure|known|clear|applicable|determined))"
)

TICKED_BOX = r"(?:\[[xX\u2713\u2714]\]|\([xX\u2713\u2714]\))"
EMPTY_SQUARE = r"(?:[\u2610\u25a1\u25fb\u2b1c]\ufe0f?|\[[ \u00a0_]?\]|\([ \u00a0]\))"

# Keys whose value is the decision.
KEY_NOUNS = (
    r"(?:label|verdict|decision|classification|category|class|conclusion|prediction|answer|result"
    r"|judge?ment|assessment|determination|output|rating|标签|结论|判断|判定|分类|类别|答案|结果"
    r"|라벨|레이블|결론|판단|판정|분류|정답|답변?|결과"
    r"|fazit|(?:schluss)?folgerung|urteil|ergebnis|einstufung|einordnung|entscheidung|bewertung"
    r"|antwort|klassifi(?:zierung|kation)|conclusi[oó]n|conclus[aã]o|conclusie|conclusione"
    r"|clasificaci[oó]n|classifica(?:ção|zione|tie|tion)|veredict?o|verdetto|decis(?:ión|ão|ione)"
    r"|décision|résultat|resultad?o|risultato|risposta|respuesta|resposta|réponse|oordeel|wniosek"
    r"|[ée]tiquette|etiqueta|etichetta|etiket|etykieta|r[óo]tulo|kennzeichnung|odpowied[źz]|werdykt"
    r"|метка|ответ|решение|оценка|ラベル|最終判断"
    r"|вывод|заключение|вердикт|結論|判定|分類|回答|sonuç|karar|slutsats|kesimpulan|الخلاصة|निष्कर्ष)"
)
KEY = (
    r"(?:(?:(?:final|overall|my|the|predicted|correct|hate|speech|moderation|safety|so|in)\s+"
    r"|最终|综合|최종\s*|종합\s*){0,4}"
    rf"(?:{KEY_NOUNS}|overall|(?:option|choice)\s*[a-d\d]"
    r"|so|thus|therefore|hence|consequently|in\s+(?:short|sum|conclusion|total)"
    r"|if\s+(?:i\s+(?:must|have\s+to|had\s+to)|forced\s+to)\s+(?:choose|decide|pick(?:\s+one)?))"
    r"(?:\s+(?:is|as))?)"
)
# Words before a label that is a key: "does the text contain hate speech".
ASKING = (
    r"(?:(?:whether|if|is|are|does|do|contains?|has|it|the|this|text|post|comment|content)\s+){0,6}"
)

# Keys of the last word in a matter, of decisions before it, and of a choice.
_LAST = (
    r"(?:final(?:ly)?|overall|revised|corrected|updated?|amended|adjudicated|adjudication|edit"
    r"|correction|consensus|conclusion|最终|更正|修正|최종|정정|endgültig|korrektur|corrección|correction"
    r"|correzione|correção)"
)
LAST_WORD = re.compile(rf"\b{_LAST}\b|^(?:最终|更正|修正|최종|정정)")
EARLIER = re.compile(
    r"\b(?:initial|first|previous|earlier|old|preliminary|draft|original|gold|bot|automatic|automated"
    r"|agent|l1|reporter|user|annotator|rater|neighbou?r)\b|^(?:初步|初|초기|이전)"
)
_CHOSEN = (
    r"(?:selected|chosen|choice|selection|pick|adjudicated|correct|ranking|edit|update|correction"
    r"|ruling|call|outcome|finding|status|score|grade|wahl|elección|choix|scelta|escolha|选择|선택|预测|예측)"
)
DECIDES = re.compile(
    rf"(?:{KEY}s?|(?:(?:{_LAST}|my|the|model)\s+){{0,3}}(?:{KEY_NOUNS}|{_CHOSEN})|{_LAST})"
    r"(?:\s(?:name|text))?(?:\s*\([^()]{0,60}\)?)?"
)
# Keys of what a text is about, and of whether it breaks the rules.
TOPIC = (
    r"(?:final\s+)?(?:(?:policy|content|harm|violation)\s+)?"
    r"(?:category|categories|topics?|policy|policies)"
)
VIOLATION = re.compile(
    r"(?:(?:the|any|policy|rules?|guidelines?|content)\s+){0,2}"
    r"(?:violat(?:ions?|es|ed|ing)|breach(?:es|ed)?)(?:\s+(?:the|any|of|our|policy|policies|rules?|guidelines?)){0,3}"
)
# Behind a decision: words that take it back, or correct it.
TAKES_BACK = re.compile(
    r"\b(?:disagree\w*|overturn\w*|overrul\w*|revers(?:ed?|al)|withdr\w+|wrong\w*|mistaken|incorrect"
    r"|misread|misjudg\w+|wait|actually|reconsider\w*|correct\s+(?:this|that|myself|it)|scratch\s+that|second\s+thoughts?"
    r"|rejected?|instead|not\s+(?:yet\s+)?final|if|unless|should\s+be|example|e\.g"
    r"|provisional|as\s+reported|bot)\b",
    re.I,
)
CORRECTS = re.compile(r"\b(?:correct|wait)\b|更正|정정", re.I)

LONGEST_PHRASE = 100  # characters
_PHRASE = re.compile(
    rf"(?:does\s|is\s)?(?P<no>{NOT}|不(?:属于|含|包含|构成)|无|未发现)?\s*{HATEFUL}(?P<ko>{IS_NOT}|(?:이|가)?\s?(?:아님|아닙니다|아니다|없음))?",
    re.IGNORECASE,
)


def side_of(phrase: str) -> Side | None:
    """Return the side, hateful or not, that a short phrase states in one of the supported
    languages. Return None if the phrase states neither."""
    bare = phrase.strip()
    match = _PHRASE.fullmatch(bare) if len(bare) <= LONGEST_PHRASE else None
    if match is None:
        return None
    return "hateful" if match["no"] is None and match["ko"] is None else "non-hateful"
