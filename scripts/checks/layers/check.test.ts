import { expect, test } from "vitest";
import { messages } from "./test/messages.ts";

const UPWARD = { "controller/src/kube/client.ts": 'import { a } from "../runtime/a.ts";' };
const PLACE = "controller/src/kube/client.ts → runtime";
const reason = "the runtime is not moved yet";

test("checkLayers() leaves what is excepted", () => {
  expect(messages(UPWARD, [{ rule: "rows", reason, places: [PLACE] }])).toEqual([]);
});

test("checkLayers() does not except from other rules, nor other rows", () => {
  expect(
    messages(UPWARD, [
      { rule: "pure", reason, places: ["controller/src/kube/client.ts"] },
      { rule: "rows", reason, places: ["controller/src/kube/client.ts → app"] },
    ]),
  ).toEqual([
    "controller/src/kube/client.ts:1 imports runtime from kube, upward: a directory may import only from lower rows",
    'controller/src/kube/client.ts:1 keeps the rule "pure" by now: remove "controller/src/kube/client.ts" from scripts/checks/layers/exceptions.ts',
    'controller/src/kube/client.ts:1 keeps the rule "rows" by now: remove "controller/src/kube/client.ts → app" from scripts/checks/layers/exceptions.ts',
  ]);
});

test("checkLayers() refuses an exception of a file that is gone", () => {
  expect(messages({}, [{ rule: "rows", reason, places: [PLACE] }])).toHaveLength(1);
});

test("checkLayers() leaves alone what no package has", () => {
  expect(messages({ "vitest.config.ts": 'import { a } from "@cloudwire/controller";' })).toEqual([]);
});
