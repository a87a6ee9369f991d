import { describe, expect, test } from "vitest";
import { parseConfig } from "../config/config.ts";
import { record } from "../test/records.ts";
import { parseServersState, planServers, renderHaproxy } from "./haproxy-config.ts";

const parsed = parseConfig("site: s\nstateDir: /var/lib/cw\ninventory: { path: /etc/machines }");
const config = parsed.kind === "value" ? parsed.value.haproxy : expect.fail(parsed.problems.join());
const rows = (special: Parameters<typeof record>[0]): readonly string[] =>
  renderHaproxy(config, [record(special)])
    .text.split("\n")
    .map((line) => line.trim());

describe("renderHaproxy()", () => {
  test.each([
    ["the address", {}, "bind 192.0.2.1:80"],
    ["an IPv6 address", { addresses: [{ address: "2001:db8::1", pool: "six" }] }, "bind [2001:db8::1]:80"],
    ["turns", {}, "balance roundrobin"],
    ["clients that stay", { hasAffinity: true }, "balance source"],
    [
      "source ranges",
      { sourceRanges: ["fd00::/8", "10.0.0.0/8"] },
      "tcp-request connection reject unless { src 10.0.0.0/8 fd00::/8 }",
    ],
    ["a health check by HTTP", { healthCheck: { port: 32_000, path: "/healthz" } }, "option httpchk GET /healthz"],
  ])("has %s", (_, special, row) => {
    expect(rows(special)).toContain(row);
  });

  test.each([
    ["its node port", {}, /^server a-\w{8} 10\.0\.0\.1:30080 check port 30080 inter 1000ms fall 2 rise 2$/],
    ["a port of its own for health", { healthCheck: { port: 32_000 } }, /:30080 check port 32000 /],
    ["the PROXY header", { sendsProxyHeader: true }, /^server a-.* send-proxy-v2$/],
  ])("writes a server with %s", (_, special, row) => {
    expect(rows(special)).toContainEqual(expect.stringMatching(row));
  });

  test("needs a reload when the proxies differ, and none when only servers do", () => {
    const of = (special: Parameters<typeof record>[0]): string => renderHaproxy(config, [record(special)]).structure;
    expect(of({ targets: [] })).toBe(of({}));
    expect(of({ ports: [{ protocol: "TCP", port: 81, nodePort: 30_080 }] })).not.toBe(of({}));
    expect(rows({})).toContain(`description cloudwire-${of({})}`);
  });
});

const server = (name: string) => ({ backend: "web", name, address: "10.0.0.1", port: 1, settings: "check" });
const running = (name: string, isInMaintenance = false) => ({ backend: "web", name, isInMaintenance });

test.each([
  ["nothing to do", [server("a")], [running("a")], [], []],
  ["a new one", [server("a")], [], ["add server web/a 10.0.0.1:1 check; enable server web/a; enable health web/a"], []],
  ["one that goes", [], [running("a")], ["set server web/a state maint"], ["web/a"]],
  ["one that still has connections", [], [running("a", true)], [], ["web/a"]],
  ["one that comes back before it was gone", [server("a")], [running("a", true)], ["set server web/a state ready"], []],
  [
    "a change: first the new one",
    [server("b")],
    [running("a")],
    ["add server web/b 10.0.0.1:1 check; enable server web/b; enable health web/b", "set server web/a state maint"],
    ["web/a"],
  ],
])("planServers(): %s", (_, wanted, there, commands, leaving) => {
  expect(planServers(wanted, there)).toEqual({ commands, leaving });
});

test("parseServersState() reads names and maintenance by the header", () => {
  const text = [
    "1",
    "# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight",
    "3 web 1 a 127.0.0.1 2 0 1",
    "3 web 2 b 127.0.0.1 0 1 1",
    "",
  ].join("\n");
  expect(parseServersState(text)).toEqual([running("a"), running("b", true)]);
});
