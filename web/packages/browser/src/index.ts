/** What a client of Reflecto in a browser is made of, page, worker or extension: it knows no document and no screen. */

export * from "./channel.ts";
export * from "./database.ts";
export * from "./idb-store.ts";
export * from "./key-store.ts";
export * from "./server.ts";
export * from "./session.ts";
export * from "./stream-lead.ts";
