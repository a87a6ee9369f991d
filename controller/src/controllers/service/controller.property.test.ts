import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud, type LoadBalancerCall } from "../../../test/support/service/load-balancer-cloud.ts";
import { PERIOD_MS, ServiceHarness } from "../../../test/support/service/service-harness.ts";
import type { Service } from "../../api/service.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { ErrorReason } from "@cloudwire/proto/reasons";
import { isDeleting, isDeletionProtected, wantsLoadBalancer } from "./predicates.ts";

const NAMES = ["w", "x", "y"] as const;
const NODES = ["n1", "n2", "n3"] as const;
const PROTECTION = "service.cloudwire.dev/deletion-protection";
const CALLS = ["list", "get", "check", "ensure", "update", "delete"] as const;
const FAULTS = [
  "CLOUD_UNAVAILABLE",
  "QUOTA_EXCEEDED",
  "ANNOTATION_INVALID",
  "OPERATION_IN_PROGRESS",
  "RATE_LIMITED",
  "lost",
] as const satisfies readonly (ErrorReason | "lost")[];

type ToService =
  | { readonly kind: "edited"; readonly name: string; readonly text: string }
  | {
      readonly kind: "untyped" | "deleted" | "protected" | "repeated" | "tampered" | "missing";
      readonly name: string;
    };

type ToOthers =
  | { readonly kind: "joined" | "left" | "stopped"; readonly node: string }
  | { readonly kind: "faults"; readonly on: readonly LoadBalancerCall[]; readonly fault: (typeof FAULTS)[number] }
  | { readonly kind: "incomplete" | "healed" | "reconnected" | "restarted" | "refusing" }
  | { readonly kind: "time"; readonly ms: number };

/** One thing that happens. */
type Step = ToService | ToOthers;

const name = fc.constantFrom(...NAMES);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("edited"), name, text: fc.constantFrom("a", "b") }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom("untyped", "deleted", "protected", "repeated", "tampered", "missing"),
      name,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("joined", "left", "stopped"), node: fc.constantFrom(...NODES) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("faults"),
      on: fc.subarray([...CALLS], { minLength: 1 }),
      fault: fc.constantFrom(...FAULTS),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("incomplete", "healed", "reconnected", "restarted", "refusing") }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("time"), ms: fc.constantFrom(0, 500, 3000, 70_000, PERIOD_MS) }),
  },
);

/** What a provider may leave out. */
const declared = fc.record({ validateOnly: fc.boolean(), reportsPrevious: fc.boolean(), hasList: fc.boolean() });
type Declared = typeof declared extends fc.Arbitrary<infer Value> ? Value : never;

/** A world, its one cloud, and what must never happen. */
class Course {
  readonly world = new ServiceHarness();
  readonly cloud: LoadBalancerCloud;
  readonly wrongs: string[] = [];
  /** When the Service could last go, by name. */
  readonly #freeMs = new Map<string, number>();
  #generation = 0;

  constructor({ validateOnly, reportsPrevious, hasList }: Declared) {
    this.cloud = new LoadBalancerCloud("acme", { validateOnly, ...(hasList ? {} : { list: undefined }) });
    this.cloud.reportsPrevious = reportsPrevious;
    this.heal();
  }

  heal(): void {
    this.world.store.refuses = () => false;
    this.cloud.complete = true;
    this.cloud.stopped.clear();
    this.fail([], "lost");
  }

  /** Every deletion is looked at, those that fail too. */
  fail(on: readonly LoadBalancerCall[], fault: (typeof FAULTS)[number]): void {
    this.cloud.fail = (call, uid) => {
      if (call === "delete") this.#checkDeletion(uid);
      if (!on.includes(call)) return undefined;
      if (fault === "lost") return "lost";
      return contractError(fault, "so it is", fault === "RATE_LIMITED" ? { retryAfterMs: 4000 } : {});
    };
  }

  #checkDeletion(uid: string): void {
    const owner = this.world.store.all.find(({ metadata }) => metadata.uid === uid);
    if (owner === undefined) return;
    const { name: of } = owner.metadata;
    // A call on its way cannot know of an edit of the same instant.
    if (this.#freeMs.get(of) === this.world.clock.nowMs()) return;
    if (isDeletionProtected(owner)) this.wrongs.push(`deleted what is protected: ${of}`);
    if (wantsLoadBalancer(owner) && !isDeleting(owner)) this.wrongs.push(`deleted what is wanted: ${of}`);
  }

  edit(of: string, change: (known: Service) => Service): void {
    const known = this.world.store.get(of);
    if (known === undefined) return;
    const isKept = isDeletionProtected(known) || (wantsLoadBalancer(known) && !isDeleting(known));
    if (!isKept) this.#freeMs.set(of, this.world.clock.nowMs());
    this.world.store.put(change(known));
  }

  create(of: string, annotations: Readonly<Record<string, string>>): void {
    if (this.world.store.get(of) !== undefined) return;
    this.world.store.put(service(of, { metadata: { uid: `uid-${of}-${++this.#generation}`, annotations } }));
  }

  /** The others are not touched: an edit would ensure everything again and hide what was missed. */
  unprotect(): void {
    for (const known of this.world.store.all.filter((one) => isDeletionProtected(one))) {
      this.world.store.put(withAnnotations(known, { [PROTECTION]: "false" }));
    }
  }

  keptOf(of: string) {
    const uid = this.world.store.get(of)?.metadata.uid ?? "";
    return this.cloud.kept.get(uid);
  }
}

const withAnnotations = (known: Service, annotations: Readonly<Record<string, string>>): Service => ({
  ...known,
  metadata: { ...known.metadata, annotations: { ...known.metadata.annotations, ...annotations } },
});

async function applyStep(step: Step, course: Course): Promise<void> {
  return "name" in step ? applyToService(step, course) : applyToOthers(step, course);
}

function applyToService(step: ToService, course: Course): void {
  const { world, cloud } = course;
  switch (step.kind) {
    case "edited": {
      course.create(step.name, {});
      const typed = (known: Service): Service => ({ ...known, spec: { ...known.spec, type: "LoadBalancer" } });
      return course.edit(step.name, (known) => withAnnotations(typed(known), { text: step.text }));
    }
    case "untyped":
      return course.edit(step.name, (known) => ({
        ...known,
        spec: { ...known.spec, type: "ClusterIP" },
        status: { ...known.status, loadBalancer: { ingress: [] } },
      }));
    case "deleted":
      return course.edit(step.name, (known) => ({
        ...known,
        metadata: { ...known.metadata, deletionTimestampMs: world.clock.nowMs() },
      }));
    case "protected":
      return course.edit(step.name, (known) => {
        const isProtected = isDeletionProtected(known);
        return withAnnotations(known, { [PROTECTION]: String(!isProtected) });
      });
    case "repeated":
      return course.edit(step.name, (known) => known);
    case "tampered": {
      const kept = course.keptOf(step.name);
      if (kept !== undefined) Object.assign(kept, { version: kept.version + 1, isTampered: true });
      return;
    }
    case "missing":
      return void cloud.kept.delete(world.store.get(step.name)?.metadata.uid ?? "");
    default:
      return step satisfies never;
  }
}

async function applyToOthers(step: ToOthers, course: Course): Promise<void> {
  const { world, cloud } = course;
  switch (step.kind) {
    case "joined":
      return world.node(step.node);
    case "stopped":
      return void cloud.stopped.add(step.node);
    case "left":
      return world.nodes.delete(step.node);
    case "faults":
      return course.fail(step.on, step.fault);
    case "incomplete":
      cloud.complete = false;
      return;
    case "refusing":
      world.store.refuses = () => true;
      return;
    case "healed":
      return course.heal();
    case "reconnected":
      return world.ready();
    case "restarted":
      return world.restart();
    case "time":
      return world.pass(step.ms);
    default:
      return step satisfies never;
  }
}

/** What the last state of the Services and nodes asks for. */
function expectedEnd({ world }: Course): unknown {
  const nodes = [...world.nodes.lister.list()].map(({ metadata }) => metadata.name).toSorted();
  return world.store.all.map((known) => {
    const isWanted = wantsLoadBalancer(known) && !isDeleting(known);
    const upToDate = { nodes, isTampered: false, isHeld: true, isPublished: true };
    return isWanted ? { name: known.metadata.name, ...upToDate } : idle(known);
  });
}

const idle = ({ metadata }: Service): object => ({ name: metadata.name, isHeld: false, isPublished: false });

function found(course: Course): unknown {
  return course.world.store.all.map(({ metadata, status }) => {
    const kept = course.cloud.kept.get(metadata.uid);
    const [point] = status.loadBalancer.ingress;
    return {
      name: metadata.name,
      ...(kept === undefined ? {} : { nodes: kept.nodes, isTampered: kept.isTampered }),
      isHeld: metadata.finalizers.length > 0,
      isPublished: point !== undefined && point.hostname === `${kept?.id}.example`,
    };
  });
}

const HOUR_MS = 3_600_000;

describe("service-lb", () => {
  test("ends with the desired state, whatever happened in any order, and then rests (case S-2) (case S-12)", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 40, size: "max" }), declared, async (history, offered) => {
        const course = new Course(offered);
        await using world = await course.world.start([course.cloud.provider()]);
        for (const step of history) await applyStep(step, course);

        course.heal();
        course.unprotect();
        // Longer than any wait, and as long as a drift is left to itself.
        await world.pass(25 * HOUR_MS);
        const uids = new Set(world.store.all.map(({ metadata }) => metadata.uid));
        const strangers = [...course.cloud.kept.keys()].filter((uid) => !uids.has(uid));
        expect({ services: found(course), strangers, wrongs: course.wrongs }).toEqual({
          services: expectedEnd(course),
          strangers: [],
          wrongs: [],
        });
        const changes = course.cloud.changes.length;
        const writes = world.store.writes.length;
        await world.restart();
        await world.pass(HOUR_MS);
        const checks = offered.validateOnly ? 0 : course.cloud.kept.size;
        expect([course.cloud.changes.length - changes, world.store.writes.length - writes]).toEqual([checks, 0]);
      }),
      { numRuns: 100 },
    );
  }, 120_000);
});
