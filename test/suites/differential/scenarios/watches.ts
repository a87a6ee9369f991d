import type { Recorder } from "../recorder.ts";
import { type Scenario, merge, table } from "../scenario.ts";
import { textAt } from "../value.ts";

const namespaces = "/api/v1/namespaces";
const maps = (namespace: string): string => `${namespaces}/${namespace}/configmaps`;

async function prepare({ quietly }: Recorder, namespace: string, names: readonly string[]): Promise<string> {
  await quietly("POST", namespaces, { body: { metadata: { name: namespace } } });
  for (const name of names)
    await quietly("POST", maps(namespace), { body: { metadata: { name, labels: { app: "x" } } } });
  const { body } = await quietly("GET", maps(namespace));
  return textAt(body, "metadata", "resourceVersion");
}

export const watchScenarios: readonly Scenario[] = [
  {
    name: "watch: from a resourceVersion, changes in order",
    run: async (recorder) => {
      const version = await prepare(recorder, "watch-changes", ["a"]);
      const { quietly, watch } = recorder;
      const path = maps("watch-changes");
      await watch(`${path}?watch=1&resourceVersion=${version}`, {
        events: 5,
        during: async () => {
          await quietly("POST", path, { body: { metadata: { name: "b" } } });
          await quietly("PATCH", `${path}/a`, { contentType: merge, body: { data: { k: "v" } } });
          await quietly("PATCH", `${path}/a`, { contentType: merge, body: { data: { k: "v" } } });
          await quietly("PATCH", `${path}/b`, { contentType: merge, body: { metadata: { finalizers: ["x.y/z"] } } });
          await quietly("DELETE", `${path}/a`);
          await quietly("DELETE", `${path}/b`);
        },
      });
      // The same again, all from history.
      await watch(`${path}?watch=1&resourceVersion=${version}&timeoutSeconds=1`);
      await quietly("PATCH", `${path}/b`, { contentType: merge, body: { metadata: { finalizers: null } } });
      await watch(`${path}?watch=1&resourceVersion=${version}`, { events: 6 });
    },
  },
  {
    name: "watch: without resourceVersion, state first",
    run: async (recorder) => {
      await prepare(recorder, "watch-state", ["a", "b"]);
      const { watch } = recorder;
      const path = maps("watch-state");
      await watch(`${path}?watch=1&timeoutSeconds=1`);
      await watch(`${path}?watch=1&resourceVersion=0&timeoutSeconds=1`);
      await watch(`${path}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true`);
      await watch(`${path}?watch=1&resourceVersion=0&timeoutSeconds=1&allowWatchBookmarks=true`);
      await watch(`${path}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Db`);
      await watch(`/api/v1/watch/namespaces/watch-state/configmaps?timeoutSeconds=1`);
      await watch(`/api/v1/watch/namespaces/watch-state/configmaps/a?timeoutSeconds=1`);
    },
  },
  {
    name: "watch: WatchList",
    run: async (recorder) => {
      const version = await prepare(recorder, "watch-list", ["a", "b"]);
      const { watch, quietly } = recorder;
      const path = maps("watch-list");
      const streaming = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
      await watch(`${path}?${streaming}&allowWatchBookmarks=true&timeoutSeconds=1`);
      await watch(`${path}?${streaming}&timeoutSeconds=1`);
      await watch(`${path}?${streaming}&allowWatchBookmarks=true&resourceVersion=${version}`, {
        events: 4,
        during: async () => {
          await quietly("POST", path, { body: { metadata: { name: "c" } } });
        },
      });
      await watch(`${path}?${streaming}&resourceVersion=99999999&timeoutSeconds=1`);
      await watch(`${path}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`);
      await watch(`${path}?watch=1&sendInitialEvents=true`);
      await watch(`${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1`);
      await watch(`${path}?watch=1&resourceVersionMatch=NotOlderThan`);
      await watch(`${path}?watch=1&resourceVersion=abc`);
      await watch(`${path}?watch=1&labelSelector=a%20b`);
      await watch(`${path}?watch=1&fieldSelector=nope%3D1`);
    },
  },
  {
    name: "watch: objects that enter and leave a selector",
    run: async (recorder) => {
      const version = await prepare(recorder, "watch-selector", ["a"]);
      const { watch, quietly } = recorder;
      const path = maps("watch-selector");
      const label = (app: string | null) =>
        quietly("PATCH", `${path}/a`, { contentType: merge, body: { metadata: { labels: { app } } } });
      await watch(`${path}?watch=1&labelSelector=app%3Dx&resourceVersion=${version}`, {
        events: 4,
        during: async () => {
          await quietly("PATCH", `${path}/a`, { contentType: merge, body: { data: { k: "1" } } });
          await label("y");
          await quietly("PATCH", `${path}/a`, { contentType: merge, body: { data: { k: "2" } } });
          await label("x");
          await label(null);
        },
      });
    },
  },
  {
    name: "watch: nodes, their empty bookmark and their table",
    run: async (recorder) => {
      const { watch, quietly } = recorder;
      await quietly("POST", "/api/v1/nodes", { body: { metadata: { name: "watched", labels: { watched: "yes" } } } });
      const path = "/api/v1/nodes?watch=1&labelSelector=watched&timeoutSeconds=1";
      await watch(`${path}&allowWatchBookmarks=true`);
      await watch(path, {}, { accept: table });
      await watch("/api/v1/nodes?watch=1&resourceVersion=99999999&timeoutSeconds=1");
    },
  },
];
