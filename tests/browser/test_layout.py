"""What a page does with its width and its pictures: text as wide as it is read, tables and reports
wider; labels of axes apart from each other and never turned; nothing white in the dark."""

from __future__ import annotations

import base64
import re

from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from services.registry import metrics
from tests.browser.conftest import Filled, Visits
from tests.browser.keyboard import HEIGHT
from tests.gateway.judged import make_batch_of, run_reports

TICKS = """() => [...document.querySelectorAll("main svg")].flatMap((picture, place) => {
  const found = []
  for (const axis of picture.querySelectorAll(".role-axis-label")) {
    const labels = [...axis.querySelectorAll("text")].filter(one => one.textContent)
    const shown = labels.filter(one => getComputedStyle(one).opacity !== "0")
    const turned = shown.filter(one => /rotate\\((?!0)/.test(one.getAttribute("transform")))
    found.push(...turned.map(one => `turned: ${one.textContent}`))
    const boxes = shown.map(one => [one.textContent, one.getBoundingClientRect()])
    boxes.forEach(([said, box], at) => boxes.slice(at + 1).forEach(([other, next]) => {
      const apart = box.right <= next.left || next.right <= box.left
      if (!apart && !(box.bottom <= next.top + 1 || next.bottom <= box.top + 1))
        found.push(`${said} lies on ${other}`)
    }))
  }
  return found.map(one => `picture ${place}: ${one}`)
})"""
LUMINANCE = """address => new Promise(done => {
  const picture = new Image()
  picture.onload = () => {
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d")
    canvas.drawImage(picture, 0, 0)
    const data = canvas.getImageData(0, 0, picture.width, picture.height).data
    let sum = 0
    for (let at = 0; at < data.length; at += 4) sum += data[at] + data[at + 1] + data[at + 2]
    done(sum / (data.length / 4) / 765)
  }
  picture.src = address
})"""


def brightness(page: Page, picture: bytes) -> float:
    """Mean of its pixels, from 0, black, to 1."""
    page.goto("about:blank")
    address = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    return float(page.evaluate(LUMINANCE, address))


def test_labels_of_axes_lie_apart_and_are_never_turned(filled: Filled, visits: Visits) -> None:
    page, found = visits(filled.url), {}
    for metric in metrics():
        page.goto(f"/jobs/{filled.jobs[metric, 'succeeded']}")
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": HEIGHT})
            if told := page.evaluate(TICKS):
                found[metric, width] = told
    assert found == {}


def test_no_picture_and_no_file_is_white_in_the_dark(
    open_gateway: str, visits: Visits, engine: Engine
) -> None:
    path = f"/batches/{make_batch_of(engine, 'ice', [0.25, 0.5, 0.75])}"
    page = visits(open_gateway, color_scheme="dark")
    page.goto(f"{path}/statistics")
    page.get_by_role("button", name="Compute the statistics").click()
    run_reports(engine, "ice")
    page.goto(f"{path}/statistics")
    page.get_by_text("All numbers and charts in the report").click()
    plots = page.locator("img.plot")
    expect(plots.first).to_be_visible()
    taken = [plots.nth(place).screenshot() for place in range(plots.count())]
    file = page.request.get(f"{path}/report.html").text()
    for name in ("Variant", "Seed", "Model"):
        assert f"<dt>{name}</dt>" in file
    assert re.search(r"<dt>Model</dt><dd>[^<]+ <code>[0-9a-f]{64}</code>", file)
    page.goto("about:blank")
    page.set_content(file)
    taken.append(page.screenshot())
    assert [one for one in (brightness(page, picture) for picture in taken) if one > 0.5] == []
