// Loads every picture, also those that are not in sight yet; tells of those that cannot be shown.
const done = arguments[arguments.length - 1];
const load = async (picture) => {
  picture.loading = "eager";
  try {
    await picture.decode();
    return [];
  } catch {
    return [`a picture is not shown: ${picture.getAttribute("src")}`];
  }
};
Promise.all([...document.images].map(load)).then((told) => done(told.flat()));
