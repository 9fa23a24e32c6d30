// A part of a page that is fetched again when the service says that it has changed. What has
// happened is said once, in a few words; focus and what is unfolded stay as they are; a refusal or
// a lost connection keeps what is shown and is tried again, each time later.
const CHANGES = ["changed", "job.running", "batch.in_progress", "batch.finalizing"];
const FOCUSABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
const FIRST_WAIT = 2, LONGEST_WAIT = 64;  // seconds
const part = () => document.getElementById("live");
const pause = document.getElementById("pause");
let source = null, watched, timer = null, busy = false, again = false, whole = false, paused = false;
let wait = FIRST_WAIT;

const path = (root) => root?.dataset.live?.split("?")[0];
const words = (root) => root.querySelector("[data-said]")?.dataset.said;
const folded = (root) => {  // details by their words, and which of these
  const times = new Map();
  return new Map([...root.querySelectorAll("details")].map((one) => {
    const name = one.querySelector("summary")?.textContent ?? "";
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
const keep = (old, isPlaced = true) => {  // what must outlive a part, and how its next gets it
  const active = old.contains(document.activeElement) ? document.activeElement : null;
  const place = isPlaced ? [...old.querySelectorAll(FOCUSABLE)].indexOf(active) : -1;
  const before = folded(old);
  return (own) => {
    for (const [name, one] of folded(own)) one.open = before.get(name)?.open ?? one.open;
    document.dispatchEvent(new Event("touchstone:changed"));
    if (active) focusIn(own, active.id, place);
  };
};
const put = (old, own) => {
  const said = words(own), news = said !== words(old) ? said : null, give = keep(old);
  old.replaceWith(own);
  give(own);
  if (news) document.getElementById("news").textContent = news;
};
const later = (least = 0) => {
  again = false;
  clearTimeout(timer);
  timer = setTimeout(refresh, 1000 * Math.max(wait, Math.min(least, LONGEST_WAIT)));
  wait = Math.min(2 * wait, LONGEST_WAIT);
};
const fetched = async () => {
  const answer = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
  if (paused) return;
  if (answer === null || answer.status === 429 || answer.status >= 500) {
    return later(Number(answer?.headers.get("Retry-After")) || 0);
  }
  const text = await answer.text().catch(() => null);
  if (text === null) return later();
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const name = whole ? "content" : "live";
  const own = fresh.getElementById(name);
  if (!answer.ok || answer.redirected || own === null) return location.reload();
  put(document.getElementById(name), own);
  whole = false;
  watch();
  if (source?.readyState === EventSource.OPEN) wait = FIRST_WAIT;
};
const refresh = async () => {
  clearTimeout(timer);
  if (busy) { again = true; return; }
  busy = true;
  again = false;
  await fetched();
  busy = false;
  if (again) refresh();
};
const watch = () => {  // after a swap: another part may be another job's
  if (path(part()) !== watched) close();
  if (source === null) connect();
};
const close = () => { source?.close(); source = null; };
const connect = () => {
  const address = part()?.dataset.live;
  if (!address || paused) return;
  watched = path(part());
  source = new EventSource(address);
  const own = source;
  own.addEventListener("open", () => { wait = FIRST_WAIT; });
  own.addEventListener("error", () => {  // refused: the browser does not come back by itself
    if (own !== source || own.readyState !== EventSource.CLOSED) return;
    source = null;
    later();
  });
  for (const name of CHANGES) own.addEventListener(name, refresh);
  own.addEventListener("end", () => {
    close();
    whole = part().dataset.end === "page";  // more of the page has changed
    refresh();
  });
};
pause?.addEventListener("click", () => {
  paused = !paused;
  pause.textContent = paused ? "Resume updates" : "Pause updates";
  clearTimeout(timer);
  close();
  if (!paused) { wait = FIRST_WAIT; connect(); }
});
if (pause) pause.hidden = !part()?.dataset.live;
connect();
