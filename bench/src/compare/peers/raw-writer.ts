import { inParallel } from "@cloudwire/test";
import { Pool } from "undici";
import { RAW_WRITER } from "./names.ts";
import type { Peer } from "./peers.ts";

/** Maximum concurrent requests. 8, 16, 32 and 64 differ by less than the noise on two cores: the API server is the limit. */
const AT_ONCE = 16;

/** The smallest response of the API server, because it is unread. */
const ANSWER = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/** No controller at all: the two writes that each node needs, as fast as the API server takes them from the bench. */
export const rawWriter: Peer = {
  name: RAW_WRITER,
  start: async ({ api, machines }) => {
    const { server, caPem, token } = api;
    await using stack = new AsyncDisposableStack();
    const pool = new Pool(server, {
      connections: AT_ONCE,
      connect: { ca: caPem },
    });
    stack.defer(() => pool.close());
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/strategic-merge-patch+json",
      accept: ANSWER,
    };
    const patch = async (path: string, body: object): Promise<void> => {
      const answer = await pool.request({
        method: "PATCH",
        path,
        headers,
        body: JSON.stringify(body),
      });
      if (answer.statusCode !== 200) throw new Error(`PATCH ${path}: ${answer.statusCode} ${await answer.body.text()}`);
      await answer.body.dump();
    };
    const before = process.cpuUsage();
    await inParallel(
      machines,
      async ({ id, name, zone, region, type, internalAddresses }) => {
        const addresses = internalAddresses.map((address) => ({ type: "InternalIP", address }));
        await patch(`/api/v1/nodes/${name}/status`, { status: { addresses } });
        const labels = {
          "node.kubernetes.io/instance-type": type,
          "topology.kubernetes.io/zone": zone,
          "topology.kubernetes.io/region": region,
        };
        await patch(`/api/v1/nodes/${name}`, {
          metadata: { labels },
          spec: { providerID: `sim://${zone}/${id}`, taints: [] },
        });
      },
      AT_ONCE,
    );
    const { user, system } = process.cpuUsage(before);
    return { programs: [], ownCpuSeconds: (user + system) / 1_000_000 };
  },
};
