"""A visitor without a mouse, and what must be true of every screen that they see.

Controls are reached by Tab alone, as far as no key of the page leads there; each must show that it
has the focus.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, ViewportSize, expect

Scheme = Literal["light", "dark"]
SCREENS: tuple[tuple[Scheme, int], ...] = (("light", 1280), ("dark", 390))
HEIGHT = 840
PHONE = ViewportSize(width=360, height=740)
GRAVE = ("serious", "critical")
MOST_STOPS = 400  # of Tab; a page has fewer controls
MOST_OPTIONS = 60
MOST_SHIFT = 0.1  # of a page that loads: web.dev's "good" (CLS)
FOCUSED = "one => one === document.activeElement"
SHOWN = "one => one.matches(':focus-visible') && getComputedStyle(one).outlineStyle !== 'none'"
CUT = """() => [...document.querySelectorAll("main *")].filter(one => {
  const box = one.getBoundingClientRect()
  if (!box.width || box.right <= innerWidth + 1) return false
  if (one.closest(".visually-hidden, dialog")) return false
  for (let around = one.parentElement; around; around = around.parentElement) {
    if (["auto", "scroll"].includes(getComputedStyle(around).overflowX)) return false
  }
  return true
}).map(one => `cut: ${one.outerHTML.slice(0, 160)}`)"""
COLUMNS = r"""() => {
  const NUMBER = /^[+−-]?(\d[\d\u202f]*)(\.\d+)?( %)?( \[[^\]]*\])?( of [\d\u202f]+)?$/
  const told = cell => cell.textContent.replace(/\s+/g, " ").trim()
  const faults = []
  for (const table of document.querySelectorAll("main table")) {
    const head = table.tHead?.rows[0], rows = [...table.tBodies].flatMap(body => [...body.rows])
    const whole = rows.filter(row => row.cells.length === head?.cells.length)
    for (let place = 1; head && place < head.cells.length; place++) {
      const cells = whole.map(row => row.cells[place]).filter(cell => !/^(–.*)?$/.test(told(cell)))
      if (!cells.length || !cells.every(cell => NUMBER.test(told(cell)))) continue
      if (cells[0].querySelector(".sensitive, bdi")) continue  // what somebody wrote
      const about = `${table.caption?.textContent.trim()}, ${told(head.cells[place])}`
      const isCard = getComputedStyle(cells[0]).display !== "table-cell"
      for (const cell of isCard ? [] : [head.cells[place], ...cells]) {
        const aligned = getComputedStyle(cell).textAlign
        if (["end", "right"].includes(aligned)) continue
        faults.push(`not at its end: ${about}`)
        break
      }
      // a count has no decimals
      const parts = cells.map(cell => NUMBER.exec(told(cell))[2]).filter(Boolean)
      const decimals = new Set(parts.map(part => part.length))
      if (decimals.size > 1) faults.push(`unequal decimals: ${about}: ${cells.map(told)}`)
    }
  }
  return faults
}"""
SHIFT = """() => new Promise(done => {
  let sum = 0
  new PerformanceObserver(list => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value
  }).observe({type: "layout-shift", buffered: true})
  requestAnimationFrame(() => requestAnimationFrame(() => done(sum)))
})"""
# A press of a label is one of its field. Not a target of its own: a word of a sentence, a mark of a
# picture (its table has the same links), and what stands in no layer that is open.
SMALL = r"""() => [...document.querySelectorAll(
  "a[href], button, select, summary, textarea, input:not([type=hidden])")].filter(one => {
  const boxes = [one, one.closest("label") ?? one].map(target => target.getBoundingClientRect())
  if (!boxes[0].width || one.closest("svg, .skip:not(:focus)")) return false
  if (boxes.some(box => box.width >= 43.5 && box.height >= 43.5)) return false
  let block = one.parentElement
  while (getComputedStyle(block).display.startsWith("inline")) block = block.parentElement
  const links = [...block.querySelectorAll("a, button, summary, .visually-hidden")]
  const said = links.reduce((rest, link) => rest.replace(link.textContent, ""), block.textContent)
  return !(one.matches("a") && /\p{L}{2}/u.test(said))
}).map(one => {
  const box = one.getBoundingClientRect()
  return `a target of ${box.width | 0} x ${box.height | 0}: ${one.outerHTML.slice(0, 160)}`
})"""
UNSAID = r"""() => [
  ...document.querySelectorAll(".sensitive, svg, figure, a, button")
].filter(one => {
  if (one.matches("a, button")) return one.closest("[aria-hidden=true]:not(svg)")
  if (one.matches("svg[aria-hidden], code")) return false
  if (one.matches("figure")) {
    const around = one.querySelector("img") ? one.closest("details") : one  // of a report
    return !around?.querySelector("table, ul")
  }
  if (one.matches("svg")) {
    const said = one.getAttribute("aria-label") ?? one.querySelector("title")?.textContent
    return !said || one.matches(".chart") && !/\d/.test(said)
  }
  return !one.hasAttribute("lang") || !(one.dir === "auto" || one.matches("bdi"))
}).map(one => `says too little: ${one.outerHTML.slice(0, 160)}`)"""
LONG = 12  # characters of a text that are nothing else's
TOLD = """least => {
  const texts = [...document.querySelectorAll(".sensitive")].map(one => one.textContent.trim())
  const titles = [...document.querySelectorAll("[title], svg title, title")]
  const places = titles.map(one => one.getAttribute("title") ?? one.textContent)
  return [decodeURIComponent(location.href), ...places]
    .filter(place => texts.some(text => text.length >= least && place.includes(text)))
    .map(place => `a text stands in a title or the address: ${place}`)
}"""
# An input named as a method of forms takes its place: a script that asks the form gets the input.
SHADOWS = """() => {
  const isMethod = name => {
    for (let own = HTMLFormElement.prototype; own; own = Object.getPrototypeOf(own)) {
      const found = Object.getOwnPropertyDescriptor(own, name)
      if (found) return typeof found.value === "function"
    }
    return false
  }
  const named = [...document.forms].flatMap(form => [...form.elements]).map(one => one.name)
  return named.filter(isMethod).map(name => `shadows a method of its form: ${name}`)
}"""
MOVES = """document.getAnimations().length > 0
  || getComputedStyle(document.body).transitionProperty !== 'none'"""


def grave(page: Page) -> list[str]:
    """What axe-core finds that is serious or critical, a line each."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:200]}"
        for one in found
        if one["impact"] in GRAVE
    ]


def faults(page: Page) -> list[str]:
    """What is wrong with this screen: for axe-core, beyond its edge, in columns of numbers."""
    return [*grave(page), *across(page), *page.evaluate(COLUMNS), *page.evaluate(SHADOWS)]


def across(page: Page) -> list[str]:
    """What lies beyond the edge of the screen."""
    found: list[str] = page.evaluate(CUT)
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("the page scrolls sideways")
    return found


def jump(page: Page) -> list[str]:
    """How far a page's parts have moved since it was asked for."""
    shift = page.evaluate(SHIFT)
    return [f"it jumps by {shift:.2f}"] if shift > MOST_SHIFT else []


def still(page: Page) -> list[str]:
    """Of who wants it still."""
    return ["something moves"] if page.evaluate(MOVES) else []


def small(page: Page) -> list[str]:
    """What a finger misses: targets of less than 44 pixels."""
    found: list[str] = page.evaluate(SMALL)
    return found


def unlike(page: Page) -> list[str]:
    """Texts without a direction or a language, pictures without a finding in words or without a
    table, controls that are hidden with a text, texts where nobody hides them."""
    found: list[str] = page.evaluate(UNSAID)
    return found + list(page.evaluate(TOLD, LONG))


class Keyboard:
    """Whoever uses this page by keys alone."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        self.page.wait_for_load_state()  # before its scripts run no key of theirs does anything
        for key in keys:
            self.page.keyboard.press(key)

    def to(self, wanted: Locator, *, back: bool = False) -> None:
        """Tab until it has the focus, and shows that."""
        expect(wanted).to_be_visible()
        for _ in range(MOST_STOPS):
            if wanted.evaluate(FOCUSED):
                assert wanted.evaluate(SHOWN), "its focus cannot be seen"
                return
            self.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"no key leads to {wanted}")

    def enter(self, wanted: Locator, *, back: bool = False) -> None:
        """A link or button, pressed."""
        self.to(wanted, back=back)
        self.press("Enter")

    def follow(self, wanted: Locator, *, back: bool = False) -> None:
        """A link or button that leads to another page."""
        self.to(wanted, back=back)
        with self.page.expect_navigation(wait_until="load"):
            self.press("Enter")

    def write(self, wanted: Locator, text: str) -> None:
        self.to(wanted)
        self.press("Control+a")
        self.page.keyboard.insert_text(text)

    def choose(self, wanted: Locator, value: str, *, back: bool = False) -> None:
        """An option of a selection, by its arrows. value: of the option."""
        self.to(wanted, back=back)
        self.press("Home")
        for _ in range(MOST_OPTIONS):
            if wanted.input_value() == value:
                return
            self.press("ArrowDown")
        raise AssertionError(f"{wanted} has no option {value!r}")


def screens() -> Iterator[tuple[Scheme, ViewportSize]]:
    for scheme, width in SCREENS:
        yield scheme, ViewportSize(width=width, height=HEIGHT)
