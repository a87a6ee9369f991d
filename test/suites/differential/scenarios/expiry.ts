import { type Scenario, merge } from "../scenario.ts";
import { textAt } from "../value.ts";

const path = "/api/v1/namespaces/expiring/configmaps";

export const expiryScenarios: readonly Scenario[] = [
  {
    name: "expiry: lists and watches of a revision that is gone",
    run: async ({ call, quietly, watch, forget }) => {
      await quietly("POST", "/api/v1/namespaces", { body: { metadata: { name: "expiring" } } });
      for (const name of ["a", "b", "c"]) await quietly("POST", path, { body: { metadata: { name } } });
      const first = await call("GET", `${path}?limit=1`);
      const version = textAt(first.body, "metadata", "resourceVersion");
      const token = textAt(first.body, "metadata", "continue");
      await quietly("PATCH", `${path}/b`, { contentType: merge, body: { data: { changed: "yes" } } });
      await forget();
      const expired = await call("GET", `${path}?limit=1&continue=${token}`);
      await call("GET", `${path}?limit=1&continue=${textAt(expired.body, "metadata", "continue")}`);
      await call("GET", `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`);
      await call("GET", `${path}?resourceVersion=${version}&limit=1`);
      await call("GET", `${path}?resourceVersion=${version}`);
      await watch(`${path}?watch=1&resourceVersion=${version}&timeoutSeconds=2`);
      await watch(`${path}?watch=1&resourceVersion=1&timeoutSeconds=2`);
      await watch(
        `${path}?watch=1&resourceVersion=${version}&timeoutSeconds=2&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
      );
    },
  },
];
