import { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { expect, test } from "vitest";
import type { CheckResult, CheckOutcome } from "../report/report.ts";
import type { RunEvent } from "../suite/run-conformance.ts";
import { fakeCheck } from "../test/fake-check.ts";
import { progress } from "./progress.ts";

const [one, two] = [fakeCheck("a.one"), fakeCheck("a.two")];
const finished = ({ id, level, profile, title, rules }: typeof one, result: CheckOutcome): RunEvent => {
  const check: CheckResult = { id, level, profile, title, rules, result, elapsedMs: 1 };
  return { kind: "finished", result: check };
};
const events: readonly RunEvent[] = [
  { kind: "planned", info: GetProviderInfoResponse.fromPartial({}), planned: [{ check: one }, { check: two }] },
  { kind: "started", check: one },
  { kind: "started", check: two },
  finished(one, { kind: "fail", finding: { message: "wrong" } }),
  finished(two, { kind: "pass" }),
];

const shown = (terminal: boolean, columns: number): readonly string[] => {
  const lines: string[] = [];
  const deps = { out: () => undefined, random: () => 0, signal: new AbortController().signal, terminal, columns };
  const report = progress({ ...deps, err: (text) => lines.push(text.replaceAll("\r\u001b[K", "|")) });
  for (const event of events) report(event);
  return lines;
};

test("progress() keeps one line of a terminal, with what runs now, and prints failures above it", () => {
  expect(shown(true, 80)).toEqual([
    "|0/2  a.one",
    "|0/2  a.one a.two",
    expect.stringMatching(/^\|.*a\.one.*\n$/s),
    "|1/2, 1 failed  a.two",
    "|",
  ]);
});

test("progress() is never wider than the terminal, and silent without one", () => {
  expect(shown(true, 8)[1]).toBe("|0/2  a.");
  expect(shown(false, 80)).toEqual([]);
});
