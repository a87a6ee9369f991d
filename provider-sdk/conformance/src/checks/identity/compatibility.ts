import { randomUUID } from "node:crypto";
import { IpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import { ExternalTrafficPolicy } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { type MethodName, methodRules } from "@cloudwire/proto/methods";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectNone, expectOk } from "../../suite/expect.ts";
import type { Called } from "../../endpoint/caller.ts";
import { outcomeLine } from "../../endpoint/exchange.ts";
import { property } from "../../contract/field-rules.ts";
import { golden, goldenRequest } from "../../contract/golden.ts";
import { methods, methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { inline, TestBalancer } from "../load-balancers/test-balancer.ts";
import { provocableMethods } from "../calls/provoked.ts";

const base = { level: "S", profile: "core", timeoutMs: 60_000 } as const;

/** Methods that need no cluster to ask for. */
const withoutContext: ReadonlySet<MethodName> = new Set(["GetProviderInfo"]);

/** The outcome of each item of a batch about objects of another owner. */
const foreignOutcome: Readonly<Partial<Record<MethodName, string>>> = {
  BatchGetInstances: "notOwned",
  BatchGetVolumes: "notOwned",
  BatchEnsureRoutes: "error",
};

/** Why an answer to a request about nothing, or about others' objects, is not what it has to be. */
const oddAnswer = (name: MethodName, called: Called<unknown>): string | undefined => {
  // There is no such load balancer: to say so is to have understood.
  if (name === "UpdateLoadBalancerNodes" && called.kind === "error" && called.error.code === 5) return undefined;
  if (called.kind !== "ok") return outcomeLine(called);
  const wanted = foreignOutcome[name];
  const results: unknown = property(called.response, "results");
  const first: unknown = Array.isArray(results) ? results[0] : undefined;
  const got = property(property(first, "outcome"), "$case");
  return wanted === undefined || got === wanted ? undefined : `the item is ${String(got)}, not ${wanted}`;
};

const fields = { service: () => ({ namespace: "conformance", name: "never-made", uid: randomUUID() }) };

/** The least that a request of a method can be: REQUIRED fields alone. */
const least = (name: MethodName, context: CheckContext): object => {
  const call = { context: context.callContext };
  const change = { requestId: randomUUID() };
  const only = { ...call, change: { ...change, validateOnly: true } };
  const spec = { ports: [{ protocol: Protocol.TCP, port: 80, nodePort: 30_080 }] };
  const cidr = { destinationCidr: "192.0.2.96/28", targetProviderId: "conformance-other-cloud://machine-1" };
  const driver = { driver: "csi.conformance.example.com", volumeHandle: "conformance" };
  const target = { name: "conformance-node", providerId: "conformance-other-cloud://machine-1" };
  const requests: Readonly<Partial<Record<MethodName, object>>> = {
    GetProviderInfo: { client: { name: "conformance", version: "1", contractMajor: 1 } },
    GetProviderStatus: {},
    BatchGetInstances: { ...call, nodes: [target] },
    EnsureLoadBalancer: { ...only, service: fields.service(), spec, specFingerprint: "spec-1", nodes: inline() },
    GetLoadBalancer: { ...call, service: fields.service() },
    UpdateLoadBalancerNodes: { ...call, change, service: fields.service(), nodes: inline() },
    DeleteLoadBalancer: { ...call, change, service: fields.service() },
    ApplyNodeSet: {
      ...call,
      nodeSetId: "least",
      targetFingerprint: "a",
      chunkCount: 1,
      upserts: [target],
      targetCount: 1,
    },
    BatchEnsureRoutes: { ...only, routes: [cidr] },
    BatchDeleteRoutes: { ...call, change, routes: [cidr] },
    BatchGetVolumes: { ...call, volumes: [{ name: "v", source: { $case: "csi", value: driver } }] },
  };
  return requests[name] ?? call;
};

/** Clients of other releases of the contract. */
export const compatibilityChecks: readonly Check[] = [
  {
    ...base,
    id: "compat.golden",
    title: "requests as clients of every released minor send them are understood",
    rules: ["EVO-1", "EVO-2"],
    why: "A provider is updated before the controller, and the other way round.",
    run: async (context) => {
      const problems: string[] = [];
      const served = provocableMethods(context);
      for (const [minor, requests] of Object.entries(golden)) {
        for (const name of served) {
          const rest = requests[name];
          if (rest === undefined) continue;
          const requestBytes = goldenRequest(rest, withoutContext.has(name) ? undefined : context.callContext);
          const sample = sampleRequest(name, context);
          const called = await context.caller.call(methodsByName[name], sample, { requestBytes });
          const odd = oddAnswer(name, called);
          if (odd !== undefined) problems.push(`${name} of ${minor}: ${odd}`);
        }
      }
      expectNone(problems, "requests of released minors are not understood");
    },
  },
  {
    ...base,
    id: "compat.v1-0-client",
    title: "requests with nothing but the fields that are required are served",
    rules: ["EVO-2", "SHAPE-5"],
    why: "The first clients had no other fields, and clients in other languages omit optional fields.",
    run: async (context) => {
      const problems: string[] = [];
      for (const name of provocableMethods(context).filter((method) => !methodRules[method].stream)) {
        const odd = oddAnswer(name, await context.caller.call(methodsByName[name], least(name, context)));
        if (odd !== undefined) problems.push(`${name}: ${odd}`);
      }
      expectNone(problems, "the least requests are not served");
    },
  },
  {
    ...base,
    profile: "loadbalancer",
    capability: "load_balancers.validate_only",
    id: "compat.unspecified",
    title: "UNSPECIFIED in a spec means its documented default: every node, IPv4",
    rules: ["EVO-3"],
    why: "A client that does not know a choice leaves it at zero.",
    run: async (context) => {
      const spec = {
        externalTrafficPolicy: ExternalTrafficPolicy.UNSPECIFIED,
        ipFamilies: [IpFamily.UNSPECIFIED],
      };
      const called = await new TestBalancer(context).ensure({ spec, change: { validateOnly: true } });
      expectOk(called, "a spec that leaves choices open");
    },
  },
  {
    ...base,
    capability: "instances",
    id: "val.enum.fact",
    title: "an address of an unknown type does not make the provider reject the Node",
    rules: ["EVO-3"],
    why: "Kubernetes gets a new kind of address, and no Node is looked at any more.",
    run: async (context) => {
      const addresses = [{ type: 9_999, address: "conformance" }];
      const nodes = [{ name: "conformance-node", providerId: "conformance-other-cloud://machine-1", addresses }];
      const request = { context: context.callContext, nodes };
      const called = await context.caller.call(methodsByName.BatchGetInstances, request);
      expectOk(called, "a Node with an address of an unknown kind");
    },
  },
  {
    ...base,
    id: "err.field.all",
    title: "INVALID_ARGUMENT names every field that is wrong, not the first alone",
    rules: ["ERR-5"],
    why: "A caller that fixes one field at a time needs as many tries as there are invalid fields.",
    run: async (context) => {
      const client = { name: "n".repeat(64), version: "v".repeat(64), contractMajor: 1 };
      const called = await context.caller.call(methods.getProviderInfo, { client });
      const named = called.kind === "error" ? called.error.fields : [];
      expectNone(
        ["client.name", "client.version"].filter((field) => !named.includes(field)),
        "BadRequest does not name every field",
        { expected: "client.name and client.version", exchange: called.exchange },
      );
    },
  },
];
