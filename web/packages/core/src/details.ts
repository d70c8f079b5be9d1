/** What a question brings beside its words and answers, read for the screen. What is signed is `Given`, as it was given. */

import type { Given } from "./receipt.ts";

export interface CodeBlock {
  kind: "text" | "code" | "diff";
  label: string | null;
  language: string | null;
  text: string;
}

export interface FieldsBlock {
  kind: "fields";
  fields: readonly { name: string; value: string }[];
}

export type Block = CodeBlock | FieldsBlock;

/** What a person is shown, and how they have to answer. */
export interface Brief {
  blocks: readonly Block[];
  /** What the asker says of itself; null where it says nothing. */
  app: string | null;
  host: string | null;
  where: string | null;
  session: string | null;
  isDangerous: boolean;
  confirm: "tap" | "hold" | "number";
  takesComment: boolean;
  /** False where there is something that this app does not know how to show: nobody may approve what they did not see. */
  isWhole: boolean;
}

const GIVEN = ["details", "source", "danger", "confirm", "comment"] as const;
const CONFIRMS: readonly unknown[] = ["tap", "hold", "number"];

/** Of a prompt's payload: the fields that the phone signs over. Null where there are none, as in the older contract. */
export function givenOf(payload: Readonly<Record<string, unknown>>): Given | null {
  const given = GIVEN.filter((name) => payload[name] !== undefined).map((name) => [name, payload[name]]);
  return given.length > 0 ? (Object.fromEntries(given) as Given) : null;
}

export function briefOf(given: Given | null | undefined): Brief {
  const { details = [], source = {}, danger = "normal", confirm = "tap", comment = "none" } = given ?? {};
  const blocks = Array.isArray(details) ? details.map(readBlock) : [null];
  const said = fieldsOf(source) ?? {};
  return {
    blocks: blocks.filter((block) => block !== null),
    app: textOrNull(said["app"]),
    host: textOrNull(said["host"]),
    where: textOrNull(said["where"]),
    session: textOrNull(said["session"]),
    isDangerous: danger !== "normal",
    // An unknown way to confirm is no tap either.
    confirm: CONFIRMS.includes(confirm) ? (confirm as Brief["confirm"]) : "hold",
    takesComment: comment === "optional",
    isWhole: !blocks.includes(null) && CONFIRMS.includes(confirm) && (danger === "normal" || danger === "high"),
  };
}

/** Null for a block of a kind or a shape that is not known. */
function readBlock(value: unknown): Block | null {
  const block = fieldsOf(value);
  if (!block) return null;
  const { kind, label, language, text, fields } = block;
  if (kind === "fields") {
    const read = Array.isArray(fields) ? fields.map(fieldsOf) : [null];
    const rows = read.flatMap((field) =>
      typeof field?.["name"] === "string" && typeof field["value"] === "string"
        ? [{ name: field["name"], value: field["value"] }]
        : [],
    );
    return rows.length === read.length ? { kind, fields: rows } : null;
  }
  if ((kind !== "text" && kind !== "code" && kind !== "diff") || typeof text !== "string") return null;
  return { kind, label: textOrNull(label), language: textOrNull(language), text };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
