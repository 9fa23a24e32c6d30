// The form of a request and its JSON stay in step: what is typed in one is read by the service, as
// when it is sent, and shown in the other. Nothing is saved by typing; buttons do it without this.
{
  const PAUSE = 300;  // milliseconds without a key
  let timer = null, asked = 0;
  const later = (act) => {
    clearTimeout(timer);
    asked++;  // what is on its way is out of date
    timer = setTimeout(act, PAUSE);
  };
  const ask = async (of, action) => {
    const own = asked, sent = new URLSearchParams(new FormData(of));
    sent.set("action", action);
    const answer = await fetch("/try", { method: "POST", body: sent, credentials: "same-origin" }).catch(() => null);
    const text = answer?.ok && !answer.redirected ? await answer.text().catch(() => null) : null;
    return own === asked ? text : null;
  };
  document.addEventListener("input", ({ target }) => {
    const whole = document.getElementById("whole");
    if (whole && target.form?.id === "trial") later(async () => {
      const text = await ask(target.form, "json");
      if (text !== null) whole.value = text;
    });
    if (target === whole) later(async () => {
      const text = await ask(whole.form, "fill");  // null: this is no JSON yet
      const fresh = text && new DOMParser().parseFromString(text, "text/html").getElementById("controls");
      if (fresh) put(document.getElementById("controls"), fresh);
    });
  });
}
