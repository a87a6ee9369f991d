import type { ServiceRef } from "@cloudwire/proto/cloudprovider/v1/load_balancer";

/** A machine of the fake cloud, as the contract's Instance has it. */
export interface Machine {
  readonly providerId: string;
  readonly zone?: string;
  readonly region?: string;
  readonly instanceType?: string;
  /** Contract's type number (1 InternalIP, 2 ExternalIP, 3 Hostname) and address. */
  readonly addresses?: readonly { readonly type: 1 | 2 | 3; readonly address: string }[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** A load balancer of the fake cloud. */
export interface Balancer {
  readonly id: string;
  readonly ip: string;
  readonly service: ServiceRef;
  specFingerprint: string;
  nodesFingerprint: string;
  /** Changes when another client modifies it in the cloud. */
  observedFingerprint: string;
  nodes: readonly string[];
  /** Reads until it is ready. */
  pollsLeft: number;
  /** Addresses in responses; undefined: none. */
  ingress: readonly { readonly ip: string }[] | undefined;
}

/** One RPC, without handshake and status. */
export interface CloudCall {
  readonly method: string;
  /** Node names, or the Service's name. */
  readonly about: string;
  readonly request: unknown;
  readonly startMs: number;
  endMs: number | undefined;
}

/** May wait, or throw the error to be answered. */
export type Hook = (call: CloudCall) => void | Promise<void>;

/** What outlives providers: machines, load balancers, and a log of every call. */
export class Cloud {
  readonly machines = new Map<string, Machine>();
  /** By Service UID. */
  readonly balancers = new Map<string, Balancer>();
  readonly calls: CloudCall[] = [];
  /** Load balancers ever made. */
  created = 0;
  /** Reads until a new load balancer is ready, and until a deletion is done. */
  slowPolls = 0;
  /** Deletions under way: calls left. */
  readonly deleting = new Map<string, number>();
  /** Before a call has any effect. */
  before: Hook = () => undefined;
  /** After its effect, before its answer. */
  after: Hook = () => undefined;

  machine(name: string, parts: Partial<Machine> = {}): void {
    this.machines.set(name, { providerId: `acme://${name}`, ...parts });
  }

  /** `method about` of every call but reads of instances, in order. */
  get changes(): readonly string[] {
    return this.calls
      .filter(({ method }) => method !== "batchGetInstances")
      .map(({ method, about }) => `${method} ${about}`);
  }

  /** Runs `answer` as one call: logged, hooked, timed. */
  async serve<Answer>(method: string, about: string, request: unknown, answer: () => Answer): Promise<Answer> {
    const call: CloudCall = { method, about, request, startMs: performance.now(), endMs: undefined };
    this.calls.push(call);
    try {
      await this.before(call);
      const result = answer();
      await this.after(call);
      return result;
    } finally {
      call.endMs = performance.now();
    }
  }

  /** Calls about one Service that ran at the same time. */
  get overlaps(): readonly string[] {
    return this.calls.flatMap((call, index) =>
      this.calls
        .slice(index + 1)
        .filter((later) => later.about === call.about && (call.endMs === undefined || later.startMs < call.endMs))
        .map((later) => `${call.method} and ${later.method} of ${call.about}`),
    );
  }

  ensure(service: ServiceRef, specFingerprint: string, nodesFingerprint: string, nodes: readonly string[]): Balancer {
    const existing = this.balancers.get(service.uid);
    if (existing !== undefined) {
      Object.assign(existing, { specFingerprint, nodesFingerprint, nodes, observedFingerprint: "up-to-date" });
      return existing;
    }
    const number = ++this.created;
    const balancer: Balancer = {
      id: `lb-${number}`,
      ip: `192.0.2.${number}`,
      service,
      specFingerprint,
      nodesFingerprint,
      observedFingerprint: "up-to-date",
      nodes,
      pollsLeft: this.slowPolls,
      ingress: [{ ip: `192.0.2.${number}` }],
    };
    this.balancers.set(service.uid, balancer);
    return balancer;
  }

  /** True once nothing is left. */
  delete(uid: string): boolean {
    const left = this.deleting.get(uid) ?? (this.balancers.has(uid) ? this.slowPolls : 0);
    this.deleting.set(uid, left - 1);
    if (left > 0) return false;
    this.deleting.delete(uid);
    this.balancers.delete(uid);
    return true;
  }
}
