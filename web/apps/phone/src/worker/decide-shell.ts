/** Whether a reply is a file of the app's: a sign-in page that is kept in its place would be the app for good. Pure. */

const TYPES: readonly [RegExp, RegExp][] = [
  [/\.js$/, /javascript/],
  [/\.css$/, /^text\/css/],
  [/\.(?:png|svg)$/, /^image\//],
  [/\.webmanifest$/, /json/],
];

/** `type` is the Content-Type; of the page, `body` must name one of the app's scripts. */
export function isOwnFile(path: string, type: string, body: string, shell: readonly string[]): boolean {
  const expected = TYPES.find(([name]) => name.test(path))?.[1];
  if (expected) return expected.test(type);
  return shell.some((file) => file.endsWith(".js") && body.includes(file.slice(1)));
}
