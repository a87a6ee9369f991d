import { at } from "@cloudwire/test";
import { pick } from "../lib/random.ts";
import type { Site } from "./site.ts";

const PATH = "/api/v1/namespaces/default/services";
/** Not below 1024, which takes rights to listen on. */
const LOWEST_PORT = 8000;
const PORTS = 1000;

/** A Service as it shall be. */
export interface ServiceWish {
  readonly name: string;
  readonly uid: string;
  readonly type: "LoadBalancer" | "ClusterIP";
  readonly port: number;
}

/** The Services, as their users want them. */
export class ServiceWishes {
  readonly #site: Site;
  readonly #random: () => number;
  readonly #wishes = new Map<string, ServiceWish>();
  #named = 0;

  constructor(site: Site, random: () => number) {
    this.#site = site;
    this.#random = random;
  }

  get wanted(): readonly ServiceWish[] {
    return [...this.#wishes.values()];
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
    this.#wishes.set(name, { name, uid: String(at(made, "metadata", "uid")), type: "LoadBalancer", port });
  }

  async changePort(): Promise<void> {
    const wish = this.#pick();
    if (wish === undefined) return;
    const port = this.#port();
    const ports = [{ $patch: "replace" }, { port, protocol: "TCP", targetPort: port }];
    await this.#site.kube.patch(`${PATH}/${wish.name}`, { spec: { ports } });
    this.#wishes.set(wish.name, { ...wish, port });
  }

  /** The load balancer is given up, or wanted again. */
  async changeType(): Promise<void> {
    const wish = this.#pick();
    if (wish === undefined) return;
    const type = wish.type === "LoadBalancer" ? "ClusterIP" : "LoadBalancer";
    await this.#site.kube.patch(`${PATH}/${wish.name}`, { spec: { type } });
    this.#wishes.set(wish.name, { ...wish, type });
  }

  async delete(): Promise<void> {
    const wish = this.#pick();
    if (wish === undefined) return;
    await this.#site.kube.delete(`${PATH}/${wish.name}`);
    this.#wishes.delete(wish.name);
  }

  #pick(): ServiceWish | undefined {
    return pick(this.#random, this.wanted);
  }

  #port(): number {
    return LOWEST_PORT + Math.floor(this.#random() * PORTS);
  }
}
