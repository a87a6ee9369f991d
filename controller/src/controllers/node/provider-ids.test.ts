import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProviderIds } from "./provider-ids.ts";

const names = ["a", "b", "c"] as const;
const step = fc.record({ name: fc.constantFrom(...names), id: fc.constantFrom(undefined, "", "acme://1", "acme://2") });

describe("ProviderIds", () => {
  test("rivals() names the others with the same ID, whatever was noted and forgotten before", () => {
    fc.assert(
      fc.property(fc.array(step, { size: "max", maxLength: 30 }), (steps) => {
        const ids = new ProviderIds();
        const model = new Map<string, string>();
        for (const { name, id } of steps) {
          if (id === undefined) ids.forget(name);
          else ids.note(name, id);
          model.set(name, id ?? "");
          const rivals = (of: string) =>
            names.filter((other) => other !== of && (model.get(of) ?? "") !== "" && model.get(other) === model.get(of));
          expect(names.map((of) => ids.rivals(of))).toEqual(names.map(rivals));
        }
      }),
    );
  });
});
