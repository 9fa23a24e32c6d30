// What is selected in a field's text becomes a span of the request; numbers between two bounds get a
// slider; tables grow; files fill fields. Forms work without this file.
{
  const { add, button, labelOf, listed, news } = marks;
  const points = (text, end) => [...text.slice(0, end)].length;  // offsets are code points

  const inSpans = (field) => {
    const source = document.getElementById(field.dataset.spans);
    if (!source) return;
    const name = labelOf(field).textContent.toLowerCase();
    const put = listed(field, (line) => {
      const span = /^(\d+)-(\d+)$/.exec(line);
      return span ? [...source.value].slice(+span[1], +span[2]).join("") : line;
    });
    const mark = () => {
      const { value } = source;
      let [start, end] = [source.selectionStart, source.selectionEnd];
      while (start < end && /\s/.test(value[start])) start++;
      while (end > start && /\s/.test(value[end - 1])) end--;
      if (start === end) return news("Select words in the text first.");
      put(`${points(value, start)}-${points(value, end)}`);
      news(`Marked as ${name}: ${value.slice(start, end)}`);
    };
    button(source, `Mark the selected words as ${name}`, mark);
    source.addEventListener("input", () => field.dispatchEvent(new Event("input")));
  };

  const withSlider = (field) => {
    const slider = add(field, "input", "");
    Object.assign(slider, { type: "range", min: field.min, max: field.max, step: 0.01, value: field.value || field.dataset.slider });
    slider.setAttribute("aria-label", `${labelOf(field).textContent}, slider`);
    slider.addEventListener("input", () => { field.value = slider.value; });
    field.addEventListener("input", () => { slider.value = field.value || field.dataset.slider; });
  };

  // A file into a field of JSON; of the answer of an OpenAI-compatible server its log-probabilities.
  const fromFile = (field) => {
    const label = add(field, "label", "or from a file "), input = document.createElement("input");
    Object.assign(input, { type: "file", accept: ".json,application/json" });
    label.className = "hint";
    label.append(input);
    input.addEventListener("change", async () => {
      try {
        const read = JSON.parse(await input.files[0].text()), answer = read.choices?.[0] ?? read;
        field.value = JSON.stringify(answer.logprobs ?? answer, null, 1);
        field.dispatchEvent(new Event("input", { bubbles: true }));
        news(`Read ${input.files[0].name}`);
      } catch {
        news("This file holds no JSON.");
      }
    });
  };

  const growing = (table) => {
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
  };

  marks.prepare(
    ["textarea[data-spans]", inSpans], ["input[data-slider]", withSlider],
    ["table[data-rows]", growing], ["textarea[data-file]", fromFile],
  );
}
