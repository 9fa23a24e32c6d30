// What htmx leaves to a page: forms carry their token as a header; nothing is lost by a swap, and
// what was found is said once; an answer that is no part of this page is opened as a page.
{
  const kept = new Map();  // id of a part that is swapped → gives its next what must outlive it
  const root = document.documentElement, isRevealed = root.hasAttribute("data-revealed");
  const on = (name, act) => document.addEventListener(`htmx:${name}`, act);
  const content = () => document.getElementById("content");
  const isForm = (detail) => detail.requestConfig.verb !== "get";
  const swapped = (part) => {
    part.removeAttribute("aria-busy");
    const give = kept.get(part.id) ?? (() => document.dispatchEvent(new Event("touchstone:changed")));
    kept.delete(part.id);
    give(part);
    const said = part.querySelector("[role=status]")?.firstChild?.textContent.trim();
    if (said) document.getElementById("news").textContent = said;
  };
  const leave = ({ pathInfo: { finalRequestPath, anchor } }) =>
    location.assign(anchor ? `${finalRequestPath}#${anchor}` : finalRequestPath);

  on("configRequest", ({ detail }) => {
    if (detail.verb !== "get") detail.headers["X-CSRF-Token"] = document.querySelector("meta[name=csrf]").content;
  });
  on("beforeRequest", ({ detail: { target } }) => {
    const chips = target.querySelector(".chips[data-wait]");
    if (chips) chips.textContent = chips.dataset.wait;
    target.setAttribute("aria-busy", "true");
  });
  on("beforeSwap", ({ detail }) => {
    const { xhr, pathInfo } = detail, asked = new URL(pathInfo.finalRequestPath, location.href);
    const isFine = xhr.status < 400;
    detail.isError = false;
    if (!isForm(detail) && !(isFine && new URL(xhr.responseURL).pathname === asked.pathname)) {
      detail.shouldSwap = false;  // a log-in, a refusal
      return leave(detail);
    }
    pathInfo.anchor = undefined;  // the page stays where it is
    if (isForm(detail)) root.toggleAttribute("data-revealed", isRevealed);  // another's texts
    if (!isFine) Object.assign(detail, { shouldSwap: true, target: content(), selectOverride: "#content", swapOverride: "outerHTML" });
    kept.clear();
    kept.set(detail.target.id, keep(detail.target, !isForm(detail)));
    const live = document.getElementById("live");
    if (live && !detail.target.contains(live)) kept.set("live", keep(live));
  });
  on("afterSwap", ({ target }) => swapped(target));
  on("sendError", ({ detail }) => {
    if (!isForm(detail)) return leave(detail);
    const said = document.createElement("p");
    said.className = "error";
    said.setAttribute("role", "alert");
    said.textContent = "The service cannot be reached, so nothing was sent. Try again.";
    detail.elt.prepend(said);
  });
  on("historyCacheMiss", ({ detail }) => detail.xhr.addEventListener("error", () => location.reload()));
  on("historyCacheMissLoad", () => kept.set("content", keep(content())));
  on("historyCacheMissLoadError", () => location.reload());
  on("historyRestore", () => swapped(content()));

  // A row opens in place: what its link leads to takes the link's place.
  document.addEventListener("toggle", ({ target }) => {
    const link = target.open && target.querySelector(":scope > a");
    if (link) htmx.ajax("GET", link.href, { source: link, target: link, select: ".texts", swap: "outerHTML" });
  }, true);
}
