import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { PERIOD_MS, ServiceHarness } from "../../../test/support/service/service-harness.ts";
import { slowProvider, type Pace } from "../../../test/support/provider/slow-provider.ts";
import type { Service } from "../../api/service.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { ProviderClient } from "../../provider/model/client.ts";
import type { Provider } from "../../provider/model/provider.ts";
import { isDeleting, wantsLoadBalancer } from "./predicates.ts";

const NAMES = ["w", "x"] as const;
/** Who serves a Service of that class: two sidecars of one cloud, and one of another. */
const CLASSES = { acme: undefined, other: "other.example.com/lb", twin: "twin.example.com/lb" } as const;
type Server = keyof typeof CLASSES;
const SERVERS: readonly Server[] = ["acme", "other", "twin"];
type Place = "acme" | "other";
const cloudOf = (server: Server): Place => (server === "acme" ? "acme" : "other");

type ToService =
  | { readonly kind: "served"; readonly name: string; readonly by: Server; readonly text: string }
  | { readonly kind: "untyped" | "deleted" | "stripped" | "recreated" | "repeated"; readonly name: string };

type ToOthers =
  | { readonly kind: "faults"; readonly at: Server; readonly on: "ensure" | "delete" | "get" | "list" }
  | { readonly kind: "pace"; readonly pace: Pace }
  | { readonly kind: "poorer" | "richer"; readonly at: Server }
  | { readonly kind: "lagging" | "caughtUp" | "healed" | "reconnected" | "joined" | "restarted" | "refusing" }
  | { readonly kind: "time"; readonly ms: number };

type Step = ToService | ToOthers;

const name = fc.constantFrom(...NAMES);
const at = fc.constantFrom(...SERVERS);
const others = ["lagging", "caughtUp", "healed", "reconnected", "joined", "restarted", "refusing"] as const;
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("served"), name, by: at, text: fc.constantFrom("a", "b") }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom("untyped", "deleted", "stripped", "recreated", "repeated"),
      name,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("faults"), at, on: fc.constantFrom("ensure", "delete", "get", "list") }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("pace"),
      pace: fc.record({
        callMs: fc.constantFrom(0, 300, 9000),
        polls: fc.constantFrom(0, 2),
        fails: fc.boolean(),
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("poorer", "richer"), at }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom(...others) }) },
  {
    weight: 7,
    arbitrary: fc.record({ kind: fc.constant("time"), ms: fc.constantFrom(0, 400, 3000, 30_000, PERIOD_MS) }),
  },
);

/** A world, its clouds, and what must never happen. */
class Course {
  readonly world = new ServiceHarness();
  readonly clouds = {
    acme: new LoadBalancerCloud("acme"),
    other: new LoadBalancerCloud("other", { classes: [CLASSES.other] }),
  };
  readonly wrongs: string[] = [];
  readonly providers: readonly Provider[];
  pace: Pace = { callMs: 0, polls: 0, fails: false };
  #isLagging = false;
  readonly #poor = new Set<Server>();
  #generation = 0;

  constructor() {
    const { acme, other } = this.clouds;
    const twin = withInfo(other.provider("twin"), (info) => ({
      ...info,
      capabilities: {
        ...info.capabilities,
        loadBalancers: info.capabilities.loadBalancers && {
          ...info.capabilities.loadBalancers,
          classes: [CLASSES.twin],
        },
      },
    }));
    const all = { acme: acme.provider(), other: other.provider(), twin };
    this.providers = SERVERS.map((server) => this.#provider(server, all[server]));
  }

  #provider(server: Server, provider: Provider): Provider {
    const slow = slowProvider(provider, this.world.clock, () => this.pace);
    const isPoor = (): boolean => this.#poor.has(server);
    const deleteLoadBalancer: ProviderClient["deleteLoadBalancer"] = (ref, options) => {
      this.#checkDeletion(cloudOf(server), ref.service.uid);
      return slow.client.deleteLoadBalancer(ref, options);
    };
    return {
      ...slow,
      client: { ...slow.client, deleteLoadBalancer },
      get info() {
        const { info } = provider;
        return info && isPoor() ? { ...info, capabilities: { ...info.capabilities, loadBalancers: undefined } } : info;
      },
    };
  }

  /** What a deletion was about when it was sent; what comes later it cannot know. */
  #checkDeletion(place: Place, uid: string): void {
    const owner = this.world.store.all.find(({ metadata }) => metadata.uid === uid);
    if (owner === undefined || this.#isLagging || placeOf(owner) !== place) return;
    this.wrongs.push(`deleted what is wanted: ${owner.metadata.name} at ${place}`);
  }

  fault(server: Server, on: string): void {
    const error = contractError("CLOUD_UNAVAILABLE", "503");
    this.clouds[cloudOf(server)].fail = (call) => (call === on ? error : undefined);
  }

  set(server: Server, isPoor: boolean): void {
    if (isPoor) this.#poor.add(server);
    else this.#poor.delete(server);
    this.world.ready();
  }

  lag(isLagging: boolean): void {
    this.#isLagging = isLagging;
    if (isLagging) this.world.store.lag();
    else this.world.store.catchUp();
  }

  heal(): void {
    this.world.store.refuses = () => false;
    this.pace = { callMs: 0, polls: 0, fails: false };
    for (const cloud of Object.values(this.clouds)) cloud.fail = () => undefined;
    if (this.#isLagging) this.lag(false);
    this.#poor.clear();
    this.world.ready();
  }

  create(of: string): void {
    if (this.world.store.get(of) !== undefined) return;
    this.world.store.put(service(of, { metadata: { uid: `uid-${of}-${++this.#generation}` } }));
  }

  edit(of: string, change: (known: Service) => Service): void {
    const known = this.world.store.get(of);
    if (known !== undefined) this.world.store.put(change(known));
  }
}

function withInfo(provider: Provider, change: (info: NonNullable<Provider["info"]>) => Provider["info"]): Provider {
  return { ...provider, info: provider.info && change(provider.info) };
}

/** The cloud that is to have the load balancer; undefined: none is. */
function placeOf(known: Service): Place | undefined {
  if (!wantsLoadBalancer(known) || isDeleting(known)) return undefined;
  return known.spec.loadBalancerClass === undefined ? "acme" : "other";
}

function serve(known: Service, by: Server, text: string): Service {
  return {
    ...known,
    metadata: { ...known.metadata, annotations: { text } },
    spec: { ...known.spec, type: "LoadBalancer", loadBalancerClass: CLASSES[by] },
  };
}

function toService(happened: ToService, course: Course): void {
  const { name: of } = happened;
  const deletedMs = course.world.clock.nowMs();
  const finish = (known: Service): Service => ({
    ...known,
    metadata: { ...known.metadata, finalizers: [], deletionTimestampMs: deletedMs },
  });
  switch (happened.kind) {
    case "served":
      course.create(of);
      return course.edit(of, (known) => serve(known, happened.by, happened.text));
    case "untyped":
      return course.edit(of, (known) => ({
        ...known,
        spec: { ...known.spec, type: "ClusterIP", loadBalancerClass: undefined },
        status: { ...known.status, loadBalancer: { ingress: [] } },
      }));
    case "deleted":
      return course.edit(of, (known) => ({
        ...known,
        metadata: { ...known.metadata, deletionTimestampMs: deletedMs },
      }));
    case "stripped":
      return course.edit(of, finish);
    case "recreated":
      course.edit(of, finish);
      return course.create(of);
    case "repeated":
      return course.edit(of, (known) => known);
    default:
      return happened satisfies never;
  }
}

async function toOthers(happened: ToOthers, course: Course): Promise<void> {
  const { world } = course;
  switch (happened.kind) {
    case "faults":
      return course.fault(happened.at, happened.on);
    case "pace":
      course.pace = happened.pace;
      return;
    case "poorer":
    case "richer":
      return course.set(happened.at, happened.kind === "poorer");
    case "lagging":
    case "caughtUp":
      return course.lag(happened.kind === "lagging");
    case "healed":
      return course.heal();
    case "reconnected":
      return world.ready();
    case "joined":
      return world.node("n1");
    case "restarted":
      return world.restart();
    case "refusing":
      world.store.refuses = () => true;
      return;
    case "time":
      return world.pass(happened.ms);
    default:
      return happened satisfies never;
  }
}

/** A restart loses Services that were deleted by force, and load balancers of providers without the capability. */
const FORGOTTEN: ReadonlySet<Step["kind"]> = new Set(["stripped", "recreated", "poorer"]);

function withoutAmnesia(history: readonly Step[]): readonly Step[] {
  const isForgotten = history.some(({ kind }) => FORGOTTEN.has(kind));
  return isForgotten ? history.filter(({ kind }) => kind !== "restarted") : history;
}

function found({ clouds, world }: Course): unknown {
  const uids = new Map(world.store.all.map(({ metadata }) => [metadata.uid, metadata.name]));
  const at = Object.entries(clouds).flatMap(([place, { kept }]) =>
    [...kept.keys()].map((uid) => `${uids.get(uid) ?? uid} at ${place}`),
  );
  const held = world.store.all.map(({ metadata, status }) => {
    const isPublished = status.loadBalancer.ingress.length > 0;
    return `${metadata.name} held ${metadata.finalizers.length} published ${isPublished}`;
  });
  return { at: at.toSorted(), held: held.toSorted() };
}

function expectedEnd({ world }: Course): unknown {
  const wanted = world.store.all.filter((known) => placeOf(known) !== undefined);
  const held = world.store.all.map(({ metadata: { name: of } }) => {
    const isWanted = wanted.some(({ metadata }) => metadata.name === of);
    return `${of} held ${isWanted ? 1 : 0} published ${isWanted}`;
  });
  return {
    at: wanted.map((known) => `${known.metadata.name} at ${placeOf(known)}`).toSorted(),
    held: held.toSorted(),
  };
}

const HOUR_MS = 3_600_000;

describe("service-lb with several providers", () => {
  test("ends with one load balancer at its owner, whatever happened during calls", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 40, size: "max" }), async (history) => {
        const course = new Course();
        await using world = await course.world.start(course.providers);
        for (const happened of withoutAmnesia(history)) {
          if ("name" in happened) toService(happened, course);
          else await toOthers(happened, course);
        }
        course.heal();
        await world.pass(2 * HOUR_MS);
        expect({ ends: found(course), wrongs: course.wrongs }).toEqual({ ends: expectedEnd(course), wrongs: [] });

        const changes = (): number =>
          Object.values(course.clouds).reduce((sum, cloud) => sum + cloud.changes.length, 0);
        const before = [changes(), world.store.writes.length];
        await world.pass(HOUR_MS);
        expect([changes(), world.store.writes.length]).toEqual(before);
      }),
      { numRuns: 100 },
    );
  }, 120_000);
});
