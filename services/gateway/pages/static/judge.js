// Keys press the buttons that name them; inside fields they write. `t` is one of keys.js.
const FIELDS = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]";
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest(FIELDS)) return;
  const named = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!named) return;
  event.preventDefault();
  if (named.matches("textarea")) named.focus();
  else named.click();
});
