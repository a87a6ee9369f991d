import { describe, expect, test } from "vitest";
import { situations } from "./reasons-page.ts";

const all = situations();

describe("public reasons", () => {
  test("name one situation each: no two have the same cause", () => {
    const byCause = Map.groupBy(all, ({ cause }) => cause.toLowerCase());
    const doubles = [...byCause].filter(([, same]) => same.length > 1);
    expect(doubles.map(([cause, same]) => [cause, same.map(({ reason }) => reason)])).toEqual([]);
  });

  test("have one spelling each: none differs from another in case or punctuation alone", () => {
    const bySpelling = Map.groupBy(
      all.filter(({ reason }) => /^[A-Z][a-z]/.test(reason)),
      ({ reason }) => reason.toLowerCase(),
    );
    expect([...bySpelling.values()].filter((same) => same.length > 1)).toEqual([]);
  });

  test.each(all.map((situation) => [situation.reason, situation] as const))("%s has a cause and a place", (_, one) => {
    expect(one.cause).not.toBe("");
    expect(one.where.length).toBeGreaterThan(0);
  });
});
