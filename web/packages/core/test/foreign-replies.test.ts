import { expect, test } from "vitest";
import { Api, ForeignReplyError, RefusedError, UnreachableError } from "../src/index.ts";
import { FOREIGN_REPLIES } from "./foreign-replies.ts";

const { signal } = new AbortController();
const KEYS = { public_key: "", signing_key: "" };
const CLAIM = { ...KEYS, label: "", type: "web", class: "phone", proof: "" } as const;
const APPROVAL = { approval: "", proof: "", signature: "" };

/** Every call of the API: a new one belongs here. */
const CALLS: readonly [string, (api: Api) => Promise<unknown>][] = [
  ["enroll", (api) => api.enroll({ ...KEYS, code: "", label: "", type: "web", class: "phone" })],
  ["answer", (api) => api.answer("int_1", { choice_index: 0, answered_at: 1, signature: "" })],
  ["ack", (api) => api.ack(1)],
  ["entries", (api) => api.entries(0)],
  ["devices", (api) => api.devices()],
  ["updateSelf", (api) => api.updateSelf({ push: null })],
  ["removeDevice", (api) => api.removeDevice("self")],
  ["disconnect", (api) => api.disconnect()],
  ["tokens", (api) => api.tokens()],
  ["createToken", (api) => api.createToken({ label: "CI" })],
  ["updateToken", (api) => api.updateToken("tok_1", { muted_until: null })],
  ["dismiss", (api) => api.dismiss("int_1")],
  ["dismissQuestions", (api) => api.dismissQuestions("tok_1")],
  ["revokeToken", (api) => api.revokeToken("tok_1")],
  ["pushKey", (api) => api.pushKey()],
  ["stopRing", (api) => api.stopRing("msg_1")],
  ["acknowledgeEmergency", (api) => api.acknowledgeEmergency("r1")],
  ["invite", (api) => api.invite()],
  ["openPairing", (api) => api.openPairing("par_1")],
  ["pairing", (api) => api.pairing("par_1", "open", signal)],
  ["greetPairing", (api) => api.greetPairing("par_1", "")],
  ["approvePairing", (api) => api.approvePairing("par_1", APPROVAL)],
  ["rejectPairing", (api) => api.rejectPairing("par_1")],
  ["claimPairing", (api) => api.claimPairing("par_1", CLAIM)],
  ["pairingOutcome", (api) => api.pairingOutcome("par_1", "claimed", signal)],
  ["revealPairing", (api) => api.revealPairing("par_1", "")],
  ["openSync", (api) => api.openSync(0, signal)],
];

test("the list of calls is whole", () => {
  const methods = [...Object.keys(new Api("", null, fetch)), ...Object.getOwnPropertyNames(Api.prototype)];
  expect(CALLS.map(([name]) => name).sort()).toEqual(methods.filter((name) => name !== "constructor").sort());
});

test.each(CALLS)(
  "%s takes no foreign reply for the server's word, nor its clock for the server's",
  async (_name, call) => {
    const times: number[] = [];
    for (const [what, reply] of FOREIGN_REPLIES) {
      const answered = async () => {
        const response = reply();
        response.headers.set("Date", "Thu, 01 Jan 1970 00:00:09 GMT");
        return response;
      };
      const error = await call(new Api("", "rfd_live_test", answered, (time) => times.push(time))).catch((e) => e);
      expect(error, what).toBeInstanceOf(ForeignReplyError);
    }
    expect(times).toEqual([]);
  },
);

test("the server's own word is believed, and its clock", async () => {
  const times: number[] = [];
  const headers = { Date: "Thu, 01 Jan 1970 00:00:09 GMT", "Retry-After": "7" };
  const error = { code: "unavailable", message: "full", details: { max: 1 } };
  const api = new Api(
    "",
    null,
    async () => Response.json({ error }, { status: 503, headers }),
    (t) => times.push(t),
  );
  const refused = await api.devices().catch((e) => e);
  expect(refused).toBeInstanceOf(RefusedError);
  expect(refused).toMatchObject({ code: "unavailable", details: { max: 1 }, retryAfterSeconds: 7, isPassing: true });
  expect(times).toEqual([9]);
});

test("a stranger that asks for an hour's pause is not waited for that long", async () => {
  const busy = async () => new Response("later", { status: 503, headers: { "Retry-After": "3600" } });
  const error = await new Api("", null, busy).devices().catch((e) => e);
  expect(error).toMatchObject({ retryAfterSeconds: 30 });
});

test("no reply at all is an outage, but nobody's word", async () => {
  const error = await new Api("", null, () => Promise.reject(new TypeError("Failed to fetch"))).ack(1).catch((e) => e);
  expect(error).toBeInstanceOf(UnreachableError);
  expect(error).not.toBeInstanceOf(ForeignReplyError);
});

test("redirects are never followed: the token is for one server", async () => {
  let redirect: RequestRedirect | undefined;
  const api = new Api("", "rfd_live_test", async (_url, init) => {
    redirect = init?.redirect;
    return Response.json({ devices: [] });
  });
  await api.devices();
  expect(redirect).toBe("manual");
});
