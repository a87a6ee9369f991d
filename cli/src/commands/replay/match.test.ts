import { describe, expect, test } from "vitest";
import { at, type Json } from "../../client/json.ts";
import { balancer, CONTEXT, ensureRequest, recordingText, SERVICE, type WrittenCall } from "../../test/recordings.ts";
import { Matcher } from "./match.ts";
import { methodNamed } from "./methods.ts";
import { readRecording } from "./recording.ts";

const matcherOf = (calls: readonly WrittenCall[]) => new Matcher(readRecording("f", recordingText(calls)));
const context = { cluster: { id: "cluster-9", name: "mine" }, scopeId: "scope-1" };
const service = { ...SERVICE, uid: "uid-9" };
const read = { context, service };
const get: WrittenCall = { method: "GetLoadBalancer", request: { context: CONTEXT, service: SERVICE } };
const ensure = (port: number, response: Json): WrittenCall => ({
  method: "EnsureLoadBalancer",
  request: ensureRequest(port),
  response,
});
/** The same spec in another cluster, with other ids, another node port and another fingerprint. */
const asked = (port: number): Json => ({
  ...ensureRequest(port),
  context,
  service,
  change: { requestId: "other", sequence: "99" },
  specFingerprint: `s1-mine-${port}`,
  spec: { ports: [{ protocol: "PROTOCOL_TCP", port, nodePort: 31_999 }] },
});

function response(matcher: Matcher, ...[name, request]: Parameters<Matcher["match"]>): Json | undefined {
  const match = matcher.match(name, request);
  return match.kind === "answer" ? matcher.translated(methodNamed(name), match.end.response ?? {}) : undefined;
}

describe("Matcher", () => {
  test("answers equal requests in their recorded order, and the last one again", () => {
    const phases = ["PROVISIONING", "ACTIVE"].map((phase) => `LOAD_BALANCER_PHASE_${phase}`);
    const matcher = matcherOf(
      phases.map((phase) => ({ ...get, response: { loadBalancer: balancer("lb", { phase }) } })),
    );
    const answers = [1, 2, 3].map(() => at(response(matcher, "GetLoadBalancer", read), "loadBalancer", "phase"));
    expect(answers).toEqual([phases[0], phases[1], phases[1]]);
  });

  test("responds with the caller's names: its Service, its fingerprints, its ownership tags", () => {
    const tags = { cluster: "cluster-1", owner: "uid-1", other: "kept" };
    const loadBalancer = balancer("lb-1", { specFingerprint: "s1-80", nodesFingerprint: "n2-a", tags });
    const matcher = matcherOf([ensure(80, { loadBalancer })]);
    expect(at(response(matcher, "EnsureLoadBalancer", asked(80)), "loadBalancer")).toEqual({
      ...loadBalancer,
      service,
      specFingerprint: "s1-mine-80",
      tags: { cluster: "cluster-9", owner: "uid-9", other: "kept" },
    });
  });

  test("gives no answer before the changes that had been made before it", () => {
    const absent = { absent: { basis: "ABSENCE_BASIS_LOOKUP_MISS" } };
    const there = { loadBalancer: balancer("lb-1") };
    const matcher = matcherOf([{ ...get, response: absent }, ensure(80, there), { ...get, response: there }]);
    const isThere = () => at(response(matcher, "GetLoadBalancer", read), "loadBalancer") !== undefined;
    expect([isThere(), isThere(), isThere()]).toEqual([false, false, false]);
    matcher.match("EnsureLoadBalancer", asked(80));
    expect(isThere()).toBe(true);
  });

  test("says of a request that was never made which was nearest, and where it differs", () => {
    const matcher = matcherOf([ensure(80, {}), ensure(443, {})]);
    expect(matcher.match("EnsureLoadBalancer", asked(444))).toEqual({
      kind: "unknown",
      nearest: "the nearest is call 1 (line 2): spec.ports[0].port was 80 and is 444",
    });
    expect(matcher.match("ListRoutes", { context })).toEqual({
      kind: "unknown",
      nearest: "the recording has no ListRoutes",
    });
  });

  test("matches batches item by item, and says which were never asked for", () => {
    const found = (name: string) => ({ instance: { providerId: `acme://${name}`, name } });
    const calls = ["n1", "n2"].map((name) => ({
      method: "BatchGetInstances",
      request: { context: CONTEXT, nodes: [{ name, uid: "u" }] },
      response: { results: [found(name)], scopeId: "scope-1" },
    }));
    const matcher = matcherOf(calls);
    const nodes = ["n2", "n3", "n1"].map((name) => ({ name, uid: "other", createTime: "2026-01-01T00:00:00Z" }));
    const match = matcher.match("BatchGetInstances", { context, nodes });
    expect(match).toMatchObject({
      kind: "answer",
      missing: ["name n3"],
      end: {
        response: {
          scopeId: "scope-1",
          results: [found("n2"), { unknown: { code: 9, reason: "NOT_RECORDED" } }, found("n1")],
        },
      },
    });
  });

  test("never answers with a call that was given up", () => {
    const matcher = matcherOf([
      { ...get, code: "CANCELLED", cancelled: true },
      { ...get, response: { loadBalancer: balancer("lb") } },
    ]);
    expect(response(matcher, "GetLoadBalancer", read)).toHaveProperty("loadBalancer");
  });
});
