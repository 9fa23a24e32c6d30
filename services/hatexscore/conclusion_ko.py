"""Korean clauses around a label word: predicate, mood and negations follow it.

Source: our own rules. Subjects may be dropped; a topic that is not this text is general.
"""

from __future__ import annotations

import re

from services.hatexscore.report import Form
from services.hatexscore.vocabulary import Clause, Mood, WordInText

REACH = 200  # characters around a label word

# Where the clause of the word ends; the connective itself belongs to it.
_BORDER_AFTER = re.compile(
    r"(?:이유|까닭|근거)(?:는|은|로)(?=\s)|지만|으나(?=[\s,])|나(?=,\s)|는데(?=[\s,])|ㄴ데"
    r"|은데(?=[\s,])|인데(?=[\s,])"
    r"|(?:아니|없|있)어서(?=\s)"
    r"|(?<=[이아])며(?=[\s,])|으며|하며|[;；]|므로|(?:이|으)?기 때문|해서(?=\s)|여서|이라서"
    r"|라서(?=[\s,])|니까"
    r"|(?<=[가-힣])고(?=,)|(?:이|아니|하|크|있|없|적이|되|르|높|강하|담)고(?=\s(?!있|없|할|볼|하기"
    r"|보기|는|도|생각|판단|말))|아니라(?!고|는|면)(?=[\s,])|면서(?=\s)|뿐(?:만)? 아니라"
)
_BORDER_BEFORE = re.compile(
    r"지만|그러나|하지만|그렇지만|다만|반면|그럼에도|[;；:：]|므로|기 때문에|따라서|으나\s|는데\s"
    r"|은데\s|아니라\s|(?:하|이|되|으)며\s|[가-힣]고,|(?:있|없|하|이|크)고\s|(?:있|없)어,?\s"
    r"|하여\s|니까|그래서|어서\s"
    r"|아서\s|해서\s|(?:하|되|이)기에\s|기(?:는|도)?\s*(?:하나|해도|하지만|하되)\s|긴\s*(?:하나|해도|하지만)\s"
    r"|(?:뚜렷|분명|명백|확실)해\s"
)
_PREDICATE = re.compile(
    r"충족|부합|겠|있나"
    r"|인가|일까|까요|인지|입니다|이다|임(?=\W|$)|이에요|예요|인 것|다[.!\s\"'”)]*$"
    r"|다(?=[\s,])|분류"
    r"|판단|간주|판정|평가|해당|속하|속한|속합|포함|담고|담긴|담겨|담았|조장|사용|아니|아닙|아닌"
    r"|아님|않|없|볼\s|본다|봅니다|보아야|봐야|보인|보입|할\s*수|됩니다|된다|됨|한다|합니다|함(?=\W"
    r"|$)"
    r"|거리가|여긴|여겨|표시|이르|미치|넘|인정|규정|부를|있다|있습|하다|하고|이므로|이며|이고|이지"
    r"|이라|라고|하지만|하며|하므로|하여|해서|드러|나타|보이|(?:로|라고)\s(?:보았|봤)|바꾸|바꿨|변경|정정|만드는|맞"
)
_JUDGE = re.compile(
    r"분류|판단|간주|판정|평가|본다|봅니다|볼\s|보아야|봐야|보지|보기|여긴|여겨|표시|인정|규정|부를"
    r"|^\s*(?:표현|발언)?(?:으로|로)\s*(?:삭제|제거|차단)|부르|생각|태그|라벨|구분|(?:로|라고)\s(?:보았|봤)|바꾸|바꿨|변경|정정"
)
_NEGATION = re.compile(
    r"라기보다|것은\s*(?:명백한\s*)?(?:실수|오류|오판)|^\s*(?:표현|발언)?보다(?:는"
    r"|도)?(?=\s)(?!\s*더)|지나치다|지나칩|과장|과하다|철회|아니|아닙|아닌|아님|않|없"
    r"|거리가\s*(?:\S+\s+){0,2}?(?:멀|먼|멉|멂)|못|안\s(?:됩|된|돼|한|함)|잘못"
    r"|틀[린렸리]|부적절"
    r"|부정확|옳지|무관|이르지|미달|부당|무리|어렵다고|찾기\s*(?:힘들|어렵)|보기\s*(?:힘들|어렵)"
    r"|(?:하|보|부르|받아들이|인정하|동의하|수긍하|납득하)기(?:는|도|엔|에는)?\s*(?:힘들|어렵)"
    r"|설득력이?\s*(?:약하|떨어)|로\s*판단하기\s*(?:힘들|어렵)|배제|부족"
    r"|결여|모자라|벗어나"
)
_TWICE = re.compile(
    r"(옳|적절하|정확하|맞|타당하|이르|해당하|속하|포함되|미치)지\s*(?:는|도)?\s*(?:않|못)"
    r"|수\s*(?:는|도|가)?\s*없|찾아볼\s*수\s*없|보이지\s*않|지\s*(?:는|도)?\s*못하"
)
_REJECTED = re.compile(
    r"것은\s.{0,10}(?:잘못|틀|실수|오류|오판|부적절|부정확|부당|무리|옳지|적절하지|정확하지|맞지"
    r"|타당하지)"
)
_IDIOM = re.compile(
    r"수\s*밖에\s*없|(?:망설임|주저함?|이견|거리낌|의문|손색|모자람|부족함)(?:이|도|에)?\s*없"
    r"|뿐(?:만)?\s*아니라|의심(?:할|의)\s*(?:여지|바)\s*(?:가|는|도)?\s*없|틀림\s*없"
    r"|부[인정]하기(?:는|도|가)?\s*(?:어렵|힘들)|부인할\s*수\s*없|부정할\s*수\s*없|말할\s*것도\s*없|다름\s*없|다를\s*바\s*없|분명하"
    r"|지나지\s*않|에\s*불과하지\s*않"
    r"|(?:사실|점|본질|성격)(?:은|이|을|에는?|에)?\s*(?:변하지|바뀌지|달라지지|변함이?|변화가?"
    r"|숨길\s*수|감출\s*수|가릴\s*수)\s*(?:않|없)"
)
_ABOUT_IT = re.compile(
    r"^(?!\s*(?:표현|발언)?의\s*(?:정의|기준|요건|조건)(?:을|를|에)\s*(?:충족|부합|해당|들어맞|맞"
    r"|미치))\s*(?:표현|발언|콘텐츠|내용)?\s*(?:을|를|에|의|이|가|은|는)?\s*(?:강하게\s*|단호히\s*"
    r"|명확히\s*)?(?:비판|반대|규탄|고발|지적|보도|비난|대한|관한|대해|관해|방지|금지|예방|근절"
    r"|문제|다루|다룬|정의|연구|탐지|관련|논의|소개|언급|피해|대응|규제|범죄|맞서|대처|신고|추방"
    r"|멈추|줄이|없애|경계|주제|관련|역사|기원|현황|배경|실태|사례)"
)
# "인터넷에 혐오 표현이 늘고 있다": of the category, and no text.
_SPREADS = re.compile(
    r"^\s*(?:표현|발언|범죄)?(?:이|가|은|는)\s*(?:\S+\s+)?(?:늘|증가|많아|퍼지|퍼져|확산|줄|넘쳐"
    r"|판치|심해|만연"
    r"|사라|문제)"
)
_TOPIC_ITSELF = re.compile(r"^\s*(?:표현|발언)?(?:은|는)\s")
_SAID_OF_TEXT = re.compile(r"아니|아닙|아닌|아님|없|않|찾|보이|담|포함|있|못")
_BEFORE_NO = re.compile(r"(?:이른바|소위|단순한|반)\s*[\"'“‘]?$")
_ASKED = re.compile(
    r"인지|한지|는지|은지|ㄴ지|여부|인가|한가|일까|ㄹ까|할까|을까|나요|까요|습니까|입니까|[?？]"
)
_HEDGE = re.compile(
    r"수도\s*있|확신(?:할\s*수|하지\s*못|이\s*없|은\s*없)|장담할\s*수\s*없|지도?\s*모[르른릅]|가능성|소지가|불분명|불확실|분명(?:하지|치)\s*않|확실(?:하지"
    r"|치)\s*않|듯하|듯\s*하|것\s*같|경계(?:에|선)|가[까깝]|달려\s*있|따라\s*다르|달라"
    r"|(?<!로 )판단하기\s*(?:어렵|힘들)|판단할\s*수\s*없"
    r"|단정(?:할(?!\s*(?:근거|이유|증거))|[하짓]기)|애매|모호"
    r"|읽힐\s*수(?:도)?\s*있|해석(?:될|할)\s*수(?:도)?\s*있|^\s*(?:표현|발언)?(?:으로|로)도\s"
    r"|의심(?:된|됩|스)|우려|논란|여지가\s*있|일\s*수\s*있"
    r"|(?<!분류)(?<!간주)(?<!판단)(?<!평가)(?<!규정)(?<!인정)될\s*수\s*있"
)
_INTENDED = re.compile(r"^\s*(?:표현)?(?:으로|로)\s*\S{1,6}려(?:다|고\s*했)")
# "이 글을 혐오로 만드는 것은 욕설이 아니라 …": what is denied is the cause alone.
_CLEFT = re.compile(r"^\s*(?:표현|발언)?(?:으로|로)\s*만드는\s*(?:것은|건|요소는|이유는)")
_LOOKS = re.compile("(?:적)?(?:처럼|으로|같아)\\s*보이(?:지만|나|는데|겠지만)")
_NEARER = re.compile("가[까깝]")
_RATHER = re.compile("보다(?:는|도)?\\s")  # "혐오라기보다 비판에 가깝다"
_HEDGE_BEFORE = re.compile(
    r"아마|어쩌면|혹시|자칫|누군가는|일부는|어떤 (?:사람|이)|보기에 따라|경우에 따라"
)
_FIRST_SIGHT = re.compile(r"처음(?:에|에는|엔)|언뜻|얼핏|겉(?:으로|보기)|당초|원래는|한때|초기에")
_IF = re.compile(
    r"다면|(?<![저나])라면|(?<![가-힣])(?:만약|만일)"
    r"|(?:(?<!종합)(?<!요약)(?<!정리)(?<!고려)(?<!감안)(?<!참고)(?<!말)하|되|이|없으|있으|쓰|바꾸"
    r"|넣으)면(?=[\s,])(?!\s*안)|경우(?:에는"
    r"|라면|엔)"
    r"|었을\s*(?:것|텐|터)|았을\s*(?:것|텐)|였을\s*(?:것|텐|터)|했을\s*(?:것|텐)|였겠|었겠|했겠"
    r"|가정하|대신\s*[^.]{0,20}(?:면|었)|더라면|될\s*것이다|이었을"
)
_APPEAL = re.compile(
    r"용납|맞서|만듭시다|합시다|ㅂ시다|읍시다|갑시다|시다[.!]?\s*$|하자[.!]?\s*$|말자|말아야"
    r"|해서는\s*안|하면\s*안|안\s*됩니다|안\s*된다|안\s*돼|근절|없는\s*(?:세상|사회|공간|커뮤니티"
    r"|인터넷|곳|게시판|토론|환경|대화)|우리\s*(?:모두|는|가)|모두가|누구나|서로|반대해야|막아야"
    r"|거부해야|삼가|지양|멀리해야|노력|기억|주의해|허용하지\s*않|받아들여서는|참지|해야\s*(?:한다"
    r"|합니다|할)(?!고|는|며)|커뮤니티는|플랫폼은|공동체는"
)
_SHOULD_JUDGE = re.compile(
    r"(?:분류|판단|간주|판정|평가|표시|규정|인정|여겨|보아|봐|불러)(?:해|되어|돼|져)?야|(?:분류"
    r"|판단|간주|판정|표시)[하되돼해][가-힣]{0,4}\s*안|로\s*(?:보"
    r"|본|볼|봅|봐)|^\s*(?:표현|발언)?(?:으로|로)\s*(?:삭제|제거|차단|제재|조치)"
)
_GENERAL = re.compile(
    r"이란\s|란\s|모든\s|모두\s*[^.]{0,12}(?:것은|건)\s*아니|의미한다|뜻한다|의미하|뜻하"
    r"|정의(?![를을에])"
    r"|가리킨|가리키|일반적으로|보통|종종|자주|때때로|흔히|대개|늘\s|항상|말한다[.]?\s*$"
    r"|이런\s*(?:말|글|표현)들"
    r"|누구든"
)
_UNUSED = re.compile("(?:사용|쓰|포함|등장|나타나|보이)[가-힣]{0,3}\\s?(?:않|없)")
_REPORTED = re.compile(
    r"(?:라고|다고|이라며|라며|다며)\s*(?:(?![봐볼본]|보아)[가-힣]+\s+){0,2}(?:주장|말(?=했|한다|하[며고는]|합)|썼"
    r"|쓴|적|불평|외치|했다|한다|하였|했(?=지만|으나|는데)|하(?=지만)|하는\s*사람|비난|항의|전했|보도|느끼|우긴|이야기|얘기|지적)"
)
_OTHERS = re.compile(
    r"(?:작성자|글쓴이|저자|사람들|누군가|이웃|친구|법원|판사|기자|독자|네티즌|누리꾼|댓글러|그들?"
    r"|그녀|일부|어떤\s*(?:사람|이)|상대|전문가|경찰|변호사|언론|신문|다른\s*[가-힣]+)(?:은|는|이"
    r"|가|에서|께서|들은|들이)\s"
)
# "글쓴이는 그 말을 인용했을 뿐이므로 …": what the author does is the reason of the verdict.
_OF_THE_AUTHOR = re.compile(
    r"(?:작성자|글쓴이|저자|화자|발언자|사용자)(?:은|는|이|가)\s[^.]{0,120}?"
    r"(?:므로|기 때문에|으니|니까)(?=[\s,])"
)
_PARTIAL = re.compile(
    r"앞부분|뒷부분|일부(?:분)?(?:는|은|만)|첫\s*(?:문장|부분|단어)|마지막\s*(?:문장|단어|부분|말)"
    r"|그\s*자체만|단독으로|따로\s*보면|이\s*단어|해당\s*단어|단어\s*자체|다른\s*(?:글|댓글|게시물"
    r"|맥락|상황)|아래\s*(?:댓글|답글|글)|원글|이전\s*(?:글|댓글)|제목만|앞\s*절반|뒤\s*절반"
)
_REASON = re.compile(r"며,|고,|므로|때문에|니까|다\.\s")
_CONTRAST = re.compile(r"지만|으나\s|는데\s|은데\s|그러나|하지만|그렇지만|다만|그럼에도|[;；]")
_FINAL = re.compile(
    r"결론|따라서|종합|그러므로|요컨대|최종|결국|전체적으로|전반적으로|정리하면|요약하|이상으로"
    r"|올바른\s*(?:라벨|분류|판단)|(?:분류|판단|간주|표시|판정)(?:되어|해|돼)야|이를\s*고려"
)
_FINAL_PLACE = 25
_THIS = re.compile(
    r"판단|결론|라벨|레이블|분류|정답|이(?:것|건|는|를|\s|런\s(?:말|글|표현)은?)|그(?:것|건)\s*은?"
    r"|해당|위\s|본\s|저는|나는|필자는|모델|시스템|분류기|검토자|관리자|평가자|라벨러|주석자|원문"
    r"|글|게시물|댓글|시는|시가|편지|포스터|구호|광고|이미지|사진|영상|슬로건|전단|공지|문장|메시지"
    r"|트윗|발언|텍스트|말(?=은|이|에|을|의|도)|표현(?=은|이|에)|제목|답변|응답|질문|리뷰|문구"
    r"|작성자의|여기|내용|전체|농담|문단|대화|노래|가사|기사|캡션|출력|요청|게시글|글쓴이의|그의"
    r"|그녀의|단락|구절|\"\s?(?:은|는|이?라는|이?라고|이|가)(?=\s)"
)
_TOPIC = re.compile(
    r"(?<!\S)(?!\S*(?:하|되|히|있|없|시키|받|끼치|뜨리|부르|주|담|쓰|만드|추기|내리|추|여기"
    r"|몰아가|로|에|에서|만|사실|실|다|라|자|냐)(?:은|는)\s)"
    r"\S*[가-힣\"](?:은|는|이|가)\s"
)
_BARE_BEFORE = re.compile(
    r"(?:\W|따라서|그러므로|결론|결론적으로|결국|명백한|분명한|명백히|분명히|매우|아주|전혀|이는"
    r"|이것은|그것은|네|예|아니요|아니오|아니다|종합하면|즉|최종|판단|심각한|노골적인|명확한|\d+)*"
)
_BARE_AFTER = re.compile(
    r"^(?:\s*(?:표현|발언|적|글|내용|성))*\s*(?:이|은|가)?\s*(?:아님|없음|임|함)?[\s\"'”)]*(?:$"
    r"|[.。!,:;(]|때문)"
)


_REASON_OF_REPORT = re.compile(r"신고\s*(?:사유|이유|유형|내용)")


def read_word(sentence: str, word: WordInText) -> Clause | None:
    """As `conclusion_en.read_word`."""
    before, after = word.surroundings(sentence, REACH, REACH)
    if (_ABOUT_IT.match(after) and word.word.kind != "verbs") or _BEFORE_NO.search(before[-12:]):
        return None
    own, rest = _scope(after)
    form = _form(before, own)
    if form is None or (_TOPIC_ITSELF.match(own) and not _SAID_OF_TEXT.search(own)):
        return None
    mood = _mood(sentence, before, own, rest, form)
    final = mood == "asserted" and (_FINAL.search(before[-120:]) or _FINAL.search(own))
    denials, rejected = (0, False) if _CLEFT.match(own) else _denials(own)
    return Clause(
        "final" if final else form, mood, denials, rejected, own.endswith(("지만", "으나"))
    )


def clause_of(sentence: str, word: WordInText) -> tuple[str, str, str]:
    """What precedes a label word, its clause behind the word without idioms, and the rest."""
    before, after = word.surroundings(sentence, REACH, REACH)
    return before, *_scope(after)


def _scope(after: str) -> tuple[str, str]:
    idioms_out = _IDIOM.sub(lambda match: "\x00" * len(match.group()), after)
    border = _BORDER_AFTER.search(idioms_out)
    end = border.end() if border else len(after)
    return idioms_out[:end], after[end:]


def _denials(own: str) -> tuple[int, bool]:
    """Negations, "옳지 않" and alike as one; and whether they reject a label."""
    rejected = _REJECTED.search(own)
    return len(_NEGATION.findall(_TWICE.sub("않", own))), rejected is not None


def _form(before: str, own: str) -> Form | None:
    if _BARE_AFTER.match(own) and (
        _BARE_BEFORE.fullmatch(before) or before.rstrip().endswith((":", "：", ","))
    ):
        return "bare"
    if not _PREDICATE.search(own):
        return "predication" if _BARE_AFTER.match(own) and _THIS.search(before) else None
    return "classification" if _JUDGE.search(own) else "predication"


def _mood(sentence: str, before: str, own: str, rest: str, form: Form) -> Mood:
    leading = _CONTRAST.split(before)[-1]
    if _ASKED.search(own) or sentence.rstrip(" \"'”*").endswith(("?", "？")):
        return "asked"
    if _IF.search(own) or _IF.search(leading):
        return "hypothetical"
    hedged = _HEDGE.search(_RATHER.split(own)[0])
    if (
        hedged and not (_NEARER.match(hedged.group()) and _RATHER.search(leading))
    ) or _HEDGE_BEFORE.search(leading):
        return "hedged"
    if _FIRST_SIGHT.search(leading) or _LOOKS.match(own) or _INTENDED.match(own):
        return "earlier"
    if _REASON_OF_REPORT.search(leading):
        return "reported"
    others = _OTHERS.search(_OF_THE_AUTHOR.sub(" ", leading))
    if _REPORTED.search(own) or (others and _JUDGE.search(own)):
        return "reported"
    return _unspecific(leading, own, form)


def _unspecific(leading: str, own: str, form: Form) -> Mood:
    if _PARTIAL.search(leading):
        return "partial"
    if (_APPEAL.search(own) or _APPEAL.search(leading[-40:])) and not _SHOULD_JUDGE.search(own):
        return "appeal"
    if _SPREADS.match(own):
        return "general"
    general = _GENERAL.search(own) and not _UNUSED.search(own)
    if general or _GENERAL.search(_REASON.split(leading)[-1]):
        return "general"
    if form == "bare" or _THIS.search(leading) or not _TOPIC.search(_subjects(leading)):
        return "asserted"
    return "general"


def _subjects(leading: str) -> str:
    """What may hold the topic of the clause: the words after the last border."""
    pieces = _BORDER_BEFORE.split(leading)
    return pieces[-1] if pieces else leading
