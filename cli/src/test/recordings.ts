import type { Json } from "../client/json.ts";

/** One call of a recording that a test writes. */
export interface WrittenCall {
  readonly method: string;
  readonly request?: Json;
  readonly response?: Json | undefined;
  /** @default OK */
  readonly code?: string;
  readonly details?: readonly Json[];
  readonly cancelled?: true;
}

/** The text of a recording: calls one after the other, or as `order` has it: `b1`, `b2`, `e2`, `e1`. */
export function recordingText(calls: readonly WrittenCall[], order?: readonly string[]): string {
  const events = order ?? calls.flatMap((_, index) => [`b${index + 1}`, `e${index + 1}`]);
  const lines = events.map((event) => {
    const number = Number(event.slice(1));
    const { method = "", request = {}, response, code = "OK", details, cancelled } = calls[number - 1] ?? {};
    const common = { call: number, provider: "acme", method };
    if (event.startsWith("b")) return { kind: "start", ...common, requestID: `r-${number}`, timeoutMs: 5000, request };
    return { kind: "end", ...common, code, message: code === "OK" ? undefined : "no", details, cancelled, response };
  });
  const head = {
    kind: "header",
    format: "cloudwire.recording",
    version: 1,
    contract: "cloudprovider.v1",
    program: "test",
  };
  return written([{ ...head, providers: [] }, ...lines, { kind: "footer" }]);
}

/** Lines with what each of them has. */
export function written(lines: readonly object[]): string {
  const times = (index: number) => ({ line: index + 1, atMs: index * 10, time: "2026-11-23T12:00:00.000Z" });
  return lines.map((line, index) => `${JSON.stringify({ ...times(index), ...line })}\n`).join("");
}

export const CONTEXT = { cluster: { id: "cluster-1", name: "kubernetes" }, scopeId: "scope-1" };
export const SERVICE = { namespace: "default", name: "web", uid: "uid-1" };

/** What is asked for a load balancer with these ports. */
export function ensureRequest(...ports: readonly number[]): Json {
  return {
    context: CONTEXT,
    change: { requestId: "r", sequence: "7", trigger: "service created" },
    service: SERVICE,
    spec: { ports: ports.map((port) => ({ protocol: "PROTOCOL_TCP", port, nodePort: 30_000 + port })) },
    specFingerprint: `s1-${ports.join("-")}`,
    nodes: { fingerprint: "n2-a", count: 1, inline: { nodes: [{ name: "n1", providerId: "acme://i-1" }] } },
  };
}

export function balancer(id: string, fields: Json = {}): Json {
  return { id, service: SERVICE, phase: "LOAD_BALANCER_PHASE_ACTIVE", ...fields };
}
