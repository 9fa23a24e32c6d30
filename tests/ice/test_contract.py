from __future__ import annotations

import json
import subprocess
import sys
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


@pytest.mark.parametrize("name", CONTRACT.examples)
def test_every_example_is_a_valid_request_that_survives_the_wire(name: str) -> None:
    sent = CONTRACT.request.model_validate(CONTRACT.examples[name])
    assert CONTRACT.request.model_validate_json(sent.model_dump_json()) == sent


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"attribution": None}, "give `attribution`"),
        ({"attribution": "guess"}, "Input should be"),
        ({"attribution": []}, "at least 1"),
        ({"rationale": [{"start": 2, "end": 2}]}, "end after its start"),
        ({"rationale": [{"start": 0, "end": 8}]}, "after the end of `text`"),
        ({"rationale": [{"start": 0, "end": 2, "of": "text_pair"}]}, "text_pair"),
        ({"human": []}, "at least 1"),
        ({"explanations": [{"name": "a"}]}, "either"),
        ({"explanations": [{"name": "$x$", "rationale": [{"start": 0, "end": 1}]}]}, "pattern"),
        ({"attribution": ["lime", "lime"]}, "called 'lime'"),
        ({"explanations": [{"name": "attention", "rationale": [{"start": 0, "end": 1}]}]},
         "called 'attention'"),
        ({"k": 0}, "greater than 0"),
        ({"k": 1.01}, "less than or equal to 1"),
        ({"k": [0.2, 0.2]}, "twice"),
        ({"operators": ["delete", "delete"]}, "twice"),
        ({"operators": ["infill"]}, "infill_pool"),
        ({"draws": 0}, "greater than or equal to 1"),
        ({"draws": 10_001}, "10000"),
        ({"null": "spans", "variant": "paper"}, "robust"),
        ({"alpha": 0.5}, "less than 0.5"),
        ({"text": ""}, "at least 1"),
        ({"text": "x" * 20_001}, "20000"),
        ({"surprise": 1}, "not permitted"),
        ({"options": {"surprise": 1}}, "not permitted"),
    ],
)  # fmt: skip
def test_a_bad_field_is_refused_with_a_reason(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        request(**fields)
    assert said in str(caught.value)


def test_reports_belong_to_the_metric() -> None:
    assert (CONTRACT.batch.name, CONTRACT.batch.metric) == ("ice-report", CONTRACT.name)


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


def test_the_contract_loads_no_model_code() -> None:
    heavy = "{'numpy', 'scipy', 'torch', 'vl_convert', 'transformers'}"
    program = f"import sys, services.ice.contract; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
