import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { levels } from "../suite/check.ts";
import { allChecks } from "./registry.ts";

const ids = allChecks.map(({ id }) => id);
const specification = readFileSync(new URL("../../../../proto/README.md", import.meta.url), "utf8");
const ruleIds = new Set([...specification.matchAll(/\[([A-Z]+-\d+)\]/g)].map(([, id]) => id));

describe("allChecks", () => {
  test("ids are unique, dotted and in lower case", () => {
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z]+(?:\.[a-z0-9][a-z0-9-]*)+$/.test(id))).toEqual([]);
  });

  test("each cites rules that the specification has", () => {
    const wrong = allChecks.flatMap(({ id, rules }) =>
      rules.length === 0
        ? [`${id} cites none`]
        : rules.filter((rule) => !ruleIds.has(rule)).map((rule) => `${id}: ${rule}`),
    );
    expect(wrong).toEqual([]);
  });

  test("each requires checks that are there, that run no later than itself, and never itself in the end", () => {
    const byId = new Map(allChecks.map((check) => [check.id, check]));
    const wrong = allChecks.flatMap((check) =>
      (check.requires ?? []).filter((id) => {
        const required = byId.get(id);
        if (required === undefined || levels.indexOf(required.level) > levels.indexOf(check.level)) return true;
        return (
          (required.exclusive === true && check.exclusive !== true) || (required.requires ?? []).includes(check.id)
        );
      }),
    );
    expect(wrong).toEqual([]);
  });

  test("titles are sentences without full stop, reasons are sentences with", () => {
    expect(allChecks.filter(({ title }) => title.endsWith(".") || title.length > 110).map(({ id }) => id)).toEqual([]);
    expect(allChecks.filter(({ why }) => !why.endsWith(".")).map(({ id }) => id)).toEqual([]);
  });
});
