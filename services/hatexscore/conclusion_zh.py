"""Chinese clauses around a label word: pieces between commas, negations before the predicate.

Source: our own rules. Subjects may be dropped; a piece with a subject of its own that is not this
text ("批评政府不等于仇恨言论") is general.
"""

from __future__ import annotations

import re

from services.hatexscore.report import Form
from services.hatexscore.vocabulary import Clause, Mood, WordInText

REACH = 200  # characters around a label word

_BORDER = re.compile(
    r"[，,；;：:、—](?!\s*(?:或|和|及|以及|还是))|(?<![不非])但是?|然而|不过(?!是)|可是|却(?!不"
    r"|没|是)|虽然"
    r"|尽管|即使|即便|虽说|固然|因为|由于|所以|因此|因而|而是|而且|并且|同时|其实|反而|[（）()]"
)
_COPULA = re.compile("是|属于|构成|含有|包含|既|充满|带有|具有|涉及")
_IDIOM = re.compile(
    r"(?:毫|绝|从)?不[^，,。；不]{1,3}地|不仅仅?|不但|非但|不只|不光|不止|毫无疑问|毫无疑义"
    r"|毫无悬念|无疑|不可否认|无可否认|不容否认"
    r"|(?:没有?人|无人|谁也?不)(?:会|能|可以)?否认|谁都?(?:很?难以?|无法|不能)否认|很难否认"
    r"|无法否认|不能否认|难以否认|毋庸置疑|毋庸讳言|不容置疑"
    r"|无庸置疑|非常"
    r"|(?:倒|还|毋)?(?:不如|宁)说|不如(?=[称当看把将视叫归算定认是讲])|不同(?!意)|不满|不幸|无论|不管|不论|不断|不少|不久|不禁|未来"
    r"|无意中|不过是|不外乎|无非是?|不失为"
    r"|(?:再(?:也)?)?没有?(?:什么)?比(?:这|此|它)[^，。]{0,4}更|不亚于|无异于|不妨|莫不"
    r"|(?:不能|无法|不会|难以|不足以|并不|并未|也不|没有|不)(?:能|会)?(?:改变|掩盖|掩饰|否定|抹去"
    r"|抹杀|减轻|削弱|淡化|消除)"
)
_DOUBLE = re.compile(r"不得不|不能不|不可不|无不|没有不|不无|(?:很难|难以|无法|没法)不")
# "很难说这不是": not to be denied.
_UNDENIED = re.compile(
    "(?:很难|难以|不能|没法|无法|不好|谁能)(?:说|否认|认为|讲)(?P<what>[^，,；;。不没非是]{0,8})"
    "(?:并?不(?:是|算|属于|构成)|并非|没有)"
)
_NEGATION = re.compile(
    r"与其|没有?|不|未(?!必)|无(?!辜)|并非|绝非|而非|(?<![并绝而])非|勿|缺乏|缺少|找不到|谈不上"
    r"|称不上"
    r"|算不上|算不得|够不上|错误地|误|反对将|拒绝|否认|(?:难以|很难)(?:(?:把|将)[^，,；;。不没非]{1,8})?(?:被|构成|视|认|归|称|算|看[作成]|当[作成]|说成|定[性为]|判为)|远离|排除"
    r"|免于"
)
_LONG_NEGATIONS = re.compile(
    r"并没有?|并未|并不|尚未|从未|没有|找不到|看不到|看不出|谈不上|称不上|算不上|算不得|够不上"
    r"|不存在"
    r"|不具有|不具备|绝不|毫不|毫无|决不|而不是|不是"
)
_PREDICATE = re.compile(
    r"符合|满足|是|属于?|构成|包含|包括|含有|含|带有|视为|视作|看作|当作|当成|认为|认定|归类|归为"
    r"|归入|归于"
    r"|判为|判定|判断|判作|列为|定为|定性|评为|评定|标记|标注|标为|标成|分类|划为|划归|划入|算|称"
    r"|叫|等于|等同"
    r"|具有|具备|存在|表达|达到|有|涉及|传播|宣扬|散布|煽动|充满|充斥|体现|落入|成为|为|没|无|缺乏"
    r"|找不到|看不出|看不到|发现|检测到?|检出|看见|看到|察觉|够|跨过|越过|使用|出现|显得|很|非常"
    r"|十分|极|并非|而非|非|不"
)
_JUDGE = re.compile(
    r"视为|视作|看作|当作|当成|认为|认定|归类|归为|归入|归于|判为|判定|判断|判作|列为|定为|定性"
    r"|评为|评定|标记|标注|标为|标成|分类|划为|划归|划入|称(?:其|它|之)?为|算作"
)
_ABOUT_IT = re.compile(
    r"反对|谴责|(?:批评|批判|讨论)(?!都|是|不|也|并|就)|抵制|关于|谈论|谈到|打击|受害|引用|报道|研究|禁止|揭露|探讨|有关"
    r"|对抗|防止|预防|治理|举报|监管|定义|介绍|提到|提及|回应|警惕|呼吁"
)
_AFTER_NO = re.compile(
    r"^(?:的)?(?:犯罪|政策|检测|法律|法规|立法|规定|定义|问题|现象|危害|受害者|话题|议题|研究|监管"
    r"|治理|指(?!数)|是指|界定|标准是|的人|情况下|社会|环境|社区|生活|空间|交易"
    r"|风险|隐患|威胁|漏洞|意识|措施|知识|教育|机制|团队|管理)"
)
_BEFORE_NO = re.compile(r"(?:一词|词语|这个词|“|所谓|何为|什么是|超出|不止于|超越|比)[“”\"的]*$")
_ASKED = re.compile(
    r"(?<!就是)(?<!这是)(?<!正是)(?<!也是)(?:为什么|为何)|是否|是不是|有没有|能否|会不会|算不算|属不属于|构不构成|与否|还是不|吗\s*[。.？?]?\s*$"
    r"|[?？][\s\"”]*$"
)
_ASKED_AFTER = re.compile(r"^[^，,。；;]{0,12}(?:吗|呢)?[?？]|^(?:与否|还是)")
_HEDGE = re.compile(
    r"(?<!不)可能|也许|或许|说不定|恐怕|未必|不一定|不确定|不清楚|不明确|取决于|视.{0,8}而定"
    r"|难以(?:判断|确定|断定|判定)|无法(?:判断|确定|断定|判定|决定)|(?:很)?难说|要么|没有?把握|说不准|接近|近乎|几近|边缘"
    r"|有人会|某些人会|疑似|嫌疑|有待|看情况|如何理解"
)
_LOOKS = re.compile(
    "[本原]想|[本原]打算|[本原]以为|看似|貌似|看(?:起来|上去)(?:像|好像)"
)  # "看似仇恨，实则自嘲"
_FIRST_SIGHT = re.compile(r"乍一?看|初看|起初|最初|一开始|表面上|表面看|原本|原先|先前|之前")
_IF = re.compile(
    r"如果|假如|要是|若(?!无其事)|倘若|假设|假使|倘使|一旦|除非|换成|换作|换做|只要|只有|要不是"
    r"|否则|的话(?=[，,])|本来会|(?<!文)本会|当且仅当|设想"
)
# "…，如果它号召驱逐，才会 …": the condition has a main clause of its own.
_IF_THEN = re.compile(
    "(?:如果|假如|要是|倘若|假设|假使|若)[^。；;]{0,60}?(?:才|就|则|便|那么?|会|可能)"
)
_WHETHER = re.compile("是不是|有没有|能不能|算不算|会不会|属不属于|构不构成")
_CONTRAST = re.compile(
    r"(?<![不非])但是?|然而|不过(?!是)|可是|而(?:实际|事实|原文|现在|目前)|实际上|事实上|其实"
    r"|[；;。]"
)
_APPEAL = re.compile(
    r"容忍|让我们|我们(?:应|要|必须|需|都|不)|大家|每个人(?:都)?|人人|所有人|请(?!求)|杜绝|零容忍"
    r"|共同|携手|维护|创造|营造|牢记|记住|提醒|社区(?:不|应|要|必须|禁)|平台(?:不|应|要|必须|禁)"
    r"|社会(?:不|应|要)|抵制|远离|拒绝(?!将|把|认)|避免|遏制|消除|对.{0,10}说不"
)
_SHOULD = re.compile(
    r"不应|不该|应当|应该|必须|不要|不得|理应|不能(?!(?:就此|据此|因此|由此|这样|简单地)?(?:说|算|视|认|归|判|称|构|否|被))"
)
_SHOULD_JUDGE = re.compile(
    r"(?:不应|不该|应当|应该|应|必须|理应)(?:当|该)?(?:将|把|被)?[^，,；;。]{0,12}?(?:视|看作|当作"
    r"|认|归|判|列|定|评|标|分类|划|算|称|属|是)"
)
_GENERAL = re.compile(
    r"是指|指的是|定义|并非所有|不是所有|并不是所有|并非每|不是每|所有.{0,12}都|任何.{0,12}都|凡是?"
    r"|通常|往往|常常|时常|一般来说|一般而言|一般|这类|此类|这种话|诸如"
)
_NONE_OF_THEM = re.compile("(?:没有?|未|不含|并无|毫无)[^，,；;。]{0,6}任何")
_OTHERS = re.compile(
    r"(?:有人|有些人|一些人|某些人|别人|他人|他们?|她们?|网友|读者|法院|法官|邻居|朋友|作者|博主"
    r"|发帖人|用户|新闻|报道|文章|媒体|批评者|警方|律师|专家|对方"
    r"|另一[位个名])[^，,；;。]{0,10}?(?<!被)(?:认为|声称|宣称|说(?!成)|指出"
    r"|称(?![^，,；;。]{0,8}[为作])|坚称|觉得|写道|抱怨|表示|主张"
    r"|指责|提到|裁定|(?<!被)认定|被告知|报道)"
)
_PARTIAL = re.compile(
    r"前半|后半|前一半|后一半|部分|第[一二三四]句|最后(?:一|的)?(?:个?词|句|字)|首句|末句|开头|结尾"
    r"|单独|单看|孤立|本身(?!就|也|即)(?=.{0,4}词)|在其他|在别的|换个|另一(?:条|个|篇|段)"
    r"|其他(?:评论|帖子|文本)|下面的(?:回复|评论)|上一条|原帖|这个词|该词|一词|该表情"
    r"|标题本身(?=.{0,3}词)"
)
_FINAL = re.compile(
    r"结论|综上|因此|所以|总之|总的来说|总体而言|总体|综合|最终|最后(?!一)|归根|由此可见|可见"
    r"|故(?=该|此|这|判|认|将)|据此|正确的?(?:标签|分类|答案|判断|结论)|应(?:当|该)?(?:将其"
    r"|把它)?(?:被)?(?:归|判|标|视|认定|列)|我的(?:判断|结论)"
)
_FINAL_PLACE = 20
_THIS = re.compile(
    r"标签|答案|分类|判断|结论|判定|这(?!类|种人|些人)|该|此(?!类)|本(?!来|质|身)|它|其(?!实|他"
    r"|中一)|文中|文本|原文|原句|上述|上面|以上|给定|全文|句子|内容|言论(?!是指)|评论|帖|推文|留言"
    r"|消息|信息|回复|回答|标题|发言|话(?!题)|用户|作者|发帖人|他的|她的|我认为|我判|我将|我把|整体"
    r"|整句|文字|字里行间|诗|歌|书评|稿|里面|其中|通篇|表述|措辞|语言|说法|笑话|歌词|提问|问题"
    r"|输出|对话|段落"
)
_LEADING = re.compile(
    r"^(?:[\s\"“”*\-•\d.)一二三四五六七八九十、]|本身|自身|因此|所以|综上所述|综上|总之|总的来说"
    r"|总体而言|总体|最终|最后|显然|明显|很明显|也|就|都|又|还|仍然?|依然|依旧|确实|的确|其实"
    r"|实际上|事实上|(?:细读|再读|重读|通读|读完|看完|细看|仔细(?:阅读|看|分析)|分析|阅读|审查"
    r"|斟酌|考虑)(?:全文|上下文|内容)?(?:之后|以后|后|下来)?"
    r"|(?:经过?|经由)[^，,；;。]{0,8}?(?:之后|以后|后)|这|我们?|系统|模型|审核员|审核人员|标注员"
    r"|标注者|评审员?|管理员|版主|分类器"
    r"|算法|可以|能|会|应当?|应该|被|将|把|并|而|则|即|故|理应|应予|更|较为|倾向于?|实则|实为|本质上|实质上|即使"
    r"|从整体看|整体上|整体|仔细阅读后|结论"
    r"|是|属于?|不|没有?|未|无|既|也|含有?|包含|构成|存在|并非|非|视为|归类|判|认|有|具有|充满"
    r"|看不出|看不到|找不到|缺乏|尚|达|违|完全|绝对|根本|丝毫|毫|谈|称|算|只|仅|带|很|十分|非常|极"
    r"|较|比较|更|十足|典型|明确|直接|露骨|赤裸裸)*"
)
_BARE = re.compile(
    r"(?:\W|因此|所以|总之|综上所述|综上|最终|显然|明显|是|为|属于?|不|没有?|非|不是|并非|无|纯粹"
    r"|典型|明确|的|该?文本|这|我的?判断|结论|判断|不构成|构成|不含|含有?|不属于|毫无疑问|完全|绝对"
    r"|实则|实为|本质上|实质上|其实|赤裸裸|露骨|公然|彻头彻尾|不折不扣|明目张胆|十足|一种|一条"
    r"|一段|纯属|根本)*"
)
_AFTER_BARE = re.compile(
    r"^(?:的)?(?:言论|内容|文本|评论|表达|语言)?\s*(?:$|[。.！!，,；;：:（(、]|因为|由于|但)"
)
_REJECTED = re.compile(
    r"^[^，,；;。]{0,20}?(?:是|并|显然|完全|有|属)?\s*(?P<no>不|没|并不|难以)?\s*(?P<judged>错误"
    r"|有误|正确|准确|恰当|妥当|公平|公正|公道|成立|合适|合理|站得住脚|站不住脚|过于严厉|言过其实|夸大"
    r"|误判|误读|曲解|误解|失当|牵强|勉强|欠妥|不妥|过火|小题大做|言重|夸张|属实|确切"
    r"|对的?(?=[。，]|$)|过头|过分|不当|错)"
)
_DISBELIEVED = re.compile(
    "^[，,]?(?:恐怕|大概|也|是|更|都)*(?:没有?人(?:会|能)?(?:相)?信|说不过去|言过其实|夸大其词|小题大做|难以服众|站不住脚"
    "|难以令人信服|[^，,。；;]{0,12}(?:不会|不能|难以|不可能)(?:同意|认同|赞同|接受|苟同|相信|信服)|未免|自欺欺人|说不通|讲不通|荒唐|可笑|牵强|为时过早|言之过早)"
)
_EVIDENT = re.compile(
    "^(?:性质|性|意味|意图|倾向|色彩)?(?:是)?(?:毋庸置疑|不容置疑|毫无疑问|显而易见|一目了然"
    "|昭然若揭"
    "|十分明显|非常明显|很明显)"
)
_LABEL_AFTER = re.compile(
    r"^\W?(?:的|这一|这个|这种)?(?:标签|分类|归类|判断|判定|说法|结论|认定|指控|指责|质疑)"
)
# "不能因为有脏话就说它是": the denial is of what follows.
_NOT_BECAUSE = re.compile(
    "(?:不能|不可|不应该?|不该|不要)(?:仅仅?|只|单单)?因为?[^，。；不]{1,30}?[就便]"
)
# "维持仇恨的认定", "撤销仇恨的认定": what an appeal ends with.
_UPHELD = re.compile(
    "(?:维持|确认|支持|认可|[作做给]出|(?P<no>撤销|推翻|取消|驳回|否决|更正))了?"
    "(?:原先?的?|该|此)?\\W*$"
)
_MEETS = re.compile(r"(?:符合|满足|达到|不到|够得上)\W*$")
_UNRELATED = re.compile(
    r"^(?:毫|完全|并)?(?:无关|不沾边|不相[干关]|无涉|没有?(?:任何)?关系|相去甚远|相距甚远|还?(?:差得|差着|相差"
    r"|隔得)?(?:很|太|还)?远)"
)
# "以仇恨言论为由删除": what is done to the text judges it.
_GROUND = re.compile("^\\W?(?:为由|之名)(?:而)?(?:将其|予以|被)?(?:删除|移除|下架|处理|封禁|屏蔽)")
_LABEL_SUBJECT = re.compile(
    r"归类|分类|标签|标记|标注|判定|判断|判为|视为|归为|认定|称为|说成|当作|看作|说|称|定性|列为"
    r"|结论|说法|看法|否认"
)
_REJECTING = {
    "错误",
    "有误",
    "站不住脚",
    "过于严厉",
    "言过其实",
    "夸大",
    "误判",
    "误读",
    "曲解",
    "误解",
    "失当",
    "牵强",
    "勉强",
    "欠妥",
    "不妥",
    "过火",
    "小题大做",
    "言重",
    "夸张",
    "过头",
    "过分",
    "不当",
    "错",
}
_EXPLETIVE_AFTER = re.compile(r"^(?:地|人|生活|情况|距离|起见|起来)")


_REASON_OF_REPORT = re.compile("举报(?:理由|原因|类型|类别)")


def read_word(sentence: str, word: WordInText) -> Clause | None:
    """As `conclusion_en.read_word`."""
    before, after = word.surroundings(sentence, REACH, REACH)
    if word.word.kind != "verbs" and _mentions(before, after):
        return None
    own, prior = _scope(before)
    rejected = _rejection(own, after)
    form = "classification" if rejected is not None else _form(own, prior, after, word)
    if form is None:
        return None
    denials = _denials(own) + bool(rejected) + (_UNRELATED.match(after) is not None)
    mood = _mood(sentence, own, prior, after, "bare" if rejected is not None else form)
    final = mood == "asserted" and _FINAL.search((own + " " + prior[-60:])[: len(own) + 61])
    return Clause("final" if final else form, mood, denials, bool(rejected), _conceded(prior))


def clause_of(sentence: str, word: WordInText) -> tuple[str, str]:
    """The clause before a label word, without idioms, and what follows the word."""
    before, after = word.surroundings(sentence, REACH, REACH)
    return _scope(before)[0], after


def _mentions(before: str, after: str) -> bool:
    """Is the word only spoken of: "仇恨言论的定义", "“仇恨”一词"?"""
    if _MEETS.search(before):
        return False
    spoken_of = _AFTER_NO.match(after) or _EXPLETIVE_AFTER.match(after)
    return bool(spoken_of or _BEFORE_NO.search(before[-12:]))


def _scope(before: str) -> tuple[str, str]:
    """The piece that holds the word; a list ("不含威胁、侮辱或") stays whole."""
    cut = 0
    before = _NOT_BECAUSE.sub("不", before)
    for border in _BORDER.finditer(before):
        listed = _NEGATION.search(before, cut, border.start()) or _COPULA.search(
            before, cut, border.start()
        )
        if border.group() == "、" and listed:
            continue
        cut = border.end()
    own = _IDIOM.sub(" ", _UNDENIED.sub(r"\g<what>是", before[cut:]))
    return _DOUBLE.sub("不不", own), before[:cut]


def _denials(own: str) -> int:
    """Of "并没有" or "找不到" one."""
    return len(_NEGATION.findall(_LONG_NEGATIONS.sub("不", _WHETHER.sub("是", own))))


_DESCRIBED = re.compile('^[”"’]?来?(?:形容|描述|称呼|概括)[^，,；;。]{0,8}')


def _rejection(own: str, after: str) -> bool | None:
    """Whether a label is rejected ("归类为仇恨言论是错误的"); None where none is spoken of."""
    described = _DESCRIBED.match(after)
    if described and _DISBELIEVED.match(after, described.end()):
        return True
    upheld = _UPHELD.search(own) if _LABEL_AFTER.match(after) else None
    if upheld is not None:
        return upheld["no"] is not None
    if not (_LABEL_SUBJECT.search(own) or _JUDGE.search(own) or _LABEL_AFTER.match(after)):
        return None
    if _DISBELIEVED.match(after):
        return True
    said = _REJECTED.match(after)
    if said is None:
        return None
    denials = _denials(after[: said.start("judged")]) + (said["no"] == "难以")
    return (said["judged"] in _REJECTING) != (denials % 2 == 1)


def _form(own: str, prior: str, after: str, word: WordInText) -> Form | None:
    if word.word.kind == "verbs":
        return "predication"
    if _GROUND.match(after):
        return "classification"
    if _UNRELATED.match(after) or _EVIDENT.match(after):
        return "predication"
    if _ABOUT_IT.search(own):
        return None
    if _BARE.fullmatch(own) and _AFTER_BARE.match(after):
        return "bare" if not prior.strip() or prior.rstrip()[-1:] in "：:，," else "predication"
    if _JUDGE.search(own):
        return "classification"
    return (
        "predication"
        if _PREDICATE.search(own)
        or (re.match(r"^(?:的|性)*(?:[。.！!，,；;（(：:]|$)", after) and _THIS.search(own))
        else None
    )


def _mood(sentence: str, own: str, prior: str, after: str, form: Form) -> Mood:
    following = _CONTRAST.split(after)[0]
    if (
        _ASKED.search(own)
        or _ASKED_AFTER.match(after)
        or sentence.rstrip(' "”*').endswith(("?", "？", "吗", "吗。"))
    ):
        return "asked"
    leading = _CONTRAST.split(prior)[-1] if prior else ""
    later = _IF_THEN.sub("", following)
    if _IF.search(own) or _IF.search(leading) or _IF.search(later):
        return "hypothetical"
    if _HEDGE.search(own) or _HEDGE.match(following):
        return "hedged"
    if _LOOKS.search(own) or _FIRST_SIGHT.search(own) or _FIRST_SIGHT.search(leading[-30:]):
        return "earlier"
    if _REASON_OF_REPORT.search(leading[-12:]) or _REASON_OF_REPORT.search(own[:12]):
        return "reported"
    if _OTHERS.search(own) or (
        _OTHERS.search(leading.rstrip("，,：:")[-30:].rpartition("，")[2])
        and leading.endswith(("，", ",", "：", ":"))
        and not _THIS.search(own)
    ):
        return "reported"
    return _unspecific(own, prior, form)


def _unspecific(own: str, prior: str, form: Form) -> Mood:
    if _PARTIAL.search(own):
        return "partial"
    should = _SHOULD.search(own) and not _SHOULD_JUDGE.search(own)
    if (_APPEAL.search(own) and not _SHOULD_JUDGE.search(own)) or should:
        return "appeal"
    if _GENERAL.search(own) and not _NONE_OF_THEM.search(own):
        return "general"
    if form == "bare" or _THIS.search(own):
        return "asserted"
    leading = _leading(own)
    if _PREDICATE.search(own, 0, leading):
        return "asserted"
    rest = own[leading:]
    first = _PREDICATE.search(rest)
    subject = rest if first is None else rest[: first.start()]
    return "asserted" if not subject.strip(' 的"') or len(subject.strip()) <= 1 else "general"


def _leading(own: str) -> int:
    match = _LEADING.match(own)
    return match.end() if match else 0


def _conceded(prior: str) -> bool:
    return prior.endswith(("虽然", "尽管", "即使", "即便", "虽说"))
