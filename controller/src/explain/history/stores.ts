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

/** What this process remembers of objects for those who ask later. Bounded; docs/reference/explain.md says how much that is. */
export class HistoryStores {
  readonly timeline = new Timeline();
  readonly journal = new CallJournal();
  readonly #clock: Pick<Clock, "nowMs">;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** An Event was recorded, whether or not the server takes it. */
  readonly eventRecorded = (component: string, input: EventInput): void => {
    const happening = eventEntry(component, input);
    if (happening !== undefined) this.timeline.note(happening.object, happening.noted, this.#clock.nowMs());
  };

  /** For the reconciles of one controller. */
  reconciled(controller: string): (record: ReconcileRecord, before: ReconcileRecord | undefined) => void {
    return (record, before) => {
      const noted = reconcileEntry(controller, record, before);
      const object = noted && objectOf({ controller, key: record.key });
      if (noted !== undefined && object !== undefined) this.timeline.note(object, noted, record.endMs);
    };
  }

  /** Follows the caches; what is in them from the start on is no news. Answers how to end that. */
  follow({ nodes, services }: Pick<ClusterConnection, "nodes" | "services">): () => void {
    const { timeline } = this;
    const now = (): number => this.#clock.nowMs();
    const ends = [
      nodes.addHandler({
        onAdd: ({ metadata }, initial) => {
          if (!initial) timeline.note(`node/${metadata.name}`, CREATED, now());
        },
        onUpdate: (old, node) => {
          const { name } = node.metadata;
          for (const noted of nodeEntries(old, node)) timeline.note(`node/${name}`, noted, now());
          for (const noted of routeEntries(old, node)) timeline.note(`route/${name}`, noted, now());
        },
        onDelete: ({ metadata }) => timeline.note(`node/${metadata.name}`, DELETED, now()),
      }),
      services.addHandler({
        onAdd: (service, initial) => {
          if (!initial && service.spec.type === "LoadBalancer") {
            timeline.note(`service/${keyOf(service)}`, CREATED, now());
          }
        },
        onUpdate: (old, service) => {
          for (const noted of serviceEntries(old, service)) timeline.note(`service/${keyOf(service)}`, noted, now());
        },
        onDelete: (service) => {
          if (service.spec.type === "LoadBalancer") timeline.note(`service/${keyOf(service)}`, DELETED, now());
        },
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }
}
