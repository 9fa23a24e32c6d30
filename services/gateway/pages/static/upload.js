// A file is sent only while the session lasts: else the form stays with its file, and says so.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[enctype='multipart/form-data']")) return;
  event.preventDefault();
  const answer = await fetch(location.pathname, { redirect: "manual", credentials: "same-origin" }).catch(() => null);
  if (answer && !answer.ok) return tell(form);
  const page = answer && new DOMParser().parseFromString(await answer.text(), "text/html");
  const token = page?.querySelector("main [name=csrf]")?.value;  // another tab may have logged in anew
  if (token) form.elements.csrf.value = token;
  form.submit();
});
const tell = (form) => {
  document.getElementById("ended")?.remove();
  const said = document.createElement("p"), link = document.createElement("a");
  said.id = "ended";
  said.className = "error";
  said.setAttribute("role", "alert");
  link.href = `/login?next=${encodeURIComponent("/batches")}`;
  link.target = "_blank";
  link.textContent = "Log in in another tab";
  said.append("Your session has ended, so nothing was sent. ", link, ", come back and press the button again: the file stays chosen.");
  form.append(said);
  link.focus();
};
