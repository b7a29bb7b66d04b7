// Asks for pages, some at once; answers with those that are errors.
const [paths, done] = arguments;
const waiting = [...paths];
const bad = [];
const ask = async () => {
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const answer = await fetch(path);
    await answer.text();
    if (!answer.ok) bad.push([path, answer.status]);
  }
};
Promise.all([ask(), ask(), ask(), ask()]).then(() => done(bad), () => done(paths.map((path) => [path, 0])));
