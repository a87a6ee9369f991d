import { expect, test } from "vitest";
import { EVENTS, record, STATES } from "../../../../test/support/service/record-builders.ts";
import { News, Records } from "./records.ts";

const KEY = "default/web";

test("commit() applies events to the record as it is then, and drops one that is over", () => {
  const records = new Records();
  expect(records.commit(KEY, EVENTS.serviceSeen, EVENTS.read)?.state).toEqual(STATES.active);
  expect([...records.list()]).toEqual([[KEY, records.get(KEY)]]);
  expect(records.commit(KEY, EVENTS.retained)).toBeUndefined();
  expect([records.get(KEY), [...records.list()]]).toEqual([undefined, []]);
  expect(record(STATES.active).state).toEqual(STATES.active);
});

test("onWake() calls the listener for Services to reconcile, until it is removed", () => {
  const records = new Records();
  const woken: unknown[] = [];
  const end = records.onWake((key, delayMs) => woken.push([key, delayMs]));
  records.commit(KEY, EVENTS.serviceSeen, EVENTS.read, EVENTS.suspected);
  end();
  records.commit(KEY, EVENTS.suspected);
  expect(woken).toEqual([[KEY, 5]]);
});

test("News folds what is learned, keeps what says something new, and commits nothing", () => {
  const records = new Records();
  records.commit(KEY, EVENTS.serviceSeen);
  const news = new News(records.get(KEY));
  news.add(EVENTS.serviceSeen);
  news.add(EVENTS.owned);
  news.add(EVENTS.notOwned);
  expect([news.events, news.record?.state.kind]).toEqual([[EVENTS.notOwned], "foreign"]);
  expect(records.get(KEY)?.state.kind).toBe("unknown");
  expect(records.commit(KEY, ...news.events)).toEqual(news.record);
});
