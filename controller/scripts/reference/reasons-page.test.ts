import { describe, expect, test } from "vitest";
import { situations } from "./reasons-page.ts";
import { REJECTION_ROWS } from "./rows/flag-rejections.ts";

const all = situations();
const rejections = REJECTION_ROWS.map(({ message, ...row }) => ({ reason: message, where: ["flags"], ...row }));

describe("public reasons", () => {
  test("include the errors of the command line", () => {
    const found = all
      .filter(({ where }) => where.some((place) => place.includes("cli.md")))
      .map(({ reason }) => reason);
    expect(found).toEqual(expect.arrayContaining(["INVALID_COMMAND_LINE", "LEADER_NOT_FOUND", "CONTROLLER_FORBIDDEN"]));
    expect(found.length).toBeGreaterThan(20);
  });

  test("include each kind of rejected flag, with a remedy", () => {
    expect(new Set(rejections.map(({ reason }) => reason)).size).toBe(rejections.length);
    for (const { cause, remedy } of rejections)
      expect([cause, remedy]).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/\.$/)]);
  });

  test("name one situation each: no two have the same cause", () => {
    const byCause = Map.groupBy([...all, ...rejections], ({ cause }) => cause.toLowerCase());
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
