import { expect, test } from "vitest";
import { snapshotSources } from "./snapshot.ts";

test("snapshotSources() names the archive of the day after", () => {
  const lines = snapshotSources("https://past.example.com/archive", {
    suite: "bookworm",
    time: "2026-11-30T22:05:06.789Z",
  });
  const past = "deb [trusted=yes check-valid-until=no] https://past.example.com/archive";
  expect(lines.trimEnd().split("\n")).toEqual([
    `${past}/debian/20261201T220506Z bookworm main`,
    `${past}/debian/20261201T220506Z bookworm-updates main`,
    `${past}/debian-security/20261201T220506Z bookworm-security main`,
  ]);
});
