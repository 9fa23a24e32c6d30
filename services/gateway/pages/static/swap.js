// A table of lines is filtered, sorted and paged in place: its part of the page is fetched, and a
// line says so meanwhile. The address stays the view; every form and link works without this file.
let asked = 0, loaded = location.pathname + location.search;
const swap = async (address, name, isNew) => {
  const own = ++asked, chips = document.getElementById(name).querySelector(".chips");
  if (chips) chips.textContent = chips.dataset.wait;
  document.getElementById(name).setAttribute("aria-busy", "true");
  const answer = await fetch(address, { credentials: "same-origin" }).catch(() => null);
  const text = answer?.ok && !answer.redirected ? await answer.text().catch(() => null) : null;
  if (own !== asked) return;  // something else was asked for meanwhile
  const page = text && new DOMParser().parseFromString(text, "text/html");
  const fresh = page?.getElementById?.(name), bars = page?.getElementById?.("live");
  if (!fresh) return location.assign(address);  // a log-in, a refusal: as without this file
  if (isNew) history.pushState(null, "", address);
  loaded = location.pathname + location.search;
  put(document.getElementById(name), fresh);
  const old = document.getElementById("live");  // its bars lead on from the address
  if (old && bars && !old.dataset.live) put(old, bars);
  const said = fresh.querySelector(".chips")?.firstChild?.textContent.trim();
  if (said) document.getElementById("news").textContent = said;
};
document.addEventListener("submit", (event) => {
  const form = event.target, part = form.closest("[data-swap]");
  if (!part || form.getAttribute("role") !== "search") return;
  event.preventDefault();
  const address = new URL(form.action);
  address.search = new URLSearchParams(new FormData(form, event.submitter));
  swap(address, part.id, true);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-swap] a[href]");
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || link.pathname !== location.pathname || link.search === location.search) return;
  event.preventDefault();
  const { id } = link.closest("[data-swap]"), pages = link.closest("nav");
  swap(link.href, id, true).then(() => { if (pages) document.getElementById(id)?.scrollIntoView(); });
});
addEventListener("popstate", () => {
  const part = document.querySelector("[data-swap]");
  if (part && location.pathname + location.search !== loaded) swap(location.href, part.id, false);
});
