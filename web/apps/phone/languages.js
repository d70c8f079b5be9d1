// The words of each language, compiled from ICU's message format, under names that carry their content's hash.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import compile from "icu-minify/compile";

const FOLDER = fileURLToPath(new URL("./src/i18n/", import.meta.url));

/**
 * Returns for each language the path of its file in the app, and what is in it: what is not translated yet is said in
 * English. Throws for a message that is none.
 */
export async function compileLanguages() {
  const english = JSON.parse(await readFile(join(FOLDER, "en.json"), "utf8"));
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith(".json")).sort();
  const compiled = files.map(async (file) => {
    const messages = { ...english, ...JSON.parse(await readFile(join(FOLDER, file), "utf8")) };
    const content = JSON.stringify(
      Object.fromEntries(Object.entries(messages).map(([key, text]) => [key, compile(text)])),
    );
    const hash = createHash("sha256").update(content).digest("base64url").replace(/[-_]/g, "").slice(0, 8);
    const language = file.slice(0, -".json".length);
    return [language, { path: `/assets/${language}-${hash}.json`, content }];
  });
  return Object.fromEntries(await Promise.all(compiled));
}
