"""A rendered page read again by a strict reader: what stands blurred, what stands bare."""

from __future__ import annotations

from html.parser import HTMLParser

from services.gateway.pages.templates import render

VOID = {"br", "img", "input", "link", "meta", "hr"}
HOSTILE = "<script>alert(1)</script> \" ' \u202eright-to-left\u202c \U0001f600 &amp;"


class Parsed(HTMLParser):
    """The page's texts, and its faults. Raises AssertionError for tags that do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.open: list[tuple[str, str]] = []
        self.sensitive = ""
        self.bare = ""
        self.attributes = ""
        self.ids: list[str] = []
        self.classes: set[str] = set()
        self.tables: list[set[str]] = []
        self.headings: list[int] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        assert tag not in {"script", "style"}
        assert "style" not in given
        assert not any(name.startswith("on") for name in given)
        self.attributes += " ".join(given.values()) + "\n"
        self.classes |= set(given.get("class", "").split())
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "table":
            self.tables.append(set())
        if self.tables and tag in {"caption", "th"}:
            self.tables[-1].add(tag if tag == "caption" else f"th {given['scope']}")
        if tag[0] == "h" and tag[1:].isdigit():
            self.headings.append(int(tag[1:]))
        if tag not in VOID:
            self.open.append((tag, given.get("class", "")))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        blurred = any("sensitive" in classes.split() for _, classes in self.open)
        if blurred:
            self.sensitive += data
        else:
            self.bare += data


class FormFields(HTMLParser):
    """What a browser sends of a page's forms (HTML Standard, "constructing the entry list")."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.sent: dict[str, str] = {}
        self.open = ""  # the select that is open
        self.typed = ""  # the text area or option whose text is its value
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        is_off = given.get("type") in {"checkbox", "radio"} and "checked" not in given
        if tag == "input" and "name" in given and not is_off:
            self.sent[given["name"]] = given.get("value", "")
        elif tag == "textarea":
            self.typed = given["name"]
        elif tag == "select":
            self.open = given["name"]
        elif tag == "option" and ("selected" in given or self.open not in self.sent):
            self.sent[self.open] = given.get("value", "")
            self.typed = "" if "value" in given else self.open

    def handle_endtag(self, tag: str) -> None:
        if tag in {"textarea", "option"}:
            self.typed = ""

    def handle_data(self, data: str) -> None:
        if self.typed:
            before = self.sent.get(self.typed)
            self.sent[self.typed] = (before or "") + data.removeprefix("\n" if not before else "")


def parsed(template: str, view: object, report: object) -> Parsed:
    """The template rendered and read; every law that holds for any page is checked here."""
    page = Parsed(render(template, view=view, job={}, report=report))
    assert len(page.ids) == len(set(page.ids))
    for table in page.tables:
        assert {"caption", "th col", "th row"} <= table
    assert page.headings[0] == 2
    assert set(page.headings) <= {2, 3, 4, 5, 6}
    return page


def is_only_blurred(page: Parsed, text: str) -> bool:
    """Whether a text stands in the page, always as text, always blurred."""
    return text in page.sensitive and text not in page.bare and text not in page.attributes
