// A part of a page that is fetched again when the service says that it has changed.
const REFUSED_PAUSE = 30_000; // milliseconds
const part = () => document.getElementById("live");
const refresh = async () => {
  const answer = await fetch(location.href, { credentials: "same-origin" });
  if (!answer.ok || answer.redirected) return location.reload();
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const own = fresh.getElementById("live");
  if (own === null) return location.reload();
  part().replaceWith(own);
  document.dispatchEvent(new Event("touchstone:changed"));
};
const follow = (address) => {
  const source = new EventSource(address);
  for (const name of ["changed", "job.running", "batch.in_progress", "batch.finalizing"]) {
    source.addEventListener(name, refresh);
  }
  source.addEventListener("end", () => {
    source.close();
    if (part().dataset.end === "reload") location.reload();  // more of the page has changed
    else refresh();
  });
  source.addEventListener("error", () => {  // refused: too many are open, or the session has ended
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => refresh().finally(() => follow(address)).catch(() => {}), REFUSED_PAUSE);
  });
};
const address = part()?.dataset.live;
if (address) follow(address);
