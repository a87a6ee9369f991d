import { expect, test } from "vitest";
import { parseConfig } from "./config.ts";

const least = "site: home\nstateDir: /var/lib/cw\ninventory: { path: /etc/cw/machines.yaml }\n";

test("parseConfig() fills in what is left out", () => {
  expect(parseConfig(least)).toMatchObject({
    kind: "value",
    value: { pools: [], haproxy: { start: true, runDir: "/var/lib/cw" }, routes: { protocol: 77, table: 254 } },
  });
});

test("parseConfig() reports all problems together, each with its path", () => {
  const text = `site: Home!
stateDir: var
pools:
  - { name: a, ranges: [192.0.2.1-192.0.2.9] , color: red }
haproxy: { start: maybe }
`;
  expect(parseConfig(text)).toEqual({
    kind: "problems",
    problems: [
      'site: must match pattern "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"',
      'stateDir: must match pattern "^/"',
      "pools[0].color: is unknown; check the spelling",
      "haproxy.start: must be boolean",
    ],
  });
});

test.each([
  ["pools: [{ name: a, ranges: [lan] }]", "pools[0].ranges[0]: lan is not an address range"],
  ["pools: [{ name: a, ranges: [192.0.2.1], announce: arp }]", "pools[0].interface: is missing"],
  ["pools: [{ name: a, ranges: [192.0.2.1], announce: bgp }]", "pools[0].announce: bgp requires the section bird"],
  ["pools: [{ name: a, ranges: [192.0.2.1] }, { name: a, ranges: [192.0.2.2] }]", "duplicate pool a"],
  ["pools: [{ name: a, ranges: [192.0.2.0/24] }, { name: b, ranges: [192.0.2.2] }]", "shares addresses with pool a"],
  ["pools: [", "is not valid YAML"],
  ["libvirt: { hosts: [{ name: a, uri: 'qemu:///system' }] }", "libvirt: conflicts with inventory"],
])("parseConfig() refuses %s", (more, problem) => {
  const parsed = parseConfig(least + more);
  expect(parsed.kind === "problems" && parsed.problems.join()).toContain(problem);
});

const withoutSource = "site: home\nstateDir: /var/lib/cw\n";

test("parseConfig() takes libvirt in the place of an inventory", () => {
  const text = `${withoutSource}libvirt: { hosts: [{ name: a, uri: 'qemu:///system', zone: r-7 }], networks: [10.50.0.0/24] }`;
  expect(parseConfig(text)).toMatchObject({
    kind: "value",
    value: {
      machines: {
        kind: "libvirt",
        hosts: [{ name: "a", uri: "qemu:///system", type: undefined, zone: "r-7", region: undefined }],
        program: "virsh",
        addressSource: "lease",
        networks: [{ family: 4 }],
      },
    },
  });
});

test.each([
  ["no source of machines", "", "inventory: is missing"],
  ["no hypervisor", "libvirt: { hosts: [] }", "libvirt.hosts: must not have fewer than 1 items"],
  ["what is no URI", "libvirt: { hosts: [{ name: a, uri: 'rm -rf' }] }", "libvirt.hosts[0].uri: must match pattern"],
  ["what virsh would take for an option", "libvirt: { hosts: [{ name: a, uri: --help }] }", "libvirt.hosts[0].uri"],
  [
    "two hypervisors of one name",
    "libvirt: { hosts: [{ name: a, uri: 'qemu:///system' }, { name: a, uri: 'qemu+tls://b/system' }] }",
    "libvirt.hosts[1].name: duplicate host a",
  ],
  [
    "what is no network",
    "libvirt: { hosts: [{ name: a, uri: 'qemu:///system' }], networks: [lan] }",
    "libvirt.networks[0]: lan is not a network",
  ],
])("parseConfig() refuses %s", (_, more, problem) => {
  const parsed = parseConfig(withoutSource + more);
  expect(parsed.kind === "problems" && parsed.problems.join()).toContain(problem);
});
