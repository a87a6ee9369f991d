import { expect, test } from "vitest";
import { EVENTS, record, STATES } from "../../../../test/support/record-builders.ts";
import { Records } from "./records.ts";

const KEY = "default/web";

test("commit() applies events to the record as it is then, and drops one that is over", () => {
  const records = new Records();
  expect(records.commit(KEY, EVENTS.serviceSeen, EVENTS.read)?.state).toEqual(STATES.active);
  expect([...records.list()]).toEqual([[KEY, records.get(KEY)]]);
  expect(records.commit(KEY, EVENTS.retained)).toBeUndefined();
  expect([records.get(KEY), [...records.list()]]).toEqual([undefined, []]);
  expect(record(STATES.active).state).toEqual(STATES.active);
});

test("onWake() is told of what is to be reconciled, until it ends", () => {
  const records = new Records();
  const woken: unknown[] = [];
  const end = records.onWake((key, delayMs) => woken.push([key, delayMs]));
  records.commit(KEY, EVENTS.serviceSeen, EVENTS.read, EVENTS.suspected);
  end();
  records.commit(KEY, EVENTS.suspected);
  expect(woken).toEqual([[KEY, 5]]);
});
