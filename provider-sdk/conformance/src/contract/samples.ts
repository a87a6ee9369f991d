import { randomUUID } from "node:crypto";
import { NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import { ExternalTrafficPolicy } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { MethodName } from "@cloudwire/proto/methods";
import type { CheckContext } from "../suite/check.ts";

/** A Service that no cluster has. */
const service = { namespace: "conformance", name: "never-made", uid: "00000000-0000-4000-8000-000000000000" };

/** A machine that no cloud has; its provider ID is under the provider's own prefix, and only the provider evaluates it. */
const node = (context: CheckContext) => ({
  name: "conformance-node",
  uid: "11111111-1111-4111-8111-111111111111",
  providerId: "",
  systemUuid: "22222222-2222-4222-8222-222222222222",
  providedNodeIps: ["192.0.2.1"],
  addresses: [{ type: NodeAddressType.INTERNAL_IP, address: "192.0.2.1" }],
  labels: Object.fromEntries(context.info.nodeLabelKeys.map((key) => [key, "x"])),
});

const targetNode = (context: CheckContext) => ({
  name: "conformance-node",
  providerId: `${context.info.providerIdPrefixes[0] ?? "none://"}conformance`,
  addresses: [{ type: NodeAddressType.INTERNAL_IP, address: "192.0.2.1" }],
  zone: "zone",
});

/** A range for documentation (RFC 5737), to a machine that no cloud has. */
const route = (context: CheckContext) => ({
  destinationCidr: "192.0.2.0/28",
  targetProviderId: targetNode(context).providerId,
  targetNodeName: "conformance-node",
  nameHint: "conformance",
});

/** No nodes: the load balancer that is asked for does not exist. */
const selection = { fingerprint: "nodes-1", count: 0, source: { $case: "inline", value: { nodes: [] } } };

const spec = {
  ports: [{ name: "http", protocol: Protocol.TCP, port: 80, nodePort: 30_080 }],
  externalTrafficPolicy: ExternalTrafficPolicy.CLUSTER,
  nameHint: "conformance",
};

/**
 * A valid request of each method that, carried out by the best or the worst provider, makes nothing: reads ask for what does not exist, deletions
 * are of it, and what would make something only asks what it would do.
 */
export const sampleRequest = (name: MethodName, context: CheckContext): object => {
  const { callContext, info } = context;
  const change = { requestId: randomUUID(), trigger: "conformance" };
  const batch = { context: callContext };
  const changed = { context: callContext, change };
  const page = { context: callContext, pageSize: 10, pageToken: "" };
  const samples: Readonly<Record<MethodName, object>> = {
    GetProviderInfo: { client: { name: "cloudwire-conformance", version: "1", contractMajor: 1 } },
    GetProviderStatus: { context: callContext },
    BatchGetInstances: { ...batch, nodes: [node(context)] },
    ListInstances: page,
    WatchInstances: { context: callContext },
    GetLoadBalancer: { context: callContext, service },
    ListLoadBalancers: page,
    EnsureLoadBalancer: {
      context: callContext,
      change: { ...change, validateOnly: true },
      service,
      spec,
      specFingerprint: "spec-1",
      nodes: selection,
    },
    UpdateLoadBalancerNodes: { ...changed, service, loadBalancerId: "", nodes: selection },
    DeleteLoadBalancer: { ...changed, service, loadBalancerId: "" },
    WatchLoadBalancers: { context: callContext },
    ApplyNodeSet: {
      context: callContext,
      nodeSetId: "conformance",
      targetFingerprint: "nodes-1",
      chunkCount: 1,
      upserts: [targetNode(context)],
      targetCount: 1,
    },
    ListRoutes: page,
    BatchEnsureRoutes: {
      context: callContext,
      change: { ...change, validateOnly: true },
      routes: [route(context)],
    },
    BatchDeleteRoutes: {
      ...changed,
      routes: [route(context)],
    },
    BatchGetVolumes: {
      ...batch,
      volumes: [{ name: "conformance-volume", source: volumeSource(info.capabilities?.volumes?.csiDrivers ?? []) }],
    },
  };
  return samples[name];
};

const volumeSource = ([driver]: readonly string[]) => ({
  $case: "csi",
  value: { driver: driver ?? "csi.conformance.example.com", volumeHandle: "conformance-volume" },
});
