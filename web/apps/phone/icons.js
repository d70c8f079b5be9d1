// Draws the PNG icons from public/icons/icon.svg with a browser: `npm run icons`, after the SVG was changed.
import { readFile, writeFile } from "node:fs/promises";
import { chromium } from "playwright-core";

const folder = new URL("public/icons/", import.meta.url);
const svg = await readFile(new URL("icon.svg", folder), "utf8");
const background = /<rect [^>]*\/>/;
const square = svg.replace('rx="116"', ""); // the platform cuts the corners

// `scale` shrinks the drawing into the safe zone of a mask (W3C manifest: a circle of 40 % of the width).
const icons = [
  { name: "icon-192.png", size: 192, drawing: svg },
  { name: "icon-512.png", size: 512, drawing: svg },
  { name: "apple-touch-180.png", size: 180, drawing: square },
  {
    name: "maskable-512.png",
    size: 512,
    drawing: square.replace("<g ", '<g transform="translate(256 256) scale(.86) translate(-256 -256)" '),
  },
  {
    name: "badge-96.png",
    size: 96,
    drawing: svg.replace(background, "").replace("#f8f4ea", "#fff").replace('"0 0 512 512"', '"86 76 340 340"'),
  },
];

const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
const page = await browser.newPage();
for (const { name, size, drawing } of icons) {
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(`<style>*{margin:0}svg{display:block;width:${size}px;height:${size}px}</style>${drawing}`);
  await writeFile(new URL(name, folder), await page.screenshot({ omitBackground: true }));
}
await browser.close();
