import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Instance } from "../api/instances.ts";
import type { LoadBalancer, LoadBalancerSpec } from "../api/load-balancers.ts";
import { poll } from "../test/poll.ts";
import { instanceSpecs, soon, startTestCloud, type TestCloud } from "../test/test-cloud.ts";

const nodePort = 30_080;
const port = 8080;

let cloud: TestCloud;
let nodes: Server[] = [];
beforeEach(async () => {
  cloud = await startTestCloud();
});
afterEach(async () => {
  await cloud.close();
  for (const node of nodes) node.close();
  nodes = [];
});

/** A "node": answers "<name>:<what it was sent>" when the client has ended its side. */
async function startNode(instance: Instance | undefined, atPort = nodePort): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    void text(socket).then(
      (sent) => socket.end(`${instance?.name}:${sent}`),
      () => socket.destroy(),
    );
  });
  server.listen(atPort, instance?.internalAddresses[0]);
  await once(server, "listening");
  nodes.push(server);
  return server;
}

async function startNodes(count: number): Promise<Instance[]> {
  const instances = await cloud.client.createInstances(instanceSpecs(count), soon());
  for (const instance of instances) await startNode(instance);
  return instances;
}

async function createLoadBalancer(
  targets: readonly Instance[],
  more: Partial<LoadBalancerSpec> = {},
): Promise<LoadBalancer> {
  const spec = {
    name: "web",
    listeners: [{ port, protocol: "tcp" as const, targetPort: nodePort }],
    targets: targets.map(({ id }) => id),
  };
  return (await cloud.client.createLoadBalancer({ ...spec, ...more }, soon())).loadBalancer;
}

function open(lb: LoadBalancer, localAddress = "127.0.0.1", atPort = port): Socket {
  const socket = connect({ host: lb.address, port: atPort, localAddress, allowHalfOpen: true });
  socket.on("error", () => undefined);
  return socket;
}

/** Resolves when the connection is over, however it ends. */
async function closeOf(socket: Socket): Promise<void> {
  await new Promise((resolve) => {
    socket.once("close", resolve);
  });
}

/** What comes back for a message; undefined when the connection is refused or reset. */
async function ask(
  lb: LoadBalancer,
  message = "hello",
  localAddress = "127.0.0.1",
  atPort = port,
): Promise<string | undefined> {
  const socket = open(lb, localAddress, atPort);
  socket.end(message);
  try {
    return await text(socket);
  } catch {
    return undefined;
  }
}

async function askTimes(lb: LoadBalancer, times: number): Promise<(string | undefined)[]> {
  const answers = [];
  for (let index = 0; index < times; index += 1) answers.push(await ask(lb, "x"));
  return answers.toSorted((left = "", right = "") => left.localeCompare(right));
}

describe("a load balancer", () => {
  test("carries bytes to its targets in turn, and the end of each side", async () => {
    const targets = await startNodes(3);
    const lb = await createLoadBalancer(targets);
    expect(lb).toMatchObject({
      state: "active",
      listeners: [{ port, boundPort: port, status: "listening" }],
      targetCount: 3,
    });
    expect(await askTimes(lb, 6)).toEqual(["node-0:x", "node-0:x", "node-1:x", "node-1:x", "node-2:x", "node-2:x"]);
  });

  test("carries much, both ways, unchanged", async () => {
    const lb = await createLoadBalancer(await startNodes(1));
    const message = "0123456789".repeat(500_000);
    expect(await ask(lb, message)).toBe(`node-0:${message}`);
  });

  test("goes to the next target when one refuses", async () => {
    const targets = await startNodes(3);
    const lb = await createLoadBalancer(targets);
    nodes[0]?.close();
    nodes[1]?.close();
    expect(await askTimes(lb, 4)).toEqual(Array(4).fill("node-2:x"));
  });

  test("refuses when no target answers, and works again when one does", async () => {
    const [target] = await cloud.client.createInstances(instanceSpecs(1), soon());
    const lb = await createLoadBalancer(target ? [target] : []);
    expect(await ask(lb)).toBeUndefined();
    await startNode(target);
    expect(await ask(lb)).toBe("node-0:hello");
  });

  test("sends nothing to an instance that does not run", async () => {
    const targets = await startNodes(2);
    const lb = await createLoadBalancer(targets);
    await cloud.client.stopInstance(targets[0]?.id ?? "", soon());
    expect(await askTimes(lb, 3)).toEqual(Array(3).fill("node-1:x"));
    await cloud.client.startInstance(targets[0]?.id ?? "", soon());
    expect(new Set(await askTimes(lb, 3))).toEqual(new Set(["node-0:x", "node-1:x"]));
  });

  test("keeps open connections when their target is taken out", async () => {
    const [first, second] = await startNodes(2);
    const lb = await createLoadBalancer(first ? [first] : []);
    const socket = open(lb);
    socket.write("before ");
    await poll("the connection", async () => (socket.pending ? undefined : true));
    const changed = await cloud.client.replaceTargets(lb.id, [second?.id ?? "", "i-nope"], soon());
    expect(changed).toMatchObject({ loadBalancer: { targetCount: 1 }, ignoredTargets: ["i-nope"] });
    expect(await askTimes(lb, 2)).toEqual(Array(2).fill("node-1:x"));
    socket.end("after");
    expect(await text(socket)).toBe("node-0:before after");
  });

  test("lets in the source ranges only", async () => {
    const lb = await createLoadBalancer(await startNodes(1), { sourceRanges: ["127.1.0.0/16"] });
    expect([await ask(lb, "x", "127.1.2.3"), await ask(lb, "x", "127.2.0.1")]).toEqual(["node-0:x", undefined]);
    await cloud.client.patchLoadBalancer(lb.id, { sourceRanges: [] }, soon());
    expect(await ask(lb, "x", "127.2.0.1")).toBe("node-0:x");
  });

  test("keeps a client with one target when asked to", async () => {
    const lb = await createLoadBalancer(await startNodes(3), { sessionAffinity: "clientIp" });
    expect(new Set(await askTimes(lb, 6)).size).toBe(1);
  });

  test("ends connections on which nothing moves", async () => {
    const lb = await createLoadBalancer(await startNodes(1), { idleTimeoutMs: 100 });
    const socket = open(lb);
    const closed = closeOf(socket);
    socket.write("x");
    await closed;
    expect(await ask(lb)).toBe("node-0:hello");
  });

  test("sends nothing to a target that does not want traffic, or does not say so", async () => {
    const targets = await startNodes(3);
    let status = 200;
    const health = createHttpServer((_, response) => response.writeHead(status).end());
    health.listen(30_090, targets[1]?.internalAddresses[0]);
    await once(health, "listening");
    nodes.push(health);
    const lb = await createLoadBalancer(targets, { healthCheck: { protocol: "http", port: 30_090, path: "/healthz" } });
    expect(await askTimes(lb, 3)).toEqual(Array(3).fill("node-1:x"));
    status = 503;
    await poll("the second check", async () => ((await ask(lb)) === undefined ? true : undefined));
    await cloud.client.patchLoadBalancer(lb.id, { healthCheck: null }, soon());
    expect(new Set(await askTimes(lb, 3)).size).toBe(3);
    await cloud.client.patchLoadBalancer(lb.id, { healthCheck: { protocol: "tcp", port: 30_090 } }, soon());
    expect(await askTimes(lb, 3)).toEqual(Array(3).fill("node-1:x"));
  });

  test("resets the client when its target breaks off in the middle", async () => {
    const [target] = await cloud.client.createInstances(instanceSpecs(1), soon());
    const breaking = createServer((socket) => {
      socket.on("error", () => undefined).once("data", () => socket.resetAndDestroy());
    }).listen(nodePort, target?.internalAddresses[0]);
    await once(breaking, "listening");
    nodes.push(breaking);
    const lb = await createLoadBalancer(target ? [target] : []);
    const socket = open(lb);
    const closed = closeOf(socket);
    socket.write("x");
    await closed;
    expect(socket.destroyed).toBe(true);
  });

  test("follows changes of its listeners", async () => {
    const [target] = await startNodes(1);
    await startNode(target, nodePort + 1);
    const lb = await createLoadBalancer(target ? [target] : []);
    const listeners = [{ port: 8081, protocol: "tcp" as const, targetPort: nodePort + 1 }];
    const changed = await cloud.client.patchLoadBalancer(lb.id, { listeners }, soon());
    expect(changed.loadBalancer).toMatchObject({ state: "active", listeners: [{ port: 8081, status: "listening" }] });
    expect([await ask(lb), await ask(lb, "x", "127.0.0.1", 8081)]).toEqual([undefined, "node-0:x"]);
  });

  test("is gone when it is deleted, and its name and address are free", async () => {
    const lb = await createLoadBalancer(await startNodes(1));
    const socket = open(lb);
    const closed = closeOf(socket);
    await once(socket, "connect");
    const deleted = await cloud.client.deleteLoadBalancer(lb.id, soon());
    expect(deleted.operation).toMatchObject({ state: "done", progressPercent: 100 });
    await closed;
    expect(await ask(lb)).toBeUndefined();
    await expect(cloud.client.getLoadBalancer(lb.id, soon())).rejects.toMatchObject({
      failure: { code: "LoadBalancerNotFound" },
    });
    const again = await createLoadBalancer([], { requestedAddress: lb.address });
    expect(again).toMatchObject({ state: "active", address: lb.address });
  });
});

describe("several load balancers", () => {
  const listeners = [{ port: 80, protocol: "tcp" as const, targetPort: nodePort }];

  test("have the same port, each at its own address", async () => {
    const targets = await startNodes(1);
    const offset = { listeners: [{ port, protocol: "tcp" as const, targetPort: nodePort }] };
    const [one, two] = [
      await createLoadBalancer(targets, { name: "one", ...offset }),
      await createLoadBalancer(targets, { name: "two", ...offset }),
    ];
    expect(one.address).not.toBe(two.address);
    expect([await ask(one), await ask(two)]).toEqual(["node-0:hello", "node-0:hello"]);
  });

  test("may not share a name or an address", async () => {
    const lb = await createLoadBalancer([]);
    await expect(createLoadBalancer([])).rejects.toMatchObject({ failure: { status: 409, code: "NameInUse" } });
    await expect(createLoadBalancer([], { name: "other", requestedAddress: lb.address })).rejects.toMatchObject({
      failure: { status: 409, code: "AddressInUse" },
    });
    expect((await cloud.client.listLoadBalancers({}, soon())).items.map(({ name }) => name)).toEqual(["web"]);
  });

  test("listen on their port plus the offset where low ports are not allowed", async () => {
    await using offsetCloud = await startTestCloud({ listenPortOffset: 20_000 });
    const made = await offsetCloud.client.createLoadBalancer({ name: "low", listeners }, soon());
    expect(made.loadBalancer).toMatchObject({
      state: "active",
      listeners: [{ port: 80, boundPort: 20_080, status: "listening" }],
    });
    const tooHigh = { name: "high", listeners: [{ port: 50_000, protocol: "tcp" as const, targetPort: 1 }] };
    await expect(offsetCloud.client.createLoadBalancer(tooHigh, soon())).rejects.toMatchObject({
      failure: { status: 400, code: "PortNotPermitted" },
    });
  });
});

test("a port that another process has makes the load balancer fail with the reason, and is tried again", async () => {
  const lb = await createLoadBalancer(await startNodes(1));
  const squatter = createServer().listen(8082, lb.address);
  await once(squatter, "listening");
  const listeners = [{ port: 8082, protocol: "tcp" as const, targetPort: nodePort }];
  const failed = await cloud.client.patchLoadBalancer(lb.id, { listeners }, soon());
  const reason = `PortInUse: another process listens on ${lb.address}:8082`;
  expect(failed).toMatchObject({
    loadBalancer: { state: "failed", stateReason: reason, listeners: [{ status: "failed", reason }] },
    operation: { state: "failed", message: reason },
  });
  squatter.close();
  const healed = await poll("the second try", async () => {
    const latest = await cloud.client.getLoadBalancer(lb.id, soon());
    return latest.state === "active" ? latest : undefined;
  });
  expect(healed).toMatchObject({ stateReason: "", listeners: [{ status: "listening" }] });
  expect(await ask(lb, "x", "127.0.0.1", 8082)).toBe("node-0:x");
});

describe("what takes time", () => {
  test("is an operation whose progress can be followed, and the load balancer works when it is done", async () => {
    await cloud.admin.change({ delays: { loadBalancerCreateMs: 300, loadBalancerDeleteMs: 300 } });
    const targets = await startNodes(1);
    const { loadBalancer: lb, operation } = await cloud.client.createLoadBalancer(
      {
        name: "slow",
        listeners: [{ port, protocol: "tcp", targetPort: nodePort }],
        targets: targets.map(({ id }) => id),
      },
      soon(),
    );
    expect([lb.state, operation?.state, await ask(lb)]).toEqual(["provisioning", "running", undefined]);
    const done = await poll("the operation", async () => {
      const latest = await cloud.client.operation(operation?.id ?? "", soon());
      return latest.state === "done" ? latest : undefined;
    });
    expect(done).toMatchObject({ type: "loadBalancer.create", resourceId: lb.id, progressPercent: 100 });
    expect(await ask(lb)).toBe("node-0:hello");
    const deleted = await cloud.client.deleteLoadBalancer(lb.id, soon());
    expect([deleted.loadBalancer.state, await ask(lb)]).toEqual(["deleting", undefined]);
    await poll("the end", async () =>
      (await cloud.client.listLoadBalancers({}, soon())).items.length === 0 ? true : undefined,
    );
  });

  test("of instances goes through its states", async () => {
    await cloud.admin.change({ delays: { instanceStartMs: 50, instanceTerminateMs: 50, tombstoneMs: 50 } });
    const [made] = await cloud.client.createInstances(instanceSpecs(1), soon());
    const id = made?.id ?? "";
    expect(made?.state).toBe("pending");
    const feed = async () => {
      const { events } = await cloud.client.events({ after: "0", kind: ["instance"] }, soon());
      return events.map(({ type, resource }) => (type === "deleted" ? type : Reflect.get(Object(resource), "state")));
    };
    await poll("running", async () => ((await feed()).at(-1) === "running" ? true : undefined));
    await cloud.client.terminateInstances([id], soon());
    await poll("the end", async () => ((await feed()).at(-1) === "deleted" ? true : undefined));
    expect(await feed()).toEqual(["pending", "running", "terminating", "terminated", "deleted"]);
  });
});
