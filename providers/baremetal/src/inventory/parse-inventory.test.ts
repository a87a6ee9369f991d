import { describe, expect, test } from "vitest";
import { parseInventory } from "./parse-inventory.ts";

const parse = (...texts: readonly string[]) =>
  parseInventory(texts.map((text, index) => ({ name: `file-${index}.yaml`, text })));

describe("parseInventory()", () => {
  test("reads machines of all files", () => {
    const first = `machines:
  - { id: r1-07, name: web-1, type: metal-2, zone: rack-1, region: home, internalIPs: ["10.0.0.7", "FD00::7"],
      externalIPs: [192.0.2.7], labels: { example.com/disk: ssd }, podCIDRs: [10.244.7.3/24] }`;
    const parsed = parse(first, "machines: [{ id: r1-08, internalIPs: [10.0.0.8], state: stopped }]");
    expect(parsed).toMatchObject({
      kind: "value",
      value: [
        {
          id: "r1-07",
          name: "web-1",
          state: "RUNNING",
          labels: { "example.com/disk": "ssd" },
          podCidrs: ["10.244.7.0/24"],
          addresses: [
            { type: "InternalIP", address: "10.0.0.7" },
            { type: "InternalIP", address: "fd00::7" },
            { type: "ExternalIP", address: "192.0.2.7" },
            { type: "Hostname", address: "web-1" },
          ],
        },
        { id: "r1-08", name: "r1-08", state: "STOPPED" },
      ],
    });
  });

  test("takes an inventory that says that it is empty", () => {
    expect(parse("machines: []")).toEqual({ kind: "value", value: [] });
  });

  test.each([
    ["no file", [], "there is no inventory file"],
    ["an empty file", [""], "file-0.yaml: the document: must be object"],
    ["no YAML", ["machines: ["], "file-0.yaml: is not valid YAML"],
    ["half a file beside a whole one", ["machines: []", "machines:"], "file-1.yaml: machines: must be array"],
    [
      "a machine without address",
      ["machines: [{ id: a, internalIPs: [] }]"],
      "machines[0].internalIPs: must not have fewer than 1 items",
    ],
    [
      "an address that is none",
      ["machines: [{ id: a, internalIPs: [10.0.0] }]"],
      "machines[0].internalIPs[0]: 10.0.0 is not an IP address",
    ],
    ["a spelling mistake", ["machines: [{ id: a, internalIps: [10.0.0.1] }]"], "machines[0].internalIps: is unknown"],
    [
      "two machines of one id",
      ["machines: [{ id: a, name: b, internalIPs: [10.0.0.1] }]", "machines: [{ id: a, internalIPs: [10.0.0.2] }]"],
      "file-1.yaml: machine a: id a is also that of machine a in file-0.yaml",
    ],
    [
      "two machines of one name",
      ["machines: [{ id: a, internalIPs: [10.0.0.1] }, { id: b, name: a, internalIPs: [10.0.0.2] }]"],
      "name a is also that of machine a in file-0.yaml",
    ],
    [
      "two machines of one address",
      ["machines: [{ id: a, internalIPs: [10.0.0.1] }, { id: b, internalIPs: [10.0.0.1] }]"],
      "address 10.0.0.1 is also that of machine a",
    ],
  ])("refuses %s", (_, texts, problem) => {
    const parsed = parse(...texts);
    expect(parsed.kind === "problems" ? parsed.problems.join("\n") : parsed).toContain(problem);
  });

  test("reports the problems of all files together", () => {
    const parsed = parse("machines: [{ id: A }]", "machines: 3");
    expect(parsed.kind === "problems" && parsed.problems.length).toBe(3);
  });
});
