// What every page has: the status of one that is there, a title with the name of the shop, one heading above all, names that are there once, and no word that only
// a template would say.
const [shop, statuses] = arguments;
const faults = [];
const status = performance.getEntriesByType("navigation")[0].responseStatus;
if (!statuses.includes(status)) faults.push(`it was answered with ${status}`);
if (!document.title.includes(shop)) faults.push(`the title is "${document.title}"`);
const headings = document.querySelectorAll("h1").length;
if (headings !== 1) faults.push(`it has ${headings} headings of the first rank`);
const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
const twice = [...new Set(ids.filter((id, place) => ids.indexOf(id) !== place))];
if (twice.length > 0) faults.push(`ids that are there twice: ${twice.join(", ")}`);
const strange = document.body.innerText.match(/\{\{|\{%|\bSome\(|\bundefined\b|\bNaN\b|&(amp|lt|gt|quot|#\d+);/);
if (strange) faults.push(`it says "${strange[0]}"`);
return faults;
