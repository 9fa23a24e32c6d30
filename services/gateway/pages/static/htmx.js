// What htmx leaves to a page: forms carry their token as a header; nothing is lost by a swap, and
// what was found is said once; an answer that is no part of this page is opened as a page.
{
  const kept = new Map();  // id of a part that is swapped → gives its next what must outlive it
  const root = document.documentElement, isRevealed = root.hasAttribute("data-revealed");
  const on = (name, act) => document.addEventListener(`htmx:${name}`, ({ detail, target }) => act(detail, target));
  const content = () => document.getElementById("content");
  const isForm = (detail) => detail.requestConfig.verb !== "get";
  const reload = () => location.reload();
  const swapped = (part) => {
    const give = kept.get(part.id) ?? keep(part);
    kept.delete(part.id);
    part.removeAttribute("aria-busy");
    give(part);
    const said = part.querySelector("[role=status]")?.firstChild?.textContent.trim();
    if (said) document.getElementById("news").textContent = said;
  };
  const leave = ({ pathInfo: { finalRequestPath, anchor } }) =>
    location.assign(finalRequestPath + (anchor ? `#${anchor}` : ""));

  on("configRequest", ({ verb, headers }) => {
    if (verb !== "get") headers["X-CSRF-Token"] = document.querySelector("meta[name=csrf]").content;
  });
  on("beforeRequest", ({ target }) => {
    const chips = target.querySelector(".chips[data-wait]");
    if (chips) chips.textContent = chips.dataset.wait;
    target.setAttribute("aria-busy", "true");
  });
  on("beforeSwap", (detail) => {
    const { xhr, pathInfo } = detail, path = new URL(pathInfo.finalRequestPath, location.href).pathname;
    const isWrong = xhr.status >= 400, live = document.getElementById("live");
    detail.isError = false;
    if (!isForm(detail) && (isWrong || new URL(xhr.responseURL).pathname !== path)) {
      detail.shouldSwap = false;  // a log-in, a refusal
      return leave(detail);
    }
    pathInfo.anchor = undefined;  // the page stays where it is
    const texts = /data-texts="(\w)/.exec(xhr.responseText)?.[1];
    if (texts ? texts === "o" : isForm(detail)) root.toggleAttribute("data-revealed", isRevealed);
    if (isWrong) Object.assign(detail, { shouldSwap: true, target: content(), selectOverride: "#content", swapOverride: "outerHTML" });
    kept.clear();
    for (const part of [detail.target, live]) if (part) kept.set(part.id, keep(part, !isForm(detail)));
  });
  on("afterSwap", (_, target) => swapped(target));
  on("sendError", (detail) => {
    if (!isForm(detail)) return leave(detail);
    const textContent = "The service cannot be reached, so nothing was sent. Try again.";
    const alert = Object.assign(document.createElement("p"), { className: "error", role: "alert", textContent });
    const live = detail.elt.closest("#live");  // is replaced when its batch or job goes on
    if (live) live.before(alert);
    else detail.elt.prepend(alert);
  });
  on("historyCacheMiss", ({ xhr }) => { xhr.onerror = reload; });
  on("historyCacheMissLoad", () => kept.set("content", keep(content())));
  on("historyCacheMissLoadError", reload);
  on("historyRestore", () => swapped(content()));
}
