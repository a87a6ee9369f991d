import { expect, test } from "vitest";
import { info } from "../../../test/support/provider-builders.ts";
import { HandshakeHistory } from "./handshake-history.ts";

test("HandshakeHistory keeps what each handshake changed, newest first, and answers the same", () => {
  const history = new HandshakeHistory();
  const first = info({ bootId: "boot-1", version: "1.0.0" });
  expect(history.note(first, 1000)).toEqual([]);
  const change = { path: "version", before: '"1.0.0"', after: '"2.0.0"' };
  const second = info({ bootId: "boot-2", version: "2.0.0" });
  expect(history.note(second, 2000)).toEqual([change]);
  expect(history.last).toBe(second);
  expect(history.records).toEqual([
    { atMs: 2000, version: "2.0.0", bootId: "boot-2", changes: ['version: "1.0.0" -> "2.0.0"'] },
    { atMs: 1000, version: "1.0.0", bootId: "boot-1", changes: [] },
  ]);
});

test("HandshakeHistory keeps the last ten", () => {
  const history = new HandshakeHistory();
  for (let atMs = 1; atMs <= 12; atMs++) history.note(info({ bootId: `boot-${atMs}` }), atMs);
  expect(history.records.map(({ atMs }) => atMs)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
});
