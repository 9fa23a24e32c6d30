// A part of a page that is fetched again when the service says that it has changed. What has
// happened is said once, in a few words; a refusal or a lost connection keeps what is shown and is
// tried again, each time later.
const CHANGES = ["changed", "job.running", "batch.in_progress", "batch.finalizing"];
const FIRST_WAIT = 2, LONGEST_WAIT = 64;  // seconds
const part = () => document.getElementById("live");
const pause = document.getElementById("pause");
let source = null, watched, timer = null, busy = false, again = false, whole = false, paused = false;
let wait = FIRST_WAIT;

const path = (root) => root?.dataset.live?.split("?")[0];
const later = (least = 0) => {
  again = false;
  clearTimeout(timer);
  timer = setTimeout(refresh, 1000 * Math.max(wait, Math.min(least, LONGEST_WAIT)));
  wait = Math.min(2 * wait, LONGEST_WAIT);
};
const fetched = async () => {
  const url = part()?.closest("#result") ? watched.slice(0, -5) : location.href;
  const answer = await fetch(url, { credentials: "same-origin" }).catch(() => null);
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
document.addEventListener("touchstone:changed", () => {  // another part may be of another job
  if (path(part()) !== watched) close();
  if (source === null) connect();
});
if (pause) pause.hidden = !part()?.dataset.live;
connect();
