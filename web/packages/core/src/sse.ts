/** Server-Sent Events out of a byte stream. Source: the HTML standard, "Parsing an event stream". */

export interface SseEvent {
  event: string;
  data: string;
  id: string;
}

/** Feed it chunks as they come; it hands back the events that are complete. */
export class SseParser {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #skipLineFeed = false;
  #event = "";
  #data: string[] = [];
  #id = "";

  push(chunk: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    let text = this.#decoder.decode(chunk, { stream: true });
    if (this.#skipLineFeed && text !== "") {
      if (text.startsWith("\n")) text = text.slice(1);
      this.#skipLineFeed = false;
    }
    // A chunk may end between CR and LF; the line is over all the same.
    this.#skipLineFeed = text.endsWith("\r");
    const lines = (this.#rest + text).split(/\r\n|\r|\n/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = this.#take(line);
      if (event) events.push(event);
    }
    return events;
  }

  #take(line: string): SseEvent | null {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null; // a comment
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    else if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    return null;
  }

  #dispatch(): SseEvent | null {
    const event = { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id };
    const isEmpty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    return isEmpty ? null : event;
  }
}
