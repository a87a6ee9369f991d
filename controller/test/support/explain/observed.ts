import type { EventInput } from "../../../src/api/event.ts";
import type { KubeClient } from "../../../src/kube/client.ts";
import { PlanningKubeClient } from "../../../src/kube/planning-client.ts";
import { reporter, summaryOf } from "../../../src/observe/plans.ts";
import { observing } from "../../../src/observe/write-filter.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import type { FakeClock } from "../fake-clock.ts";
import { FakeLog } from "../fake-log.ts";

/** What --mode=observe puts around the controllers of a world. */
export class Observed {
  readonly #observing: NonNullable<ReturnType<typeof observing>>;

  constructor(clock: FakeClock) {
    const options = { mode: "observe", controllerMode: new Map(), providerMode: new Map() } as const;
    const made = observing({ options, clock, log: new FakeLog(), metrics: new Metrics() });
    if (made === undefined) throw new Error("--mode=observe observes nothing");
    this.#observing = made;
  }

  client(client: KubeClient): KubeClient {
    return new PlanningKubeClient(client, this.#observing.filter);
  }

  /** Lets through what is written. */
  events(record: (event: EventInput) => void): (event: EventInput) => void {
    return (event) => {
      if (!this.#observing.filter.isSilent) record(event);
    };
  }

  reporting(controller: string) {
    return reporter(this.#observing.plans, controller);
  }

  /** Every write that is planned, by key. */
  get plans(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries(this.#observing.plans.all.map(({ key, writes }) => [key, writes.map(summaryOf)]));
  }
}
