import { describe, expect, test } from "vitest";
import { type CallRate, type OperatorRate, type RateGroup, rateGroups } from "./call-rate.ts";

const slow = { cloudCallsPerSecond: 1, burst: 1 };
const fast = { cloudCallsPerSecond: 100, burst: 200 };
const shared: CallRate = { classes: ["load_balancers", "routes"], ...slow };

describe("rateGroups()", () => {
  test.each<[string, readonly CallRate[], readonly OperatorRate[], readonly RateGroup[]]>([
    [
      "is a budget without limit for each class when none is configured",
      [],
      [],
      [
        { classes: ["instances"], rate: undefined },
        { classes: ["load_balancers"], rate: undefined },
        { classes: ["routes"], rate: undefined },
        { classes: ["volumes"], rate: undefined },
      ],
    ],
    [
      "shares what the provider says is shared",
      [shared],
      [],
      [
        { classes: ["load_balancers", "routes"], rate: slow },
        { classes: ["instances"], rate: undefined },
        { classes: ["volumes"], rate: undefined },
      ],
    ],
    [
      "is one for the rest of those that the provider names, in whatever order",
      [{ classes: [], ...fast }, shared],
      [],
      [
        { classes: ["load_balancers", "routes"], rate: slow },
        { classes: ["instances", "volumes"], rate: fast },
      ],
    ],
    [
      "takes the first of two that the provider gives a class, or all",
      [shared, { classes: ["routes", "volumes"], ...fast }, { classes: [], ...fast }, { classes: [], ...slow }],
      [],
      [
        { classes: ["load_balancers", "routes"], rate: slow },
        { classes: ["volumes"], rate: fast },
        { classes: ["instances"], rate: fast },
      ],
    ],
    [
      "is one budget when the operator names no class, whatever the provider says",
      [shared],
      [{ quotaClass: undefined, rate: fast }],
      [{ classes: ["instances", "load_balancers", "routes", "volumes"], rate: fast }],
    ],
    [
      "takes a class that the operator names out of those it shares with",
      [shared],
      [{ quotaClass: "routes", rate: fast }],
      [
        { classes: ["routes"], rate: fast },
        { classes: ["load_balancers"], rate: slow },
        { classes: ["instances"], rate: undefined },
        { classes: ["volumes"], rate: undefined },
      ],
    ],
    [
      "takes a declared limit away where the operator says so",
      [{ classes: ["instances", "load_balancers", "routes", "volumes"], ...slow }],
      [
        { quotaClass: undefined, rate: undefined },
        { quotaClass: "volumes", rate: slow },
      ],
      [
        { classes: ["volumes"], rate: slow },
        { classes: ["instances", "load_balancers", "routes"], rate: undefined },
      ],
    ],
  ])("%s", (_, declared, operator, groups) => {
    expect(rateGroups(declared, operator)).toEqual(groups);
  });
});
