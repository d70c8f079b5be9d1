/** What the system notification of an item says. Pure. */

import {
  type Body,
  briefOf,
  type Item,
  type NoteOf,
  parseRichText,
  plainOf,
  type Question,
  visibleRuns,
  visibleText,
} from "@reflecto/core";
import { t } from "../i18n/index.ts";
import { addressOf } from "../platform/place.ts";
import { outcomeOf, sourceName } from "./outcome.ts";
import { changeWords } from "./senders.ts";

/** The messages of one sender that its notification stands for: how many, and when it last made a sound. */
export interface Burst {
  count: number;
  /** Unix seconds. */
  soundedAt: number;
}

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
    data: { key: string; burst?: Burst };
  };
}

/** Notifications cut their text; where that could happen, the answer belongs under the whole question in the app. */
export const WHOLE_TEXT_MAX_CHARS = 140;
const WHOLE_TEXT_MAX_LINES = 3;
const RING_PATTERN = [600, 200, 600, 200, 600, 200, 600, 200, 600];
/** The messages of a burst make one sound in this time. */
const BURST_SECONDS = 60;

const NOTHING_KNOWN = { isFirst: false, burst: null };

/**
 * Null for what needs no notification. `maxActions` is how many buttons the platform shows. `isFirst`: the sender never
 * asked before; `burst` is what its notification stands for that is still shown.
 */
export function promptOf(
  item: Item,
  maxActions: number,
  { isFirst, burst }: { isFirst: boolean; burst: Burst | null } = NOTHING_KNOWN,
): Prompt | null {
  if (item.type === "interaction") return questionPrompt(item, maxActions, isFirst);
  const made = notePrompt(item, maxActions);
  return made && quietly(isGathered(item) ? gathered(made, item, burst) : made, item.isMuted === true);
}

/** One notification stands for all that a sender's messages bring while it is there; what is urgent has its own. */
export function isGathered(item: Item): boolean {
  if (item.type === "notification") return item.payload.priority !== "urgent";
  return item.type === "document" || item.type === "reminder";
}

/** Which notification an item has: a newer one of the same tag takes the place of the one that is there. */
export function tagOf(item: Item): string {
  return isGathered(item) ? `from:${item.source.token_id ?? sourceName(item.source)}` : item.key;
}

function notePrompt(item: Exclude<Item, Question>, maxActions: number): Prompt | null {
  const from = sourceName(item.source);
  const button = (action: string, title: string) => (maxActions > 0 ? [{ action, title }] : []);
  switch (item.type) {
    case "interaction.closed":
    case "ring.stopped":
    case "emergency.closed":
      return null;
    case "notification": {
      const { title, priority, sound } = item.payload;
      const silent = priority === "min" || priority === "low" || sound === "none";
      return prompt(item, visible(title) ?? from, visibleText(plainTextOf(item.payload)), {
        silent,
        requireInteraction: priority === "urgent",
      });
    }
    case "emergency": {
      const title = visible(item.payload.title);
      const text = visibleText(plainTextOf(item.payload));
      return prompt(item, t("notice.emergency", { name: from }), title ? `${title}\n${text}` : text, {
        requireInteraction: true,
        vibrate: RING_PATTERN,
        actions: button("end", t("emergency.acknowledge")),
      });
    }
    case "document":
      return prompt(
        item,
        visible(item.payload.title) ?? t("notice.document", { name: from }),
        visibleText(item.payload.filename),
      );
    case "reminder": {
      const message = visibleText(item.payload.message);
      const late = item.payload.late ? `\n${t("inbox.reminder.late")}` : "";
      return prompt(item, visible(item.payload.title) ?? t("inbox.reminder"), message + late);
    }
    case "ring":
      if (item.isMuted) return prompt(item, from, visible(item.payload.message) ?? t("history.rang"));
      return prompt(item, t("ring.title", { name: from }), visible(item.payload.message) ?? t("notice.ring"), {
        requireInteraction: true,
        vibrate: RING_PATTERN,
        actions: button("end", t("ring.stop")),
      });
    case "token.created":
      return prompt(item, t("notice.token"), t("notice.token.ready", { name: visibleText(item.payload.label) }));
    case "token.changed":
      return changePrompt(item, button("unmute", t("tokens.unmute")));
  }
}

/** Only of a mute: a new name or colour is seen when its sender is. */
function changePrompt(item: NoteOf<"token.changed">, unmute: Prompt["options"]["actions"]): Prompt | null {
  const { muted_until: until, by } = item.payload;
  if (until === undefined) return null;
  const [title = ""] = changeWords(item);
  const by_whom = t("sender.by", { device: visibleText(by, { keepLines: false }) });
  return prompt(item, title, by_whom, { silent: true, actions: until === null ? [] : unmute });
}

/** It counts the sender's messages, and sounds once in a while for all of them. */
function gathered({ title, options }: Prompt, item: Item, before: Burst | null): Prompt {
  const count = (before?.count ?? 0) + 1;
  const isSounding = !options.silent && !(before && item.receivedAt - before.soundedAt < BURST_SECONDS);
  const burst = { count, soundedAt: isSounding ? item.receivedAt : (before?.soundedAt ?? 0) };
  const heard = { silent: options.silent || !isSounding, renotify: isSounding };
  const kept = { ...options, ...heard, data: { ...options.data, burst } };
  if (count === 1) return { title, options: kept };
  const text = title === sourceName(item.source) ? options.body : `${title}: ${options.body}`;
  const counted = t("notice.burst", { name: sourceName(item.source), count });
  return { title: counted, options: { ...kept, body: t("notice.newest", { text }) } };
}

function quietly({ title, options }: Prompt, isMuted: boolean): Prompt {
  if (!isMuted) return { title, options };
  const { vibrate: _, ...rest } = options;
  return { title, options: { ...rest, silent: true, renotify: false, requireInteraction: false, actions: [] } };
}

/** What a message says, for places that take no markup. */
export function plainTextOf({ html, message }: Pick<Body, "html" | "message">): string {
  return html ? plainOf(parseRichText(message)) : message;
}

/** An emergency that was acknowledged here while the server could not hear it: the others still ring. */
export function unsentPrompt(item: Item): Prompt {
  return prompt(item, t("notice.unsent"), t("notice.unsent.hint"), { silent: true });
}

function questionPrompt(question: Question, maxActions: number, isFirst: boolean): Prompt | null {
  if (question.phase !== "open") return null;
  const { choices } = question.payload;
  const runs = visibleRuns(question.payload.question);
  const text = runs.map((run) => run.text).join("");
  const isWhole = text.length <= WHOLE_TEXT_MAX_CHARS && text.split("\n").length <= WHOLE_TEXT_MAX_LINES;
  const isPlain = runs.every((run) => !run.isHidden);
  const { isDangerous, confirm, blocks, isWhole: isKnown } = briefOf(question.payload.given);
  const isTwo = choices.length === 2;
  // Nobody approves here what they did not see whole, or what wants more than a tap: that answer is given in the app.
  const mayApprove = !isDangerous && confirm === "tap" && blocks.length === 0 && isKnown && !isFirst;
  const hasButtons = isWhole && isPlain && isTwo && maxActions >= 2;
  const [first, second] = choices.map((label, index) => ({ action: `choice-${index}`, title: visibleText(label) }));
  const offered = mayApprove ? [first, second] : [{ action: "look", title: t("arrival.look") }, second];
  const further = [
    !isWhole && t("notice.long"),
    (blocks.length > 0 || !isKnown) && t("notice.details"),
    confirm === "number" && t("notice.number"),
    confirm === "hold" && t("notice.hold"),
  ].filter((line) => line !== false);
  const body = [text, ...further].join("\n");
  return prompt(question, askTitle(question, isDangerous, isFirst), body, {
    requireInteraction: true,
    actions: hasButtons ? offered.filter((action) => action !== undefined) : [],
  });
}

/** Who asks, and the one thing that most wants to be known before anything is tapped. */
function askTitle({ payload, source }: Question, isDangerous: boolean, isFirst: boolean): string {
  const name = sourceName(source);
  if (isDangerous) return t("notice.asks_dangerous", { name });
  if (payload.choices.length > 2) return t("notice.asks_many", { name, count: payload.choices.length });
  return isFirst ? t("notice.asks_first", { name }) : t("arrival.asks", { name });
}

/** What replaces the question once it is over, or once it was tapped; quiet, for the person knows. */
export function resultPrompt(question: Question, canLeave: boolean): Prompt | null {
  const outcome = outcomeOf(question, canLeave);
  if (!outcome) return null;
  const isMissed = question.phase === "expired" && question.tappedIndex === null;
  const title = isMissed ? t("notice.missed", { name: sourceName(question.source) }) : outcome.text;
  const isKept = question.phase === "sending" && !canLeave;
  const body = isKept ? t("notice.kept.hint") : visibleText(question.payload.question);
  return prompt(question, title, body, { silent: true, renotify: false });
}

/** Text of others, of which nothing is hidden. */
function visible(text: string | null): string | null {
  return text === null ? null : visibleText(text);
}

/** `title` and `body` are ours, or have gone through `visibleText`: that would show the marks which keep names apart. */
function prompt(item: Item, title: string, body: string, options: Partial<Prompt["options"]> = {}): Prompt {
  return {
    title,
    options: {
      body,
      tag: tagOf(item),
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
