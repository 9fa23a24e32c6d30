// Keys press the buttons that name them; inside fields they write. `t` is one of keys.js. Why a key
// does nothing is said.
const FIELDS = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]";
const keyed = (key) => document.querySelector(`[data-key="${CSS.escape(key)}"]`);
const whyNot = (key) => {
  if (!/^[adusnmz1-5]$/.test(key)) return "";
  if (key === "z") return "There is no answer to undo.";
  if (keyed("a")) return `This queue has no ${key}: it does not ask for that.`;
  return "This line has your answer. → goes on, z takes the answer back.";
};
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest(FIELDS)) return;
  const named = keyed(event.key), why = named ? "" : whyNot(event.key);
  if (why) say(why);
  if (!named) return;
  event.preventDefault();
  if (named.matches("textarea")) named.focus();
  else named.click();
});
// What `?` lists here: the keys of this page by the words at them, then those of all pages.
var pageKeys = (all) => [
  ...[...document.querySelectorAll("[data-key]")].map((one) => {
    const said = (one.labels?.[0] ?? one).cloneNode(true);
    said.querySelector("kbd")?.remove();
    return [one.dataset.key.replace("ArrowRight", "→"), said.textContent.trim().toLowerCase()];
  }),
  ...all.filter(([keys]) => !["/", "j", "k", "Enter", "x", "e", "a", "d", "u", "1…9"].includes(keys)),
];
