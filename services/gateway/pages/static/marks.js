// What is selected in a text, by mouse or keys, becomes a span of the request, or a quotation in a
// note; numbers between two bounds get a slider; tables grow. Forms work without this file.
{
  const add = (after, name, text) => {
    const made = document.createElement(name);
    made.textContent = text;
    after.after(made);
    return made;
  };
  const button = (after, text, act) => {
    const made = add(after, "button", text);
    made.type = "button";
    made.className = "quiet";
    made.addEventListener("click", act);
    return made;
  };
  const points = (text, end) => [...text.slice(0, end)].length;  // offsets are code points
  const news = (text) => { document.getElementById("news").textContent = text; };

  for (const field of document.querySelectorAll("textarea[data-spans]")) {
    const source = document.getElementById(field.dataset.spans);
    if (!source) continue;
    const name = document.querySelector(`label[for="${CSS.escape(field.id)}"]`).textContent.toLowerCase();
    const list = add(field, "ul", "");
    list.className = "marked";
    const show = () => {
      const text = [...source.value], lines = field.value.split("\n").filter((line) => line.trim());
      list.replaceChildren(...lines.map((line, place) => {
        const span = /^(\d+)-(\d+)$/.exec(line.trim()), item = document.createElement("li");
        const said = document.createElement("bdi");
        said.textContent = span ? text.slice(+span[1], +span[2]).join("") : line;
        item.append(said, " ");
        const drop = document.createElement("button");
        drop.type = "button";
        drop.className = "quiet";
        drop.textContent = "×";
        drop.setAttribute("aria-label", `Remove ${said.textContent}`);
        drop.addEventListener("click", () => {
          field.value = lines.filter((_, other) => other !== place).join("\n");
          show();
          field.focus();
        });
        item.append(drop);
        return item;
      }));
    };
    const mark = () => {
      const { value } = source;
      let [start, end] = [source.selectionStart, source.selectionEnd];
      while (start < end && /\s/.test(value[start])) start++;
      while (end > start && /\s/.test(value[end - 1])) end--;
      if (start === end) return news("Select words in the text first.");
      field.value = [...field.value.split("\n").filter(Boolean), `${points(value, start)}-${points(value, end)}`].join("\n");
      show();
      news(`Marked as ${name}: ${value.slice(start, end)}`);
    };
    button(source, `Mark the selected words as ${name}`, mark);
    field.addEventListener("input", show);
    source.addEventListener("input", show);
    show();
  }

  for (const field of document.querySelectorAll("input[data-slider]")) {
    const slider = add(field, "input", "");
    Object.assign(slider, { type: "range", min: field.min, max: field.max, step: 0.01, value: field.value || field.dataset.slider });
    slider.setAttribute("aria-label", `${document.querySelector(`label[for="${CSS.escape(field.id)}"]`).textContent}, slider`);
    slider.addEventListener("input", () => { field.value = slider.value; });
    field.addEventListener("input", () => { slider.value = field.value || field.dataset.slider; });
  }

  for (const table of document.querySelectorAll("table[data-rows]")) {
    button(table.parentElement, "Add a row", () => {
      const rows = table.tBodies[0].rows, next = rows[rows.length - 1].cloneNode(true), place = rows.length;
      for (const input of next.querySelectorAll("input, select")) {
        input.name = input.name.replace(/:\d+:/, `:${place}:`);
        input.setAttribute("aria-label", input.getAttribute("aria-label").replace(/\d+$/, place + 1));
        input.value = "";
      }
      table.tBodies[0].append(next);
      next.querySelector("input, select").focus();
    });
  }

  // While people judge: the words that are selected go into the note, between quotation marks.
  let kept = "";  // a click on the button may end the selection
  const note = document.querySelector("textarea[data-quotes]");
  if (note) {
    button(note, "Quote the selected words", () => {
      const said = kept.trim();
      if (!said) return news("Select words in a text first.");
      note.value = `${note.value}${note.value && !note.value.endsWith("\n") ? "\n" : ""}“${said}” `;
      note.focus();
    });
  }
  document.addEventListener("selectionchange", () => {
    const chosen = document.getSelection(), place = chosen.anchorNode?.parentElement;
    if (place?.closest(".block") && String(chosen)) kept = String(chosen);
  });
}
