/**
 * Whose word a reply is. Only the exact body of this project's server, with a code of its catalogue under the status it
 * belongs to, is a refusal; a proxy's own 401, 403 or 404 says nothing about a question, a token or this device.
 * Source: protocol.md "Whose word it is".
 */

import { ERROR_STATUSES } from "./wire/error-codes.ts";

/** The server refused. `code` is from its catalogue of errors; `retryAfterSeconds` is 0 where it named none. */
export class RefusedError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown>;
  readonly retryAfterSeconds: number;

  constructor(status: number, code: string, message: string, details: Record<string, unknown>, retryAfter: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfter;
  }

  /** The same request may succeed later. */
  get isPassing(): boolean {
    return this.status === 429 || this.status >= 500;
  }

  /** The server does not know this device any more. */
  get isRevocation(): boolean {
    return this.code === "invalid_token";
  }
}

/** There is no word of the server: it could not be reached. The same request may succeed later. */
export class UnreachableError extends Error {
  readonly retryAfterSeconds: number = 0;

  constructor(message = "The server cannot be reached") {
    super(message);
  }
}

/** Something between this device and the server answered in its place. It is an outage like any other. */
export class ForeignReplyError extends UnreachableError {
  override readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds = 0) {
    super("Something between here and your server answers in its place: a proxy, or this network’s sign-in page");
    // A stranger is not waited for longer than this app would wait by itself.
    this.retryAfterSeconds = Math.min(retryAfterSeconds, FOREIGN_RETRY_MAX_SECONDS);
  }
}

const FOREIGN_RETRY_MAX_SECONDS = 30;

type Fields = Record<string, unknown>;

/** The error that a reply with an error's status stands for. */
export async function errorOf(response: Response): Promise<RefusedError | ForeignReplyError> {
  const retryAfter = Number(response.headers.get("Retry-After") ?? 0) || 0;
  const body: unknown = await response.json().catch(() => null);
  return refusalOf(response.status, body, retryAfter) ?? new ForeignReplyError(retryAfter);
}

/** Null where `body` is not the server's. Only `Record`s with exactly its keys are: others may have the same names. */
export function refusalOf(status: number, body: unknown, retryAfter = 0): RefusedError | null {
  if (!isRecord(body) || !Object.hasOwn(body, "error")) return null;
  const flat = status === 401 && hasOnly(body, ["error", "message"]) ? { ...body, code: body["error"] } : null;
  const { error } = body;
  const nested = isRecord(error) && hasOnly(body, ["error"]) && hasOnly(error, ["code", "message", "details"]);
  const { code, message = "", details = {} }: Fields = flat ?? (nested ? (error as Fields) : {});
  if (typeof code !== "string" || typeof message !== "string" || !isRecord(details)) return null;
  if (!Object.hasOwn(ERROR_STATUSES, code) || ERROR_STATUSES[code] !== status) return null;
  return new RefusedError(status, code, message || `The server answered ${status}`, details, retryAfter);
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasOnly(record: Fields, names: readonly string[]): boolean {
  return Object.keys(record).every((name) => names.includes(name));
}
