
// A node of a tree is carried to another: by dragging it, by the keyboard, or by pressing Move and then the other.
(() => {
  const outline = document.querySelector("[data-outline]");
  if (!outline) return;
  const bar = document.querySelector("[data-carried]");
  const carrier = document.querySelector("[data-carrier]");
  const lines = [...outline.querySelectorAll("[data-node]")];
  const crumbs = [...document.querySelectorAll(".crumbs [data-place]")];
  let lifted = null;

  const says = (text) => {
    bar.querySelector("[data-says]").textContent = text;
  };
  // The line and those below it, which follow it and stand deeper.
  const withBelow = (line) => {
    const all = [line];
    for (const next of lines.slice(lines.indexOf(line) + 1)) {
      if (Number(next.dataset.depth) <= Number(line.dataset.depth)) break;
      all.push(next);
    }
    return all;
  };
  const lift = (line) => {
    drop();
    lifted = line;
    withBelow(line).forEach((each) => each.classList.add("lifted"));
    bar.hidden = false;
    says(`Moving ${line.dataset.name}. Choose what it is to stand below, or press Escape.`);
  };
  const drop = () => {
    lines.forEach((line) => line.classList.remove("lifted", "over"));
    crumbs.forEach((crumb) => crumb.classList.remove("over"));
    lifted = null;
    bar.hidden = true;
  };
  const put = (place, name) => {
    if (withBelow(lifted).some((line) => line.dataset.node === place)) {
      says(`${lifted.dataset.name} cannot stand below ${name}. Choose another, or press Escape.`);
      return;
    }
    carrier.action = `${outline.dataset.outline}/nodes/${lifted.dataset.node}/move`;
    carrier.elements.parent_id.value = place;
    carrier.requestSubmit();
  };

  for (const line of lines) {
    const button = line.querySelector("[data-carry]");
    button.hidden = false;
    button.addEventListener("click", () => {
      if (lifted && lifted !== line) put(line.dataset.node, line.dataset.name);
      else if (lifted) drop();
      else lift(line);
    });
    line.draggable = true;
    line.querySelectorAll("a").forEach((link) => { link.draggable = false; });
    line.addEventListener("dragstart", (event) => {
      event.dataTransfer.setData("text/plain", line.dataset.name);
      event.dataTransfer.effectAllowed = "move";
      // What is dragged is pictured first, and shown as lifted after that.
      setTimeout(() => lift(line));
    });
    line.addEventListener("dragend", () => drop());
  }
  const targets = [
    ...lines.map((line) => [line, line.dataset.node, line.dataset.name]),
    ...crumbs.map((crumb) => [crumb, crumb.dataset.place, crumb.textContent]),
  ];
  for (const [element, place, name] of targets) {
    element.addEventListener("dragover", (event) => {
      if (!lifted || withBelow(lifted).includes(element)) return;
      event.preventDefault();
      element.classList.add("over");
    });
    element.addEventListener("dragleave", () => element.classList.remove("over"));
    element.addEventListener("drop", (event) => {
      if (!lifted) return;
      event.preventDefault();
      put(place, name);
    });
    // While something is carried, a click chooses where it goes.
    element.addEventListener("click", (event) => {
      if (!lifted || !(event.target instanceof Element) || event.target.closest(".turn, [data-carry]")) return;
      event.preventDefault();
      put(place, name);
    });
  }
  bar.querySelector("[data-drop]").addEventListener("click", () => drop());

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && lifted) {
      const line = lifted;
      drop();
      line.querySelector(".name").focus();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
    const line = event.target.closest("[data-node]");
    if (!line || !outline.contains(line)) return;
    const at = lines.indexOf(line);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      lines[to]?.querySelector(".name").focus();
      return;
    }
    const turn = line.querySelector("a.turn");
    if (turn && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      const isOpen = turn.getAttribute("aria-expanded") === "true";
      if (isOpen === (event.key === "ArrowLeft")) {
        event.preventDefault();
        turn.click();
      }
    } else if (event.key === "m" || event.key === "M") {
      event.preventDefault();
      if (lifted === line) drop();
      else lift(line);
    }
  });
  document.querySelector("[data-hint]").hidden = false;

  // Whoever opened a node goes on from it.
  const opened = location.hash.startsWith("#n-") && document.getElementById(location.hash.slice(1));
  if (opened) opened.focus({ preventScroll: true });
})();
