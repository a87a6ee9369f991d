import { at } from "@cloudwire/test";
import { pick } from "../lib/random.ts";
import type { Site } from "./site.ts";

const PATH = "/api/v1/namespaces/default/services";
/** Not below 1024, which requires permissions. */
const LOWEST_PORT = 8000;
const PORTS = 1000;

/** A Service with its desired type and port. */
export interface DesiredService {
  readonly name: string;
  readonly uid: string;
  readonly type: "LoadBalancer" | "ClusterIP";
  readonly port: number;
}

/** Creates, changes and deletes Services, and knows their desired state. */
export class DesiredServices {
  readonly #site: Site;
  readonly #random: () => number;
  readonly #desired = new Map<string, DesiredService>();
  #named = 0;

  constructor(site: Site, random: () => number) {
    this.#site = site;
    this.#random = random;
  }

  get wanted(): readonly DesiredService[] {
    return [...this.#desired.values()];
  }

  async create(): Promise<void> {
    const name = `web-${String(this.#named).padStart(4, "0")}`;
    this.#named += 1;
    const port = this.#port();
    const made = await this.#site.kube.create(PATH, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port, protocol: "TCP" }] },
    });
    this.#desired.set(name, { name, uid: String(at(made, "metadata", "uid")), type: "LoadBalancer", port });
  }

  async changePort(): Promise<void> {
    const service = this.#pick();
    if (service === undefined) return;
    const port = this.#port();
    const ports = [{ $patch: "replace" }, { port, protocol: "TCP", targetPort: port }];
    await this.#site.kube.patch(`${PATH}/${service.name}`, { spec: { ports } });
    this.#desired.set(service.name, { ...service, port });
  }

  /** Removes or requests the load balancer. */
  async changeType(): Promise<void> {
    const service = this.#pick();
    if (service === undefined) return;
    const type = service.type === "LoadBalancer" ? "ClusterIP" : "LoadBalancer";
    await this.#site.kube.patch(`${PATH}/${service.name}`, { spec: { type } });
    this.#desired.set(service.name, { ...service, type });
  }

  async delete(): Promise<void> {
    const service = this.#pick();
    if (service === undefined) return;
    await this.#site.kube.delete(`${PATH}/${service.name}`);
    this.#desired.delete(service.name);
  }

  #pick(): DesiredService | undefined {
    return pick(this.#random, this.wanted);
  }

  #port(): number {
    return LOWEST_PORT + Math.floor(this.#random() * PORTS);
  }
}
