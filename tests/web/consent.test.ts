/** A question as a person meets it: all of it before their eyes, its answers at the thumb, and ways to say more. */

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  answerMessageV2,
  commentDigest,
  fromBase64,
  questionDigest,
  verifySignature,
} from "../../web/packages/core/src/index.ts";
import { type Browser, DESKTOP, deviceToken, enrol, launch, newPhone, type Page, Server, settle } from "./harness.ts";

const COMMAND = {
  question: "Run this command?",
  choices: ["Allow", "Deny"],
  danger: "high",
  comment: "optional",
  source: { app: "Claude Code", host: "laptop-17", where: "~/shop" },
  details: [
    { kind: "code", label: "Bash", text: "git reset --hard origin/main\n./migrate.sh --env production" },
    { kind: "fields", fields: [{ name: "Folder", value: "~/shop" }] },
  ],
};
const PUSH = {
  question: "Push to main?",
  choices: ["Allow", "Deny"],
  confirm: "number",
  source: { host: "laptop-17" },
};
const DELETE = { question: "Delete 214 snapshots?", choices: ["Delete", "Keep them"], confirm: "hold" };
const LONG_DIFF = `--- a/codes.ts\n+++ b/codes.ts\n@@ -1 +1,61 @@\n const CODES = [\n${"+  1,\n".repeat(60)}`;
const HOLD_MS = 1000;

let browser: Browser;
let server: Server;
let page: Page;
let token: string;

beforeAll(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});
afterAll(async () => {
  await browser.close();
  await server.stop();
});
beforeEach(async () => {
  const phone = await newPhone(browser);
  page = phone.page;
  token = (await enrol(page, await server.newOwner(), "Pixel")) as string;
  return async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    expect(phone.problems).toEqual([]);
  };
});

const button = (name: string) => page.getByRole("button", { name });

test("a command is read whole, nothing recommends itself, and the answer is signed over all of it", async () => {
  const id = await server.ask(token, COMMAND);
  await settle(page, "Run this command?");
  expect(await page.locator(".code-line").allTextContents()).toEqual(COMMAND.details[0]?.text?.split("\n"));
  expect(await page.locator(".fields dd").textContent()).toBe("~/shop");
  await page.getByText("Dangerous, it says.").waitFor();
  expect(await page.locator(".choice.filled").count()).toBe(0);
  await button("Allow").click();
  await page.getByText("Allow · sent").waitFor();
  const { choice, receipt } = await server.outcome(token, id);
  expect(choice).toBe("Allow");
  const { question, choices, ...given } = COMMAND;
  const message = answerMessageV2({
    id,
    from: "server",
    digest: await questionDigest({ question, choices }, given),
    choiceIndex: 0,
    answeredAt: receipt.answered_at,
  });
  expect(verifySignature(fromBase64(receipt.signing_key), message, fromBase64(receipt.signature))).toBe(true);
});

test("only Approve of exactly Approve and Deny is filled", async () => {
  await server.ask(token, { question: "Deploy?" });
  await settle(page, "Deploy?");
  expect(await page.locator(".choice.filled").allTextContents()).toEqual(["Approve"]);
});

test("a word goes with the answer, and its asker reads it", async () => {
  const id = await server.ask(token, COMMAND);
  await settle(page, "Run this command?");
  await button("Deny and say why").click();
  const dialog = page.getByRole("dialog", { name: "Say why" });
  await dialog.getByRole("button", { name: "Deny" }).dispatchEvent("click"); // without a word it takes nothing
  await dialog.getByLabel("Your words").fill("  Not on production. ");
  await dialog.getByRole("button", { name: "Deny" }).click();
  await page.getByText("Deny · sent").waitFor();
  const { choice, comment, receipt } = await server.outcome(token, id);
  expect([choice, comment.text]).toEqual(["Deny", "Not on production."]);
  expect(receipt.comment.sha256).toBe(await commentDigest(receipt.comment.text, receipt.comment.salt));
});

test("Esc leaves a dialog, and the focus goes back to its button", async () => {
  await server.ask(token, COMMAND);
  await settle(page, "Run this command?");
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(
    await page
      .getByRole("button", { name: "More", exact: true })
      .evaluate((element) => element === document.activeElement),
  ).toBe(true);
});

test("the first answer takes the two digits: a wrong one is told, the right one counts", async () => {
  const asked = await server.call("POST", "/v1/interactions", token, PUSH);
  const { id, confirm_number } = asked.body;
  await settle(page, "Push to main?");
  await button("Allow").click();
  await page.getByText("Look where it runs: on laptop-17, it says.").waitFor();
  const wrong = confirm_number === "41" ? "42" : "41";
  await page.keyboard.type(wrong);
  await page.keyboard.press("Enter");
  await page.getByText(`${wrong} is not the number.`).waitFor();
  expect((await server.call("GET", `/v1/interactions/${id}`, token)).body.status).toBe("pending");
  for (const digit of confirm_number) await page.locator(".pad").getByRole("button", { name: digit }).click();
  await button("Allow").click();
  await page.getByText("Allow · sent").waitFor();
  expect(await server.outcome(token, id)).toMatchObject({ choice: "Allow", receipt: { number: confirm_number } });
});

test("a second wrong number ends the question; the other answer needs none", async () => {
  const first = await server.call("POST", "/v1/interactions", token, PUSH);
  // The same one twice within a second would be one answer, sent again.
  const [one, other] = ["41", "42", "43"].filter((number) => number !== first.body.confirm_number);
  await settle(page, "Push to main?");
  await button("Allow").click();
  await page.getByLabel("Two digits").waitFor();
  for (const [number, said] of [
    [one, `${one} is not the number.`],
    [other, "Too late · Ended: the number was wrong twice"],
  ] as const) {
    await page.keyboard.type(number as string);
    await page.keyboard.press("Enter");
    await page.getByText(said).waitFor();
  }
  expect(await server.outcome(token, first.body.id)).toMatchObject({ status: "cancelled", reason: "wrong_number" });
  const second = await server.ask(token, { ...PUSH, question: "And now?" });
  await settle(page, "And now?");
  await button("Deny").click();
  expect(await server.outcome(token, second)).toMatchObject({ choice: "Deny" });
});

test("a long press answers, a tap does not; a key that is held does the same", async () => {
  await page.clock.install();
  const id = await server.ask(token, DELETE);
  await page.getByRole("heading", { name: DELETE.question }).waitFor();
  await page.clock.runFor(500);
  const held = page.locator(".choice.hold");
  await held.click();
  await held.hover();
  await page.mouse.down();
  await page.clock.runFor(HOLD_MS - 100);
  await page.mouse.up();
  await page.clock.runFor(HOLD_MS);
  expect((await server.call("GET", `/v1/interactions/${id}`, token)).body.status).toBe("pending");
  await held.focus();
  await page.keyboard.down(" ");
  await page.clock.runFor(HOLD_MS);
  await page.keyboard.up(" ");
  expect(await server.outcome(token, id)).toMatchObject({ choice: "Delete" });
});

test("who cannot hold presses twice, and is told so in between", async () => {
  const id = await server.ask(token, DELETE);
  await settle(page, DELETE.question);
  // As a screen reader presses: a click without a finger.
  await page.locator(".choice.hold").evaluate((element: HTMLElement) => element.click());
  const really = button("Really: Delete");
  await really.waitFor();
  expect((await server.call("GET", `/v1/interactions/${id}`, token)).body.status).toBe("pending");
  await really.evaluate((element: HTMLElement) => element.click());
  expect(await server.outcome(token, id)).toMatchObject({ choice: "Delete" });
});

test("what is folded or below the edge is counted beside the answers until it was seen", async () => {
  await server.ask(token, {
    question: "Change codes.ts?",
    details: [{ kind: "diff", label: "codes.ts", text: LONG_DIFF }],
  });
  await settle(page, "Change codes.ts?");
  const hint = page.locator(".dock .hint");
  await page.getByText("+60").waitFor();
  expect(await hint.textContent()).toBe("1 long part is folded. Unfold all");
  await hint.click();
  expect(await page.locator(".diff-line.add").count()).toBe(60);
  expect(await hint.textContent()).toMatch(/^\d\d lines below$/);
  for (let presses = 0; (await hint.count()) > 0 && presses < 20; presses += 1) {
    await hint.click({ timeout: 1000 }).catch(() => undefined); // it goes while it is pressed
  }
  expect(await hint.count()).toBe(0);
});

test("what else waits is counted at the thumb; the next one and each of the list are a tap away", async () => {
  await server.ask(token, { question: "First?", expires_in: 100 });
  await settle(page, "First?");
  await server.ask(token, { question: "Third?", expires_in: 300 });
  await server.ask(token, { question: "Second?", expires_in: 200 });
  await page.getByText("2 more", { exact: true }).click();
  const list = page.getByRole("dialog", { name: "2 questions wait" });
  expect(await list.locator("strong").allTextContents()).toEqual(["Second?", "Third?"]);
  await list.getByRole("button", { name: "Third?" }).click();
  await page.getByRole("heading", { name: "Third?" }).waitFor();
  await page.getByRole("button", { name: "Next", exact: true }).click();
  await page.getByRole("heading", { name: "First?" }).waitFor();
});

test("four questions of a sitting are answered one after the other, each with its buttons in view", async () => {
  const choices = ["Allow", "Deny"];
  for (const round of [1, 2, 3, 4]) {
    const id = await server.ask(token, { question: `Round ${round}?`, choices });
    await settle(page, `Round ${round}?`);
    const { y = 0, height = 0 } = (await button("Deny").boundingBox()) ?? {};
    expect(y + height).toBeLessThan(844 - 64); // above the tabs
    await button("Allow").click();
    expect(await server.outcome(token, id)).toMatchObject({ choice: "Allow" });
  }
});

test("with the keyboard alone: J and K move, digits answer, and the focus is never lost", async () => {
  await page.setViewportSize(DESKTOP);
  const first = await server.ask(token, { question: "First?", expires_in: 100 });
  const second = await server.ask(token, { question: "Second?", expires_in: 200 });
  await settle(page, "First?");
  await page.keyboard.press("j");
  await settle(page, "Second?");
  await page.keyboard.press("k");
  await settle(page, "First?");
  await button("Approve").focus();
  await page.keyboard.press("2");
  await page.getByText("Deny · sent").first().waitFor();
  expect(await page.evaluate(() => document.activeElement?.className)).toContain("result");
  await settle(page, "Second?");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Second?");
  await page.keyboard.press("1");
  expect(await server.outcome(token, first)).toMatchObject({ choice: "Deny" });
  expect(await server.outcome(token, second)).toMatchObject({ choice: "Approve" });
});

test("a new question is told to a screen reader, and its buttons are labelled with it", async () => {
  await server.ask(token, { question: "First?" });
  await settle(page, "First?");
  await server.ask(token, { question: "Second?" });
  await page.getByRole("status").getByText("Default asks: Second?").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Approve: First?", exact: true }).waitFor();
});

test("refused, a question ends without an answer; all of a sender's end with one tap, and no other's", async () => {
  const made = await server.call("POST", "/v1/tokens", await deviceToken(page), { label: "Other" });
  const flood = [];
  for (const [index, question] of ["One?", "Two?", "Three?"].entries()) {
    flood.push(await server.ask(token, { question, expires_in: 100 + 10 * index }));
  }
  const other = await server.ask(made.body.token, { question: "Mine?" });
  await settle(page, "One?");
  await page.getByRole("button", { name: "More", exact: true }).click();
  await button("Refuse this question").click();
  await page.getByText("Refused", { exact: true }).first().waitFor();
  await settle(page, "Two?");
  await page.getByRole("button", { name: "More", exact: true }).click();
  await button("Refuse all 2 from it").click();
  for (const id of flood) {
    expect(await server.outcome(token, id)).toMatchObject({ status: "cancelled", reason: "dismissed" });
  }
  await settle(page, "Mine?");
  expect((await server.call("GET", `/v1/interactions/${other}`, made.body.token)).body.status).toBe("pending");
});

test("who was denied a moment ago asks again in other words, and the phone says what differs", async () => {
  const asked = (environment: string) => ({
    ...COMMAND,
    details: [{ kind: "code", text: `./migrate.sh --env ${environment} --yes` }],
  });
  await server.ask(token, asked("staging"));
  await settle(page, "Run this command?");
  await page.getByText("First question from it.").waitFor();
  await button("Deny").first().click();
  await page.getByText("Deny · sent").waitFor();
  await server.ask(token, asked("production"));
  const note = page.locator(".notes.before li", { hasText: "You chose “Deny” on its last question" });
  await note.waitFor();
  expect(await note.locator("q").textContent()).toBe("staging");
});

test("muted from its question, a sender is told so, and the question stays", async () => {
  const id = await server.ask(token, { question: "First?" });
  await settle(page, "First?");
  await page.getByRole("button", { name: "More", exact: true }).click();
  await button("1 hour").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const refused = await server.call("POST", "/v1/interactions", token, { question: "Second?" });
  expect([refused.status, refused.body.error.code]).toEqual([403, "sender_muted"]);
  await button("Approve").click();
  expect(await server.outcome(token, id)).toMatchObject({ choice: "Approve" });
});
