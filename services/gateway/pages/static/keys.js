// Keys, off inside fields; they can be switched off (WCAG 2.1.4).
const OFF = "touchstone-keys-off";  // a setting: the only thing that is kept in the browser
const KEYS = [  // [keys, what they do, action]
  ["?", "this help", () => help()],
  ["g h", "start page", () => go("/")],
  ["g b", "batches", () => go("/batches")],
  ["g t", "try", () => go("/try")],
  ["/", "filter", () => focusOn("[role=search] input:not([type=hidden])")],
  ["j", "next row", () => move(1)],
  ["k", "row before", () => move(-1)],
  ["Enter", "open the row", () => follow()],
  ["x", "choose the row", () => row()?.querySelector("input[type=checkbox]")?.click()],
  ["a", "agree"],
  ["d", "disagree"],
  ["u", "unsure"],
  ["1…9", "tag the failure"],
  ["e", "export", () => focusOn("#export button, #files ~ ul a")],
  ["t", "show or hide texts", () => document.getElementById("reveal")?.click()],
  ["Esc", "close, leave a field", () => shut()],
];
const ROWS = "table.results tbody tr, main table.list:not(.results, .counted) tbody tr:has(th a)";
let pending = "";
let dialog;

const go = (path) => { location.href = path; };
const told = document.getElementById("news");
const say = (why) => {  // shown until the next key or click
  told.textContent = why;
  told.className = "told";
};
for (const next of ["keydown", "pointerdown"]) {
  document.addEventListener(next, () => { told.className = "visually-hidden"; }, true);
}
const row = () => document.querySelector("[data-here]");
const desk = () => document.getElementById("desk");
const here = (next) => {
  row()?.removeAttribute("data-here");
  next?.setAttribute("data-here", "");
};
const focusOn = (selector) => {
  const found = document.querySelector(selector);
  const fold = found?.offsetParent ? null : found?.form?.querySelector("details");
  (found?.closest("details") ?? fold)?.setAttribute("open", "");
  found?.focus();
};
const move = (step) => {
  const rows = [...document.querySelectorAll(ROWS)];
  const next = rows[Math.min(Math.max(rows.indexOf(row()) + step, 0), rows.length - 1)];
  if (!next) return;
  if (next === row()) return say("There are no more rows on this page.");
  here(next);
  (next.querySelector("a, input") ?? next).focus();
  if (desk()?.firstElementChild) follow();
};
const follow = () => row()?.querySelector("th a")?.click();
const shut = () => {  // the opened line, or else the chosen row
  if (!desk()?.firstElementChild) return here(null);
  desk().replaceChildren();
  history.replaceState(history.state, "", location.pathname + location.search);
  row()?.querySelector("th a")?.focus();
};
const judge = (key) => {
  const line = row()?.querySelector("input[name=line]")?.value, opened = desk()?.firstElementChild;
  if (line && line !== opened?.dataset.line) return say(`Line ${line} is not open yet. Press Enter to open it.`);
  opened?.querySelector(`[data-key='${key}']`)?.click();
};
const isOff = () => localStorage.getItem(OFF) !== null;
const element = (name, textContent = "") => Object.assign(document.createElement(name), { textContent });
const help = () => {
  dialog?.remove();
  dialog = document.body.appendChild(element("dialog"));
  dialog.id = "keys";
  dialog.ariaLabel = "Keys";
  dialog.append(element("h2", "Keys"));
  const list = dialog.appendChild(element("dl"));
  for (const [keys, what] of window.pageKeys?.(KEYS) ?? KEYS) {
    const term = list.appendChild(element("dt"));
    for (const key of keys.split(" ")) term.append(element("kbd", key), " ");
    list.append(element("dd", what));
  }
  const label = dialog.appendChild(element("label"));
  const box = Object.assign(element("input"), { type: "checkbox", checked: !isOff() });
  box.addEventListener("change", () => {
    if (box.checked) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, "1");
  });
  label.append(box, " use these keys");
  const close = dialog.appendChild(element("p")).appendChild(element("button", "Close"));
  close.addEventListener("click", () => dialog.close());
  dialog.showModal();
};
const isField = (target) => target.closest?.("textarea, select, [contenteditable], dialog")
  || (target.matches?.("input") && !["checkbox", "radio", "button"].includes(target.type));

document.addEventListener("keydown", (event) => {
  const form = event.target.form;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form?.id === "trial") {
    event.preventDefault();
    form.requestSubmit(form.querySelector("[value=score]"));
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const name = event.key === "Escape" ? "Esc" : event.key;
  if (name === "Esc" && isField(event.target)) event.target.blur();
  if (isField(event.target) || (isOff() && name !== "?")) return;
  if (name === "Enter" && (row() === null || event.target.closest("button, summary"))) return;
  const typed = pending ? `${pending} ${name}` : name;
  pending = KEYS.some(([keys]) => keys.startsWith(`${typed} `)) ? typed : "";
  const act = /^[adu1-9]$/.test(typed) ? judge : KEYS.find(([keys]) => keys === typed)?.[2];
  if (!act) return;
  if (name !== "Esc") event.preventDefault();  // the browser closes popovers by it
  act(typed);
});

// Nobody judges what nobody has read, by keys or mouse: heard before the desk asks for a name.
window.addEventListener("click", (event) => {
  const hidden = ":root:not([data-revealed]) .sensitive.block";
  if (!event.target.closest?.("[data-reads]") || !document.querySelector(hidden)) return;
  event.preventDefault();
  event.stopPropagation();
  say("Show the texts first: press t or “Show texts”.");
}, true);
