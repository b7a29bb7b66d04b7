// What sticks out at the right of a page that should be so wide and is wider; nothing, if it is not.
const [width] = arguments;
if (document.documentElement.scrollWidth <= width) return [];
const clipped = (element) => {
  for (let part = element.parentElement; part && part !== document.body; part = part.parentElement) {
    if (getComputedStyle(part).overflowX !== "visible") return true;
  }
  return false;
};
const out = [...document.body.querySelectorAll("*")].filter(
  (element) => element.getBoundingClientRect().right > width + 0.5 && !clipped(element),
);
const told = out.slice(0, 10).map((element) => {
  const { left, right } = element.getBoundingClientRect();
  return `${element.localName}.${element.className}: ${Math.round(left)} to ${Math.round(right)}`;
});
return [`the page is ${document.documentElement.scrollWidth} wide`, ...told];
