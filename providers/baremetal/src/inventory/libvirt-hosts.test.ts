import { beforeEach, describe, expect, test } from "vitest";
import type { LibvirtConfig } from "../config/config.ts";
import type { RunProgram } from "../edge/run-program.ts";
import { libvirtHosts } from "./libvirt-hosts.ts";

const uuid = (digit: number): string => `${String(digit).repeat(8)}-0000-0000-0000-000000000000`;
const hostOf = (name: string) => ({
  name,
  uri: `qemu+tls://${name}/system`,
  type: undefined,
  zone: name,
  region: "home",
});
const config: LibvirtConfig = {
  kind: "libvirt",
  hosts: [hostOf("a"), hostOf("b")],
  program: "virsh",
  addressSource: "lease",
  networks: [],
};

/** Domains of each hypervisor by number, with their states; undefined: it does not answer. */
let domains: Record<string, ReadonlyMap<number, string> | undefined>;
/** Domains that go between the list and the look at each. */
let going: ReadonlySet<number>;
let errors: number;
beforeEach(() => {
  domains = { a: new Map([[1, "running"]]), b: new Map([[2, "shut off"]]) };
  going = new Set();
  errors = 0;
});

const run: RunProgram = async (_program, args) => {
  const [host = ""] = Object.keys(domains).filter((name) => args.includes(`qemu+tls://${name}/system`));
  const known = domains[host];
  if (known === undefined) return { code: 1, stdout: "", stderr: "error: failed to connect to the hypervisor" };
  const rows = [...known].map(([number, state]) =>
    args.includes("list")
      ? `${uuid(number)} vm-${number}\n`
      : going.has(number)
        ? `${uuid(number)} `
        : `${uuid(number)} ${state}\n net0 52:54:00:00:00:01 ipv4 10.0.0.${number}/24\n`,
  );
  // As that of the last command: domifaddr of a domain that is off.
  return { code: args.includes("list") ? 0 : 1, stdout: rows.join(""), stderr: "" };
};

const open = () => libvirtHosts(config, run, { info: () => undefined, error: () => void errors++ }, () => new Date(0));
const known = async (source: ReturnType<typeof open>) => {
  const { byId, problems } = await source.read();
  return [[...byId.values()].map(({ name, zone, state }) => [name, zone, state]), problems];
};

describe("libvirtHosts()", () => {
  test("returns the domains of all hypervisors, and follows changes", async () => {
    const source = open();
    expect(await known(source)).toEqual([
      [
        ["vm-2", "b", "STOPPED"],
        ["vm-1", "a", "RUNNING"],
      ],
      [],
    ]);
    domains = { a: new Map(), b: new Map([[2, "running"]]) };
    expect(await known(source)).toEqual([[["vm-2", "b", "RUNNING"]], []]);
  });

  test("keeps the domains of an unresponsive hypervisor and logs it once", async () => {
    const source = open();
    await source.read();
    domains = { ...domains, a: undefined };
    const problem = "hypervisor a does not return its domains";
    for (let reads = 0; reads < 2; reads += 1) {
      expect(await known(source)).toEqual([
        [
          ["vm-2", "b", "STOPPED"],
          ["vm-1", "a", "RUNNING"],
        ],
        [problem],
      ]);
    }
    expect(errors).toBe(1);
    domains = { ...domains, a: new Map() };
    expect(await known(source)).toEqual([[["vm-2", "b", "STOPPED"]], []]);
  });

  test("concludes nothing from a domain that goes while it is looked at", async () => {
    const source = open();
    going = new Set([1]);
    expect(await known(source)).toEqual([[["vm-2", "b", "STOPPED"]], ["hypervisor a does not return its domains"]]);
  });

  test("takes a domain that moves for where it runs", async () => {
    domains = { a: new Map([[1, "running"]]), b: new Map([[1, "paused"]]) };
    const source = open();
    expect(await known(source)).toEqual([[["vm-1", "a", "RUNNING"]], []]);
    domains = { a: new Map([[1, "shut off"]]), b: new Map([[1, "running"]]) };
    expect(await known(source)).toEqual([[["vm-1", "b", "RUNNING"]], []]);
  });
});
