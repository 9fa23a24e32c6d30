// Texts are blurred until somebody asks for them; the choice holds for this page.
const root = document.documentElement;
const button = document.getElementById("reveal");
const hide = (hidden) => {
  for (const text of document.querySelectorAll(".sensitive")) {
    if (hidden) text.setAttribute("aria-hidden", "true");
    else text.removeAttribute("aria-hidden");
  }
};
const show = (revealed) => {
  root.toggleAttribute("data-revealed", revealed);
  button.setAttribute("aria-pressed", String(revealed));
  button.textContent = revealed ? "Hide texts" : "Show texts";
  hide(!revealed);
};
const update = () => {
  button.hidden = document.querySelector(".sensitive") === null;
  show(root.hasAttribute("data-revealed"));
};
button.addEventListener("click", () => show(!root.hasAttribute("data-revealed")));
for (const news of ["touchstone:changed", "touchstone:marked"]) document.addEventListener(news, update);
update();
