// Finds one control as a person would name it: by its accessible name, as the browser computes it. A name that only begins so is
// taken where none is the same. Answers with the element or with the problem, in words.
const [deed, name, within, option] = arguments;

const PRESSED =
  "input:is([type=submit], [type=button], [type=reset], [type=image], [type=checkbox], [type=radio]), a[href], button, summary, " +
  "[role=button], [role=link], [role=tab], [role=menuitem], [role=option], [role=switch]";
const KINDS = {
  press: PRESSED,
  type: "textarea, input:not([type=submit], [type=button], [type=reset], [type=image], [type=checkbox], [type=radio], [type=hidden])",
  choose: "select, fieldset, [role=radiogroup], [role=group]",
};
const PARTS =
  "li, tr, article, section, fieldset, form, dialog, details, nav, aside, main, header, footer, figure, [role]";

const tidy = (text) => (text ?? "").replace(/\s+/g, " ").trim();
const called = (element) => tidy(element.computedName) || tidy(element.innerText);
const shown = (element) => element.checkVisibility({ visibilityProperty: true });
// Browsers take a while to compute a name: on a page of a thousand controls, only those are asked for theirs that have its
// longest word somewhere, or are named by something else on the page.
const mayBeCalled = (wanted) => {
  const words = wanted.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [""];
  const word = words.reduce((longest, one) => (one.length > longest.length ? one : longest));
  return (element) =>
    element.labels?.length > 0 || element.hasAttribute("aria-labelledby") || element.outerHTML.toLowerCase().includes(word);
};
const named = (elements, wanted) => {
  const names = new Map(elements.filter(mayBeCalled(wanted)).map((element) => [element, called(element)]));
  const whose = (test) => [...names].filter(([, name]) => test(name)).map(([element]) => element);
  const same = whose((name) => name === wanted);
  const found = same.length > 0 ? same : whose((name) => name.startsWith(wanted));
  const oneTarget = found.every((element) => element.href && element.href === found[0].href);
  return oneTarget ? found.slice(0, 1) : found;
};
const controls = (root) => [...root.querySelectorAll(KINDS[deed])].filter(shown);

let root = document;
if (within !== null) {
  const size = (part) => part.querySelectorAll("*").length;
  const parts = [...document.querySelectorAll(PARTS)].filter(
    (part) => tidy(part.innerText).includes(within) || called(part) === within,
  );
  const fitting = parts.filter((part) => named(controls(part), name).length > 0);
  root = fitting.sort((one, other) => size(one) - size(other))[0];
  if (!root) return { problem: `no part of the page has "${within}" and ${deed} "${name}"` };
}

const found = named(controls(root), name);
if (found.length === 0) {
  const names = [...new Set(controls(root).map(called))].slice(0, 80);
  return { problem: `nothing to ${deed} is called "${name}"; there is: ${names.join(" | ")}` };
}
if (found.length > 1) return { problem: `${found.length} things to ${deed} are called "${name}": say within what` };
let [element] = found;
if (deed === "choose") {
  const options = [...element.querySelectorAll("option, input[type=radio], input[type=checkbox], [role=radio]")];
  const fitting = named(options, option);
  if (fitting.length !== 1) {
    return { problem: `${fitting.length} of "${name}" are called "${option}"; there is: ${options.map(called).join(" | ")}` };
  }
  [element] = fitting;
}
if (element.matches(":disabled")) return { problem: `"${option ?? name}" is disabled` };
// A box that is drawn by its label is pressed there, as a person does.
if (element.matches("[type=radio], [type=checkbox]") && element.labels?.length > 0) element = element.labels[0];
return { element };
