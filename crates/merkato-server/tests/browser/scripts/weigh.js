// The bytes of the page and of all that it loaded but pictures: as they were sent, and unpacked.
const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
const heavy = loaded.filter((entry) => entry.initiatorType !== "img" && !(entry.contentType ?? "").startsWith("image/"));
const sum = (size) => heavy.reduce((total, entry) => total + entry[size], 0);
return { sent: sum("encodedBodySize"), unpacked: sum("decodedBodySize") };
