import type { Cidr } from "@cloudwire/provider-sdk/addresses";
import type { AccountSpec, SettingsPatch } from "../api/admin.ts";
import { addAccount } from "./accounts.ts";
import { parseNetwork } from "./addresses.ts";
import { CallLog } from "./chaos/call-log.ts";
import { Faults } from "./chaos/faults.ts";
import { RateLimiter } from "./chaos/rate-limiter.ts";
import { ServingLimiter } from "./chaos/serving-limiter.ts";
import { SettingsStore } from "./chaos/settings.ts";
import { type Clock, systemClock } from "./clock.ts";
import { Forwarder } from "./forwarding/forwarder.ts";
import type { Geography } from "./geography.ts";
import { addAdminPaths } from "./http/admin.ts";
import { addEventPaths } from "./http/events.ts";
import { installRequestPipeline } from "./http/request-pipeline.ts";
import { addInstancePaths } from "./http/instances.ts";
import { addLoadBalancerPaths } from "./http/load-balancers.ts";
import { addRoutePaths } from "./http/routes.ts";
import { createHttpServer, type HttpServer } from "./http/server.ts";
import { addVolumePaths } from "./http/volumes.ts";
import { Notifier } from "./notifier.ts";
import { seededRandom } from "./random.ts";
import { Database } from "./store/database.ts";
import { readMeta, writeMeta } from "./store/meta.ts";
import { ResourceStore } from "./store/resource-store.ts";
import { Activation } from "./world/activation.ts";
import { instanceAddresses } from "./world/instance-addresses.ts";
import { Scheduler } from "./world/scheduler.ts";
import { resolveOffset } from "./port-offset.ts";
import { targetsOf } from "./world/targets.ts";
import type { World } from "./world/world.ts";

/** How to start a cloud; everything has a default. */
export interface CloudOptions {
  /** State file, or ":memory:" (default) for a cloud that forgets. */
  readonly statePath?: string;
  /** Address of the HTTP API, default 127.0.0.1. */
  readonly host?: string;
  /** Port of the HTTP API, default 0: any free one. */
  readonly port?: number;
  /** API keys, default account "demo" with the key "demo-key". */
  readonly accounts?: readonly AccountSpec[];
  /** Default: region north with zones north-a, -b, -c and region south with south-a, -b. */
  readonly geography?: Geography;
  /** Internal addresses of instances, default 127.10.0.0/16. */
  readonly instancePool?: string;
  /** Addresses of load balancers, default 127.20.0.0/16. */
  readonly loadBalancerPool?: string;
  /**
   * Added to the port of each listener to get the port really listened on, default 0. "auto": 0, or 10,000 where this
   * user may not listen below 1024.
   */
  readonly listenPortOffset?: number | "auto";
  /** Of the admin API. Without one it answers this machine only. */
  readonly adminKey?: string;
  /** Of ids, jitter and probabilities, default 1. */
  readonly seed?: number;
  /** Changes to the settings, made at the start. */
  readonly settings?: SettingsPatch;
  /** Of the JSON log on standard output, default "silent". */
  readonly logLevel?: string;
  readonly clock?: Clock;
}

/** A cloud that answers. */
export interface Cloud {
  /** Base URL of the API and of the admin API. */
  readonly url: string;
  /** Ends it: open calls and forwarded connections are cut, the state is kept. */
  readonly close: () => Promise<void>;
}

/** An option that cannot be: the message is for the user. */
export class CloudOptionsError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CloudOptionsError";
  }
}

/** Starts a simulated cloud in this process. */
export const startCloud = async (options: CloudOptions = {}): Promise<Cloud> => {
  const clock = options.clock ?? systemClock;
  const networks = {
    instances: poolOf("instance pool", options.instancePool ?? "127.10.0.0/16"),
    loadBalancers: poolOf("load balancer pool", options.loadBalancerPool ?? "127.20.0.0/16"),
  };
  const database = new Database(options.statePath ?? ":memory:");
  const notifier = new Notifier();
  const store = new ResourceStore(database, clock.now, () => {
    notifier.changed();
  });
  const settings = new SettingsStore(database);
  prepareState(database, settings, options);
  const forwarder = new Forwarder({
    targetsOf: (loadBalancerId) => targetsOf(database, loadBalancerId),
    addressOf: instanceAddresses(store),
    limits: { connectTimeoutMs: 1000, totalTimeoutMs: 10_000 },
    now: clock.now,
  });
  const world: World = {
    database,
    store,
    clock,
    settings: () => settings.get(),
    geography: options.geography ?? defaultGeography,
    networks,
    forwarder,
    listenPortOffset: await resolveOffset(options.listenPortOffset ?? 0, networks.loadBalancers),
  };
  const activation = new Activation(world);
  const server = createServer(world, settings, notifier, activation, options);
  const onError = (error: unknown): void => {
    server.log.error({ error }, "background step failed");
  };
  const scheduler = new Scheduler({ world, notifier, activation, onError });
  const close = async (): Promise<void> => {
    await scheduler.stop();
    await server.close();
    await forwarder.close();
    database.close();
  };
  try {
    await activation.resume();
    scheduler.start();
    const url = await server.listen({ host: options.host ?? "127.0.0.1", port: options.port ?? 0 });
    return { url, close };
  } catch (error) {
    await close();
    throw toOptionsError(error, options);
  }
};

const createServer = (
  world: World,
  settings: SettingsStore,
  notifier: Notifier,
  activation: Activation,
  options: CloudOptions,
): HttpServer => {
  const { database, clock, geography } = world;
  const random = seededRandom(options.seed ?? 1);
  const faults = new Faults({ now: clock.now, random, geography });
  const calls = new CallLog();
  const server = createHttpServer(options.logLevel ?? "silent");
  const rateLimiter = new RateLimiter(clock.now);
  const servingLimiter = new ServingLimiter(() => settings.get().concurrency);
  installRequestPipeline(server, {
    database,
    clock,
    random,
    settings: world.settings,
    faults,
    calls,
    rateLimiter,
    servingLimiter,
  });
  addInstancePaths(server, world);
  addLoadBalancerPaths(server, world, activation);
  addRoutePaths(server, world);
  addVolumePaths(server, world);
  addEventPaths(server, world, notifier);
  addAdminPaths(server, { world, database, settings, faults, calls, adminKey: options.adminKey });
  return server;
};

const prepareState = (database: Database, settings: SettingsStore, options: CloudOptions): void => {
  database.transaction(() => {
    // A state keeps the seed it was made with: ids must not come twice.
    if (readMeta(database, "seed") === undefined) writeMeta(database, "seed", String(options.seed ?? 1));
    for (const account of options.accounts ?? [{ id: "demo", key: "demo-key" }]) addAccount(database, account);
    if (options.settings) settings.change(options.settings);
  });
};

const defaultGeography: Geography = [
  { name: "north", zones: ["north-a", "north-b", "north-c"] },
  { name: "south", zones: ["south-a", "south-b"] },
];

const poolOf = (name: string, text: string): Cidr => {
  const cidr = parseNetwork(text);
  if (cidr?.family === 4 && cidr.prefixLength <= 30) return cidr;
  throw new CloudOptionsError(
    `${name} ${JSON.stringify(text)} is no IPv4 network of at least 4 addresses, such as 127.10.0.0/16`,
  );
};

const toOptionsError = (error: unknown, options: CloudOptions): unknown => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const place = `${options.host ?? "127.0.0.1"}:${options.port ?? 0}`;
  if (code === "EADDRINUSE")
    return new CloudOptionsError(`another process listens on ${place}: give another --listen`, { cause: error });
  if (code === "EACCES")
    return new CloudOptionsError(`may not listen on ${place}: take a port above 1023`, { cause: error });
  if (code === "EADDRNOTAVAIL") return new CloudOptionsError(`this machine has no address ${place}`, { cause: error });
  return error;
};
