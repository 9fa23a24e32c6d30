// What is selected in a text, by mouse or keys, becomes a span of a judgement, or a quotation in a
// note; fields.js adds what a request's fields get. Forms work without this file.
const marks = (() => {
  const add = (after, name, textContent) => {
    const made = Object.assign(document.createElement(name), { textContent });
    after.after(made);
    return made;
  };
  const button = (after, text, act) => {
    const made = Object.assign(add(after, "button", text), { type: "button", className: "quiet" });
    made.addEventListener("click", act);
    return made;
  };
  const news = (text) => { document.getElementById("news").textContent = text; };

  const labelOf = (field) => document.querySelector(`label[for="${CSS.escape(field.id)}"]`);
  // The passages that a field holds, one a line, each with a way to remove it. read: a line's words.
  const listed = (field, read) => {
    const list = add(field, "ul", "");
    list.className = "marked";
    const show = () => {
      const lines = field.value.split("\n").filter((line) => line.trim());
      list.replaceChildren(...lines.map((line, place) => {
        const item = document.createElement("li"), said = document.createElement("bdi");
        said.textContent = read(line.trim());
        if ("marks" in field.dataset) said.className = "sensitive";
        item.append(said, " ");
        const drop = button(item.lastChild, "×", () => {
          field.value = lines.filter((_, other) => other !== place).join("\n");
          field.dispatchEvent(new Event("input", { bubbles: true }));
          field.focus();
        });
        drop.setAttribute("aria-label", `Remove ${said.className ? `passage ${place + 1}` : said.textContent}`);
        return item;
      }));
      document.dispatchEvent(new Event("touchstone:marked"));
    };
    field.addEventListener("input", show);
    show();
    return (line) => {
      field.value = [...field.value.split("\n").filter(Boolean), line].join("\n");
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
  };

  // The characters of a stretch of a text that is shown, without the labels of its marks.
  const bare = (copy) => {
    for (const hidden of copy.querySelectorAll(".visually-hidden")) hidden.remove();
    return [...copy.textContent];
  };
  let last = null;  // a click on the button may end the selection
  const inMarks = (field) => {
    const put = listed(field, (line) => {
      const span = /^([a-z_]+) (\d+)-(\d+)$/.exec(line), source = span && document.querySelector(`.block[data-of=${span[1]}]`);
      return source ? bare(source.cloneNode(true)).slice(+span[2], +span[3]).join("") : line;
    });
    const mark = () => {
      const first = last?.startContainer, own = first?.nodeType === Node.TEXT_NODE ? first.parentElement : first;
      const source = own?.closest(".block[data-of]");
      if (!source) {
        field.focus();
        return news("Select words in one of the texts, or write them here.");
      }
      if (!source.contains(last.endContainer)) last.setEnd(source, source.childNodes.length);
      const before = document.createRange();
      before.setStart(source, 0);
      before.setEnd(last.startContainer, last.startOffset);
      const chosen = bare(last.cloneContents()), start = bare(before.cloneContents()).length;
      let [from, to] = [0, chosen.length];
      while (from < to && /\s/.test(chosen[from])) from++;
      while (to > from && /\s/.test(chosen[to - 1])) to--;
      if (from === to) return field.focus();
      put(`${source.dataset.of} ${start + from}-${start + to}`);
      news(`Marked: ${chosen.slice(from, to).join("")}`);
      last = null;
    };
    button(field, "Mark the selected words", mark).dataset.key = "m";
  };

  // While people judge: the words that are selected go into the note, between quotation marks.
  let kept = "";  // a click on the button may end the selection
  const quoting = (note) => {
    button(note, "Quote the selected words", () => {
      const said = kept.trim();
      if (!said) return news("Select words in a text first.");
      note.value = `${note.value}${note.value && !note.value.endsWith("\n") ? "\n" : ""}“${said}” `;
      note.focus();
    });
  };

  const parts = [["textarea[data-marks]", inMarks], ["textarea[data-quotes]", quoting]];
  const known = new WeakSet();
  const prepare = (...more) => {  // again when a part of the page is another one
    parts.push(...more);
    for (const [selector, act] of parts) {
      for (const one of document.querySelectorAll(selector)) {
        if (!known.has(one)) act(one);
        known.add(one);
      }
    }
  };
  document.addEventListener("touchstone:changed", () => prepare());
  prepare();
  document.addEventListener("selectionchange", () => {
    const chosen = document.getSelection(), place = chosen.anchorNode?.parentElement;
    if (!place?.closest(".block") || chosen.isCollapsed) return;
    kept = String(chosen);
    last = chosen.getRangeAt(0).cloneRange();
  });
  return { add, bare, button, labelOf, listed, news, prepare };
})();
