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
