import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { type Access, measuredAccess } from "./metrics.ts";
import { ANONYMOUS } from "./reviews.ts";

const attributes = { user: ANONYMOUS, verb: "get", path: "/metrics" };

test("measuredAccess() counts and times every answer and changes none", async () => {
  const metrics = new Metrics();
  const clock = new FakeClock();
  let access: Access = {
    authenticate: async () => ({ kind: "user", user: ANONYMOUS }),
    isAllowed: async () => {
      await clock.advance(500);
      return true;
    },
  };
  const measured = measuredAccess(
    { authenticate: (request) => access.authenticate(request), isAllowed: (asked) => access.isAllowed(asked) },
    metrics,
    clock,
  );
  const request = new IncomingMessage(new Socket());
  expect([await measured.authenticate(request), await measured.isAllowed(attributes)]).toEqual([
    { kind: "user", user: ANONYMOUS },
    true,
  ]);
  const refused = { kind: "refused", message: "no such token" } as const;
  access = { authenticate: async () => refused, isAllowed: async () => false };
  expect([await measured.authenticate(request), await measured.isAllowed(attributes)]).toEqual([refused, false]);
  access = { ...access, isAllowed: () => Promise.reject(new Error("gone")) };
  await expect(measured.isAllowed(attributes)).rejects.toThrow("gone");

  const attempts = async (name: string, result: string): Promise<number | undefined> => metrics.value(name, { result });
  expect({
    success: await attempts("authentication_attempts", "success"),
    failure: await attempts("authentication_attempts", "failure"),
    allowed: await attempts("authorization_attempts_total", "allowed"),
    denied: await attempts("authorization_attempts_total", "denied"),
    error: await attempts("authorization_attempts_total", "error"),
  }).toEqual({ success: 1, failure: 1, allowed: 1, denied: 1, error: 1 });
  expect(await metrics.text()).toContain('authorization_duration_seconds_sum{result="allowed"} 0.5\n');
});
