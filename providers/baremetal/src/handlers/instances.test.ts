import { describe, expect, test } from "vitest";
import { toMachines } from "../inventory/machine.ts";
import { parseInventory } from "../inventory/parse-inventory.ts";
import { answerFor } from "./instances.ts";

const text = `machines:
  - { id: m-1, name: web-1, internalIPs: [10.0.0.1] }
  - { id: m-2, name: web-2, internalIPs: [10.0.0.2], state: stopped }`;
const parsed = parseInventory([{ name: "machines.yaml", text }]);
const machines = parsed.kind === "value" ? parsed.value : expect.fail(parsed.problems.join());
const readTime = new Date(0);
const good = toMachines(machines, readTime);
const broken = toMachines(machines, readTime, ["/etc/cloudwire/machines.yaml: is not valid YAML", "more"]);
const node = (special: { readonly name?: string; readonly id?: string }) => ({
  name: "web-1",
  providedNodeIps: [],
  addresses: [],
  labels: {},
  annotations: {},
  ...special,
});

describe("answerFor()", () => {
  test.each([
    ["a machine by id", { id: "m-2", name: "other" }, { id: "m-2", name: "web-2", state: "STOPPED" }],
    ["a machine by name", { name: "web-1" }, { id: "m-1", state: "RUNNING" }],
    ["an id that is not there", { id: "m-3" }, { kind: "absent", basis: "COMPLETE_LIST_MISS", observeTime: readTime }],
    ["a name that is not there", { name: "web-9" }, { kind: "absent", basis: "COMPLETE_LIST_MISS" }],
    ["a machine by its id in capitals (case N-7)", { id: "M-1" }, { id: "m-1", state: "RUNNING" }],
    ["an id that cannot be one", { id: "M 1/.." }, { reason: "PROVIDER_ID_MALFORMED" }],
  ])("finds %s", (_, special, answer) => {
    expect(answerFor(node(special), good)).toMatchObject(answer);
  });

  test("still knows machines of a broken inventory, and calls none of the others absent", () => {
    expect(answerFor(node({ id: "m-1" }), broken)).toMatchObject({ id: "m-1" });
    const miss = answerFor(node({ id: "m-3" }), broken);
    expect(miss).toMatchObject({
      reason: "INCOMPLETE_ANSWER",
      message: "not all machines are known: machines.yaml: is not valid YAML (and 1 more problems, see the log)",
    });
  });
});
