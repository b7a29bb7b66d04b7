// A stream is replayed as the slider is let go of; while it moves, it says where it is.
for (const form of document.querySelectorAll("form[data-replay]")) {
  const slider = form.querySelector("input[type=range]");
  const at = form.querySelector("[data-at]");
  slider.addEventListener("input", () => { at.textContent = slider.value; });
  slider.addEventListener("change", () => form.requestSubmit());
  form.querySelector("button").hidden = true;
}
