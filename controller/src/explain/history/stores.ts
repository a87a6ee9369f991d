import type { EventInput } from "../../api/event.ts";
import { keyOf } from "../../api/meta.ts";
import {
  CREATED,
  DELETED,
  Timeline,
  eventEntry,
  nodeEntries,
  reconcileEntry,
  routeEntries,
  serviceEntries,
} from "./timeline.ts";
import { objectOf } from "../objects.ts";
import { CallJournal } from "./call-journal.ts";
import type { ReconcileRecord } from "../../runtime/history.ts";
import type { Clock } from "../../util/clock.ts";
import type { ClusterConnection } from "../../kube/cluster.ts";

/** The history of objects in this process. docs/reference/explain.md has its limits. */
export class HistoryStores {
  readonly timeline = new Timeline();
  readonly journal = new CallJournal();
  readonly #clock: Pick<Clock, "nowMs">;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  readonly eventRecorded = (component: string, input: EventInput): void => {
    const event = eventEntry(component, input);
    if (event !== undefined) this.timeline.add(event.object, event.entry, this.#clock.nowMs());
  };

  reconciled(controller: string): (record: ReconcileRecord, before: ReconcileRecord | undefined) => void {
    return (record, before) => {
      const entry = reconcileEntry(controller, record, before);
      const object = entry && objectOf({ controller, key: record.key });
      if (entry !== undefined && object !== undefined) this.timeline.add(object, entry, record.endMs);
    };
  }

  /** Records changes of cached objects, not their initial list. Returns a function that stops it. */
  follow({ nodes, services }: Pick<ClusterConnection, "nodes" | "services">): () => void {
    const { timeline } = this;
    const now = (): number => this.#clock.nowMs();
    const ends = [
      nodes.addHandler({
        onAdd: ({ metadata }, initial) => {
          if (!initial) timeline.add(`node/${metadata.name}`, CREATED, now());
        },
        onUpdate: (old, node) => {
          const { name } = node.metadata;
          for (const entry of nodeEntries(old, node)) timeline.add(`node/${name}`, entry, now());
          for (const entry of routeEntries(old, node)) timeline.add(`route/${name}`, entry, now());
        },
        onDelete: ({ metadata }) => timeline.add(`node/${metadata.name}`, DELETED, now()),
      }),
      services.addHandler({
        onAdd: (service, initial) => {
          if (!initial && service.spec.type === "LoadBalancer") {
            timeline.add(`service/${keyOf(service)}`, CREATED, now());
          }
        },
        onUpdate: (old, service) => {
          for (const entry of serviceEntries(old, service)) timeline.add(`service/${keyOf(service)}`, entry, now());
        },
        onDelete: (service) => {
          if (service.spec.type === "LoadBalancer") timeline.add(`service/${keyOf(service)}`, DELETED, now());
        },
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }
}
