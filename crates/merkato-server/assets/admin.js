// What makes the office quicker for those who run scripts. Everything works without it.
"use strict";
(() => {
  const typing = (node) => node instanceof HTMLElement && (node.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(node.tagName));

  // "/" goes to the search of the page. Arrows move between the rows of a list, once one of them has the focus.
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !typing(event.target)) {
      const search = document.querySelector('main input[type="search"]');
      if (search) {
        event.preventDefault();
        search.focus();
        search.select();
      }
      return;
    }
    const list = event.target instanceof Element && !typing(event.target) && event.target.closest("table.list, table.rows");
    if (!list) return;
    const links = [...list.querySelectorAll("tbody tr")].map((row) => row.querySelector("a, summary, button")).filter(Boolean);
    const row = event.target.closest("tr");
    const here = links.findIndex((link) => link.closest("tr") === row);
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: links.length - 1 }[event.key];
    if (to === undefined || !links[to]) return;
    event.preventDefault();
    links[to].focus();
  });

  // A form is sent once: a double click is one click. The browser's way back makes it usable again.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
    form.setAttribute("aria-busy", "true");
  });
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) {
      delete form.dataset.sent;
      form.removeAttribute("aria-busy");
    }
  });

  // What is to be copied is chosen as a whole.
  for (const field of document.querySelectorAll("input[data-copy]")) field.addEventListener("focus", () => field.select());

  // On a phone the sections are a row: the one that is open is brought into view.
  const current = document.querySelector(".side nav [aria-current]");
  const nav = current && current.closest("nav");
  if (nav && nav.scrollWidth > nav.clientWidth) nav.scrollLeft = current.offsetLeft - nav.offsetLeft - 12;
})();
