import { setTimeout as wait } from "node:timers/promises";
import { serialize } from "node:v8";
import { absent, type Instance, type InstanceEvent, ProviderError } from "@cloudwire/provider-sdk";
import type { Hooks, HookVariables } from "../suite/hooks.ts";
import { ReferenceFeed } from "./feed.ts";

/** How long a new machine is hidden from reads. */
const hiddenMs = 300;
/** How often the provider looks for new credentials. */
const rereadMs = 200;
/** Longest time of one call of the cloud. */
const callTimeoutMs = 1_500;

const firstKey = "key-1";
const otherKey = "key-2";

/** What the cloud gets to know about a call. */
interface CallScope {
  readonly signal: AbortSignal;
}

interface Made {
  readonly instance: Instance;
  readonly visibleMs: number;
}

/** What can be done to the reference provider's cloud, and what its calls then come to. */
export class ReferenceControl {
  readonly feed = new ReferenceFeed<InstanceEvent>();
  readonly #made = new Map<string, Made>();
  readonly #terminated = new Set<string>();
  #fault: "block" | "429" | "500" | "hang" | "quota" | undefined;
  #darkZone: string | undefined;
  /** The key that the cloud accepts, the one where the provider finds it, and the one that it has read. */
  #keys: { readonly accepted: string | undefined; readonly reported: string } = {
    accepted: firstKey,
    reported: firstKey,
  };
  #read = { key: firstKey, timeMs: 0 };
  #calls = 0;

  /** As a vendor configures them. */
  readonly hooks: Hooks = {
    instanceCreate: action(({ CONFORMANCE_NODE_NAME: name = "" }) => this.#create(name)),
    instanceStop: action(({ CONFORMANCE_NODE_NAME: name = "" }) => this.#move(name, "STOPPED")),
    instanceStart: action(({ CONFORMANCE_NODE_NAME: name = "" }) => this.#move(name, "RUNNING")),
    instanceTerminate: action(({ CONFORMANCE_NODE_NAME: name = "" }) => this.#terminate(name)),
    cloudBlock: action(() => void (this.#fault = "block")),
    cloudUnblock: action(() => void (this.#fault = undefined)),
    cloudFault429: action(() => void (this.#fault = "429")),
    cloudFault500: action(() => void (this.#fault = "500")),
    cloudFaultHang: action(() => void (this.#fault = "hang")),
    cloudFaultQuota: action(() => void (this.#fault = "quota")),
    cloudFaultClear: action(() => void (this.#fault = undefined)),
    credRevoke: action(() => void (this.#keys = { accepted: undefined, reported: firstKey })),
    credRotate: action(() => void (this.#keys = { accepted: otherKey, reported: otherKey })),
    credRestore: action(() => void (this.#keys = { accepted: firstKey, reported: firstKey })),
    zoneOutage: action(({ CONFORMANCE_ZONE: zone }) => void (this.#darkZone = zone)),
    zoneRestore: action(() => void (this.#darkZone = undefined)),
    cloudCallCount: action(() => ({ calls: this.#calls })),
    // It shares the kit's process: report the memory of its own data, not that of the process.
    procStats: action(() => ({ rssBytes: serialize([...this.#made, ...this.#terminated]).byteLength, openFiles: 0 })),
  };

  /** A call of the cloud: ends well, or as the cloud's state has it. */
  async ask({ signal }: CallScope, isCreation = false): Promise<void> {
    this.#calls++;
    const nowMs = performance.now();
    if (nowMs - this.#read.timeMs >= rereadMs) this.#read = { key: this.#keys.reported, timeMs: nowMs };
    if (this.#fault === "hang") await wait(callTimeoutMs, undefined, { signal, ref: false });
    const error = this.#errorOf(isCreation);
    if (error !== undefined) throw error;
  }

  /** Machines that actions have made, as far as the cloud shows them. */
  get machines(): readonly Instance[] {
    const nowMs = performance.now();
    return [...this.#made.values()].filter(({ visibleMs }) => visibleMs <= nowMs).map(({ instance }) => instance);
  }

  isTerminated(id: string): boolean {
    return this.#terminated.has(id);
  }

  isDark(zone: string | undefined): boolean {
    return zone !== undefined && zone === this.#darkZone;
  }

  #errorOf(isCreation: boolean): ProviderError | undefined {
    if (this.#fault === "block") return new ProviderError("CLOUD_UNAVAILABLE", "the cloud cannot be reached");
    if (this.#read.key !== this.#keys.accepted)
      return new ProviderError("CLOUD_CREDENTIALS_INVALID", "the cloud does not know the key");
    switch (this.#fault) {
      case "429":
        return new ProviderError("RATE_LIMITED", "the cloud is called too often", { retryAfterMs: 100 });
      case "500":
        return new ProviderError("CLOUD_UNAVAILABLE", "the cloud answered with status 500");
      case "hang":
        return new ProviderError("CLOUD_TIMEOUT", `the cloud did not answer within ${callTimeoutMs} ms`);
      case "quota":
        return isCreation ? usedUp() : undefined;
      case undefined:
        return undefined;
    }
    return this.#fault satisfies never;
  }

  #create(name: string): object {
    const id = `m-made-${name}`;
    const place = { zone: "zone-1", region: "region-1" };
    const instance: Instance = { id, name, type: "small", ...place, state: "RUNNING", addresses: { Hostname: [name] } };
    this.#made.set(name, { instance, visibleMs: performance.now() + hiddenMs });
    this.feed.publish({ kind: "upsert", instance });
    return { providerId: `acme://${id}` };
  }

  #move(name: string, state: "RUNNING" | "STOPPED"): void {
    const made = this.#made.get(name);
    if (made === undefined) throw new Error(`there is no machine ${name}`);
    const instance = { ...made.instance, state };
    this.#made.set(name, { ...made, instance });
    this.feed.publish({ kind: "upsert", instance });
  }

  #terminate(name: string): void {
    const made = this.#made.get(name);
    if (made === undefined) return;
    const { id } = made.instance;
    this.#made.delete(name);
    this.#terminated.add(id);
    this.feed.publish({ kind: "gone", id, absence: absent("TERMINATED", { stronglyConsistent: true }) });
  }
}

const usedUp = (): ProviderError =>
  new ProviderError("QUOTA_EXCEEDED", "the account has as many load balancers as it may have", {
    quota: { subject: "account", description: "load balancers" },
  });

const action = (act: (variables: HookVariables) => object | void) =>
  ({ kind: "function", call: (variables: HookVariables) => JSON.stringify(act(variables) ?? {}) }) as const;
