"""Texts and explanations of our own, by what happens to the quotations: mild, from no data set.

located: what is found in the text, as the text writes it; `other`: reason by quotation.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class QuoteExample:
    family: str
    language: str
    text: str
    explanation: str
    located: tuple[str, ...] = ()
    hallucinated: tuple[str, ...] = ()
    other: dict[str, str] = field(default_factory=dict)


def _of(family: str, language: str, text: str, explanation: str, **found: object) -> QuoteExample:
    return QuoteExample(family, language, text, explanation, **found)  # type: ignore[arg-type]


TEXT = "Those newcomers took every seat on the morning bus again"
ZH = "那些外地人又占了公交车上的所有座位"
KO = "그 외지인들이 또 아침 버스 자리를 다 차지했다"

EXAMPLES = [
    # plain
    _of("plain", "en", TEXT, 'It says "took every seat" of them.', located=("took every seat",)),
    _of(
        "plain",
        "en",
        TEXT,
        "The author speaks of ‘Those newcomers’ and of ‘the morning bus’.",
        located=("Those newcomers", "the morning bus"),
    ),
    _of("plain", "en", TEXT, 'The word "newcomers" is the target.', located=("newcomers",)),
    _of("plain", "en", TEXT, '"every seat on" exaggerates.', located=("every seat on",)),
    _of("plain", "en", TEXT, "It is a complaint about «morning bus».", located=("morning bus",)),
    _of("plain", "zh", ZH, "文中写道“那些外地人”，带有排斥。", located=("那些外地人",)),
    _of("plain", "zh", ZH, "“所有座位”一词夸大其词。", located=("所有座位",)),
    _of("plain", "ko", KO, '"아침 버스"라는 말이 나온다.', located=("아침 버스",)),
    # case_and_marks
    _of(
        "case_and_marks", "en", TEXT, 'The phrase "TOOK EVERY SEAT" …', located=("took every seat",)
    ),
    _of("case_and_marks", "en", TEXT, 'It says "…morning bus."', located=("morning bus",)),
    _of("case_and_marks", "en", TEXT, "It says “those  newcomers,”", located=("Those newcomers",)),
    _of(
        "case_and_marks",
        "en",
        "it's THEIR fault, isn't it?",
        "It says “It’s their fault”.",
        located=("it's THEIR fault",),
    ),
    _of(
        "case_and_marks",
        "en",
        "well-known trouble–makers sit there",
        'The term "trouble-makers" is used.',
        located=("trouble–makers",),
    ),
    _of("case_and_marks", "en", TEXT, 'The phrase "*every seat*" …', located=("every seat",)),
    _of("case_and_marks", "zh", ZH, "文中「那些外地人，」一语。", located=("那些外地人",)),
    _of(
        "case_and_marks",
        "ko",
        KO,
        "‘자리를 다 차지했다.’라고 쓴다.",
        located=("자리를 다 차지했다",),
    ),
    # fuzzy
    _of(
        "fuzzy",
        "en",
        TEXT,
        'It says "took evry seat on the bus".',
        hallucinated=("took evry seat on the bus",),
    ),
    _of(
        "fuzzy", "en", TEXT, 'It says "took evry seat on the".', located=("took every seat on the",)
    ),
    _of("fuzzy", "en", TEXT, 'It says "newcommers took every".', located=("newcomers took every",)),
    _of("fuzzy", "en", TEXT, 'It says "the mornin bus again".', located=("the morning bus again",)),
    _of(
        "fuzzy",
        "en",
        TEXT,
        'The words "every seat in the morning" …',
        located=("every seat on the morning",),
    ),
    _of(
        "fuzzy", "en", TEXT, 'The phrase "thos newcomers took" …', located=("Those newcomers took",)
    ),
    _of("fuzzy", "zh", ZH, "文中写道“占了公车上的所有座位”。", located=("占了公交车上的所有座位",)),
    _of(
        "fuzzy",
        "ko",
        KO,
        '"아침 버스 자리를 다 차지햇다"라고 쓴다.',
        located=("아침 버스 자리를 다 차지했다",),
    ),
    # ellipsis
    _of(
        "ellipsis",
        "en",
        TEXT,
        'It says "Those newcomers … the morning bus".',
        located=("Those newcomers", "the morning bus"),
    ),
    _of(
        "ellipsis",
        "en",
        TEXT,
        'It says "newcomers took […] bus".',
        located=("newcomers took", "bus"),
    ),
    _of("ellipsis", "en", TEXT, 'It says "every seat...".', located=("every seat",)),
    _of(
        "ellipsis",
        "en",
        TEXT,
        '"...the morning bus again" is a complaint.',
        located=("the morning bus again",),
    ),
    _of(
        "ellipsis",
        "en",
        TEXT,
        'It says "newcomers [...] every seat".',
        located=("newcomers", "every seat"),
    ),
    _of("ellipsis", "en", TEXT, "It says “newcomers ... [...] bus”.", located=("newcomers", "bus")),
    _of("ellipsis", "zh", ZH, "文中写道“外地人……所有座位”。", located=("外地人", "所有座位")),
    _of(
        "ellipsis",
        "ko",
        KO,
        '"외지인들이 … 차지했다"라고 쓴다.',
        located=("외지인들이", "차지했다"),
    ),
    # hallucinated
    _of(
        "hallucinated",
        "en",
        TEXT,
        'The phrase "should stay away" is a threat.',
        hallucinated=("should stay away",),
    ),
    _of("hallucinated", "en", TEXT, 'It uses the word "lazy" for them.', hallucinated=("lazy",)),
    _of(
        "hallucinated",
        "en",
        TEXT,
        'The author writes "nobody wants you here".',
        hallucinated=("nobody wants you here",),
    ),
    _of(
        "hallucinated",
        "en",
        TEXT,
        'It calls them "a plague" and says "took every seat".',
        located=("took every seat",),
        hallucinated=("a plague",),
    ),
    _of(
        "hallucinated",
        "en",
        TEXT,
        'The hashtag "#sendthemhome" shows it.',
        hallucinated=("#sendthemhome",),
    ),
    _of(
        "hallucinated",
        "en",
        TEXT,
        'Terms such as "greedy" and "rude" degrade them.',
        hallucinated=("greedy", "rude"),
    ),
    _of("hallucinated", "zh", ZH, "文中写道“都给我滚”。", hallucinated=("都给我滚",)),
    _of("hallucinated", "zh", ZH, "“懒惰”一词贬低他们。", hallucinated=("懒惰",)),
    _of("hallucinated", "ko", KO, '"게으르다"라는 표현을 쓴다.', hallucinated=("게으르다",)),
    _of(
        "hallucinated",
        "ko",
        KO,
        '글쓴이는 "모두 나가라"라고 말한다.',
        hallucinated=("모두 나가라",),
    ),
    # inflection
    _of("inflection", "en", TEXT, 'The word "newcomer" singles them out.', located=("newcomers",)),
    _of("inflection", "en", TEXT, 'The verb "taking" accuses them.', located=("took",)),
    _of(
        "inflection",
        "en",
        "He stole two parcels",
        'The word "steals" is an accusation.',
        located=("stole",),
    ),
    _of(
        "inflection",
        "en",
        "My neighbour's dogs bark",
        'The word "neighbour" and the word "barking".',
        located=("neighbour", "bark"),
    ),
    _of(
        "inflection",
        "en",
        "The city is dirty",
        'The word "dirtiness" is an insult.',
        hallucinated=("dirtiness",),
    ),
    _of(
        "inflection",
        "en",
        "All these ladies complain",
        'The term "lady" and "complaining" …',
        located=("ladies", "complain"),
    ),
    _of(
        "inflection",
        "en",
        "They beg and cheat",
        'It uses "begging" and "cheats" about them.',
        located=("beg", "cheat"),
    ),
    _of("inflection", "en", "a foolish plan", 'The word "fool" is used.', hallucinated=("fool",)),
    # label_name
    _of("label_name", "en", TEXT, 'I label this text "hateful".', other={"hateful": "label"}),
    _of(
        "label_name",
        "en",
        TEXT,
        'The label is "not hate speech".',
        other={"not hate speech": "label"},
    ),
    _of(
        "label_name",
        "en",
        TEXT,
        'It falls into the category "toxic" rather than "benign".',
        other={"toxic": "label", "benign": "label"},
    ),
    _of(
        "label_name",
        "en",
        TEXT,
        '{"target": "newcomers", "severity": "none"}',
        located=("newcomers",),
        other={"target": "label", "severity": "label", "none": "label"},
    ),
    _of(
        "label_name",
        "en",
        "a normal day on the bus",
        'The word "normal" is harmless. Label: "normal".',
        located=("normal",),
    ),
    _of(
        "label_name",
        "en",
        TEXT,
        'Classified as ‘non-toxic’, with "took every seat" as evidence.',
        located=("took every seat",),
        other={"non-toxic": "label"},
    ),
    _of("label_name", "zh", ZH, "判定为“仇恨言论”。", other={"仇恨言论": "label"}),
    _of("label_name", "zh", ZH, "标签是“无害”。", other={"无害": "label"}),
    _of("label_name", "ko", KO, '이 글은 "혐오 표현"으로 분류된다.', other={"혐오 표현": "label"}),
    # nested
    _of(
        "nested",
        "en",
        TEXT,
        "It says \"Those 'newcomers' took every seat\".",
        located=("Those newcomers took every seat",),
    ),
    _of(
        "nested",
        "en",
        'He said "stay away" to the newcomers',
        "It quotes 'He said \"stay away\"'.",
        located=('He said "stay away',),
    ),
    _of(
        "nested",
        "en",
        TEXT,
        "The post (\"Those newcomers ('took every seat')\") …",
        located=("took every seat",),
    ),
    _of(
        "nested",
        "en",
        TEXT,
        "It says “newcomers ‘took’ every seat”.",
        located=("newcomers took every seat",),
    ),
    _of("nested", "zh", ZH, "文中写道“那些『外地人』又占了”。", located=("那些外地人又占了",)),
    _of("nested", "ko", KO, "“그 ‘외지인들이’ 또”라고 쓴다.", located=("그 외지인들이 또",)),
    # idiom
    _of("idiom", "en", TEXT, 'It builds an "us vs. them" divide.', other={"us vs. them": "idiom"}),
    _of("idiom", "en", TEXT, 'This is a typical "dog whistle".', other={"dog whistle": "idiom"}),
    _of("idiom", "en", TEXT, 'It uses "othering" to exclude them.', other={"othering": "idiom"}),
    _of(
        "idiom",
        "en",
        TEXT,
        'The phrase works as a "scapegoating" device.',
        other={"scapegoating": "idiom"},
    ),
    _of(
        "idiom",
        "en",
        TEXT,
        'It treats them as "second-class citizens".',
        other={"second-class citizens": "idiom"},
    ),
    _of("idiom", "en", TEXT, 'It may be "just a joke" for some.', other={"just a joke": "idiom"}),
    _of("idiom", "zh", ZH, "这制造了“我们与他们”的对立。", other={"我们与他们": "idiom"}),
    _of("idiom", "ko", KO, "'우리와 그들'을 나누는 구도이다.", other={"우리와 그들": "idiom"}),
    # gloss
    _of(
        "gloss",
        "en",
        TEXT,
        'The phrase "took every seat" implies "they are greedy".',
        located=("took every seat",),
        other={"they are greedy": "gloss"},
    ),
    _of(
        "gloss",
        "en",
        TEXT,
        '"Those newcomers" means "people from elsewhere".',
        located=("Those newcomers",),
        other={"people from elsewhere": "gloss"},
    ),
    _of(
        "gloss",
        "en",
        TEXT,
        'The word "bus", i.e. "as always", generalises.',
        located=("bus",),
        other={"as always": "gloss"},
    ),
    _of(
        "gloss",
        "en",
        TEXT,
        'By "newcomers" the author suggests "not from here".',
        located=("newcomers",),
        other={"not from here": "gloss"},
    ),
    _of(
        "gloss",
        "en",
        TEXT,
        '"every seat" stands for "all our places".',
        located=("every seat",),
        other={"all our places": "gloss"},
    ),
    _of(
        "gloss",
        "en",
        TEXT,
        'It implies the phrase "they are greedy".',
        hallucinated=("they are greedy",),
    ),
    _of(
        "gloss",
        "zh",
        ZH,
        "“外地人”的意思是“不属于这里的人”。",
        located=("外地人",),
        other={"不属于这里的人": "gloss"},
    ),
    _of(
        "gloss",
        "ko",
        KO,
        '"외지인들"은 "우리가 아닌 사람"을 뜻한다.',
        located=("외지인들",),
        other={"우리가 아닌 사람": "gloss"},
    ),
    # echo
    _of(
        "echo",
        "en",
        TEXT,
        f'The text "{TEXT}" blames them; "took every seat" exaggerates.',
        located=("took every seat",),
    ),
    _of(
        "echo",
        "en",
        TEXT,
        f'Text: "{TEXT}". The word "newcomers" marks them.',
        located=("newcomers",),
    ),
    _of("echo", "en", TEXT, f'The text "{TEXT}" is a complaint.', located=(TEXT,)),
    _of(
        "echo",
        "en",
        TEXT,
        f"“{TEXT}!” The phrase “every seat” generalises.",
        located=("every seat",),
    ),
    _of(
        "echo",
        "en",
        TEXT,
        f'He wrote "{TEXT[6:]}", where "morning bus" is a detail.',
        located=("morning bus",),
    ),
    _of(
        "echo",
        "en",
        TEXT,
        f'"{TEXT}": "newcomers" and "took every seat" exclude.',
        located=("newcomers", "took every seat"),
    ),
    _of("echo", "zh", ZH, f"文本“{ZH}”中，“外地人”指外来者。", located=("外地人",)),
    _of("echo", "ko", KO, f'"{KO}"에서 "외지인들"은 대상이다.', located=("외지인들",)),
    # other_source
    _of(
        "other_source",
        "en",
        TEXT,
        'The guideline says "do not exclude anybody".',
        other={"do not exclude anybody": "other_source"},
    ),
    _of(
        "other_source",
        "en",
        TEXT,
        'Our policy forbids "attacks on protected groups".',
        other={"attacks on protected groups": "other_source"},
    ),
    _of(
        "other_source",
        "en",
        TEXT,
        'Another user replied "that is unfair".',
        other={"that is unfair": "other_source"},
    ),
    _of(
        "other_source",
        "en",
        TEXT,
        'Instead of "some passengers" it says "Those newcomers".',
        located=("Those newcomers",),
        other={"some passengers": "other_source"},
    ),
    _of(
        "other_source",
        "en",
        TEXT,
        'If the author had written "a few people", it would be mild.',
        other={"a few people": "other_source"},
    ),
    _of(
        "other_source",
        "en",
        TEXT,
        'Unlike "visitors", the word "newcomers" is cold.',
        located=("newcomers",),
        other={"visitors": "other_source"},
    ),
    _of(
        "other_source",
        "zh",
        ZH,
        "社区规定写道“禁止排斥他人”。",
        other={"禁止排斥他人": "other_source"},
    ),
    _of(
        "other_source",
        "ko",
        KO,
        '운영 정책은 "차별을 금지한다"라고 말한다.',
        other={"차별을 금지한다": "other_source"},
    ),
]
