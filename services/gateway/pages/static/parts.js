// A part takes an older one's place; focus and what is open stay, news is said once.
const FOCUSABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
const words = (root) => root.querySelector("[data-said]")?.dataset.said;
const folded = (root) => {  // by words, number
  const times = new Map();
  return new Map([...root.querySelectorAll("details")].map((one) => {
    const own = one.querySelector("summary"), name = own?.getAttribute("aria-label") ?? own?.textContent;
    times.set(name, (times.get(name) ?? 0) + 1);
    return [`${name} ${times.get(name)}`, one];
  }));
};
const focusIn = (root, id, place) => {
  const named = id ? document.getElementById(id) : null;
  const next = named ?? root.querySelectorAll(FOCUSABLE)[place] ?? root;
  if (next === root) root.tabIndex = -1;
  next.focus({ preventScroll: true });
};
const keep = (old, isPlaced = true) => {  // gives its next what outlives it
  const active = old.contains(document.activeElement) ? document.activeElement : null;
  const place = isPlaced ? [...old.querySelectorAll(FOCUSABLE)].indexOf(active) : -1;
  const before = folded(old), told = old.querySelector(":popover-open");
  return (own) => {
    for (const [name, one] of folded(own)) one.open = before.get(name)?.open ?? one.open;
    document.dispatchEvent(new Event("touchstone:changed"));
    if (active) focusIn(own, active.id, place);
    own.querySelector(`[popovertarget="${told?.id}"]`)?.click();
  };
};
const put = (old, own) => {
  const said = words(own), news = said !== words(old) ? said : null, give = keep(old);
  old.replaceWith(own);
  window.htmx?.process(own);
  give(own);
  if (news) document.getElementById("news").textContent = news;
};
