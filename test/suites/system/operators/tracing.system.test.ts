import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeBundles } from "../../../support/bundles.ts";
import { eventually } from "../../../support/eventually.ts";
import { OtlpReceiver } from "../../tracing/otlp-receiver.ts";
import type { ReceivedSpan } from "../../tracing/otlp-spans.ts";
import { shareWithContainers } from "../support/containers.ts";
import { Harness } from "../support/harness.ts";

const NODE = "traced-a";
const LOOK_UP = "cloudprovider.v1.CloudProvider/BatchGetInstances";

let directory: string;
let receiver: OtlpReceiver;
let controlPlane: ControlPlane;
let harness: Harness;
/** Spans of harnesses before. */
let before = 0;

beforeAll(async () => {
  await buildControlPlane();
  directory = await mkdtemp(join(tmpdir(), "tracing-"));
  await shareWithContainers(directory);
  receiver = await OtlpReceiver.start();
  // Its certificate has the authority that its clients trust, and no other.
  controlPlane = await startControlPlane({ apiServerArgs: [await tracingFlag("api-server", "")] });
}, 60 * 60_000);
afterEach(() => harness[Symbol.asyncDispose]());
afterAll(async () => {
  await controlPlane.stop();
  await receiver[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

/** The flag of the API server's and of the controller's, over a file of its own. */
async function tracingFlag(name: string, sampling: string): Promise<string> {
  const path = join(directory, `${name}.yaml`);
  const endpoint = new URL(receiver.url).host;
  await writeFile(
    path,
    `apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: ${endpoint}\n${sampling}`,
  );
  return `--tracing-config-file=${path}`;
}

async function bundlesIn(path: string): Promise<string> {
  await makeBundles(path);
  return path;
}

/** The first such span; the API server sends its own off every five seconds. */
function spanOf(what: string, isWanted: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
  return eventually(
    `a span of ${what}`,
    30_000,
    () => receiver.spans.slice(before).find(isWanted),
    () => JSON.stringify(receiver.spans.map(({ service, name, kind }) => [service, name, kind])),
  );
}

test.each([
  ["from their sources", async () => ({})],
  ["as they are shipped", async () => ({ bundles: await bundlesIn(join(directory, "programs")) })],
])(
  "one trace leads from a reconcile to the provider, and through the API server to etcd: programs %s",
  async (_name, optionsOf) => {
    harness = await Harness.start(controlPlane, await optionsOf());
    before = receiver.spans.length;
    await harness.startSidecar({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } });
    // The API server goes on with traces of few, among them administrators (docs/explanation/tracing.md).
    const { kubeconfigPath } = controlPlane;
    const args = [await tracingFlag("controller", "samplingRatePerMillion: 1000000\n")];
    harness.startController({ kubeconfigPath, args });
    await harness.createMachines([{ name: NODE, zone: "north-a" }]);
    await harness.registerNode(NODE);
    await harness.initialized(NODE);

    const patch = await spanOf("a patch of the node", ({ name }) => name === "PATCH nodes");
    const reconcile = await spanOf("its reconcile", ({ spanId }) => spanId === patch.parentSpanId);
    const lookUp = await spanOf(
      "its look-up",
      (span) => span.name === LOOK_UP && span.parentSpanId === reconcile.spanId,
    );
    const served = await spanOf("the provider", ({ parentSpanId }) => parentSpanId === lookUp.spanId);
    const patched = await spanOf("the API server", ({ parentSpanId }) => parentSpanId === patch.spanId);
    const stored = await spanOf(
      "etcd's client",
      (span) => span.traceId === patch.traceId && span.name.startsWith("etcdserverpb."),
    );

    expect(
      [patch, reconcile, lookUp, served, patched, stored].map(({ service, traceId }) => [service, traceId]),
    ).toEqual(
      [
        "cloudwire-controller-manager",
        "cloudwire-controller-manager",
        "cloudwire-controller-manager",
        "cloudwire-provider-simulated",
        "apiserver",
        "apiserver",
      ].map((service) => [service, reconcile.traceId]),
    );
    expect(reconcile).toMatchObject({
      name: "reconcile cloud-node-controller",
      parentSpanId: "",
      attributes: { "cloudwire.key": NODE },
    });
  },
);
