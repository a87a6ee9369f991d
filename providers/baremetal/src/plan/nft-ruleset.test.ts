import { describe, expect, test } from "vitest";
import { record } from "../test/records.ts";
import { renderRuleset, revisionIn } from "./nft-ruleset.ts";

const all = (): boolean => true;
const udp = { protocol: "UDP" as const, port: 53, nodePort: 30_053 };
const rows = (...records: ReturnType<typeof record>[]): readonly string[] =>
  renderRuleset("cloudwire", records, all)
    .text.split("\n")
    .map((line) => line.trim());

describe("renderRuleset()", () => {
  test("takes the place of the whole table in one transaction", () => {
    expect(rows(record()).slice(0, 4)).toEqual([
      "table inet cloudwire",
      "delete table inet cloudwire",
      "table inet cloudwire {",
      "set revision {",
    ]);
  });

  test("takes the table away when nothing is left", () => {
    expect(renderRuleset("cloudwire", [record({ isDeleting: true })], all)).toEqual({
      text: "table inet cloudwire\ndelete table inet cloudwire\n",
      revision: "none",
      isEmpty: true,
    });
  });

  test.each([
    [
      "turns among nodes",
      {},
      "meta l4proto udp dnat ip to numgen inc mod 2 map { 0 : 10.0.0.1 . 30053, 1 : 10.0.0.2 . 30053 }",
    ],
    [
      "the client's address where clients stay",
      { hasAffinity: true },
      "meta l4proto udp dnat ip to jhash ip saddr mod 2 map { 0 : 10.0.0.1 . 30053, 1 : 10.0.0.2 . 30053 }",
    ],
    [
      "no choice with one node",
      { targets: [{ name: "a", addresses: ["10.0.0.1"] }] },
      "meta l4proto udp dnat ip to 10.0.0.1:30053",
    ],
    [
      "IPv6 among those that have it",
      { addresses: [{ address: "2001:db8::1", pool: "six" }] },
      "meta l4proto udp dnat ip6 to [fd00::2]:30053",
    ],
    [
      "the gateway's address where the client's is to be hidden",
      { hidesClients: true },
      "ct status dnat meta l4proto udp ct original ip daddr 192.0.2.1 ct original proto-dst 53 masquerade",
    ],
    [
      "a rule against others",
      { sourceRanges: ["10.0.0.0/8", "fd00::/8"] },
      "ip daddr 192.0.2.1 udp dport 53 ip saddr != { 10.0.0.0/8 } drop",
    ],
    [
      "a rule against everybody of a family without ranges",
      { sourceRanges: ["fd00::/8"] },
      "ip daddr 192.0.2.1 udp dport 53 drop",
    ],
    [
      "a refusal where there is no node",
      { targets: [] },
      "ip daddr 192.0.2.1 udp dport 53 reject with icmpx port-unreachable",
    ],
  ])("has %s", (_, special, row) => {
    expect(rows(record({ forwarder: "nftables", ports: [udp], ...special }))).toContain(row);
  });

  test("guards what HAProxy forwards, and forwards none of it", () => {
    const text = rows(record({ sourceRanges: ["10.0.0.0/8"] })).join("\n");
    expect(text).toContain("ip daddr 192.0.2.1 tcp dport 80 ip saddr != { 10.0.0.0/8 } drop");
    expect(text).not.toMatch(/dnat ip|vmap/);
  });

  test("leaves out nodes that are not healthy", () => {
    const { text } = renderRuleset("cloudwire", [record({ forwarder: "nftables" })], ({ node }) => node !== "a");
    expect(text).toContain("dnat ip to 10.0.0.2:30080");
    expect(text).not.toContain("10.0.0.1");
  });

  test("has another revision exactly when rules differ", () => {
    const of = (...records: ReturnType<typeof record>[]): string => renderRuleset("t", records, all).revision;
    const [one, other] = [record(), record({ key: "k8s-b", addresses: [{ address: "192.0.2.9", pool: "lan" }] })];
    expect(of(one, other)).toBe(of(other, { ...one, revision: 9, nodesFingerprint: "m" }));
    expect(of(one)).not.toBe(of(record({ sourceRanges: ["10.0.0.0/8"] })));
  });
});

test.each([
  ["our set", 'set revision {\n type mark\n comment "cloudwire 0123456789abcdef"\n}', "0123456789abcdef"],
  ["another owner's", 'set revision { comment "other 0123456789abcdef" }', undefined],
])("revisionIn() reads %s", (_, listing, revision) => {
  expect(revisionIn(listing)).toBe(revision);
});
