import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { answerMessage, fromBase64, verifySignature } from "../../web/packages/core/src/index.ts";
import { type Browser, enrol, launch, newPhone, type Page, Server, settle } from "./harness.ts";

const DEPLOY = { question: "Deploy to production?" };

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

test("a question appears by itself; a tap answers it with a receipt that the asker can check", async () => {
  const id = await server.ask(token, DEPLOY);
  await settle(page, "Deploy to production?");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Approve · sent").waitFor();
  const answer = await server.outcome(token, id);
  expect(answer).toMatchObject({
    status: "answered",
    choice: "Approve",
    choice_index: 0,
    answered_by: { label: "Pixel" },
  });
  const { signing_key, choice_index, answered_at, signature } = answer.receipt;
  const shown = { id, question: "Deploy to production?", choices: ["Approve", "Deny"] };
  const message = await answerMessage(shown, choice_index, answered_at);
  expect(verifySignature(fromBase64(signing_key), message, fromBase64(signature))).toBe(true);
});

test("four choices are four buttons, in their order and exact text", async () => {
  const choices = ["  now ", "Später, nach dem Essen", "לא", "🚀"];
  const id = await server.ask(token, { question: "When?", choices });
  await settle(page, "When?");
  const buttons = page.getByRole("group", { name: "Your answer" }).getByRole("button");
  expect(await buttons.locator("span[dir]").allTextContents()).toEqual(choices);
  await buttons.nth(2).click();
  expect(await server.outcome(token, id)).toMatchObject({ choice: "לא", choice_index: 2 });
});

test("a tap in the first moment after a question appears is not an answer", async () => {
  await page.evaluate(() => {
    const watched = document.body as HTMLElement & { isTapped?: Promise<boolean> };
    watched.isTapped = new Promise((resolve) => {
      new MutationObserver(() => {
        const button = document.querySelector<HTMLButtonElement>(".choice");
        button?.click();
        if (button) resolve(true);
      }).observe(document.body, { childList: true, subtree: true });
    });
  });
  const id = await server.ask(token, DEPLOY);
  expect(await page.evaluate(() => (document.body as HTMLElement & { isTapped?: Promise<boolean> }).isTapped)).toBe(
    true,
  );
  await settle(page, "Deploy to production?");
  expect((await server.call("GET", `/v1/interactions/${id}`, token)).body.status).toBe("pending");
});

test("of two quick taps on different choices the first one counts, and only it is sent", async () => {
  const sent: string[] = [];
  page.on("request", (request) => request.url().includes("/answer") && sent.push(request.postData() ?? ""));
  const id = await server.ask(token, DEPLOY);
  await settle(page, "Deploy to production?");
  await page.evaluate(() => {
    const buttons = document.querySelectorAll<HTMLButtonElement>(".choice");
    for (const index of [1, 0, 1]) buttons[index]?.click();
  });
  expect(await server.outcome(token, id)).toMatchObject({ choice: "Deny" });
  await page.getByText("Deny · sent").waitFor();
  // The browser may tell of a request after its reply was drawn.
  await vi.waitFor(() => expect(sent).toHaveLength(1));
});

test("a question answered on another device says where, and its buttons are gone", async () => {
  const second = await newPhone(browser);
  await enrol(second.page, await server.invite(page), "Tablet");
  await server.ask(token, DEPLOY);
  await settle(second.page, "Deploy to production?");
  await second.page.getByRole("button", { name: "Deny" }).click();
  await page.getByText("Answered on Tablet: Deny").waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).isVisible()).toBe(false);
});

test("of two devices that race one wins, and the other is told that it was too late", async () => {
  const second = await newPhone(browser);
  await enrol(second.page, await server.invite(page), "Tablet");
  // Neither hears of the other before both have tapped; then both answers leave at once.
  const hasTapped = [page, second.page].map(
    (each) => new Promise<() => void>((resolve) => each.route("**/answer", (route) => resolve(() => route.continue()))),
  );
  const id = await server.ask(token, DEPLOY);
  await Promise.all([settle(page, "Deploy to production?"), settle(second.page, "Deploy to production?")]);
  await page.getByRole("button", { name: "Approve" }).click();
  await second.page.getByRole("button", { name: "Deny" }).click();
  for (const send of await Promise.all(hasTapped)) send();
  const { choice, answered_by } = await server.outcome(token, id);
  const [winner, loser] = answered_by.label === "Pixel" ? [page, second.page] : [second.page, page];
  await winner.getByText(choice === "Approve" ? "Approve · sent" : "Deny · sent").waitFor();
  await loser.getByText(`Too late · Answered on ${answered_by.label}: ${choice}`).waitFor();
});

test("a question the asker withdraws is withdrawn before the person's eyes", async () => {
  const id = await server.ask(token, DEPLOY);
  await settle(page, "Deploy to production?");
  await server.call("DELETE", `/v1/interactions/${id}`, token);
  await page.getByText("Withdrawn by the asker").waitFor();
});

test("a question whose time is over cannot be answered any more", async () => {
  await page.clock.install();
  await server.ask(token, { ...DEPLOY, expires_in: 60 });
  await page.getByRole("heading", { name: "Deploy to production?" }).waitFor();
  await page.context().setOffline(true); // or the server's clock would put the page's right again
  await page.clock.fastForward(61_000);
  await page.getByText("Expired", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).isVisible()).toBe(false);
});

test("an answer given offline says that it waits, and is sent with the time of its tap when the network is back", async () => {
  const id = await server.ask(token, DEPLOY);
  await settle(page, "Deploy to production?");
  await page.context().setOffline(true);
  await page.getByText("No connection", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Approve · kept, and sent later").waitFor();
  await page.context().setOffline(false);
  await page.getByText("Approve · sent").waitFor();
  expect(await server.outcome(token, id)).toMatchObject({ status: "answered", choice: "Approve" });
});

test("an offline answer that another device overtook is told as too late", async () => {
  const second = await newPhone(browser);
  await enrol(second.page, await server.invite(page), "Tablet");
  await server.ask(token, DEPLOY);
  await Promise.all([settle(page, "Deploy to production?"), settle(second.page, "Deploy to production?")]);
  await page.context().setOffline(true);
  await page.getByText("No connection", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("kept, and sent later").waitFor();
  await second.page.getByRole("button", { name: "Deny" }).click();
  await second.page.getByText("Deny · sent").waitFor();
  await page.context().setOffline(false);
  await page.getByText("Too late · Answered on Tablet: Deny").waitFor();
});

test("an answer that waits survives the page: the next start sends it", async () => {
  const id = await server.ask(token, DEPLOY);
  await settle(page, "Deploy to production?");
  await page.route("**/answer", (route) => route.abort());
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByText(/^Deny · /).waitFor();
  await page.unroute("**/answer");
  await page.reload();
  expect(await server.outcome(token, id)).toMatchObject({ choice: "Deny" });
});

test("what would hide in a question is written out", async () => {
  await server.ask(token, { question: "Run \u202egnp.exe\u202c\u200b now?" });
  const card = page.locator(".question-text");
  await card.waitFor();
  expect(await card.textContent()).toBe("Run ‹U+202E›gnp.exe‹U+202C›‹U+200B› now?");
});

test("the longest question is shown whole, line breaks and all", async () => {
  const question = `${"Lorem ipsum dolor.\n".repeat(52)}END`.slice(-1000);
  await server.ask(token, { question });
  const text = page.locator(".question-text");
  await text.waitFor();
  expect(await text.textContent()).toBe(question);
  const { scroll, client, width } = await text.evaluate((element) => ({
    scroll: element.scrollHeight,
    client: element.clientHeight,
    width: element.scrollWidth - element.clientWidth,
  }));
  expect(scroll).toBeLessThanOrEqual(client + 1);
  expect(width).toBe(0);
});

test("who asks is the token's name, with what it says of itself in a line of its own", async () => {
  await server.ask(token, { ...DEPLOY, source: { app: "CI", host: "runner-3", where: "shop" } });
  expect(await page.locator(".who-name").textContent()).toBe("Default");
  expect(await page.locator(".says").textContent()).toBe("says: CI · runner-3 · shop");
});

test("a person stays on the question they look at, whatever comes: no button moves under a finger", async () => {
  await server.ask(token, { question: "First?", expires_in: 900 });
  await settle(page, "First?");
  const before = await page.getByRole("button", { name: "Approve" }).boundingBox();
  await server.ask(token, { question: "Second?", expires_in: 60 });
  await page.getByText("1 more", { exact: true }).waitFor();
  expect(await page.locator(".question-text").allTextContents()).toEqual(["First?"]);
  expect(await page.getByRole("button", { name: "Approve" }).boundingBox()).toEqual(before);
});

test("after a restart of the page everything is still there, and nothing twice", async () => {
  await server.ask(token, DEPLOY);
  await page.getByRole("heading", { name: "Deploy to production?" }).waitFor();
  await page.reload();
  await page.getByText("Live", { exact: true }).waitFor();
  expect(await page.getByRole("heading", { name: "Deploy to production?" }).count()).toBe(1);
});
