"""An MCP server, thin over the client: it scores and reads, and can neither delete nor make keys.

Source: Model Context Protocol, the official package `mcp`, of the extra of that name.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from touchstone_client import _notebook
from touchstone_client._base import Result
from touchstone_client._messages import models
from touchstone_client._sync.client import Touchstone
from touchstone_client.cli.objects import described_metrics, needed
from touchstone_client.cli.output import DONE, Output, WrongUse
from touchstone_client.errors import TouchstoneError

MOST_TEXT = 2_000  # characters of an answer
NEEDED = "the MCP server needs mcp: pip install 'path/to/sdk[mcp]'"
PURPOSE = "Scores explanations of moderation decisions, with evidence and a chance baseline."


def serve(ts: Touchstone, options: Namespace, output: Output) -> int:
    """Until stdin ends."""
    server(ts).run("stdio")
    return DONE


def server(ts: Touchstone) -> Any:
    """With its four tools. Raises WrongUse without the package."""
    try:
        from mcp.server import MCPServer
    except ImportError:
        raise WrongUse(NEEDED) from None
    result = MCPServer("touchstone", instructions=PURPOSE)
    tools = Tools(ts)
    for tool in (
        tools.list_metrics, tools.score_explanation, tools.get_result, tools.batch_report
    ):  # fmt: skip
        result.add_tool(tool)
    return result


class Tools:
    """What a model may call. Answers are short: `text` of 2,000 characters at most, and numbers."""

    def __init__(self, ts: Touchstone) -> None:
        self._ts = ts

    def list_metrics(self) -> dict[str, Any]:
        """The metrics that the service has, each with its question and its required fields."""
        listed = described_metrics(self._ts.description())
        return {
            name: {"question": metric.question, "required": needed(metric.schema)}
            for name, metric in listed.items()
        }

    def score_explanation(self, metric: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Score one explanation. metric: of list_metrics; fields: of its request, as text,
        explanation and predicted_label. It waits a minute; later, get_result has the answer."""
        job = self._ts.jobs.create(metric, fields)
        try:
            job.wait(60)
        except TouchstoneError as error:
            return {"job": job.id, "status": job.status, "text": str(error)[:MOST_TEXT]}
        return told(job)

    def get_result(self, job_id: str) -> dict[str, Any]:
        """The state of a job and, once it has one, its result."""
        return told(self._ts.jobs.get(job_id))

    def batch_report(self, batch_id: str) -> dict[str, Any]:
        """What the results of a batch that has ended say together."""
        report = self._ts.batches.get(batch_id).report(60)
        score = {name: getattr(report.score, name) for name in ("value", "low", "high", "of")}
        counts = {"scored": report.scored, "undefined": report.undefined}
        return {"text": str(report)[:MOST_TEXT], "metric": report.metric, "score": score, **counts}


def told(job: Any) -> dict[str, Any]:
    """A job in few words; no text of the request."""
    result = job.result
    if isinstance(result, models.ExplanationsResult):
        elicitation = result.elicitation
        metrics = [" ".join(cells) for cells in _notebook.metrics_of(result)]
        text = "; ".join(
            [f"{elicitation.outcome}: {elicitation.decision or 'no decision'}", *metrics]
        )
        scores = {score.metric: score.score for score in result.scores}
        return {"job": job.id, "status": job.status, "text": text[:MOST_TEXT], "scores": scores}
    if not isinstance(result, Result):
        problem = job.data.error
        detail = "" if problem is None else f"{problem.title}: {problem.detail}"
        return {"job": job.id, "status": job.status, "text": detail[:MOST_TEXT]}
    return {
        "job": job.id,
        "status": job.status,
        "text": str(result)[:MOST_TEXT],
        "score": result.score,
        "verdict": result.verdict,
        "problems": list(result.problems),
        "parts": dict(_notebook.parts_of(result.components)),
    }
