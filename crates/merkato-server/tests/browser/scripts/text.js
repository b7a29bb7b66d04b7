// The text as it is seen: of the page, or of the smallest part of it that has some text.
const [within] = arguments;
const tidy = (text) => (text ?? "").replace(/\s+/g, " ").trim();
if (within === null) return tidy(document.body?.innerText);
const parts = [...document.querySelectorAll("li, tr, article, section, fieldset, form, dialog, details, nav, aside, figure, [role]")];
const size = (part) => part.querySelectorAll("*").length;
const fitting = parts.filter((part) => tidy(part.innerText).includes(within) || tidy(part.computedName) === within);
return tidy(fitting.sort((one, other) => size(one) - size(other))[0]?.innerText);
