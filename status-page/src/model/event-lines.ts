/** One server-sent event. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

export interface EventParser {
  /** The events that this piece of the stream completes. */
  readonly push: (piece: string) => readonly ServerEvent[];
}

/**
 * Reads server-sent events (html.spec.whatwg.org, section 9.2.6) as far as a controller sends them: `event`, `data` in one or more lines, comments.
 * `id` and `retry` are ignored: each connection starts a new stream, and the page has its own retry delay.
 */
export function createEventParser(): EventParser {
  let rest = "";
  let name = "";
  let data: string[] = [];
  const takeLine = (line: string): ServerEvent | undefined => {
    if (line === "") {
      const event = data.length === 0 ? undefined : { name: name === "" ? "message" : name, data: data.join("\n") };
      name = "";
      data = [];
      return event;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") name = value;
    else if (field === "data") data.push(value);
    return undefined;
  };
  return {
    push: (piece) => {
      const text = rest + piece;
      // A carriage return at the end may be half of a line's end.
      const whole = text.endsWith("\r") ? text.slice(0, -1) : text;
      const lines = whole.split(/\r\n|\n|\r/);
      rest = (lines.pop() ?? "") + text.slice(whole.length);
      return lines.map(takeLine).filter((event) => event !== undefined);
    },
  };
}
