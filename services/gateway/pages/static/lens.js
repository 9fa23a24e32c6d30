// Words that are selected in the post go into the lens, and Enter asks. The answer takes the place of
// the last one; without it, the page of the answer is loaded.
{
  const lens = () => document.getElementById("lens");
  const words = () => document.getElementById("lens-words");
  document.addEventListener("selectionchange", () => {
    const chosen = document.getSelection();
    const post = chosen.anchorNode?.parentElement?.closest("[data-of=text]:not([aria-hidden])");
    if (!words() || !post || chosen.isCollapsed) return;
    words().value = marks.bare(chosen.getRangeAt(0).cloneContents()).join("").replace(/\s+/g, " ").trim();
  });
  document.addEventListener("keydown", (event) => {
    const isControl = event.target.closest("a, button, input, select, summary, textarea");
    if (event.key !== "Enter" || isControl || !words()?.value) return;
    event.preventDefault();
    words().form.requestSubmit();
  });
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form !== words()?.form) return;
    event.preventDefault();
    lens().setAttribute("aria-busy", "true");
    const body = new URLSearchParams(new FormData(form));
    const answer = await fetch(form.action, { method: "POST", body }).catch(() => null);
    const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
    const fresh = page?.getElementById("lens");
    if (!fresh) return form.submit();
    fresh.querySelector("[name=words]").value = body.get("words");
    put(lens(), fresh);
    lens().scrollIntoView({ block: "nearest" });
  });
}
