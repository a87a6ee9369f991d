import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FIELD_RULES, labelPolicies } from "./field-policies.ts";

test("FIELD_RULES are the table of the documentation", () => {
  const page = readFileSync(new URL("../../../../../docs/explanation/nodes.md", import.meta.url), "utf8");
  const [, table = ""] = /<!-- begin policies -->\n\n.*\n.*\n([^]*?)\n\n<!-- end policies -->/.exec(page) ?? [];
  const rows = Object.entries(FIELD_RULES).map(
    ([field, { target, policy, why }]) => `| ${field} | ${target} | ${policy} | ${why} |`,
  );
  expect(table.split("\n")).toEqual(rows);
});

test("labelPolicies() leave the default of zone and region to the flag, which has the same", () => {
  expect(labelPolicies("warn")).toEqual({
    instanceType: FIELD_RULES.instanceType.policy,
    zone: FIELD_RULES.zone.policy,
    region: FIELD_RULES.region.policy,
  });
  expect(labelPolicies("follow")).toEqual({ instanceType: "follow", zone: "follow", region: "follow" });
});
