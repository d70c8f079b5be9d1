import {
  Api,
  type Device,
  type DeviceKeys,
  type Envelope,
  Keyring,
  keysFromSecrets,
  seal,
  toBase64,
  utf8,
} from "../src/index.ts";

export const PLAIN = { html: false, monospace: false, timestamp: null, image: null, sound: null };

interface Call {
  method: string;
  path: string;
  token: string | null;
  body: unknown;
}

/** A small server behind `fetch`: a queue with streams, and answers that a test decides. */
export class FakeServer {
  readonly calls: Call[] = [];
  readonly keys = keysFromSecrets({ box: new Uint8Array(32).fill(7), signingSeed: new Uint8Array(32).fill(8) });
  reply: (call: Call) => Response = () => new Response(null, { status: 204 });
  isDown = false;
  #streams: ReadableStreamDefaultController<Uint8Array>[] = [];

  fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    const body = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    const call = { method: init.method ?? "GET", path: url, token: headers.get("Authorization"), body };
    this.calls.push(call);
    if (this.isDown) throw new TypeError("Failed to fetch");
    if (!url.startsWith("/v1/sync?")) return this.reply(call);
    const refusal = this.reply(call);
    if (refusal.status !== 204) return refusal;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#streams.push(controller);
        init.signal?.addEventListener("abort", () => controller.error(new DOMException("aborted", "AbortError")));
      },
    });
    return new Response(stream, { status: 200, headers: { "Content-Type": "text/event-stream" } });
  };

  get api(): Api {
    return new Api("", "rfd_live_test", this.fetch);
  }

  /** Sends to the newest stream. */
  send(text: string): void {
    this.#streams.at(-1)?.enqueue(utf8(text));
  }

  endStream(): void {
    this.#streams.at(-1)?.close();
  }

  paths(method: string): string[] {
    return this.calls.filter((call) => call.method === method).map((call) => call.path);
  }

  acked(): unknown[] {
    return this.calls.filter((call) => call.path === "/v1/sync/ack").map((call) => (call.body as { seq: number }).seq);
  }
}

export const DEVICE_KEYS: DeviceKeys = keysFromSecrets({
  box: new Uint8Array(32).fill(1),
  signingSeed: new Uint8Array(32).fill(2),
});

export function deviceOf(server: FakeServer): Device {
  return {
    ownerId: "own_1",
    deviceId: "dev_self",
    deviceToken: "rfd_live_test",
    label: "Phone",
    serverKey: toBase64(server.keys.publicKey),
  };
}

export function keyringOf(server: FakeServer): Keyring {
  return new Keyring(DEVICE_KEYS, toBase64(server.keys.publicKey));
}

export async function blobOf(server: FakeServer, envelope: Envelope): Promise<string> {
  const key = await server.keys.sharedKey(DEVICE_KEYS.publicKey);
  return toBase64(seal(key, utf8(JSON.stringify(envelope))));
}

export async function eventOf(server: FakeServer, seq: number, envelope: Envelope): Promise<string> {
  const data = JSON.stringify({ seq, from: "server", blob: await blobOf(server, envelope), expires_at: 1_754_999_999 });
  return `id: ${seq}\nevent: message\ndata: ${data}\n\n`;
}

export function questionOf(id: string, expiresAt = 1_754_800_600): Envelope {
  return {
    type: "interaction",
    id,
    ts: 1_754_800_000,
    source: { token: "CI" },
    payload: { question: "Deploy?", choices: ["Approve", "Deny"], expires_at: expiresAt },
  };
}

export function closedOf(
  id: string,
  end: Partial<Extract<Envelope, { type: "interaction.closed" }>["payload"]>,
): Envelope {
  const nobody = { choice_index: null, answered_by: null, answered_by_id: null };
  return {
    type: "interaction.closed",
    id,
    ts: 1_754_800_100,
    source: { server: "Reflecto" },
    payload: { status: "answered", ...nobody, ...end },
  };
}

export function noteOf(id: string, message = "Backup done"): Envelope {
  const rest = { title: null, priority: "default" as const, tags: [], url: null, url_title: null, actions: [] };
  return {
    type: "notification",
    id,
    ts: 1_754_800_000,
    source: { token: "CI" },
    payload: { message, markdown: false, delete_at: null, ...PLAIN, ...rest },
  };
}
