/**
 * How a diff of 46 KiB scrolls on a slow phone: `REFLECTO_BENCH=1 npx vitest run --project bench`. Prints the time between
 * frames while all of it, unfolded, scrolls by under a CPU that is throttled six times, and how long opening it took.
 */

import { expect, test } from "vitest";
import { enrol, launch, newPhone, type Page, Server } from "../../tests/web/harness.ts";

const DIFF_BYTES = 46 * 1024;
const THROTTLE = 6;
const ROUNDS = 3;

test("a diff of 46 KiB is opened, unfolded and scrolled through", { timeout: 240_000 }, async () => {
  const [browser, server] = await Promise.all([launch(), Server.start()]);
  const { page, context } = await newPhone(browser);
  const token = (await enrol(page, await server.newOwner())) as string;
  const session = await context.newCDPSession(page);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const text = longDiff(round);
    await session.send("Emulation.setCPUThrottlingRate", { rate: THROTTLE });
    await watch(page);
    const question = `Change codes.ts, ${round}?`;
    const id = await server.ask(token, { question, details: [{ kind: "diff", label: "codes.ts", text }] });
    await page.getByRole("heading", { name: question }).waitFor();
    await page.waitForTimeout(1000);
    const opening = await frames(page);
    await page.locator(".dock button.hint").click();
    await page.waitForTimeout(1000);
    const unfolding = await frames(page);
    const { height, lines } = await page.evaluate(() => ({
      height: document.documentElement.scrollHeight,
      lines: document.querySelectorAll(".diff-line").length,
    }));
    await session.send("Input.synthesizeScrollGesture", { x: 200, y: 300, yDistance: -height, speed: 3000 });
    const scrolling = await frames(page);
    console.info(
      `round ${round}: ${text.length} bytes, ${lines} lines, ${height} px; longest frame in ms: opening ${opening.longest}, ` +
        `unfolding ${unfolding.longest}, scrolling ${scrolling.longest} (of ${scrolling.count} frames, p95 ${scrolling.p95})`,
    );
    expect(lines).toBeGreaterThan(800);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    await server.call("DELETE", `/v1/interactions/${id}`, token);
    await page.reload();
  }
  await browser.close();
  await server.stop();
});

/** Runs of added and removed lines, some of them long ones, as an agent's edit has them. */
function longDiff(seed: number): string {
  const lines: string[] = [];
  let size = 0;
  for (let at = 0; size < DIFF_BYTES - 200; at += 1) {
    const sign = at % 97 < 60 ? "+" : at % 97 < 80 ? "-" : " ";
    const line = `${sign}  { code: ${seed}${at}, text: 'declined, number ${at}'${at % 7 === 0 ? ", isFinal: true, retries: [1, 2, 4, 8]" : ""} },`;
    lines.push(line);
    size += line.length + 1;
  }
  const count = (signs: string) => lines.filter((line) => signs.includes(line.charAt(0))).length;
  return `--- a/codes.ts\n+++ b/codes.ts\n@@ -1,${count("- ")} +1,${count("+ ")} @@\n${lines.join("\n")}\n`;
}

async function watch(page: Page): Promise<void> {
  await page.evaluate(() => {
    const spans: number[] = [];
    Object.assign(globalThis, { spans });
    let before = performance.now();
    const next = (now: number) => {
      spans.push(now - before);
      before = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
}

/** The times between the frames since the last call, in ms. */
async function frames(page: Page): Promise<{ longest: number; p95: number; count: number }> {
  const spans = await page.evaluate(() => (globalThis as unknown as { spans: number[] }).spans.splice(0));
  const sorted = spans.map(Math.round).sort((a, b) => a - b);
  return { longest: sorted.at(-1) ?? 0, p95: sorted[Math.floor(sorted.length * 0.95)] ?? 0, count: sorted.length };
}
