/**
 * A push service of the test: takes what the server pushes, and checks and decrypts it.
 * With Node's cryptography alone, so that it shares no code with server or app. Sources: RFC 8188, 8291, 8292.
 */

import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  hkdfSync,
  type JsonWebKey,
  randomBytes,
  verify,
} from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Delivery {
  headers: IncomingHttpHeaders;
  plaintext: string;
}

export class PushEndpoint {
  readonly url: string;
  readonly deliveries: Delivery[] = [];
  readonly #server: Server;
  readonly #keys = createECDH("prime256v1");
  readonly #auth = randomBytes(16);
  #waiting: (() => void)[] = [];

  static async open(): Promise<PushEndpoint> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PushEndpoint(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    this.#keys.generateKeys();
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/push/${randomBytes(8).toString("hex")}`;
    server.on("request", async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      this.deliveries.push({ headers: request.headers, plaintext: this.#decrypt(Buffer.concat(chunks)) });
      response.writeHead(201).end();
      for (const tell of this.#waiting.splice(0)) tell();
    });
  }

  /** As `PushSubscription.toJSON()` gives it. */
  get subscription() {
    const keys = { p256dh: this.#keys.getPublicKey("base64url"), auth: this.#auth.toString("base64url") };
    return { endpoint: this.url, keys };
  }

  /** The delivery of this number, from 1, once it is there. The test's own time limit bounds it. */
  async delivery(number: number): Promise<Delivery> {
    while (this.deliveries.length < number) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.deliveries[number - 1] as Delivery;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** RFC 8188 2.1 (salt, record size, key id), RFC 8291 3.4 (the keys), one record that ends with 0x02. */
  #decrypt(body: Buffer): string {
    const keyIdEnd = 21 + body.readUInt8(20);
    const [salt, theirs, record] = [body.subarray(0, 16), body.subarray(21, keyIdEnd), body.subarray(keyIdEnd)];
    const ours = this.#keys.getPublicKey();
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), ours, theirs]);
    const ikm = derive(this.#keys.computeSecret(theirs), this.#auth, info, 32);
    const key = derive(ikm, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
    const nonce = derive(ikm, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
    const decipher = createDecipheriv("aes-128-gcm", key, nonce);
    decipher.setAuthTag(record.subarray(-16));
    const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
    const end = padded.lastIndexOf(2);
    if (padded.subarray(end + 1).some((byte) => byte !== 0)) throw new Error("no delimiter of a last record");
    return padded.subarray(0, end).toString("utf8");
  }
}

function derive(ikm: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", ikm, salt, info, bytes));
}

/** The claims of a VAPID header, if `publicKey` (base64url) signed them. */
export function vapidClaims(authorization: string, publicKey: string): Record<string, unknown> {
  const [, token = "", key = ""] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(authorization) ?? [];
  if (key !== publicKey) throw new Error("pushed under another key than the one subscribed with");
  const [header = "", claims = "", signature = ""] = token.split(".");
  const point = Buffer.from(key, "base64url");
  const half = (start: number, end: number) => point.subarray(start, end).toString("base64url");
  const jwk: JsonWebKey = { kty: "EC", crv: "P-256", x: half(1, 33), y: half(33, 65) };
  const verifying = createPublicKey({ key: jwk, format: "jwk" });
  const signed = Buffer.from(`${header}.${claims}`);
  const options = { key: verifying, dsaEncoding: "ieee-p1363" } as const;
  if (!verify("sha256", signed, options, Buffer.from(signature, "base64url"))) throw new Error("not signed");
  return JSON.parse(Buffer.from(claims, "base64url").toString());
}
