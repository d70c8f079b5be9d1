/** The page's model: one object that the screens read and that tells them when to draw again. */

import {
  type Database,
  forgetEverything,
  type News,
  openChannel,
  openDatabase,
  openSession,
  recall,
  remember,
  type Session,
} from "@reflecto/browser";
import {
  type Alarm,
  type Change,
  changeOf,
  type Item,
  type Question,
  type Senders,
  type TokenState,
  type UpdateTokenRequest,
  type Words,
} from "@reflecto/core";
import { type LanguageChoice, recallLanguage, rememberLanguage } from "../platform/language.ts";
import { showLanguage } from "../platform/page-language.ts";
import { apiFor, NAME } from "../platform/place.ts";
import { isEvictable } from "../platform/storage.ts";
import { isPageVisible, watchForWaking } from "../platform/visibility.ts";
import { APP_BUILD, enrol, FEATURES, leaveEnrolment, recallEnrolment, SELF_REPORT, type Unfinished } from "./enrol.ts";
import { type Joined, keepJoined } from "./joined.ts";
import { Link } from "./link.ts";
import { openQuestions } from "./lists.ts";
import { Notifications } from "./notifications.ts";
import { Outbox } from "./outbox.ts";

export class App {
  session: Session | null = null;
  items: readonly Item[] = [];
  /** Whom the owner has muted, as this phone knows it. */
  senders: Senders = {};
  /** The enrolment that was begun here and not gone through to its end. */
  unfinished: Unfinished | null = null;
  /** Since when the server was not heard, Unix seconds; null while it is. */
  troubleSince: number | null = null;
  /** Keys and history may be cleared by the browser. */
  isEvictable = false;
  readonly database: Database;
  readonly link: Link;
  readonly notifications: Notifications;
  readonly #outbox: Outbox;
  readonly #channel: BroadcastChannel;
  readonly #listeners = new Set<() => void>();
  #stop = new AbortController();

  static async open(): Promise<App> {
    const app = new App(await openDatabase(NAME));
    await Promise.all([app.#start(), app.#speak(), app.lookAtStorage()]);
    return app;
  }

  private constructor(database: Database) {
    this.database = database;
    this.#channel = openChannel(NAME, (news) => void this.#hear(news));
    const redraw = () => this.#redraw();
    this.link = new Link(this.#channel, redraw, () => void this.#outbox.send());
    this.notifications = new Notifications(() => this.session, redraw);
    this.#outbox = new Outbox(this, () => this.notifications.sendLater(), redraw);
    watchForWaking((reconnect) => this.#wake(reconnect));
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Seconds by the server's clock. */
  now(): number {
    return this.session?.clock.now() ?? Date.now() / 1000;
  }

  /** What keeps the server from being heard, by what was tried last; null where nothing is known to. */
  get trouble(): "waiting" | "foreign" | null {
    const { state } = this.link;
    return state === "waiting" || state === "foreign" ? state : this.#outbox.unsent;
  }

  /** A newer version of this app has taken over; this page is the old one until it is loaded again. */
  get isOutdated(): boolean {
    return this.notifications.isOutdated;
  }

  /** A desktop is shown things; it neither answers nor decides about others. */
  get isPhone(): boolean {
    return this.session?.device.deviceClass !== "desktop";
  }

  /** Aborted when this device is forgotten, or becomes another one. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Redeems a setup code. Returns the default token where this phone founded its owner. */
  async enrol(code: string, label: string) {
    const token = await enrol(this.database, code, label);
    this.#tell({ what: "forgotten" }); // pages and worker still have the old device
    await this.#start();
    return token;
  }

  /** Notes how far the enrolment has come; null when it is done. */
  async reachEnrolment(step: Unfinished | null): Promise<void> {
    this.unfinished = step;
    await leaveEnrolment(this.database, step);
  }

  /** Goes on as the device that a pairing made of this browser. */
  async join(joined: Joined): Promise<void> {
    await keepJoined(this.database, joined);
    this.#tell({ what: "forgotten" });
    await this.#start();
  }

  /** False where the tap came too late or twice. */
  async answer(question: Question, choiceIndex: number, words: Words = {}): Promise<boolean> {
    const { session } = this;
    if (!session || !(await session.answers.tap(question, choiceIndex, words))) return false;
    void this.#outbox.send();
    return true;
  }

  /** Stops a ring, or acknowledges an emergency: here at once, everywhere as soon as the server can be reached. */
  async end(alarm: Alarm): Promise<void> {
    await this.session?.answers.end(alarm);
    void this.#outbox.send();
  }

  /** Quiet here; the other devices go on. */
  async silence(alarm: Alarm): Promise<void> {
    await this.session?.answers.silence(alarm);
  }

  async markRead(keys: readonly string[]): Promise<void> {
    const read = await this.session?.store.markRead(keys);
    if (!read?.length) return;
    await this.#reload();
    this.#tell({ what: "items" });
    for (const item of read) void this.notifications.close(item);
  }

  async clearHistory(): Promise<void> {
    const open = new Set(openQuestions(this.items, this.now()).map(({ key }) => key));
    await this.remove(this.items.map(({ key }) => key).filter((key) => !open.has(key)));
  }

  /** Deletes what is past from this device. */
  async remove(keys: readonly string[]): Promise<void> {
    const removed = this.items.filter(({ key }) => keys.includes(key));
    await this.session?.store.remove(keys);
    await this.#reload();
    this.#tell({ what: "items" });
    for (const item of removed) void this.notifications.close(item);
  }

  /** Erases the plaintext of a token the person has copied. */
  async eraseToken(tokenId: string): Promise<void> {
    const notes = this.items.filter((item) => item.type === "token.created" && item.payload.id === tokenId);
    await this.session?.store.eraseTokens(notes.map(({ key }) => key));
    await this.#reload();
  }

  /** All who may ask or send; what is new of them is kept. Throws as the API does. */
  async tokens(): Promise<readonly TokenState[]> {
    const tokens = (await this.session?.api.tokens())?.tokens ?? [];
    await this.#changeSenders(tokens);
    return tokens;
  }

  /** Names, colours or mutes a sender, on every device. Throws as the API does. */
  async changeToken(tokenId: string, changes: UpdateTokenRequest): Promise<void> {
    await this.session?.api.updateToken(tokenId, changes);
    await this.#changeSenders([{ id: tokenId, ...changes }]);
  }

  async rename(label: string): Promise<void> {
    if (!this.session) return;
    const state = await this.session.api.updateSelf({ label });
    this.session.device = { ...this.session.device, label: state.label };
    await remember(this.database, "device", this.session.device);
    this.#redraw();
  }

  /** Tries the server again at once. */
  retry(): void {
    this.link.wake(true);
    void this.#outbox.send();
  }

  /** Asks the browser again whether it keeps what is here. */
  async lookAtStorage(): Promise<void> {
    this.isEvictable = await isEvictable(this.database, this.now());
    this.#redraw();
  }

  /** From now on this app speaks what was chosen, its other pages and the worker too. */
  async chooseLanguage(choice: LanguageChoice): Promise<void> {
    await rememberLanguage(this.database, choice);
    await this.#speak();
    this.#tell({ what: "language" });
  }

  /** Forgets keys, token and history on this device. The caller tells the server before. */
  async forget(): Promise<void> {
    this.#stop.abort();
    this.session = null;
    this.items = [];
    await forgetEverything(this.database);
    await this.notifications.end();
    this.#tell({ what: "forgotten" });
    this.#redraw();
  }

  /** After a revocation: asks the server once more. */
  async checkAgain(): Promise<void> {
    this.link.state = "connecting";
    await this.#start();
  }

  async #start(): Promise<void> {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.session = await openSession(this.database, apiFor, (changes) => this.#take(changes));
    this.unfinished = this.session && (await recallEnrolment(this.database));
    if (!this.session) return this.#redraw();
    await this.session.store.prune(this.session.clock.now());
    await this.#reload();
    this.link.start(this.session, this.#stop.signal);
    void this.notifications.start();
    void this.#report().catch(() => undefined); // the next start tries again
  }

  async #speak(): Promise<void> {
    await showLanguage(await recallLanguage(this.database));
    this.#redraw();
  }

  async #report(): Promise<void> {
    if (!this.session || (await recall(this.database, "reported")) === SELF_REPORT) return;
    await this.session.api.updateSelf({ app_build: APP_BUILD, features: FEATURES });
    await remember(this.database, "reported", SELF_REPORT);
  }

  async #take(changes: Change[]): Promise<void> {
    // Drawn at once: reading the store again would only make a person wait for it.
    const changed = new Map(changes.map(({ item }) => [item.key, item]));
    this.#show([...this.items.filter(({ key }) => !changed.has(key)), ...changed.values()]);
    if (changes.some(({ item }) => item.type === "token.changed")) await this.#reload(); // others go by its name now
    this.#tell({ what: "items" });
    await this.notifications.take(changes);
  }

  #wake(reconnect: boolean): void {
    if (!isPageVisible()) return;
    this.link.wake(reconnect);
    void this.#outbox.send();
    this.#redraw();
  }

  async #hear(news: News): Promise<void> {
    if (news.what === "items") await this.#reload();
    else if (news.what === "forgotten")
      await this.#start(); // another tab enrolled or forgot
    else if (news.what === "language") await this.#speak();
    else this.link.hear(news);
  }

  async #changeSenders(tokens: readonly (Partial<TokenState> & { id: string })[]): Promise<void> {
    await this.session?.store.changeSenders(
      tokens.map(({ id, label, colour, muted_until }) => changeOf({ token_id: id, label, colour, muted_until })),
      this.now(),
    );
    await this.#reload();
    this.#tell({ what: "items" });
  }

  async #reload(): Promise<void> {
    this.senders = (await this.session?.store.senders()) ?? {};
    this.#show((await this.session?.store.items()) ?? []);
  }

  #show(items: readonly Item[]): void {
    this.items = items;
    this.#redraw();
    this.notifications.count(items, this.now());
  }

  #tell(news: News): void {
    this.#channel.postMessage(news);
  }

  #redraw(): void {
    this.troubleSince = this.trouble === null ? null : (this.troubleSince ?? this.now());
    for (const listener of this.#listeners) listener();
  }
}
