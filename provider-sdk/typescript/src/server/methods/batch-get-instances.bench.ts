import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import { test } from "vitest";
import type { Instance, InstanceHandlers, NodeRef } from "../../definition/instances.ts";
import { createLogger } from "../../telemetry/log.ts";
import { invokeOk } from "../../../test/support/invoke.ts";
import { basics, context, serveForTest } from "../../../test/support/serve-for-test.ts";

const { batchGetInstances } = CloudProviderDefinition.methods;
const createTime = new Date(1_700_000_000_000);

const named = Array.from({ length: 1_000 }, (_, index) => ({
  name: `node-${index}`,
  uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
  createTime,
  addresses: [{ type: NodeAddressType.INTERNAL_IP, address: `10.0.${index >> 8}.${index & 255}` }],
}));
const known = named.map((node) => ({ ...node, providerId: `acme://${node.name}` }));

const instanceOf = ({ name }: NodeRef): Instance => ({
  id: name,
  name,
  type: "small",
  zone: "north-a",
  region: "north",
  addresses: [
    { type: "InternalIP", address: "10.0.0.1" },
    { type: "Hostname", address: name },
  ],
  state: "RUNNING",
  labels: { rack: "r1" },
  podCidrs: ["10.128.0.0/24"],
  createTime,
  revision: "1",
});

const features = { maxBatchSize: 1_000 };
const together: InstanceHandlers = { features, getMany: (nodes) => nodes.map(instanceOf) };
const oneByOne: InstanceHandlers = { features, get: instanceOf };

/** Both ends are this process: what is shown is the caller's cost too. */
test("BatchGetInstances over a Unix socket", async ({ bench }) => {
  const many = await serve(together);
  const single = await serve(oneByOne);
  await bench.compare(
    bench("1,000 Nodes by name, getMany", () => many(named)),
    bench("1,000 Nodes by provider ID, getMany", () => many(known)),
    bench("1,000 Nodes by provider ID, get", () => single(known)),
    bench("1 Node by provider ID, getMany", () => many(known.slice(0, 1))),
  );
});

async function serve(instances: InstanceHandlers) {
  const log = createLogger({ level: "error", write: (line) => process.stderr.write(line), now: () => new Date() });
  const { client } = await serveForTest({ ...basics, instances }, { log });
  return async (nodes: typeof named): Promise<void> => {
    await invokeOk(client, batchGetInstances, { context, nodes });
  };
}
