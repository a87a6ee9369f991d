import { expect, test } from "vitest";
import { logFaults } from "./report.ts";

test("logFaults() reports each kind of error once with its count, and no warnings", () => {
  const log = [
    "12:00:00.000 INFO  Started version=1",
    '12:00:01.000 WARN  Reconcile failed; retrying with back-off key=a err="an ERROR"',
    "12:00:02.000 ERROR Watch failed resource=nodes",
    "12:00:03.000 ERROR Watch failed resource=services",
    "12:00:04.000 ERROR Panic",
  ].join("\n");
  expect(logFaults("controller", log)).toEqual([
    'the controller logged 2 times an error "Watch failed", first: 12:00:02.000 ERROR Watch failed resource=nodes',
    'the controller logged 1 times an error "Panic", first: 12:00:04.000 ERROR Panic',
  ]);
});

test("logFaults() reads a log of JSON, too", () => {
  const error = '{"time":"2026-01-01T00:00:00Z","level":"error","message":"Handler failed","method":"X"}';
  const log = `provider ready\n${error.replace("error", "info")}\n${error}\n`;
  expect(logFaults("sidecar", log)).toEqual([`the sidecar logged 1 times an error "Handler failed", first: ${error}`]);
});
