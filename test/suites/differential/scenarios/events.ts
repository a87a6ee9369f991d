import { type Scenario, merge, table } from "../scenario.ts";

const core = "/api/v1/namespaces/default/events";
const group = "/apis/events.k8s.io/v1/namespaces/default/events";
const time = "2026-01-01T00:00:00Z";
const microTime = "2026-01-01T00:00:00.123456Z";
const involvedObject = { kind: "Node", name: "n1", uid: "u1", apiVersion: "v1" };
const modern = {
  eventTime: microTime,
  reportingController: "example.com/controller",
  reportingInstance: "instance-1",
  action: "Acting",
  reason: "Reason",
  note: "A note",
  type: "Normal",
  regarding: { kind: "Node", name: "n1" },
};

export const eventScenarios: readonly Scenario[] = [
  {
    name: "event: core/v1 as recorders write it",
    run: async ({ call }) => {
      await call("POST", core, {
        body: {
          metadata: { name: "n1.abc", namespace: "default" },
          involvedObject,
          reason: "RegisteredNode",
          message: " Node n1 event ",
          source: { component: "node-controller", host: "h" },
          firstTimestamp: time,
          lastTimestamp: time,
          count: 1,
          type: "Normal",
        },
      });
      await call("PATCH", `${core}/n1.abc`, {
        contentType: merge,
        body: { count: 2, lastTimestamp: "2026-01-01T00:01:00Z" },
      });
      await call("GET", `${group}/n1.abc`);
      await call("GET", `${core}/n1.abc`, { accept: table });
      await call("POST", core, { body: { metadata: { name: "empty-event" } } });
      await call("GET", `${core}/empty-event`, { accept: table });
      await call("POST", core, { body: { metadata: { generateName: "generated-" }, involvedObject, message: "x" } });
      await call("PUT", `${core}/put-event`, {
        body: { metadata: { name: "put-event" }, involvedObject, message: "by put" },
      });
      await call("PUT", `${core}/put-event`, {
        body: { metadata: { name: "put-event" }, involvedObject, message: "again" },
      });
    },
  },
  {
    name: "event: refused in core/v1",
    run: async ({ call, quietly }) => {
      await quietly("POST", "/api/v1/namespaces", { body: { metadata: { name: "event-space" } } });
      const create = (namespace: string, body: object) =>
        call("POST", `/api/v1/namespaces/${namespace}/events?dryRun=All`, { body });
      await create("event-space", { metadata: { name: "e" }, involvedObject });
      await create("event-space", {
        metadata: { name: "e" },
        involvedObject: { ...involvedObject, namespace: "default" },
      });
      await create("event-space", {
        metadata: { name: "e" },
        involvedObject: { ...involvedObject, namespace: "event-space" },
      });
      await create("default", { metadata: { name: "e", namespace: "event-space" }, involvedObject });
      await create("default", { metadata: { name: "e" }, involvedObject, eventTime: microTime });
      await create("default", {
        metadata: { name: "e" },
        involvedObject,
        eventTime: microTime,
        reportingComponent: "a b",
        reportingInstance: "i".repeat(129),
        action: "a".repeat(129),
        reason: "r".repeat(129),
        message: "m".repeat(1025),
      });
      await create("default", { metadata: { name: "a/b" }, involvedObject });
    },
  },
  {
    name: "event: events.k8s.io/v1 and both views of one object",
    run: async ({ call }) => {
      await call("POST", group, { body: { metadata: { name: "modern" }, ...modern } });
      await call("GET", `${core}/modern`);
      await call("GET", `${group}/modern`);
      await call("GET", `${group}/modern`, { accept: table });
      await call("PATCH", `${group}/modern`, {
        contentType: merge,
        body: { series: { count: 2, lastObservedTime: "2026-01-01T00:02:00.000000Z" } },
      });
      await call("PATCH", `${group}/modern`, { contentType: merge, body: { note: "other" } });
      await call("PATCH", `${group}/modern`, { contentType: merge, body: { series: { count: 1 } } });
      await call("POST", group, {
        body: { metadata: { name: "bad-modern" }, ...modern, type: "Odd", deprecatedCount: 1 },
      });
      await call("POST", group, { body: { metadata: { name: "bad-modern" }, ...modern, eventTime: null } });
      await call("POST", group, { body: { metadata: { name: "bad-modern" }, ...modern, series: {} } });
      await call("POST", group, { body: { metadata: { name: "unknown" }, ...modern, message: "core's name" } });
      await call("GET", `${group}?fieldSelector=regarding.name%3Dn1,metadata.name%3Dmodern`);
      await call("GET", `${core}?fieldSelector=involvedObject.name%3Dn1,metadata.name%3Dmodern`);
      await call("GET", `${core}?fieldSelector=regarding.name%3Dn1`);
      await call("GET", `${group}?fieldSelector=involvedObject.name%3Dn1`);
      await call(
        "GET",
        `${core}?fieldSelector=reason%3DReason,type%3DNormal,reportingComponent%3Dexample.com/controller,source%3Dexample.com/controller`,
      );
      await call("DELETE", `${group}/modern`);
    },
  },
];
