// Builds the page, then the service worker, which carries the list of the page's files. Output: src/reflecto/webapp.
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { compileLanguages } from "./languages.js";

const root = fileURLToPath(new URL(".", import.meta.url));
const outDir = fileURLToPath(new URL("../../../src/reflecto/webapp", import.meta.url));
// Relative addresses: the same files serve a server at the root and one under a path.
const shared = { root, base: "./", configFile: false, logLevel: "warn", mode: "production" };
const target = ["chrome111", "firefox114", "safari16.4"];
const languages = Object.entries(await compileLanguages());
const define = { __LANGUAGES__: JSON.stringify(Object.fromEntries(languages.map(([name, { path }]) => [name, path]))) };

/** The modules that a page starts with. In one file they are smaller: what is loaded later takes them from there. */
const started = new Set();
/** Pairing is part of the core, and of two screens that are loaded later. */
const isStarted = (id) => started.has(id) && !/\/core\/src\/pairing/.test(id);
const noteStarted = {
  name: "note-started",
  buildEnd() {
    const walk = (id) => {
      if (started.has(id)) return;
      started.add(id);
      for (const imported of this.getModuleInfo(id)?.importedIds ?? []) walk(imported);
    };
    for (const id of this.getModuleIds()) if (this.getModuleInfo(id)?.isEntry) walk(id);
  },
};

await build({
  ...shared,
  define,
  plugins: [noteStarted],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir,
    target,
    emptyOutDir: true,
    assetsInlineLimit: 0, // the page's policy allows no data: addresses
    modulePreload: { polyfill: false },
    license: { fileName: "assets/licenses.md" },
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: (id) => (isStarted(id) ? "app" : null), debugName: "app" }] } },
    },
  },
});

for (const [, { path, content }] of languages) await writeFile(join(outDir, path), content);
const files = (await readdir(outDir, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => relative(outDir, join(entry.parentPath, entry.name)).split(sep).join("/"))
  .sort();
const hash = createHash("sha256");
for (const file of files) hash.update(file).update(await readFile(join(outDir, file)));
// Of the languages the worker keeps the one that is spoken.
const shell = files.filter(
  (file) => !/(^index\.html|\.md|\.json|\.svg|apple-touch.*|-512\.png|screenshots\/.*)$/.test(file),
);

await build({
  ...shared,
  publicDir: false,
  define: {
    ...define,
    __SHELL__: JSON.stringify(["/", ...shell.map((file) => `/${file}`)]),
    __BUILD__: JSON.stringify(hash.digest("hex").slice(0, 16)),
  },
  build: {
    outDir,
    target,
    emptyOutDir: false,
    lib: { entry: "src/worker/sw.ts", formats: ["iife"], name: "worker", fileName: () => "sw.js" },
  },
});
