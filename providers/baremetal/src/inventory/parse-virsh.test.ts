import { describe, expect, test } from "vitest";
import { parseCidr } from "@cloudwire/provider-sdk/addresses";
import { factCommands, parseDomains, parseFacts, toMachine } from "./parse-virsh.ts";

const web = "11d01a64-e5cb-48a5-b932-5542ab3522c8";
const mail = "6695eb01-f6a4-8304-79aa-97f2502e193f";
const host = { type: "kvm-1", zone: "rack-7", region: "home" };

test.each([
  [
    "each domain",
    `${mail} mail\n${web} web 1\n\n`,
    [
      { uuid: mail, name: "mail" },
      { uuid: web, name: "web 1" },
    ],
  ],
  ["that there is none", "\n", []],
  ["nothing where a line is something else", `${mail} mail\nerror: no\n`, undefined],
])("parseDomains() reads %s", (_, text, expected) => {
  expect(parseDomains(text)).toEqual(expected);
});

test("factCommands() asks of each domain its state and its addresses", () => {
  const domains = [
    { uuid: web, name: "web" },
    { uuid: mail, name: "mail" },
  ];
  expect(factCommands(domains, "lease")).toBe(
    `echo '${web} '; domstate ${web} --reason; domifaddr ${web} --source lease; ` +
      `echo '${mail} '; domstate ${mail} --reason; domifaddr ${mail} --source lease`,
  );
});

const expected = new Map([
  [web, { state: "running", reason: "booted", addresses: ["192.168.122.3", "fd00::3"] }],
  [mail, { state: "shut off", reason: "", addresses: [] }],
]);
const addresses = ` vnet0      52:54:00:00:00:01    ipv4         192.168.122.3/24
 -          -                    ipv6         fd00::3/64
`;

test.each([
  ["without --quiet", `${web} \n\nrunning (booted)\n\n${addresses}\n${mail} \n\nshut off\n\n`],
  ["as of virsh 9.0", `${web} running (booted)\n${addresses}${mail} shut off\n`],
  [
    "of a domain that went",
    `11111111-0000-0000-0000-000000000000 ${web} running (booted)\n${addresses}${mail} shut off\n`,
  ],
])("parseFacts() reads the output %s", (_, text) => {
  expect(parseFacts(text)).toEqual(expected);
});

describe("toMachine()", () => {
  const facts = { state: "running", reason: "booted", addresses: [] };

  test.each([
    ["running", "RUNNING", undefined],
    ["idle", "RUNNING", "idle: user"],
    ["paused", "RUNNING", "paused: user"],
    ["pmsuspended", "RUNNING", "pmsuspended: user"],
    ["in shutdown", "STOPPING", "in shutdown: user"],
    ["shut off", "STOPPED", "shut off: user"],
    ["crashed", "STOPPED", "crashed: user"],
    ["no state", undefined, "no state: user"],
    ["what a later libvirt may say", undefined, "what a later libvirt may say: user"],
  ])("takes %s for %s", (state, expected, stateReason) => {
    const machine = toMachine({ uuid: web, name: "web" }, { state, reason: "user", addresses: [] }, host, []);
    expect(machine).toMatchObject({ id: web, name: "web", state: expected, stateReason, ...host });
  });

  test("calls a domain whose name no Node can have by its UUID", () => {
    expect(toMachine({ uuid: web, name: "Web_1" }, facts, host, [])).toMatchObject({
      name: web,
      addresses: [{ type: "Hostname", address: web }],
    });
  });

  test.each([
    ["all that lead to it", [], ["10.0.0.3", "fd00::3"]],
    ["those of the networks that are named", ["10.0.0.0/24", "10.1.0.0/16"], ["10.0.0.3"]],
  ])("returns addresses: %s", (_, networks, expected) => {
    const addresses = ["127.0.0.1", "10.0.0.3", "::1", "fe80::1", "169.254.0.1", "FD00::3", "10.0.0.3"];
    const ranges = networks.flatMap((text) => parseCidr(text) ?? []);
    const machine = toMachine({ uuid: web, name: "web" }, { ...facts, addresses }, host, ranges);
    expect(machine.addresses.flatMap(({ type, address }) => (type === "InternalIP" ? address : []))).toEqual(expected);
  });
});
