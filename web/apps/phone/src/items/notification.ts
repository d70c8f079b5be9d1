/** What the system notification of an item says. Pure. */

import {
  type Body,
  briefOf,
  type Item,
  parseRichText,
  plainOf,
  type Question,
  visibleRuns,
  visibleText,
} from "@reflecto/core";
import { addressOf } from "../platform/place.ts";
import { outcomeOf, sourceName } from "./outcome.ts";

/** What goes to `showNotification`; `actions`, `renotify` and `vibrate` are not in every platform's types. */
export interface Prompt {
  title: string;
  options: {
    body: string;
    tag: string;
    icon: string;
    badge: string;
    timestamp: number;
    silent: boolean;
    renotify: boolean;
    requireInteraction: boolean;
    vibrate?: number[];
    actions: { action: string; title: string }[];
    data: { key: string };
  };
}

/** Notifications cut their text; where that could happen, the answer belongs under the whole question in the app. */
export const WHOLE_TEXT_MAX_CHARS = 140;
const WHOLE_TEXT_MAX_LINES = 3;
const RING_PATTERN = [600, 200, 600, 200, 600, 200, 600, 200, 600];

/** Null for what needs no notification. `maxActions` is how many buttons the platform shows. */
export function promptOf(item: Item, maxActions: number): Prompt | null {
  const from = sourceName(item.source);
  switch (item.type) {
    case "interaction":
      return questionPrompt(item, from, maxActions);
    case "interaction.closed":
    case "ring.stopped":
    case "emergency.closed":
      return null;
    case "notification": {
      const { title, priority, sound } = item.payload;
      const silent = priority === "min" || priority === "low" || sound === "none";
      return prompt(item, title ?? from, plainTextOf(item.payload), {
        silent,
        requireInteraction: priority === "urgent",
      });
    }
    case "emergency": {
      const { title } = item.payload;
      const text = plainTextOf(item.payload);
      return prompt(item, `Emergency: ${from}`, title ? `${title}\n${text}` : text, {
        requireInteraction: true,
        vibrate: RING_PATTERN,
        actions: maxActions > 0 ? [{ action: "end", title: "Acknowledge" }] : [],
      });
    }
    case "document":
      return prompt(item, item.payload.title ?? `Document from ${from}`, item.payload.filename);
    case "reminder": {
      const { title, message, late } = item.payload;
      return prompt(item, title ?? "Reminder", late ? `${message} (late: the server was down)` : message);
    }
    case "ring":
      return prompt(item, `${from} is ringing`, item.payload.message ?? "Tap to stop", {
        requireInteraction: true,
        vibrate: RING_PATTERN,
        actions: maxActions > 0 ? [{ action: "end", title: "Stop" }] : [],
      });
    case "token.created":
      return prompt(item, "New token", `“${item.payload.label}” is ready to be copied`);
  }
}

/** What a message says, for places that take no markup. */
export function plainTextOf({ html, message }: Pick<Body, "html" | "message">): string {
  return html ? plainOf(parseRichText(message)) : message;
}

/** An emergency that was acknowledged here while the server could not hear it: the others still ring. */
export function unsentPrompt(item: Item): Prompt {
  const body = "It is sent as soon as there is a connection. Other devices may go on until then.";
  return prompt(item, "Acknowledged here, not sent yet", body, { silent: true });
}

function questionPrompt(question: Question, from: string, maxActions: number): Prompt | null {
  if (question.phase !== "open") return null;
  const { choices } = question.payload;
  const runs = visibleRuns(question.payload.question);
  const text = runs.map((run) => run.text).join("");
  const isWhole = text.length <= WHOLE_TEXT_MAX_CHARS && text.split("\n").length <= WHOLE_TEXT_MAX_LINES;
  const isPlain = runs.every((run) => !run.isHidden);
  const { isDangerous, confirm, blocks, isWhole: isKnown } = briefOf(question.payload.given);
  const isTwo = choices.length === 2;
  // Nobody approves here what they did not see whole, or what wants more than a tap: that answer is given in the app.
  const mayApprove = !isDangerous && confirm === "tap" && blocks.length === 0 && isKnown;
  const hasButtons = isWhole && isPlain && isTwo && maxActions >= 2;
  const [first, second] = choices.map((label, index) => ({ action: `choice-${index}`, title: visibleText(label) }));
  const offered = mayApprove ? [first, second] : [{ action: "look", title: "Look" }, second];
  return prompt(
    question,
    isTwo ? `${from} asks` : `${from} asks, ${choices.length} answers`,
    isWhole ? text : `${text}\n\nOpen to read it all and answer`,
    {
      requireInteraction: true,
      actions: hasButtons ? offered.filter((action) => action !== undefined) : [],
    },
  );
}

/** What replaces the question once it is over; quiet, for the person knows. */
export function resultPrompt(question: Question, canLeave: boolean): Prompt | null {
  const outcome = outcomeOf(question, canLeave);
  if (!outcome) return null;
  return prompt(question, outcome.text, question.payload.question, { silent: true, renotify: false });
}

function prompt(item: Item, title: string, body: string, options: Partial<Prompt["options"]> = {}): Prompt {
  return {
    title: visibleText(title),
    options: {
      body: visibleText(body),
      tag: item.key,
      icon: addressOf("/icons/icon-192.png"),
      badge: addressOf("/icons/badge-96.png"),
      timestamp: item.ts * 1000,
      silent: false,
      renotify: options.silent !== true,
      requireInteraction: false,
      actions: [],
      data: { key: item.key },
      ...options,
    },
  };
}
