import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { ConnectionLog } from "./log.ts";

test("ConnectionLog.certificate() says once of each certificate that it ends soon", () => {
  const log = new FakeLog();
  const connection = new ConnectionLog({ log, clock: new FakeClock(), repeatMs: 1000 });
  for (const shortLife of [undefined, "one", "one", undefined, "two"]) connection.certificate(shortLife);
  expect(log.lines.map(({ level, fields }) => ({ level, ...fields }))).toEqual([
    { level: "warn", detail: "one" },
    { level: "warn", detail: "two" },
  ]);
});
