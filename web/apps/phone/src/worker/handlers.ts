/** Handles the service worker's events: takes in pushes, shows and closes notifications, sends answers. */

import { type Database, openChannel, openDatabase, openSession, type Session } from "@reflecto/browser";
import {
  type Alarm,
  type Change,
  type Item,
  lifeOf,
  pullEntries,
  type Question,
  RefusedError,
  SERVER,
  UnreachableError,
  waitingCount,
} from "@reflecto/core";
import { circumstancesOf } from "../items/circumstances.ts";
import { type Prompt, promptOf, resultPrompt, tagOf, unsentPrompt } from "../items/notification.ts";
import { showBadge } from "../platform/badge.ts";
import { languageFile, recallLanguage, speakLanguage } from "../platform/language.ts";
import { addressOf, apiFor, NAME } from "../platform/place.ts";
import { ensureSubscription, pushMessageOf } from "../platform/push.ts";
import { announcementOf, clickOf, endingOf, pathOf } from "./deciding.ts";
import { wordsFrom } from "./shell.ts";

const SYNC_TAG = "answers";

/** What could not be fetched stays in the queue, and comes with the next push or the open app. */
function ignoreOutage(error: unknown): void {
  if (!(error instanceof UnreachableError || (error instanceof RefusedError && error.isPassing))) throw error;
}

/** Background Sync, where the platform has it. */
type SyncRegistration = ServiceWorkerRegistration & { sync?: { register(tag: string): Promise<void> } };

export class Handlers {
  readonly #scope: ServiceWorkerGlobalScope;
  readonly #channel: BroadcastChannel;
  #database: Promise<Database> | null = null;
  #session: Promise<Session | null> | null = null;

  constructor(scope: ServiceWorkerGlobalScope) {
    this.#scope = scope;
    this.#channel = openChannel(NAME, (news) => {
      if (news.what === "forgotten") this.#session = null;
    });
  }

  /** The path of the words that the app speaks. */
  async languageFile(): Promise<string> {
    return languageFile(await recallLanguage(await this.#openDatabase()));
  }

  async receivePush(json: string | null): Promise<void> {
    const session = await this.#open();
    if (!session) return;
    const message = pushMessageOf(json);
    // A push does not name its sender: what the server's key does not open is fetched, which does.
    const isTaken = message.does === "take" && (await session.intake.takeSingle({ from: SERVER, blob: message.blob }));
    if (!isTaken) await pullEntries(session.api, session.store, session.intake).catch(ignoreOutage);
    if ((await session.store.queuedAnswers()).length > 0) await this.sendAnswers({ isLastChance: true });
    if (this.#mustShow) await this.#showSomething(session);
  }

  async takeClick(action: string, notification: { data: unknown }): Promise<void> {
    const session = await this.#open();
    const key = (notification.data as { key?: string } | null)?.key;
    const item = session && key ? await session.store.item(key) : null;
    const click = clickOf(action, item);
    if (click.does === "open" || !session) return this.#openPage(click.does === "open" ? click.path : pathOf(item));
    if (click.does === "end") return this.#endAlarm(session, item as Alarm);
    if (click.does === "unmute") return this.#unmute(session, click.tokenId);
    await session.answers.tap(item as Question, click.choiceIndex);
    await this.sendAnswers({ isLastChance: true });
    await this.#showResult(session, click.id);
  }

  async #unmute({ api, store, clock }: Session, tokenId: string): Promise<void> {
    await api.updateToken(tokenId, { muted_until: null });
    await store.changeSenders([{ tokenId, mutedUntil: null }], clock.now());
    this.#channel.postMessage({ what: "items" });
  }

  async #endAlarm(session: Session, alarm: Alarm): Promise<void> {
    await session.answers.end(alarm);
    await this.sendAnswers({ isLastChance: true });
    const left = await session.store.item(alarm.key);
    const isUnsent = left?.type === "emergency" && lifeOf(left, session.clock.now()).state === "ending";
    if (isUnsent) await this.#show(unsentPrompt(left));
  }

  /** Throws where answers still wait, so that Background Sync comes again; the last chance registers for it instead. */
  async sendAnswers({ isLastChance }: { isLastChance: boolean }): Promise<void> {
    const session = await this.#open();
    if (!session) return;
    const outcome = await session.answers.flush();
    if (outcome.state !== "retry") return;
    if (!isLastChance) throw new Error("answers are still waiting");
    await (this.#scope.registration as SyncRegistration).sync?.register(SYNC_TAG).catch(() => undefined);
  }

  async renewSubscription(): Promise<void> {
    const session = await this.#open();
    if (session) await ensureSubscription(session, this.#scope.registration);
  }

  /** What wakes the worker may lead to a notification, so it speaks the chosen language from then on. */
  async #open(): Promise<Session | null> {
    const database = await this.#openDatabase();
    await speakLanguage(await recallLanguage(database), wordsFrom);
    this.#session ??= openSession(database, apiFor, (changes) => this.#tell(changes));
    const session = await this.#session;
    if (!session) this.#session = null; // enrolled later, perhaps
    return session;
  }

  #openDatabase(): Promise<Database> {
    this.#database ??= openDatabase(NAME);
    return this.#database;
  }

  async #tell(changes: Change[]): Promise<void> {
    this.#channel.postMessage({ what: "items" });
    const session = await this.#open();
    if (!session) return;
    for (const { item, what } of changes) {
      if (what === "came") await this.#announce(session, item);
      else if (what === "again") await this.#showAgain(session, item);
      else if (item.type === "interaction") await this.#showEnd(item);
      else await this.#close(tagOf(item));
    }
    await this.#updateBadge(session);
  }

  async #announce(session: Session, item: Item): Promise<void> {
    const prompt = await this.#promptOf(session, item);
    if (!prompt) return;
    const isFirst = await session.store.claimAnnouncement(item.key);
    const isPageVisible = await this.#isPageVisible();
    const plan = announcementOf({ isFirst, isPageVisible, mustShow: this.#mustShow });
    if (plan === "show") await this.#show(prompt);
    if (plan === "repeat-quietly") await this.#showQuietly(prompt);
  }

  /** A further round of an emergency: it sounds again, but where a page is looked at, which does so itself. */
  async #showAgain(session: Session, item: Item): Promise<void> {
    const prompt = await this.#promptOf(session, item);
    if (!prompt) return;
    if (!(await this.#isPageVisible())) await this.#show(prompt);
    else if (this.#mustShow) await this.#showQuietly(prompt);
  }

  async #close(tag: string): Promise<void> {
    for (const notification of await this.#scope.registration.getNotifications({ tag })) notification.close();
  }

  async #showEnd(question: Question): Promise<void> {
    const shown = await this.#scope.registration.getNotifications({ tag: question.key });
    const wasTappedHere = question.tappedIndex !== null;
    const plan = endingOf({ isOnScreen: shown.length > 0, wasTappedHere, mustShow: this.#mustShow });
    const result = plan === "repeat-quietly" ? resultPrompt(question, true) : null;
    if (result) await this.#show(result);
    else for (const notification of shown) notification.close();
  }

  async #showResult(session: Session, id: string): Promise<void> {
    const question = await session.store.question(id);
    const result = question && resultPrompt(question, question.phase !== "sending");
    if (result) await this.#show(result);
    await this.#updateBadge(session);
  }

  /** A push that brought nothing new must show something all the same: the latest thing, quietly. */
  async #showSomething(session: Session): Promise<void> {
    if ((await this.#scope.registration.getNotifications()).length > 0) return;
    const items = (await session.store.items()).sort((a, b) => b.receivedAt - a.receivedAt);
    for (const item of items) {
      const isOver = item.type === "interaction" && item.phase !== "open";
      const prompt = isOver ? resultPrompt(item, true) : await this.#promptOf(session, item);
      if (prompt) return this.#showQuietly(prompt);
    }
  }

  async #promptOf({ store }: Session, item: Item): Promise<Prompt | null> {
    return promptOf(item, this.#maxActions, await circumstancesOf(item, store, this.#scope.registration));
  }

  #showQuietly({ title, options }: Prompt): Promise<void> {
    return this.#show({ title, options: { ...options, silent: true, renotify: false } });
  }

  #show({ title, options }: Prompt): Promise<void> {
    return this.#scope.registration.showNotification(title, options as NotificationOptions);
  }

  async #updateBadge({ store, clock }: Session): Promise<void> {
    await showBadge(waitingCount(await store.items(), clock.now()));
  }

  async #isPageVisible(): Promise<boolean> {
    const pages = await this.#scope.clients.matchAll({ type: "window" });
    return pages.some((page) => page.visibilityState === "visible");
  }

  async #openPage(path: string): Promise<void> {
    const [page] = await this.#scope.clients.matchAll({ type: "window" });
    if (!page) {
      await this.#scope.clients.openWindow(addressOf(path));
      return;
    }
    page.postMessage({ open: path });
    await page.focus();
  }

  /** How many buttons a notification may have; 0 where the platform has none. */
  get #maxActions(): number {
    return (Notification as { maxActions?: number }).maxActions ?? 0;
  }

  // WebKit is the one engine without `maxActions`, and the one that counts pushes that show nothing.
  get #mustShow(): boolean {
    return !("maxActions" in Notification);
  }
}
