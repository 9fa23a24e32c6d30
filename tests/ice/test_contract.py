from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from services.ice.contract import CONTRACT, IceRequest
from services.ice.metric import SERVICE
from shared.contracts.redaction import without_text
from tests.flat_requests import flat_request
from tests.ice.planted import planted

score = SERVICE.score


def request(**fields: Any) -> IceRequest:
    return flat_request(IceRequest, {"text": "one two", "attribution": "attention", **fields})


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"attribution": None}, "give `attribution`"),
        ({"rationale": [{"start": 2, "end": 2}]}, "end after its start"),
        ({"rationale": [{"start": 0, "end": 8}]}, "after the end of `text`"),
        ({"rationale": [{"start": 0, "end": 2, "of": "text_pair"}]}, "text_pair"),
        ({"explanations": [{"name": "a"}]}, "either"),
        ({"explanations": [{"name": "$x$", "rationale": [{"start": 0, "end": 1}]}]}, "pattern"),
        ({"attribution": ["lime", "lime"]}, "called 'lime'"),
        ({"explanations": [{"name": "attention", "rationale": [{"start": 0, "end": 1}]}]},
         "called 'attention'"),
        ({"k": [0.2, 0.2]}, "twice"),
        ({"operators": ["delete", "delete"]}, "twice"),
        ({"operators": ["infill"]}, "infill_pool"),
        ({"null": "spans", "variant": "paper"}, "robust"),
    ],
)  # fmt: skip
def test_a_bad_field_is_refused_with_a_reason(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        request(**fields)
    assert said in str(caught.value)


def test_without_text_numbers_and_names_stay_and_the_text_goes() -> None:
    sent = request(text="w1 w2 w3 w4 w5 w6", do_not_store_text=True, attribution="gradient")
    with planted():
        kept = without_text(score(sent), sent)
    assert kept["components"]["tests"][0]["explanation"] == "gradient"
    assert kept["decision"] in ("no", "yes")
    assert {item["text"] for item in kept["evidence"]} == {""}
    assert "w1" not in json.dumps(kept)


def test_without_text_the_reasons_for_nulls_stay_and_a_report_is_still_a_report() -> None:
    sent = request(
        text="w1 w2 w3 w4 w5 w6",
        do_not_store_text=True,
        attribution=["attention", {"name": "gradient"}],
        explanations=[{"name": "SHAP values", "rationale": [{"start": 0, "end": 17}]}],
        operators=["delete", "infill"],
        infill_pool=["w7 w8"],
        infill_excluded=["w9"],
        k=1.0,
    )
    with planted():
        report = score(sent)
    kept = without_text(report, sent)
    assert kept["warnings"] == list(report.warnings)
    assert any(
        "SHAP values, k None, infill: the rationale is the whole" in w for w in kept["warnings"]
    )
    assert not [word for word in ("w1", "w7", "w9") if word in json.dumps(kept)]
    assert CONTRACT.report.model_validate(json.loads(json.dumps(kept, default=list)))
