import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import type { Http2Server } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { GetProviderInfoResponse, GetProviderStatusResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import {
  BatchGetInstancesRequest,
  BatchGetInstancesResponse,
  ListInstancesResponse,
  WatchInstancesResponse,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import { ListLoadBalancersResponse, LoadBalancerPhase } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { ListRoutesResponse } from "@cloudwire/proto/cloudprovider/v1/route";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { instancesFor, providerInfo, providerStatus } from "../support/provider/scripted-provider.ts";
import { GZIP_BOMB, brokenReply } from "./broken-answers.ts";
import type { Findings } from "./controller-process.ts";
import { type RawCall, type RawReply, frame, serveRaw } from "./raw-provider.ts";

/** The number for CI, a tenth of them over gRPC; `HOSTILE_ANSWERS=1000000` on demand. */
const ANSWERS = Number(process.env["HOSTILE_ANSWERS"] ?? 100_000);

/** Of the chart. */
const MEMORY_LIMIT_BYTES = 512 * 1024 * 1024;

/** Events of the stream before it ends. */
const FLOOD_EVENTS = 5000;

const PAGE_ITEMS = 1000;
const NAME = "n".repeat(200);
const page = Array.from({ length: PAGE_ITEMS }, (_, index) => index);
let pages = 0;

const ENDLESS: Readonly<Record<string, (nextPageToken: string) => Uint8Array>> = {
  ListInstances: (nextPageToken) =>
    ListInstancesResponse.encode(
      ListInstancesResponse.fromPartial({
        instances: page.map((index) => ({ providerId: `acme://${index}-${NAME}`, name: NAME, labels: { a: NAME } })),
        scopeId: "project-1",
        nextPageToken,
      }),
    ).finish(),
  ListLoadBalancers: (nextPageToken) =>
    ListLoadBalancersResponse.encode(
      ListLoadBalancersResponse.fromPartial({
        loadBalancers: page.map((index) => ({
          id: `lb-${index}-${NAME}`,
          service: { namespace: "default", name: "web", uid: `uid-${index}` },
          phase: LoadBalancerPhase.ACTIVE,
        })),
        scopeId: "project-1",
        nextPageToken,
      }),
    ).finish(),
  ListRoutes: (nextPageToken) =>
    ListRoutesResponse.encode(
      ListRoutesResponse.fromPartial({
        routes: page.map((index) => ({ id: `r-${index}-${NAME}`, destinationCidr: "10.0.0.0/24" })),
        scopeId: "project-1",
        nextPageToken,
      }),
    ).finish(),
};

/** The handshake of both providers. */
function introduction({ method }: RawCall): RawReply | undefined {
  if (method === "GetProviderInfo") {
    const list = { maxPageSize: PAGE_ITEMS };
    const capabilities = {
      instances: { maxBatchSize: 200, lookupByName: true, list },
      loadBalancers: { list },
      routes: { maxBatchSize: 100, maxPageSize: PAGE_ITEMS },
    };
    return { frames: [frame(GetProviderInfoResponse.encode(providerInfo({ capabilities })).finish())] };
  }
  if (method !== "GetProviderStatus") return undefined;
  return { frames: [frame(GetProviderStatusResponse.encode(providerStatus()).finish())] };
}

function healthyReply(call: RawCall): RawReply {
  const known = introduction(call);
  if (known !== undefined) return known;
  const response = instancesFor(BatchGetInstancesRequest.decode(call.request));
  return { frames: [frame(BatchGetInstancesResponse.encode(response).finish())] };
}

let index = 0;

function hostileReply(call: RawCall): RawReply {
  const { method, caller } = call;
  if (method === "WatchInstances") return { frames: flood(), status: 14 };
  if (caller === "fuzz") return brokenReply(method, ++index);
  const endless = ENDLESS[method];
  if (endless !== undefined) return { frames: [frame(endless(String(++pages)))] };
  return introduction(call) ?? GZIP_BOMB;
}

function flood(): readonly Uint8Array[] {
  const value = { providerId: "not an id", name: NAME };
  const event = WatchInstancesResponse.fromPartial({ event: { $case: "upsert", value }, resumeToken: "t" });
  const bytes = frame(WatchInstancesResponse.encode(event).finish());
  return Array.from({ length: FLOOD_EVENTS }, () => bytes);
}

describe(`a controller with a provider that gives ${ANSWERS} broken answers, and a healthy provider`, () => {
  let directory = "";
  let servers: readonly Http2Server[] = [];
  let findings: Findings;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "cw-"));
    const [hostile, healthy] = [join(directory, "a.sock"), join(directory, "b.sock")];
    servers = [await serveRaw(hostile, hostileReply), await serveRaw(healthy, healthyReply)];
    const program = join(import.meta.dirname, "controller-process.ts");
    const args = ["--conditions=development", program, `unix://${hostile}`, `unix://${healthy}`, String(ANSWERS)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 });
    findings = JSON.parse(stdout);
  });

  afterAll(async () => {
    for (const server of servers) server.close();
    await rm(directory, { recursive: true });
  });

  test("rejects each answer with an error of the provider, or accepts a valid one (case A-5)", () => {
    expect(findings.problems).toEqual([]);
    expect(findings.answers).toBeGreaterThanOrEqual(ANSWERS);
    expect(Object.keys(findings.breaches)).toEqual(expect.arrayContaining(["encoding", "field", "items", "size"]));
  });

  test("ends endless lists and rejects a compressed response of 63 MB (case A-2)", () => {
    expect(findings.listErrors).toEqual([
      expect.stringContaining("ListInstances: the response violates the contract"),
      expect.stringContaining("ListLoadBalancers: the response violates the contract"),
      expect.stringContaining("ListRoutes: the response violates the contract"),
      expect.stringContaining("has more than 1048576 bytes"),
    ]);
  });

  test("serves the healthy provider, whose calls all succeed (case A-2)", () => {
    expect(findings.healthyFailures).toEqual([]);
    expect(findings.healthyCalls).toBeGreaterThan(10);
  });

  test("stays within the memory limit of the chart (case A-2)", () => {
    expect(findings.peakRssBytes).toBeLessThan(MEMORY_LIMIT_BYTES);
  });
});
