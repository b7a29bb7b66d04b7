// Suggestions while somebody types into the search, in the manner of a combobox with a list: arrows choose, Enter goes there,
// Escape closes. Without it the form searches.
(() => {
  const input = document.getElementById("search");
  const form = input && input.form;
  if (!form) return;
  const list = document.createElement("ul");
  list.id = "suggestions";
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  list.hidden = true;
  const said = document.createElement("p");
  said.className = "hidden";
  said.setAttribute("role", "status");
  form.append(list, said);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", list.id]]) {
    input.setAttribute(name, value);
  }
  const SHORTEST = 2, MOST = 8, PAUSE = 120;
  let waiting = 0, asked = null, chosen = -1, typed = "";

  const options = () => [...list.children];
  const choose = (index) => {
    chosen = index;
    options().forEach((option, i) => option.setAttribute("aria-selected", String(i === index)));
    const option = list.children[index];
    if (option) {
      input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  };
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    choose(-1);
  };
  const part = (kind, text) => {
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = text;
    return span;
  };
  const money = ({ amount, currency }) => new Intl.NumberFormat("en", { style: "currency", currency }).format(amount);
  const show = (found) => {
    list.replaceChildren(...found.map((product, i) => {
      const option = document.createElement("li");
      option.id = "suggestion-" + i;
      option.setAttribute("role", "option");
      option.dataset.path = "/p/" + encodeURIComponent(product.slug);
      option.append(part("suggestion-name", product.name), part("suggestion-kind", product.category_name), part("price", money(product.price)));
      return option;
    }));
    choose(-1);
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    said.textContent = found.length === 0 ? "No suggestions" : found.length === 1 ? "1 suggestion" : found.length + " suggestions";
  };
  const ask = async () => {
    const prefix = input.value.trim();
    if (asked) asked.abort();
    if (prefix.length < SHORTEST) {
      said.textContent = "";
      return close();
    }
    asked = new AbortController();
    try {
      const answer = await fetch("/v1/search?limit=" + MOST + "&prefix=" + encodeURIComponent(prefix), { signal: asked.signal });
      const found = answer.ok ? (await answer.json()).data : [];
      if (input.value.trim() === prefix && document.activeElement === input) show(found);
    } catch {
      // Another letter was typed, or the server could not be asked: the form still searches.
    }
  };

  input.addEventListener("input", () => {
    typed = input.value;
    clearTimeout(waiting);
    waiting = setTimeout(ask, PAUSE);
  });
  input.addEventListener("keydown", (event) => {
    const count = list.children.length;
    if (event.key === "Escape" && !list.hidden) {
      close();
      event.preventDefault();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && count > 0) {
      if (list.hidden) {
        list.hidden = false;
        input.setAttribute("aria-expanded", "true");
      }
      const step = event.key === "ArrowDown" ? 1 : -1;
      // One place more than there are suggestions: the field itself, with what was typed.
      const next = ((chosen + 1 + step + count + 1) % (count + 1)) - 1;
      choose(next);
      input.value = next < 0 ? typed : list.children[next].querySelector(".suggestion-name").textContent;
      event.preventDefault();
    } else if (event.key === "Enter" && !list.hidden && chosen >= 0) {
      event.preventDefault();
      location.assign(list.children[chosen].dataset.path);
    }
  });
  // The press of a mouse would take the focus, and with it the list, before the click comes.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) location.assign(option.dataset.path);
  });
  input.addEventListener("blur", close);
})();

// A small picture brings the large one into view where it is, and is marked while that is seen. Without it, it is a link to it.
(() => {
  const view = document.querySelector(".gallery-view");
  const links = [...document.querySelectorAll(".thumbs a")];
  if (!view || links.length === 0) return;
  const mark = (index) => links.forEach((link, i) => {
    if (i === index) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
  links.forEach((link, i) => link.addEventListener("click", (event) => {
    event.preventDefault();
    view.scrollTo({ left: i * view.clientWidth });
  }));
  let waiting = 0;
  view.addEventListener("scroll", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => mark(Math.round(view.scrollLeft / view.clientWidth)));
  });
  mark(0);
})();
