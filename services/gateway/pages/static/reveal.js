// Texts are blurred until somebody asks for them; the choice holds for this page. A quotation and
// its place in the other text light up together.
const root = document.documentElement;
const BUTTONS = "#reveal, [data-reveal]";
const hide = (hidden) => {
  for (const text of document.querySelectorAll(".sensitive")) text.ariaHidden = hidden || null;
  for (const quote of document.querySelectorAll("mark[data-quote]")) quote.tabIndex = hidden ? -1 : 0;
};
const show = (revealed) => {
  root.toggleAttribute("data-revealed", revealed);
  for (const one of document.querySelectorAll(BUTTONS)) {
    one.setAttribute("aria-pressed", String(revealed));
    one.textContent = revealed ? "Hide texts" : "Show texts";
  }
  hide(!revealed);
};
const update = () => {
  document.getElementById("reveal").hidden = document.querySelector(".sensitive") === null;
  show(root.hasAttribute("data-revealed"));
};
const light = ({ target, type }) => {
  const quote = target.closest?.(".texts mark[data-quote]");
  for (const link of quote?.dataset.quote.split(" ") ?? []) {
    for (const place of quote.closest(".texts").querySelectorAll(`[data-quote~="${link}"]`)) {
      place.classList.toggle("lit", type === "mouseover" || type === "focusin");
      if (type === "focusin" && place !== quote) place.scrollIntoView({ block: "nearest" });
    }
  }
};
for (const event of ["mouseover", "mouseout", "focusin", "focusout"]) document.addEventListener(event, light);
document.addEventListener("click", ({ target }) => {  // a text in the opened line shows itself, too
  const hidden = ":root:not([data-revealed]) .opened .sensitive";
  if (target.closest?.(`${BUTTONS}, ${hidden}`)) show(!root.hasAttribute("data-revealed"));
});
for (const news of ["touchstone:changed", "touchstone:marked"]) document.addEventListener(news, update);
update();
