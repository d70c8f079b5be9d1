import { expect, test } from "vitest";
import { Api, RefusedError, UnreachableError } from "../src/index.ts";

const TOKEN = { id: "tok_1", label: "CI", token: "rfk_live_x" };
const FULL = { error: { code: "too_many_tokens", message: "no more" } };

/** An API whose fetch plays these replies in turn (null: it is lost), and the keys its requests had. */
function played(...replies: (Response | null)[]): { api: Api; keys: (string | null)[] } {
  const keys: (string | null)[] = [];
  const fetch = async (_url: string, init?: RequestInit) => {
    keys.push(new Headers(init?.headers).get("Idempotency-Key"));
    const reply = replies.shift();
    if (!reply) throw new TypeError("the connection broke");
    return reply;
  };
  return { api: new Api("", null, fetch), keys };
}

const made = () => new Response(JSON.stringify(TOKEN), { status: 201 });

test("asked for again after a lost reply, a token has the same key", async () => {
  const { api, keys } = played(null, new Response("<html>", { status: 502 }), made());
  await expect(api.createToken({ label: "CI" })).rejects.toBeInstanceOf(UnreachableError);
  await expect(api.createToken({ label: "CI" })).rejects.toBeInstanceOf(UnreachableError);
  expect(await api.createToken({ label: "CI" })).toEqual(TOKEN);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(keys).size).toBe(1);
});

test("another request, and the same after its reply, has a key of its own", async () => {
  const { api, keys } = played(null, made(), made(), made());
  await expect(api.createToken({ label: "CI" })).rejects.toBeInstanceOf(UnreachableError);
  await api.createToken({ label: "nas" });
  await api.createToken({ label: "CI" });
  await api.createToken({ label: "CI" });
  expect(keys[2]).toBe(keys[0]);
  expect(new Set(keys).size).toBe(3);
});

test("a refusal decides: the next try has a key of its own", async () => {
  const { api, keys } = played(new Response(JSON.stringify(FULL), { status: 409 }), made());
  await expect(api.createToken({ label: "CI" })).rejects.toBeInstanceOf(RefusedError);
  await api.createToken({ label: "CI" });
  expect(new Set(keys).size).toBe(2);
});

test("what makes nothing has no key", async () => {
  const { api, keys } = played(new Response(null, { status: 204 }));
  await api.ack(1);
  expect(keys).toEqual([null]);
});
