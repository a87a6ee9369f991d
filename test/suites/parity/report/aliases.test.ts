import { describe, expect, test } from "vitest";
import { Aliases } from "./aliases.ts";

describe("Aliases", () => {
  const aliases = new Aliases();
  aliases.add("127.70.1.1", "<internal 0 of a>");
  aliases.add(30_080, "<node port 0 of web>");
  aliases.add("fd51:51::1", "<internal 1 of a>");
  aliases.add(undefined, "<nothing>");
  aliases.add("None", "<nothing>");

  test.each([
    ["a known value", "tcp 80 to 30080", "tcp 80 to <node port 0 of web>"],
    ["no part of a longer number", "130080 and 300801", "130080 and 300801"],
    ["no part of a longer address", "127.70.1.10 127.70.1.1", "127.70.1.10 <internal 0 of a>"],
    ["an address before a range's length", "127.70.1.1/32", "<internal 0 of a>/32"],
    ["an address of the other family", "fd51:51::1", "<internal 1 of a>"],
    ["UIDs that no one named", "uid 8f14e45f-ceea-467f-a0e6-1f7d0d0a0a0a.", "uid <uid>."],
    ["times", "at 2026-11-21T16:00:00Z", "at <time>"],
    ["the duration of a try", "for node a after 12.5ms: no", "for node a after <duration>: no"],
    ["what is no value of a world", "None", "None"],
  ])("replace %s", (_, text, replaced) => {
    expect(aliases.replace(text)).toBe(replaced);
  });
});
