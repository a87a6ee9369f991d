import type { Scenario } from "../scenario.ts";

export const serviceScenarios: readonly Scenario[] = [
  {
    name: "service: made",
    claims: [],
    run: async (stage) => {
      await stage.serve("web");
    },
  },
];
