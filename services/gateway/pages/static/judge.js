// Keys press the buttons that name them; inside fields they write. `t` is one of keys.js. No key
// answers while texts are hidden: nobody judges what nobody has read.
const FIELDS = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]";
const isHidden = () => document.querySelector(".sensitive.block") !== null
  && !document.documentElement.hasAttribute("data-revealed");
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest(FIELDS)) return;
  const named = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!named) return;
  event.preventDefault();
  if ("reads" in named.dataset && isHidden()) {
    document.getElementById("news").textContent = "Show the texts first: press t.";
    return;
  }
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
  ...all.filter(([keys]) => !["/", "j", "k", "Enter", "x", "e"].includes(keys)),
];
