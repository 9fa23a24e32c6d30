// The form of a request and its JSON stay in step: what is typed in one is read by the service, as
// when it is sent, and shown in the other. Nothing is saved by typing; buttons do it without this.
// The result is shown beside the form; a refusal is a page.
{
  const PAUSE = 300;  // milliseconds without a key
  let timer = null, asked = 0;
  const later = (act) => {
    clearTimeout(timer);
    asked++;  // what is on its way is out of date
    timer = setTimeout(act, PAUSE);
  };
  const send = (form, action) => {
    const body = new URLSearchParams(new FormData(form));
    body.set("action", action);
    return fetch("/try", { method: "POST", body, credentials: "same-origin" }).catch(() => null);
  };
  const ask = async (form, action) => {
    const own = asked, answer = await send(form, action);
    const text = answer?.ok && !answer.redirected ? await answer.text().catch(() => null) : null;
    return own === asked ? text : null;
  };
  const part = (text, id) => new DOMParser().parseFromString(text, "text/html").getElementById(id);
  document.addEventListener("input", ({ target }) => {
    const whole = document.getElementById("whole");
    if (whole && target.form?.id === "trial") later(async () => {
      const text = await ask(target.form, "json");
      if (text !== null) whole.value = text;
    });
    if (target === whole) later(async () => {
      const text = await ask(whole.form, "fill");  // null: this is no JSON yet
      const fresh = text && part(text, "controls");
      if (fresh) put(document.getElementById("controls"), fresh);
    });
  });
  document.addEventListener("submit", async (event) => {
    const { target: form, submitter } = event, result = document.getElementById("result");
    if (form.id !== "trial" || submitter?.value !== "score") return;
    event.preventDefault();
    const answer = await send(form, "score");
    const job = answer?.ok && answer.redirected ? part(await answer.text(), "live") : null;
    if (job === null) return form.submit();
    result.replaceChildren(job);
    result.scrollIntoView({ block: "nearest" });
    document.dispatchEvent(new Event("touchstone:changed"));
  });
}
