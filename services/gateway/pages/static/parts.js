// A part of a page takes the place of an older one: focus, what is unfolded and what is explained stay
// as they are, and its news is said once, in a few words.
const FOCUSABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
const words = (root) => root.querySelector("[data-said]")?.dataset.said;
const folded = (root) => {  // details by their words, and which of these
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
const explain = (root, id) => {
  const source = root.querySelector(`[popovertarget="${CSS.escape(id)}"]`) ?? undefined;
  root.querySelector(`#${CSS.escape(id)}`)?.showPopover({ source });
};
const keep = (old, isPlaced = true) => {  // what must outlive a part, and how its next gets it
  const active = old.contains(document.activeElement) ? document.activeElement : null;
  const place = isPlaced ? [...old.querySelectorAll(FOCUSABLE)].indexOf(active) : -1;
  const before = folded(old), told = old.querySelector(":popover-open")?.id;
  return (own) => {
    for (const [name, one] of folded(own)) one.open = before.get(name)?.open ?? one.open;
    document.dispatchEvent(new Event("touchstone:changed"));
    if (active) focusIn(own, active.id, place);
    if (told) explain(own, told);
  };
};
const put = (old, own) => {
  const said = words(own), news = said !== words(old) ? said : null, give = keep(old);
  old.replaceWith(own);
  give(own);
  if (news) document.getElementById("news").textContent = news;
};
