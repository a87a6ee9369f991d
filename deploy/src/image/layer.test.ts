import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Entry, textFile } from "./entry.ts";
import { digestOf, makeLayer } from "./layer.ts";

const entries: readonly Entry[] = [
  textFile("etc/passwd", "root"),
  { kind: "link", path: "bin", target: "usr/bin" },
  { kind: "directory", path: "home/one", mode: 0o700, owner: { uid: 7, gid: 8 } },
  textFile(`opt/${"long/".repeat(30)}name`, "x"),
];
const at = new Date("2026-01-02T03:04:05Z");

describe("makeLayer()", () => {
  test("makes the same bytes of the same entries in any order", async () => {
    const [one, other] = [await makeLayer(entries, at, "a"), await makeLayer(entries.toReversed(), at, "b")];
    expect(digestOf(one.blob)).toBe(digestOf(other.blob));
    expect(one.diffId).toBe(digestOf(gunzipSync(one.blob)));
  });

  test.each<[string, readonly Entry[], Date]>([
    ["a time", entries, new Date("2026-01-02T03:04:06Z")],
    ["a mode", [...entries, { kind: "directory", path: "home/one", mode: 0o755, owner: { uid: 7, gid: 8 } }], at],
    ["an owner", [...entries, { kind: "directory", path: "home/one", mode: 0o700, owner: { uid: 7, gid: 9 } }], at],
    ["a content", [...entries, textFile("etc/passwd", "toor")], at],
  ])("makes others of %s that differs", async (_what, changed, time) => {
    expect((await makeLayer(changed, time, "a")).diffId).not.toBe((await makeLayer(entries, at, "a")).diffId);
  });
});
