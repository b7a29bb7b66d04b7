// What has the focus, and whether one sees that it has.
const element = document.activeElement;
const marked = (part) => {
  const style = getComputedStyle(part);
  return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
};
// A box that is drawn by its label shows the focus there; a card that is a link, on the card.
const parts = [element, element.parentElement, ...(element.labels ?? [])].filter(Boolean);
const { top, bottom } = element.getBoundingClientRect();
return {
  name: (element.computedName ?? "").replace(/\s+/g, " ").trim(),
  tag: element.localName,
  visible: element.matches(":focus-visible") && parts.some(marked) && bottom > 0 && top < innerHeight,
};
