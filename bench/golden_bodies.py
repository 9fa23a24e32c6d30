"""The requests of `bench.golden` in addition to the examples, as mappings from path and name to
body."""

from __future__ import annotations

from typing import Any

from bench.golden_model import NAME

Json = dict[str, Any]

TEXT = "Those immigrants are ruining our lovely old town again"
POOL = ["The garden was green after the rain", "We lost the match and went home"]
ATTENTION = {"text": TEXT, "attribution": "attention"}
PAIR = {
    "text": "A man is sleeping on a bench.",
    "text_pair": "A man rests.",
    "model": "embedded-nli",
}
TEMPLATE = {"prefix": "Text: ", "suffix": "\nHateful:", "verbalizers": {"yes": " yes", "no": " no"}}
METHODS = ["attention", "gradient", {"name": "lime", "samples": 50}]

ICE: Json = {
    "masks": ATTENTION | {"options": {"operators": ["delete", "mask", "mask_unk"]}},
    "padding": ATTENTION | {"options": {"operators": ["mask_pad"], "draws": 20}},
    "infill": ATTENTION | {"options": {"operators": ["infill"], "infill_pool": POOL, "infills": 2}},
    "excluded words": ATTENTION
    | {
        "options": {
            "operators": ["infill"],
            "infill_pool": POOL,
            "infill_excluded": ["garden"],
        }
    },
    "budgets": ATTENTION | {"seed": 5, "options": {"k": [0.1, 0.3, 0.5], "alpha": 0.1}},
    "methods": {"text": TEXT, "attribution": METHODS, "options": {"token_values": True}},
    "integrated gradients": {
        "text": TEXT,
        "attribution": {"name": "integrated_gradients", "steps": 8},
        "options": {"rank_by": "magnitude"},
    },
    "own values": {
        "text": TEXT,
        "attributions": [
            {"start": 6, "end": 16, "value": 0.9},
            {"start": 21, "end": 28, "value": -0.4},
        ],
        "explanations": [{"name": "mine", "rationale": [{"start": 0, "end": 16}]}],
        "human": [{"start": 6, "end": 28}],
    },
    "a pair": PAIR
    | {"attribution": "attention", "decision": "entailment", "options": {"draws": 30}},
    "all tokens": PAIR
    | {"attribution": "gradient", "options": {"eligible": "all"}, "variant": "reference"},
    "behind a server": {
        "text": TEXT,
        "model": NAME,
        "attribution": "lime",
        "options": {"template": TEMPLATE},
    },
    "too costly": ATTENTION
    | {
        "text": "so " * 200,
        "options": {
            "k": [0.1, 0.2, 0.3, 0.4, 0.5],
            "draws": 10_000,
            "operators": ["delete", "mask", "infill"],
            "infill_pool": POOL,
            "infills": 32,
        },
    },
    "a span outside": {"text": "short", "rationale": [{"start": 0, "end": 99}]},
    "nothing to test": {"text": TEXT},
    "unknown decision": ATTENTION | {"decision": "nobody"},
}

HATE = {
    "text": "Those immigrants are ruining our town",
    "explanation": 'It says "immigrants are ruining our town" and "ruining us". It is hateful.',
    "decision": "hateful",
}
HATEXSCORE: Json = {
    "weighed": HATE
    | {"options": {"weights": {"htc": 2.0, "qf": 0.5, "tgi": 1.0, "cc": 0.0}, "tau": 0.1}},
    "another rule": HATE | {"options": {"consistency_rule": "eq5"}, "decision": "non-hateful"},
    "a platform's policy": HATE
    | {"language": "en", "options": {"policy": "meta", "control_draws": 5}},
    "no explanation": HATE | {"explanation": ""},
    "no label": {"text": HATE["text"], "explanation": "I cannot tell."},
    "another model": HATE | {"model": "embedded-sentiment"},
    "no list in Chinese": HATE | {"options": {"policy": "meta"}, "language": "zh"},
    "a wrong field": HATE | {"options": {"tua": 0.2}},
    "a wrong type": HATE | {"options": {"tau": "high"}},
    "unknown model": HATE | {"model": "nobody"},
    "a model of another kind": HATE | {"model": "embedded-similarity"},
    "with metadata": HATE | {"metadata": {"dataset": "a"}, "context": {"puid": "p-1"}},
}

NEIGHBOURS = {"text": "Honestly, those lazy neighbours should all move away.", "model": NAME}
HAF: Json = {
    "written": NEIGHBOURS,
    "samples": NEIGHBOURS | {"samples": 4, "seed": 2},
    "orders": NEIGHBOURS | {"permute_reasons": 3, "seed": 1, "extras": True},
    "greedy": NEIGHBOURS | {"generation": {"temperature": 0}, "token_values": True},
    "decided by NLI": NEIGHBOURS | {"decision_model": "embedded-nli", "decision_target": "label"},
    "as printed": NEIGHBOURS | {"variant": "paper", "samples": 2},
    "as released": NEIGHBOURS | {"variant": "reference", "seed": 4},
    "neither": {"text": NEIGHBOURS["text"]},
    "without log-probabilities": {"text": "so", "responses": {"justify": {"text": "It is toxic."}}},
    "all at once": NEIGHBOURS
    | {"samples": 16, "permute_reasons": 8, "generation": {"max_tokens": 4096}},
}

QUESTION = {
    "question": {"premise": "A dog sleeps on a red sofa.", "hypothesis": "An animal is at rest."},
    "options": [
        {"key": "A", "text": "Entailment"},
        {"key": "B", "text": "Neutral"},
        {"key": "C", "text": "Contradiction"},
    ],
}
EXPLAINED = {
    "explanations": [
        {"explanation": "A sleeping dog is an animal at rest.", "label": "A"},
        {"explanation": "It may only pretend.", "label": "A", "stance": "oppose"},
    ]
}
JUDGED = QUESTION | EXPLAINED | {"human": {"votes": {"A": 7, "B": 2, "C": 1}}, "model": NAME}
HLV: Json = {
    "ranked": JUDGED | {"judge": {"methods": ["rank"], "runs": 3}},
    "all methods": JUDGED | {"seed": 3},
    "rotated": JUDGED | {"judge": {"methods": ["rank", "score"], "order": "rotated"}},
    "raw prompts": JUDGED | {"judge": {"methods": ["logits", "score"], "chat": False, "runs": 1}},
    "logits": JUDGED | {"judge": {"methods": ["logits"]}, "log_base": "2"},
    "brought logits": QUESTION
    | {
        "human": {"ranking": {"A": 1, "B": 2}},
        "variant": "reference",
        "predictions": {
            "explained": {"logits": [{"A": 3.0, "B": 1.0, "C": -2.0}]},
            "baseline": {"logits": [{"A": 1.0, "B": 1.5, "C": 0.5}]},
        },
    },
    "as printed": JUDGED | {"variant": "paper", "judge": {"methods": ["logits", "rank"]}},
    "no such option": JUDGED | {"human": {"votes": {"Z": 1}}},
    "nobody judges": {name: JUDGED[name] for name in ("question", "options", "human")},
}

THOUGHT = {
    "reasoning": "Okay, a dog sleeps. A sleeping dog rests, so it is true. However, it may pretend."
}
COT2EL: Json = {
    "reasoned": QUESTION | {"model": NAME},
    "parsed": QUESTION | THOUGHT | {"model": NAME, "answer": "A. Entailment"},
    "the whole answer": QUESTION | {"model": NAME, "writing": {"source": "answer_text"}},
    "compared by meaning": QUESTION
    | THOUGHT
    | {
        "pairs": [{"explanation": "A sleeping dog rests,", "label": "A"}],
        "human_pairs": [{"explanation": "so it is true.", "label": "A"}],
        "similarity": "embedded-similarity",
        "granularity": "sentence",
    },
    "own units": QUESTION
    | THOUGHT
    | {
        "pairs": [{"explanation": "a dog sleeps", "label": "B", "stance": "oppose"}],
        "units": [{"start": 0, "end": 19}, {"start": 20, "end": 44}],
        "min_similarity": 0.0,
    },
    "as printed": QUESTION | {"model": NAME, "variant": "paper", "seed": 2},
    "neither": QUESTION | THOUGHT,
    "a unit outside": QUESTION | THOUGHT | {"pairs": [], "units": [{"start": 0, "end": 9_999}]},
}

CURVE = {
    "premise": "Two skateboarders navigate a curve in the park.",
    "hypothesis": "Two skateboarders are navigating a bend.",
    "explanation": "A curve is a bend.",
}
MARKET = {
    "premise": "A woman walks down a street with a bag.",
    "hypothesis": "A woman is going to the market.",
    "explanation": "A woman on a street is not always going to the market.",
    "decision": "neutral",
}
FTC: Json = {
    "written": CURVE | {"decision": "entailment", "extractor": "llm", "writer": NAME},
    "written, neutral": MARKET | {"extractor": "llm", "writer": NAME},
    "the model's label": CURVE,
    "own phrases": CURVE
    | {"decision": "entailment", "substitutes": ["a hill", "a dog"], "draws": 10},
    "own targets": MARKET
    | {
        "counterfactuals": [{"kind": "a", "text": "A woman is going to the market with a bag."}],
        "targets": {"a": {"entailment": 0.2, "neutral": 0.7, "contradiction": 0.1}},
        "alpha": 0.6,
    },
    "a study": CURVE
    | {
        "decision": "entailment",
        "study": {
            "simulation": {
                "from_input": "neutral",
                "from_input_and_explanation": "entailment",
                "from_explanation": "entailment",
            },
            "inputs": "all",
        },
    },
    "no writer": CURVE | {"extractor": "llm"},
    "a wrong kind": MARKET | {"counterfactuals": [{"kind": "substituted", "text": "So it is."}]},
}

TEXTS = [{"text": "We lost the match again"}, {"text": "What a lovely old town"}]
PROMPTS = [{"text": "The weather is"}, {"turns": [{"role": "user", "content": "How is it?"}]}]


def _ask(model: str, operation: str, **more: Any) -> Json:
    return {"model": model, "ask": {"operation": operation, **more}}


INFERENCE: Json = {
    "describe": _ask("embedded-hate", "describe"),
    "tokens": _ask("embedded-hate", "tokens", examples=TEXTS),
    "judge": _ask(
        "embedded-nli", "judge", examples=[{"text": "He sleeps.", "text_pair": "He rests."}]
    ),
    "judge rows": _ask(
        "embedded-hate",
        "judge_rows",
        asked=[{"example": TEXTS[0], "rows": [{"kept": [1, 2]}, {"replaced": [[1, 103]]}]}],
    ),
    "probabilities": _ask("embedded-sentiment", "probabilities", texts=["Lovely.", "Terrible."]),
    "truncated": _ask("embedded-hate", "truncated", texts=["so", "so " * 2_000]),
    **{
        name: _ask(
            "embedded-hate",
            "attributions",
            examples=TEXTS,
            targets=["hateful", "non-hateful"],
            method={"name": name, "samples": 40, "steps": 8},
        )
        for name in ("attention", "gradient", "integrated_gradients", "lime")
    },
    "generate": _ask(NAME, "generate", prompts=PROMPTS, sampling={"seed": 3}),
    "score": _ask(NAME, "score", prompts=PROMPTS, completions=[" good", " fine"]),
    "judge in a template": _ask(NAME, "judge", examples=[{"text": "so", "template": TEMPLATE}]),
    "describe a server": _ask(NAME, "describe"),
    "attributions of a server": _ask(
        NAME,
        "attributions",
        examples=[{"text": "so", "template": TEMPLATE}],
        targets=["yes"],
        method={"name": "lime"},
    ),
    "an unknown label": _ask(
        "embedded-hate", "attributions", examples=TEXTS[:1], targets=["x"], method={"name": "lime"}
    ),
    "too few targets": _ask(
        "embedded-hate", "attributions", examples=TEXTS, targets=["x"], method={"name": "lime"}
    ),
    "unknown operation": _ask("embedded-hate", "sing"),
    "no prompt": _ask(NAME, "generate", prompts=[]),
}
SIMILARITY: Json = {
    "one pair": {"pairs": [{"a": "A curve", "b": "a bend"}]},
    "the same": {"pairs": [{"a": "so", "b": "so"}, {"a": "", "b": "so"}]},
    "no pairs": {"pairs": []},
    "a classifier": {"pairs": [{"a": "so", "b": "so"}], "model": "embedded-hate"},
}

BODIES: dict[str, Json] = {
    "/v1/scores/cot2el": COT2EL,
    "/v1/scores/ftc": FTC,
    "/v1/scores/haf": HAF,
    "/v1/scores/hatexscore": HATEXSCORE,
    "/v1/scores/hlv": HLV,
    "/v1/scores/ice": ICE,
    "/v1/scores/nobody": {"unknown metric": {}},
    "/v1/inference": INFERENCE,
    "/v1/similarity": SIMILARITY,
}
