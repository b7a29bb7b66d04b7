
// Holds count down to their end.
(() => {
  const holds = [...document.querySelectorAll("time.until[data-until]")];
  if (holds.length === 0) return;
  const show = () => {
    for (const hold of holds) {
      const seconds = Math.max(0, Math.floor((Number(hold.dataset.until) - Date.now()) / 1000));
      hold.textContent = seconds === 0 ? "ended" : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    }
  };
  show();
  setInterval(show, 1000);
})();

// What was refused is what one looks at first; the fragment of an address opens what it names.
(() => {
  document.getElementById("summary")?.focus();
  const open = () => {
    const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
