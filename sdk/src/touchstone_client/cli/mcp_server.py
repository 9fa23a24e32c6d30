"""A small MCP server (Model Context Protocol), with tools that score explanations and read results.
It cannot delete anything or create keys. It needs the package `mcp`."""

from __future__ import annotations

from typing import Any

from touchstone_client import _notebook
from touchstone_client._base import Result
from touchstone_client._messages import models
from touchstone_client._sync.client import Touchstone
from touchstone_client.cli.app import Client, app
from touchstone_client.cli.objects import described_metrics, needed
from touchstone_client.cli.output import WrongUse
from touchstone_client.errors import TouchstoneError

MOST_TEXT = 2_000  # characters of an answer
NEEDED = "the MCP server needs the package mcp; run pip install 'path/to/sdk[mcp]'"
PURPOSE = "Scores explanations of moderation decisions, with evidence and a chance baseline."


@app.command
def mcp(*, ts: Client) -> None:
    """Run an MCP server on stdin and stdout that scores explanations and reads results."""
    server(ts).run("stdio")


def server(ts: Touchstone) -> Any:
    """Return the MCP server with its four tools. Raises WrongUse if the package `mcp` is not
    installed."""
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
    """The tools that the MCP server offers to a language model. Results are short: numbers, and a
    `text` of at most 2,000 characters."""

    def __init__(self, ts: Touchstone) -> None:
        self._ts = ts

    def list_metrics(self) -> dict[str, Any]:
        """List the metrics of the service, each with its question and its required fields."""
        listed = described_metrics(self._ts.description())
        return {
            name: {"question": metric.question, "required": needed(metric.schema)}
            for name, metric in listed.items()
        }

    def score_explanation(self, metric: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Score one explanation. `metric` is a name from list_metrics. `fields` are the fields of
        its request, such as text, explanation and decision. The call waits for up to a minute.
        After that, get_result returns the result."""
        job = self._ts.jobs.create(metric, fields)
        try:
            job.wait(60)
        except TouchstoneError as error:
            return {"job": job.id, "status": job.status, "text": str(error)[:MOST_TEXT]}
        return summary(job)

    def get_result(self, job_id: str) -> dict[str, Any]:
        """Return the state of a job, and its result when it has one."""
        return summary(self._ts.jobs.get(job_id))

    def batch_report(self, batch_id: str) -> dict[str, Any]:
        """Return the report on the results of an ended batch."""
        report = self._ts.batches.get(batch_id).report(60)
        score = {name: getattr(report.score, name) for name in ("value", "low", "high", "of")}
        counts = {"scored": report.scored, "undefined": report.undefined}
        return {"text": str(report)[:MOST_TEXT], "metric": report.metric, "score": score, **counts}


def summary(job: Any) -> dict[str, Any]:
    """Return a short form of a job, without the texts of its request."""
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
