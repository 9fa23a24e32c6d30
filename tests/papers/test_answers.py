"""What was answered is kept, also by a process that was stopped while it wrote."""

from __future__ import annotations

from pathlib import Path

from bench.papers.answers import KeptAnswer, KeptAnswers, PaperRequest

REQUESTS = [PaperRequest("ice", {"text": f"text {number}", "seed": 0}) for number in range(4)]


def answers() -> list[KeptAnswer]:
    good = [
        KeptAnswer(one.key, f"job_{place}", {"n": place}) for place, one in enumerate(REQUESTS[:2])
    ]
    return [*good, KeptAnswer(REQUESTS[2].key, None, None, "no such model")]


def test_answers_are_found_by_another_process(tmp_path: Path) -> None:
    KeptAnswers(tmp_path / "a.jsonl").add(answers())
    again = KeptAnswers(tmp_path / "a.jsonl")
    assert [again.get(one) for one in REQUESTS] == [*answers(), None]


def test_a_line_cut_anywhere_is_asked_again_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    KeptAnswers(file).add(answers())
    whole = file.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(last, len(whole)):
        file.write_bytes(whole[:end])
        found = KeptAnswers(file)
        assert [found.get(one) for one in REQUESTS[:3]] == [*answers()[:2], None]
        found.add(answers()[2:])
        assert file.read_bytes() == whole


def test_failures_are_asked_again_where_that_is_wanted(tmp_path: Path) -> None:
    kept = KeptAnswers(tmp_path / "a.jsonl")
    kept.add(answers())
    kept.without_failures()
    assert kept.get(REQUESTS[2]) is None
    assert KeptAnswers(tmp_path / "a.jsonl").get(REQUESTS[1]) == answers()[1]


def test_a_request_is_known_by_what_it_says() -> None:
    one = PaperRequest("ice", {"text": "a", "seed": 0})
    assert one.key == PaperRequest("ice", {"seed": 0, "text": "a"}).key
    others = [PaperRequest("haf", one.body), PaperRequest("ice", {**one.body, "seed": 1})]
    assert one.key not in {other.key for other in others}
