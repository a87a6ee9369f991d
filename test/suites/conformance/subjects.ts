import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { startControlPlane } from "@cloudwire/control-plane";
import { CloudClient, loopbackPools, startCloud } from "@cloudwire/provider-simulated";
import { startAws } from "../languages/support/emulated-aws.ts";
import { startAwsSubject } from "./aws-subject.ts";
import type { Host, Started, Subject } from "./subject.ts";

const API_KEY = "demo-key";
/** Most machines that the simulated cloud makes at once. */
const BATCH = 100;

/** Whatever is not on loopback meets a port that no one listens at: a mistake must not reach a real cloud. */
const LOOPBACK_ONLY = { HTTP_PROXY: "http://127.0.0.1:9", HTTPS_PROXY: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1" };

const inTree = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** What vendors copy from the simulated cloud's documentation, hooks included. */
const SIMULATED_CONFIG = inTree("providers/simulated/conformance.yaml");
/** As many as the configuration says that there are. */
const SCALE_INSTANCES = 2_000;

let clouds = 0;

/** A provider of the simulated cloud, with a cloud of its own. */
const overSimulatedCloud =
  (command: Started["command"]) =>
  async (host: Host): Promise<Started> => {
    // Nothing listens at the addresses of instances.
    const cloud = await startCloud({ ...loopbackPools(process.pid + ++clouds), instancePool: "10.64.0.0/16" });
    host.defer(() => cloud.close());
    const signal = AbortSignal.timeout(60_000);
    const client = new CloudClient({ url: cloud.url, apiKey: API_KEY });
    const named = ["node-1", "node-2", "node-3", "node-4"];
    // One of the four is terminated below, and no longer listed.
    const moreCount = SCALE_INSTANCES - named.length + 1;
    const names = [...named, ...Array.from({ length: moreCount }, (_, index) => `more-${index}`)];
    const ids: string[] = [];
    for (let start = 0; start < names.length; start += BATCH) {
      const items = names.slice(start, start + BATCH).map((name) => ({ name, zone: "north-a" }));
      ids.push(...(await client.createInstances(items, signal)).map(({ id }) => id));
    }
    const [, other = "", stopped = "", terminated = ""] = ids;
    await client.stopInstance(stopped, signal);
    await client.terminateInstances([terminated], signal);
    const volume = await client.createVolume({ name: "volume-1", zone: "north-a", sizeGiB: 1 }, signal);
    const keyFile = join(host.directory, "key");
    await writeFile(keyFile, API_KEY);
    const more = {
      otherInstance: { providerId: `sim://north-a/${other}`, nodeName: "node-2" },
      stoppedProviderId: `sim://north-a/${stopped}`,
      terminatedProviderId: `sim://north-a/${terminated}`,
      volume: { handle: volume.id, zones: ["north-a"], region: "north" },
      malformedVolumeHandle: "?",
    };
    return {
      command,
      env: { SIMCLOUD_URL: cloud.url, SIMCLOUD_API_KEY_FILE: keyFile },
      config: `${await readFile(SIMULATED_CONFIG, "utf8")}${blockOf(more)}`,
    };
  };

/** More keys of a configuration: JSON is YAML. */
const blockOf = (more: object): string =>
  Object.entries(more)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join("");

const startFake = async (host: Host): Promise<Started> => {
  const machine = (number: number) => ({
    name: `node-${number}`,
    providerID: `fake://node-${number}`,
    type: "small",
    zone: "zone-1",
    region: "region-1",
    addresses: [{ type: "InternalIP", address: `192.0.2.${number}` }],
  });
  const cloudConfig = join(host.directory, "fake.json");
  await writeFile(cloudConfig, JSON.stringify({ machines: [machine(1), machine(2)] }));
  return {
    command: [inTree("test/programs/bridged/fake/bin/provider-fake"), `--cloud-config=${cloudConfig}`],
    config: blockOf({
      instance: {
        providerId: "fake://node-1",
        nodeName: "node-1",
        type: "small",
        zone: "zone-1",
        region: "region-1",
        addresses: ["192.0.2.1"],
      },
      otherInstance: { providerId: "fake://node-2", nodeName: "node-2" },
      absentProviderId: "fake://node-0",
      loadBalancer: { timeoutSeconds: 20 },
    }),
  };
};

const startBridgedAws = async (host: Host): Promise<Started> => {
  const { cloud, sidecar } = await startAws(host);
  const [first, second] = [await cloud.run("us-east-1a"), await cloud.run("us-east-1b")];
  return {
    command: [inTree("test/programs/bridged/aws/bin/provider-aws"), ...(sidecar.args ?? [])],
    env: { ...LOOPBACK_ONLY, ...sidecar.env },
    config: blockOf({
      instance: {
        providerId: `aws:///${first.zone}/${first.id}`,
        nodeName: first.name,
        type: "m5.large",
        zone: first.zone,
        region: "us-east-1",
      },
      otherInstance: { providerId: `aws:///${second.zone}/${second.id}`, nodeName: second.name },
      absentProviderId: "aws:///us-east-1a/i-00000000000000000",
      loadBalancer: {
        annotations: { "service.beta.kubernetes.io/aws-load-balancer-type": "nlb" },
        timeoutSeconds: 20,
      },
    }),
  };
};

const startBridgedGcp = async (host: Host): Promise<Started> => {
  // The vendor's code reads the cluster's id from a ConfigMap.
  const controlPlane = await startControlPlane();
  host.defer(() => controlPlane.stop());
  return {
    command: [
      inTree("test/programs/bridged/gcp/bin/provider-gcp"),
      `--kubeconfig=${controlPlane.kubeconfigPath}`,
      "--scope=test-project",
    ],
    env: { ...LOOPBACK_ONLY, FAKE_GCE_MACHINES: "2" },
    config: blockOf({
      instance: {
        providerId: "gce://test-project/us-central1-b/machine-1",
        nodeName: "machine-1",
        type: "n1-standard-1",
        zone: "us-central1-b",
        region: "us-central1",
        addresses: ["10.128.0.1"],
      },
      otherInstance: { providerId: "gce://test-project/us-central1-b/machine-2", nodeName: "machine-2" },
      absentProviderId: "gce://test-project/us-central1-b/machine-0",
      loadBalancer: { needsNodes: true, timeoutSeconds: 20 },
    }),
  };
};

const because = (reason: string, ...ids: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(ids.map((id) => [id, reason]));

const WITHOUT_CLUSTER = "upstream's interface does not say which cluster asks";
/** What no provider behind the bridge can do, for upstream's interface has no place for it. */
const bridgedFailing = {
  ...because("upstream's interface does not report what a call costs in the cloud", "obs.stats"),
  ...because(`${WITHOUT_CLUSTER}: load balancers are named by the Service alone`, "lb.cluster.isolated"),
  ...because("upstream's interface cannot report a node that was left out", "lb.nodes.unknown-node"),
};

const simulated = "It works with the simulated cloud, whose faults and delays are off.";

/** Every provider that this repository ships, in the order of the index. */
export const subjects: readonly Subject[] = [
  {
    name: "simulated",
    title: "the simulated provider in TypeScript",
    cloud: simulated,
    level: "D",
    knownFailing: {},
    start: overSimulatedCloud([
      process.execPath,
      "--conditions=development",
      inTree("providers/simulated/src/sidecar/main.ts"),
    ]),
  },
  {
    name: "simulated-go",
    title: "the simulated provider in Go",
    cloud: simulated,
    level: "D",
    knownFailing: {},
    start: overSimulatedCloud([inTree("providers/simulated-go/bin/provider-simulated-go")]),
  },
  {
    name: "simulated-python",
    title: "the simulated provider in Python",
    cloud: simulated,
    level: "D",
    knownFailing: {},
    start: overSimulatedCloud([
      inTree("provider-sdk/python/.venv/bin/python"),
      inTree("providers/simulated-python/main.py"),
    ]),
  },
  {
    name: "bridged-fake",
    title: "upstream's fake cloud, bridged",
    cloud:
      "It is upstream's own fake of a provider behind the bridge, with machines, load balancers and routes in its memory.",
    level: "D",
    knownFailing: {
      ...bridgedFailing,
      ...because(
        "upstream's fake gives one address of its own choice to each load balancer",
        "lb.ensure.dual-stack",
        "lb.ensure.requested-ip",
        "lb.ensure.address-in-use",
      ),
      ...because("upstream's fake looks up no targets", "route.unknown-target"),
      ...because(
        `${WITHOUT_CLUSTER}: the fake has one list of routes, by range, for everyone`,
        "route.managed-only",
        "route.conflict",
        "route.retarget",
        "route.delete.foreign",
      ),
    },
    start: startFake,
  },
  {
    name: "aws",
    title: "the provider for AWS",
    cloud: "It works with moto's emulation of EC2 and ELB, which fails as the kit requests.",
    level: "D",
    knownFailing: {},
    start: startAwsSubject,
  },
  {
    name: "bridged-aws",
    title: "the provider of Kubernetes for AWS, bridged",
    cloud: "It is the vendor's code, unchanged, over moto's emulation of EC2 and ELB.",
    level: "M",
    knownFailing: {
      ...bridgedFailing,
      ...because(
        "the vendor's code refuses it with its own error, without a code for the bridge",
        "lb.ensure.session-affinity",
        "lb.ensure.mixed-protocols",
      ),
      ...because(
        "the vendor's list of routes fails as soon as two machines have one (test/programs/bridged/README.md)",
        "route.create",
      ),
    },

    start: startBridgedAws,
  },
  {
    name: "bridged-gcp",
    title: "the provider of Kubernetes for Google Cloud, bridged",
    cloud: "It is the vendor's code, unchanged, over the fake of the compute API that it brings for its own tests.",
    level: "M",
    knownFailing: {
      ...bridgedFailing,
      ...because("the vendor's code does not say whether a machine runs", "inst.state.running"),
      ...because(
        "the vendor's code asks the cluster for the Service's namespace, which has to exist",
        "lb.ensure.mixed-protocols",
      ),
      ...because("the vendor's code knows IPv4 only for such load balancers", "lb.ensure.dual-stack"),
      ...because(
        "the vendor's code takes addresses that were reserved before, and refuses others with an error of its own",
        "lb.ensure.requested-ip",
        "lb.ensure.address-in-use",
      ),
      ...because("the vendor's code refuses a load balancer none of whose nodes is a machine", "nset.atomic"),
      ...because("the vendor's code finds the target of a route by the Node's name alone", "route.unknown-target"),
      ...because(
        "the vendor's code names routes by the cluster's name and a hint, and takes any of that name for the one that the cluster wants",
        "route.managed-only",
        "route.conflict",
        "route.retarget",
        "route.delete.foreign",
      ),
    },
    start: startBridgedGcp,
  },
];
