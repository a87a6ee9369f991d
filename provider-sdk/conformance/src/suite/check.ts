import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Caller } from "../endpoint/caller.ts";
import type { Connection } from "../endpoint/connection.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Exchange } from "../endpoint/exchange.ts";
import type { ProviderProcess } from "../endpoint/provider-process.ts";
import type { Fixtures } from "./fixtures.ts";
import type { CheckHooks, HookName } from "./hooks.ts";

/** How much a check takes: nothing, real instances, changes in the cloud, restarts, size. In that order. */
export const levels = ["S", "R", "M", "D", "X"] as const;
export type Level = (typeof levels)[number];

/** What a provider can be conformant to, and the capability that claims it. */
export const profiles = {
  core: "",
  instances: "instances",
  "instances-list": "instances.list",
  "instances-watch": "instances.watch",
  loadbalancer: "load_balancers",
  "lb-watch": "load_balancers.watch",
  routes: "routes",
  volumes: "volumes",
  // What needs more than the provider: planted secrets, a cloud that can be broken.
  resilience: "",
  // Speed and memory with as much as the largest clusters have.
  "scale-15k": "",
} as const;
export type ProfileName = keyof typeof profiles;

/** Parts of the configuration that a check cannot do without. */
export type FixtureName =
  | "instance"
  | "otherInstance"
  | "stoppedProviderId"
  | "terminatedProviderId"
  | "absentProviderId"
  | "volume"
  | "absentVolumeHandle"
  | "malformedVolumeHandle"
  | "canarySecret"
  | "scale";

/** A provider that a check has started for itself. */
export interface OwnProvider {
  readonly socketPath: string;
  readonly endpoint: Endpoint;
  readonly process: ProviderProcess;
}

/** One that is served over TCP, with certificates that the kit has made. */
export interface OwnTlsProvider extends Pick<OwnProvider, "endpoint" | "process"> {
  /** Puts another certificate and key into the provider's files. */
  readonly renew: () => Promise<void>;
}

/** What a running check works with. */
export interface CheckContext {
  /** The handshake that the run began with. */
  readonly info: GetProviderInfoResponse;
  readonly endpoint: Endpoint;
  readonly fixtures: Fixtures;
  /** What the vendor lets checks do to its cloud; what a check sets is undone at its end. */
  readonly hooks: CheckHooks;
  /** Calls over the connection that all checks share. */
  readonly caller: Caller;
  /** `context` of requests: the provider's scope and a cluster that the cloud has never seen. */
  readonly callContext: { readonly cluster: { readonly id: string; readonly name: string }; readonly scopeId: string };
  /** One more connection; it ends with the check. */
  readonly connect: () => Connection;
  /**
   * Starts the provider once more, at a socket of its own or at the one that is said; it ends with the check. Undefined: the kit did not start the
   * provider and does not know how.
   */
  readonly start: ((socketPath?: string) => Promise<OwnProvider>) | undefined;
  /** The same over TCP with TLS. */
  readonly startTls: (() => Promise<OwnTlsProvider>) | undefined;
  /** Waits until a provider answers that a check has started. */
  readonly ready: (own: Pick<OwnProvider, "endpoint" | "process">) => Promise<GetProviderInfoResponse>;
  /** Aborted when the check's time is up. */
  readonly signal: AbortSignal;
  /** Numbers from 0 to 1, the same for the same seed and check. */
  readonly random: () => number;
  /** How much slower than a quiet machine this one is said to be: thresholds are multiplied by it. */
  readonly slowFactor: number;
  /** Checks of things that take minutes wait for them: otherwise they look at their beginning only. */
  readonly long: boolean;
  /** Stands for the run: the same object for all its checks. */
  readonly run: object;
}

/** One thing that a provider has to do, and how to find out. */
export interface Check {
  /** Dotted, stable for ever: `err.frame.garbage`. */
  readonly id: string;
  readonly level: Level;
  readonly profile: ProfileName;
  /** What holds, as a sentence without full stop. */
  readonly title: string;
  /** Ids of rules in the specification. */
  readonly rules: readonly string[];
  /** What goes wrong in a cluster otherwise, and what is usually the cause. */
  readonly why: string;
  /** Ids of checks without which this one says nothing. */
  readonly requires?: readonly string[];
  /** Path of the capability that must be claimed. Default: the profile's. */
  readonly capability?: string;
  readonly fixtures?: readonly FixtureName[];
  /** Actions of the vendor's without which it cannot run. */
  readonly hooks?: readonly HookName[];
  /** Starts providers of its own: only where the kit was given a command. */
  readonly starts?: true;
  /** Where the endpoint must be, "tcp" with TLS or without; default anywhere. */
  readonly transport?: "unix" | "tcp" | "tls";
  /** Its result is reported and never counts. */
  readonly advisory?: boolean;
  /** Measures time or fills the connection: nothing else runs meanwhile. */
  readonly exclusive?: boolean;
  /** In how long it has to end, on a machine that is not slow. Default: 15 s. */
  readonly timeoutMs?: number | ((fixtures: Fixtures) => number);
  readonly run: (context: CheckContext) => Promise<void>;
}

/** What a check found. */
export interface Finding {
  /** One sentence: what is wrong. */
  readonly message: string;
  readonly expected?: string;
  readonly got?: string;
  /** The call that shows it. */
  readonly exchange?: Exchange;
}

/** Thrown by a check: the provider does not keep the rule. */
export class CheckFailure extends Error {
  override readonly name = "CheckFailure";
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.message);
    this.finding = finding;
  }
}

/** Thrown by a check that has nothing to evaluate, or may not do what it needs. */
export class CheckSkipped extends Error {
  override readonly name = "CheckSkipped";
  readonly reason: "capability" | "limit";

  constructor(message: string, reason: "capability" | "limit" = "capability") {
    super(message);
    this.reason = reason;
  }
}

/** Work whose result several checks look at: done once a run, by the first that asks. */
export const oncePerRun = <Value>(
  make: (context: CheckContext) => Promise<Value>,
): ((context: CheckContext) => Promise<Value>) => {
  const made = new WeakMap<object, { readonly value: Promise<Value>; readonly caller: Caller }>();
  return (context) => {
    const { caller } = context;
    const before = made.get(context.run);
    if (before !== undefined) {
      caller.borrow(before.caller);
      return before.value;
    }
    const value = make(context);
    made.set(context.run, { value, caller });
    return value;
  };
};
