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
  StreamLead,
} from "@reflecto/browser";
import {
  type Alarm,
  Backoff,
  type Candidate,
  type Change,
  type Item,
  type LinkState,
  PairingPhone,
  type PeerState,
  type Question,
  SyncClient,
  waitingCount,
  withChecked,
  withSeen,
} from "@reflecto/core";
import { showBadge } from "../platform/badge.ts";
import { apiFor, NAME, STREAM_LOCK } from "../platform/place.ts";
import { recallTheme, rememberTheme, type Theme } from "../platform/preferences.ts";
import { ensureSubscription, type PushState, permissionState } from "../platform/push.ts";
import { promptOf } from "../worker/decide-notification.ts";
import { APP_BUILD, enrol, FEATURES, SELF_REPORT } from "./enrol.ts";
import { type Joined, keepJoined } from "./join.ts";
import { openQuestions } from "./lists.ts";
import { registerWorker } from "./worker-link.ts";

const SYNC_TAG = "answers";

export class App {
  session: Session | null = null;
  items: readonly Item[] = [];
  link: LinkState = "connecting";
  /** What kept the last answers here, while some wait. */
  unsent: "waiting" | "foreign" | null = null;
  push: PushState = permissionState() ?? "checking";
  registration: ServiceWorkerRegistration | null = null;

  readonly #database: Database;
  readonly #channel: BroadcastChannel;
  readonly #listeners = new Set<() => void>();
  readonly #answerBackoff = new Backoff(Math.random);
  #sync: SyncClient | null = null;
  #lead: StreamLead | null = null;
  #stop = new AbortController();
  #isRetrying = false;

  static async open(): Promise<App> {
    const app = new App(await openDatabase(NAME));
    await app.#start();
    return app;
  }

  private constructor(database: Database) {
    this.#database = database;
    this.#channel = openChannel(NAME, (news) => void this.#hear(news));
    document.addEventListener("visibilitychange", () => this.#wake(false));
    addEventListener("pageshow", (event) => this.#wake(event.persisted));
    addEventListener("online", () => this.#wake(true));
    // Neither event is believed: each is a reason to try, and what is reached tells. A page that was reloaded without
    // a network is called online by some browsers.
    addEventListener("offline", () => this.#wake(true));
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get database(): Database {
    return this.#database;
  }

  /** Seconds by the server's clock. */
  now(): number {
    return this.session?.clock.now() ?? Date.now() / 1000;
  }

  /** Redeems a setup code. Returns the default token where this phone founded its owner. */
  async enrol(code: string, label: string) {
    const token = await enrol(this.#database, code, label);
    this.#channel.postMessage({ what: "forgotten" } satisfies News); // whoever held the old identity
    await this.#start();
    return token;
  }

  /** Goes on as the device that a pairing made of this browser. */
  async join(joined: Joined): Promise<void> {
    await keepJoined(this.#database, joined);
    this.#channel.postMessage({ what: "forgotten" } satisfies News);
    await this.#start();
  }

  /** Invites a device by the protocol in which neither end has to believe the server. */
  async invitePairing(): Promise<PairingPhone> {
    if (!this.session) throw new Error("This phone is not paired");
    return PairingPhone.invite(this.session);
  }

  async approvePairing(pairing: PairingPhone, candidate: Candidate): Promise<void> {
    const peers = (await recall(this.#database, "peers")) ?? {};
    await pairing.approve(candidate, peers);
    await remember(this.#database, "peers", withChecked(peers, candidate.deviceId, candidate.claim));
  }

  /** The owner's devices; their keys are kept from the first time they are seen. */
  async devices(): Promise<readonly PeerState[]> {
    const devices = (await this.session?.api.devices())?.devices ?? [];
    await remember(this.#database, "peers", withSeen((await recall(this.#database, "peers")) ?? {}, devices));
    return devices;
  }

  /** What keeps the server from being heard, by what was tried last; null where nothing is known to. */
  get trouble(): "waiting" | "foreign" | null {
    return this.link === "waiting" || this.link === "foreign" ? this.link : this.unsent;
  }

  /** A desktop is shown things; it neither answers nor decides about others. */
  get isPhone(): boolean {
    return this.session?.device.deviceClass !== "desktop";
  }

  /** False where the tap came too late or twice. */
  async answer(question: Question, choiceIndex: number): Promise<boolean> {
    const { session } = this;
    if (!session || !(await session.answers.tap(question, choiceIndex))) return false;
    void this.#sendAnswers();
    return true;
  }

  /** Stops a ring, or acknowledges an emergency: here at once, everywhere as soon as the server can be reached. */
  async end(alarm: Alarm): Promise<void> {
    await this.session?.answers.end(alarm);
    void this.#sendAnswers();
  }

  /** Quiet here; the other devices go on. */
  async silence(alarm: Alarm): Promise<void> {
    await this.session?.answers.silence(alarm);
  }

  async markRead(keys: readonly string[]): Promise<void> {
    const read = await this.session?.store.markRead(keys);
    if (!read?.length) return;
    await this.#reload();
    this.#channel.postMessage({ what: "items" } satisfies News);
    for (const { key } of read) void this.#closeNotifications(key);
  }

  async clearHistory(): Promise<void> {
    const open = new Set(openQuestions(this.items, this.now()).map(({ key }) => key));
    await this.session?.store.remove(this.items.map(({ key }) => key).filter((key) => !open.has(key)));
    await this.#reload();
  }

  /** Erases the plaintext of a token the person has copied. */
  async eraseToken(tokenId: string): Promise<void> {
    const notes = this.items.filter((item) => item.type === "token.created" && item.payload.id === tokenId);
    await this.session?.store.eraseTokens(notes.map(({ key }) => key));
    await this.#reload();
  }

  async rename(label: string): Promise<void> {
    if (!this.session) return;
    const state = await this.session.api.updateSelf({ label });
    this.session.device = { ...this.session.device, label: state.label };
    await remember(this.#database, "device", this.session.device);
    this.#redraw();
  }

  /** Asks for permission if need be (call it from a tap), subscribes, and tells the server. */
  async turnOnPush(): Promise<void> {
    if (permissionState() === "unasked") await Notification.requestPermission();
    if (this.session && this.registration) this.push = await ensureSubscription(this.session, this.registration);
    else this.push = permissionState() ?? "unreachable";
    this.#redraw();
  }

  /** Forgets keys, token and history on this device. The server is told before, by whoever calls this. */
  async forget(): Promise<void> {
    this.#stop.abort();
    this.session = null;
    this.items = [];
    await forgetEverything(this.#database);
    const subscription = await this.registration?.pushManager?.getSubscription().catch(() => null);
    await subscription?.unsubscribe().catch(() => undefined);
    for (const notification of (await this.registration?.getNotifications()) ?? []) notification.close();
    await showBadge(0);
    this.#channel.postMessage({ what: "forgotten" } satisfies News);
    this.#redraw();
  }

  /** After a revocation: asks the server once more. */
  async checkAgain(): Promise<void> {
    this.link = "connecting";
    await this.#start();
  }

  async #start(): Promise<void> {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.session = await openSession(this.#database, apiFor, (changes) => this.#takeChanges(changes));
    if (!this.session) return this.#redraw();
    await this.session.store.prune(this.session.clock.now());
    await this.#reload();
    this.#lead = new StreamLead(STREAM_LOCK, (signal) => this.#stream(signal), this.#stop.signal);
    this.#lead.seek({ take: document.visibilityState === "visible" });
    this.#channel.postMessage({ what: "link?" } satisfies News);
    void this.#startWorker();
    void this.#report().catch(() => undefined); // the next start tries again
  }

  async #report(): Promise<void> {
    if (!this.session || (await recall(this.#database, "reported")) === SELF_REPORT) return;
    await this.session.api.updateSelf({ app_build: APP_BUILD, features: FEATURES });
    await remember(this.#database, "reported", SELF_REPORT);
  }

  async #stream(signal: AbortSignal): Promise<void> {
    if (!this.session) return;
    const { api, store, intake, clock } = this.session;
    const onState = (state: LinkState) => signal.aborted || this.#takeLink(state);
    this.#sync = new SyncClient({ api, store, intake, clock, random: Math.random, onState });
    await this.#sync.run(signal);
  }

  async #startWorker(): Promise<void> {
    this.registration ??= await registerWorker();
    if (this.session && this.registration) this.push = await ensureSubscription(this.session, this.registration);
    this.#redraw();
  }

  #takeLink(state: LinkState): void {
    this.link = state;
    this.#channel.postMessage({ what: "link", state } satisfies News);
    if (state === "live") void this.#sendAnswers();
    this.#redraw();
  }

  async #takeChanges(changes: Change[]): Promise<void> {
    // Drawn at once: reading the store again would only make a person wait for it.
    const changed = new Map(changes.map(({ item }) => [item.key, item]));
    this.#show([...this.items.filter(({ key }) => !changed.has(key)), ...changed.values()]);
    this.#channel.postMessage({ what: "items" } satisfies News);
    for (const { item, what } of changes) {
      if (what === "came") await this.#announce(item);
      else if (what === "again") await this.#notify(item);
      else await this.#closeNotifications(item.key);
    }
  }

  /** On the screen it is announced by being there; a hidden page makes a notification, unless the worker did. */
  async #announce(item: Item): Promise<void> {
    if (await this.session?.store.claimAnnouncement(item.key)) await this.#notify(item);
  }

  async #notify(item: Item): Promise<void> {
    if (document.visibilityState === "visible" || permissionState() !== null) return;
    const maxActions = (Notification as { maxActions?: number }).maxActions ?? 0;
    const prompt = promptOf(item, maxActions);
    if (prompt) await this.registration?.showNotification(prompt.title, prompt.options as NotificationOptions);
  }

  async #closeNotifications(tag: string): Promise<void> {
    for (const notification of (await this.registration?.getNotifications({ tag })) ?? []) notification.close();
  }

  async #sendAnswers(): Promise<void> {
    const outcome = await this.session?.answers.flush();
    this.unsent = outcome?.state === "retry" ? (outcome.isForeign ? "foreign" : "waiting") : null;
    this.#redraw();
    if (outcome?.state !== "retry") {
      this.#answerBackoff.reset();
      return;
    }
    // The browser sends it when it is back online, even if this page is closed by then.
    const sync = (this.registration as { sync?: { register(tag: string): Promise<void> } } | null)?.sync;
    void sync?.register(SYNC_TAG).catch(() => undefined);
    if (this.#isRetrying || !this.session) return;
    this.#isRetrying = true;
    await this.session.clock.wait(this.#answerBackoff.nextSeconds(outcome.retryAfterSeconds), this.#stop.signal);
    this.#isRetrying = false;
    if (!this.#stop.signal.aborted) void this.#sendAnswers();
  }

  #wake(reconnect: boolean): void {
    if (document.visibilityState !== "visible") return;
    this.#lead?.seek({ take: true });
    this.#sync?.wake({ reconnect });
    void this.#sendAnswers();
    this.#redraw();
  }

  async #hear(news: News): Promise<void> {
    const isLeading = this.#lead?.isHeld ?? false;
    switch (news.what) {
      case "items":
        return this.#reload();
      case "forgotten":
        return this.#start(); // another tab enrolled or forgot
      case "link?":
        if (isLeading) this.#channel.postMessage({ what: "link", state: this.link } satisfies News);
        return;
      case "link":
        if (isLeading) return;
        this.link = news.state;
        this.#redraw();
    }
  }

  async #reload(): Promise<void> {
    this.#show((await this.session?.store.items()) ?? []);
  }

  #show(items: readonly Item[]): void {
    this.items = items;
    this.#redraw();
    void showBadge(waitingCount(items, this.now()));
  }

  #redraw(): void {
    for (const listener of this.#listeners) listener();
  }

  async setTheme(theme: Theme): Promise<void> {
    applyTheme(theme);
    await rememberTheme(this.#database, theme);
  }

  async theme(): Promise<Theme> {
    return recallTheme(this.#database);
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
