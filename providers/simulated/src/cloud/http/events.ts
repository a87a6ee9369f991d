import { type Account, type Event, EventQuery, type Events, resourceKinds } from "../../api/events.ts";
import { loadBalancerClasses } from "../../api/load-balancers.ts";
import { CloudError } from "../errors.ts";
import type { Notifier } from "../notifier.ts";
import type { Change } from "../store/resource-store.ts";
import { timestamp, type World } from "../world/world.ts";
import { reads } from "./call.ts";
import type { HttpServer } from "./server.ts";

const maxEvents = 1000;
const changeTypes = ["created", "updated", "deleted"] as const;

/** The change feed, and what the account is. */
export const addEventPaths = (server: HttpServer, world: World, notifier: Notifier): void => {
  server.get(
    "/v1/events",
    { schema: { querystring: EventQuery }, ...reads("events.list") },
    async ({ call, query }): Promise<Events> => {
      const after = query.after === undefined ? world.store.latest() : Number(query.after);
      checkReach(world, after);
      const kinds = query.kind ?? [];
      const untilMs = world.clock.now() + (query.waitMs ?? 0);
      for (;;) {
        // Taken before reading: a change in between is read again rather than missed.
        const latest = world.store.latest();
        const changes = world.store.changes(call.account, after, kinds, maxEvents);
        const leftMs = untilMs - world.clock.now();
        if (changes.length > 0 || leftMs <= 0 || call.signal.aborted) {
          const resumeAfter = changes.length === maxEvents ? changes.at(-1)?.seq : latest;
          return { account: call.account, events: changes.map(toEvent), resumeToken: String(resumeAfter ?? latest) };
        }
        await notifier.next(world.clock, leftMs, call.signal);
      }
    },
  );
  server.get(
    "/v1/account",
    { ...reads("account.get") },
    ({ call }): Account => ({
      id: call.account,
      cloud: "simcloud",
      apiVersion: "v1",
      regions: world.geography.map(({ name, zones }) => ({ name, zones: [...zones] })),
      loadBalancers: { classes: [...loadBalancerClasses], listenPortOffset: world.listenPortOffset },
    }),
  );
};

const checkReach = (world: World, after: number): void => {
  const oldest = world.store.floor();
  if (after < oldest) {
    throw new CloudError("EventsExpired", `the change feed begins after ${oldest}, not ${after}: list again`);
  }
  if (after > world.store.latest()) {
    throw new CloudError(
      "EventsExpired",
      `the change feed has not come to ${after}: it belongs to another state; list again`,
    );
  }
};

const toEvent = ({ seq, timeMs, kind, id, change, body }: Change): Event => {
  const stored: unknown = JSON.parse(body);
  const resource = typeof stored === "object" ? { ...stored, revision: seq } : {};
  const type = changeTypes.find((candidate) => candidate === change) ?? "updated";
  return { token: String(seq), time: timestamp(timeMs), kind: kindOf(kind), id, type, resource };
};

const kindOf = (kind: string): Event["kind"] => {
  const known = resourceKinds.find((candidate) => candidate === kind);
  if (!known) throw new Error(`state file: unknown kind ${kind}`);
  return known;
};
