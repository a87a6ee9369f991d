import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createEventParser, type ServerEvent } from "./event-lines.ts";

const parse = (...pieces: readonly string[]): readonly ServerEvent[] => {
  const parser = createEventParser();
  return pieces.flatMap((piece) => parser.push(piece));
};

describe("createEventParser()", () => {
  test.each<{ what: string; text: string; events: readonly ServerEvent[] }>([
    { what: "an event", text: "event: rows\ndata: {}\n\n", events: [{ name: "rows", data: "{}" }] },
    { what: "no blank after the colon", text: "event:rows\ndata:{}\n\n", events: [{ name: "rows", data: "{}" }] },
    { what: "one blank only", text: "data:  a\n\n", events: [{ name: "message", data: " a" }] },
    { what: "several lines of data", text: "data: a\ndata: b\n\n", events: [{ name: "message", data: "a\nb" }] },
    { what: "a colon within data", text: 'data: {"a":1}\n\n', events: [{ name: "message", data: '{"a":1}' }] },
    { what: "comments", text: ": still here\n\ndata: a\n\n", events: [{ name: "message", data: "a" }] },
    { what: "a field without a value", text: "data\n\n", events: [{ name: "message", data: "" }] },
    {
      what: "fields it has no use for",
      text: "id: 7\nretry: 10\ndata: a\n\n",
      events: [{ name: "message", data: "a" }],
    },
    {
      what: "a name without data: no event",
      text: "event: rows\n\ndata: a\n\n",
      events: [{ name: "message", data: "a" }],
    },
    { what: "an event that has not ended", text: "data: a\n", events: [] },
    {
      what: "other ends of lines",
      text: "event: x\r\ndata: a\r\rdata: b\n\n",
      events: [
        { name: "x", data: "a" },
        { name: "message", data: "b" },
      ],
    },
  ])("reads $what", ({ text, events }) => {
    expect(parse(text)).toEqual(events);
  });

  test("reads the same however the stream is cut", () => {
    const text = 'event: rows\r\ndata: {"ä":1}\r\n\r\n: beat\n\nevent: sample\ndata: a\ndata: b\n\n';
    const whole = parse(text);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
        expect(parse(...pieces)).toEqual(whole);
      }),
    );
  });
});
