// The address keeps the line that is open; its row shows what people said of it.
document.addEventListener("click", (event) => {
  const clicked = event.target.closest?.(ROWS);
  if (clicked) here(clicked);
  if (event.target.closest?.("[data-next]")) move(1);
  if (!desk()?.firstElementChild || !event.target.closest?.("[data-shut]")) return;
  event.preventDefault();
  shut();
});
document.addEventListener("htmx:afterSwap", ({ target, detail }) => {
  const opened = target.id === "desk" ? target.firstElementChild : null;
  if (!opened) return;
  const { line } = opened.dataset;
  const own = document.querySelector(`.results input[name=line][value="${line}"]`)?.closest("tr");
  const said = opened.querySelector("template");
  if (said) own?.querySelector(".judged div")?.replaceChildren(said.content);
  if (detail.requestConfig.verb !== "get") return;
  history.replaceState(history.state, "", `#line-${line}`);
  here(own);
  own?.scrollIntoView({ block: "nearest" });
  target.focus({ preventScroll: true });
  opened.scrollIntoView({ block: "nearest" });
});
document.addEventListener("DOMContentLoaded", () => {
  const line = /^#line-(\d+)$/.exec(location.hash)?.[1];
  if (line && desk()) window.htmx.ajax("GET", `?open=${line}`, { source: "#desk", target: "#desk", select: ".opened" });
});
// Shift and a click choose every row between.
let last = null;
document.addEventListener("click", (event) => {
  const box = event.target.closest?.(".results input[name=line]");
  if (!box) return;
  const boxes = [...document.querySelectorAll(".results input[name=line]")];
  if (event.shiftKey && last !== null) {
    const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
    for (const one of boxes.slice(Math.max(from, 0), to + 1)) one.checked = box.checked;
  }
  last = box;
});
const offerCopies = () => {
  for (const one of document.querySelectorAll("[data-copy]")) one.hidden = !navigator.clipboard;
};
document.addEventListener("click", async (event) => {
  const one = event.target.closest?.("[data-copy]");
  if (!one) return;
  await navigator.clipboard.writeText(location.href);
  one.textContent = "Copied";
});
document.addEventListener("touchstone:changed", offerCopies);
offerCopies();

// The first answer asks for the reviewer's name, and is sent once the name is there.
let unsent;  // the answer that waits for the name
document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".opened [data-reads]"), name = button?.form?.elements.reviewer;
  if (event.defaultPrevented || !name || name.value.trim()) return;
  event.preventDefault();
  event.stopPropagation();
  unsent = button;
  name.focus();
  say("Enter your name once, then press Enter. Your answer is saved under it.");
}, true);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches?.(".opened [name=reviewer]")) return;
  event.preventDefault();
  event.target.blur();
  unsent?.click();
}, true);
