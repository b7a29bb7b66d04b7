
// The cart and the checkout: a countdown that counts, totals that follow, a form that is sent once.
(() => {
  document.documentElement.classList.add("script");

  // What is wrong with a form is read first.
  document.getElementById("summary")?.focus();

  // A second click while the first is on its way sends nothing. What is sent keeps its button's value, so that the buttons are
  // switched off only after it was gathered; a page that comes back from the browser's memory can be used again.
  const sent = new WeakSet();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-once]")) return;
    if (sent.has(form)) return event.preventDefault();
    sent.add(form);
    setTimeout(() => form.querySelectorAll("button").forEach((button) => (button.disabled = true)));
  });
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    document.querySelectorAll("form[data-once]").forEach((form) => {
      sent.delete(form);
      form.querySelectorAll("button").forEach((button) => (button.disabled = false));
    });
  });

  // The server says how many seconds are left; whose clock is right does not matter.
  const began = performance.now();
  const count = (root, from) => {
    for (const place of root.querySelectorAll("[data-countdown]")) {
      const end = from + Number(place.dataset.countdown) * 1000;
      const tick = () => {
        if (!place.isConnected) return clearInterval(timer);
        const left = Math.max(0, Math.round((end - performance.now()) / 1000));
        place.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
        if (left > 0) return;
        clearInterval(timer);
        const box = place.closest(".hold");
        const over = box.nextElementSibling;
        if (over?.matches(".hold-over")) [box.hidden, over.hidden] = [true, false];
      };
      const timer = setInterval(tick, 1000);
    }
  };
  count(document, began);

  // The button beside a quantity is there when there is something to update.
  document.addEventListener("input", (event) => event.target.closest(".amount")?.classList.add("touched"));

  // What is chosen is reckoned at once; the answer is the page, of which the review is taken.
  const form = document.querySelector("form[data-totals]");
  let asked = 0;
  form?.addEventListener("change", async (event) => {
    if (!["address", "country", "shipping", "store_credit"].includes(event.target.name)) return;
    const mine = ++asked;
    const review = document.getElementById("review");
    review.classList.add("waiting");
    try {
      const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.getElementById("review");
      if (mine === asked && found && !sent.has(form)) {
        review.replaceWith(found);
        count(found, performance.now());
      }
    } finally {
      review.classList.remove("waiting");
    }
  });

  // A payment that is on its way is looked at again.
  if (document.querySelector("[data-look-again]")) setTimeout(() => location.reload(), 10000);
})();
