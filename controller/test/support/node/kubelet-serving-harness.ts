import type { CertificateSigningRequest } from "../../../src/api/certificate-signing-request.ts";
import { KUBELET_SERVING_CSR_APPROVER } from "../../../src/api/controller-names.ts";
import type { EventInput } from "../../../src/api/event.ts";
import type { Node, NodeAddress } from "../../../src/api/node.ts";
import { kubeletServing } from "../../../src/controllers/kubelet-serving-csr-approver/controller.ts";
import { CERTIFICATE_SIGNING_REQUESTS } from "../../../src/kube/resources/certificate-signing-request.ts";
import type { InstanceResult } from "../../../src/provider/model/instance.ts";
import type { Provider } from "../../../src/provider/model/provider.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { instance, node } from "../builders.ts";
import { request, type RequestParts } from "./certificate-requests.ts";
import { built, controllerContext, REFUSING_CLIENT } from "../controller-context.ts";
import { FakeClock } from "../fake-clock.ts";
import { FakeInformer } from "../kube/fake-informer.ts";
import { FakeKube } from "../kube/fake-kube.ts";
import { FakeLog } from "../fake-log.ts";
import type { Observed } from "../explain/observed.ts";
import { idleProvider, info } from "../provider/provider-builders.ts";

const SERVICE_CIDRS = ["10.96.0.0/12"];

const NAME = "cloudwire_kubelet_serving";

/** Approver, API server and cloud in one process, under a clock that the test moves. */
export class KubeletServingHarness {
  readonly clock = new FakeClock();
  readonly kube = new FakeKube();
  readonly requests = new FakeInformer<CertificateSigningRequest>();
  readonly nodes = new FakeInformer<Node>();
  readonly log = new FakeLog();
  readonly metrics = new Metrics();
  /** `<object>: <message>`. */
  readonly events: string[] = [];
  /** Names of the Nodes that the cloud was asked about. */
  readonly asked: string[] = [];
  readonly says = new Map<string, InstanceResult>();
  untrustedReason: string | undefined;
  /** Set before the start. */
  apiServerHost = "api.test";
  /** Why the addresses of the cluster cannot be read. */
  clusterFailure: Error | undefined;
  /** Set before the start: nothing is written, all is planned. */
  observed: Observed | undefined;
  readonly #stop = new AbortController();
  readonly #onReady = new Set<() => void>();
  #running: Promise<void> = Promise.resolve();

  start(): void {
    const { clock, log, observed } = this;
    const kube = observed?.client(this.kube) ?? this.kube;
    const record = ({ regarding, message }: EventInput): void => void this.events.push(`${regarding.name}: ${message}`);
    const registered = kubeletServing.register(
      controllerContext({
        name: KUBELET_SERVING_CSR_APPROVER,
        options: {},
        clock,
        log,
        metrics: this.metrics,
        kubeletServingRequests: this.requests,
        apiServerHost: this.apiServerHost,
        nodes: this.nodes,
        instances: {
          get: ({ metadata }) => {
            this.asked.push(metadata.name);
            const { says } = this;
            return Promise.resolve(says.get(metadata.name) ?? { kind: "notOwned", message: "unowned" });
          },
        },
        providers: [this.#provider()],
        client: {
          ...REFUSING_CLIENT,
          get: async (resource) => {
            const { clusterFailure } = this;
            if (clusterFailure !== undefined) throw clusterFailure;
            return resource.fromJson({ endpoints: [{ addresses: ["192.0.2.10"] }] });
          },
          list: (resource) =>
            Promise.resolve({
              items: [resource.fromJson({ spec: { cidrs: SERVICE_CIDRS } })],
              resourceVersion: "1",
              continue: "",
            }),
          patch: async (resource, name, patch, options) => {
            const written = await kube.patch(resource, name, patch, options);
            this.show(name.name);
            return written;
          },
        },
        record: observed?.events(record) ?? record,
        ...(observed && { controllerMetrics: { planned: observed.reporting(KUBELET_SERVING_CSR_APPROVER) } }),
        readyListeners: this.#onReady,
      }),
    );
    const controller = built(registered);
    const { signal } = this.#stop;
    this.#running = controller.run({ stop: signal, abort: signal });
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("the test is over"));
    await this.#running;
  }

  /** A running machine of that name, and its Node. */
  machine(name: string, addresses: readonly NodeAddress[]): void {
    this.cloudSays(name, addresses);
    this.nodes.set(node(name, { spec: { providerID: `acme://${name}` } }));
  }

  cloudSays(name: string, addresses: readonly NodeAddress[]): void {
    const facts = instance({ name, providerId: `acme://${name}`, addresses });
    const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: 0 };
    this.says.set(name, { kind: "present", instance: facts, readTimeMs: 0, witness });
  }

  /** A request as the kubelet of node-a makes it, now, unless said otherwise. */
  ask(name: string, parts: RequestParts = {}, spec: object = {}): void {
    const creationTimestamp = new Date(this.clock.nowMs()).toISOString();
    this.kube.seed(CERTIFICATE_SIGNING_REQUESTS, {
      metadata: { name, uid: `uid-${name}`, creationTimestamp },
      spec: {
        request: request(parts),
        signerName: "kubernetes.io/kubelet-serving",
        usages: ["digital signature", "server auth"],
        username: "system:node:node-a",
        groups: ["system:nodes"],
        ...spec,
      },
      status: {},
    });
    this.show(name);
  }

  /** The cache sees the request as the server has it. */
  show(name: string): void {
    const stored = this.kube.stored(CERTIFICATE_SIGNING_REQUESTS, { name });
    if (stored !== undefined) this.requests.set(CERTIFICATE_SIGNING_REQUESTS.fromJson(stored));
  }

  providerReady(): void {
    for (const listener of this.#onReady) listener();
  }

  /** Names of the requests that were approved, in order. */
  get approved(): readonly string[] {
    return this.kube.writes.map(({ verb, target }) => `${verb} ${target}`);
  }

  decisions(decision: string): Promise<number | undefined> {
    return this.metrics.value(`${NAME}_csr_decisions_total`, { decision });
  }

  notApproved(reason: string): Promise<number | undefined> {
    return this.metrics.value(`${NAME}_csrs_not_approved`, { reason });
  }

  #provider(): Provider {
    const untrustedReason = () => this.untrustedReason;
    return {
      ...idleProvider("acme", info({})),
      get untrustedReason() {
        return untrustedReason();
      },
    };
  }
}
