import type { Recorder } from "../recorder.ts";
import { type Scenario, table } from "../scenario.ts";
import { textAt } from "../value.ts";

const path = "/api/v1/namespaces/listing/configmaps";

async function createMaps({ quietly }: Recorder, names: readonly string[], namespace: string): Promise<void> {
  await quietly("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } });
  for (const [index, name] of names.entries()) {
    const labels = {
      index: `${index}`,
      parity: index % 2 === 0 ? "even" : "odd",
      ...(index === 0 ? { first: "" } : {}),
    };
    await quietly("POST", `/api/v1/namespaces/${namespace}/configmaps`, { body: { metadata: { name, labels } } });
  }
}

const labelSelectors = [
  "index=1",
  "index==1",
  "index!=1",
  "index in (1,2)",
  "index notin (1, 2)",
  "first",
  "!first",
  "index,parity=even",
  "index>2",
  "index<2",
  "index in ()",
  "parity in (even),index!=0",
  "first=",
  "",
  " ",
  "missing!=x",
  // Refused:
  "a b",
  "index in (1",
  "index in 1",
  "=x",
  "a=b c",
  "a,",
  ",a",
  "a=-x-",
  "UPPER/x y",
  "index>x",
  "!a=b",
];

const fieldSelectors = [
  "metadata.name=m1",
  "metadata.name==m1",
  "metadata.name!=m1",
  "metadata.namespace=listing",
  "metadata.name=m1,metadata.namespace=listing",
  "metadata.name=",
  "spec.foo=1",
  "metadata.name",
  "metadata.name=m1,",
];

export const listScenarios: readonly Scenario[] = [
  {
    name: "list: label selectors",
    run: async (recorder) => {
      await createMaps(recorder, ["m0", "m1", "m2", "m3"], "listing");
      for (const selector of labelSelectors) {
        await recorder.call("GET", `${path}?labelSelector=${encodeURIComponent(selector)}`);
      }
    },
  },
  {
    name: "list: field selectors",
    run: async (recorder) => {
      await createMaps(recorder, ["m0", "m1", "m2", "m3"], "listing");
      for (const selector of fieldSelectors) {
        await recorder.call("GET", `${path}?fieldSelector=${encodeURIComponent(selector)}`);
      }
      await recorder.call("GET", "/api/v1/nodes?fieldSelector=metadata.namespace%3Dx");
    },
  },
  {
    name: "list: all namespaces in the order of keys",
    run: async (recorder) => {
      await createMaps(recorder, ["a", "b"], "order");
      await createMaps(recorder, ["a"], "order-more");
      await createMaps(recorder, ["c-d", "c", "c.d"], "order");
      await recorder.call("GET", "/api/v1/configmaps?labelSelector=index&fieldSelector=metadata.namespace!%3Dlisting");
      await recorder.call("GET", "/api/v1/namespaces/nowhere/configmaps");
    },
  },
  {
    name: "list: pages, also of a past revision",
    run: async (recorder) => {
      const { call, quietly } = recorder;
      const paged = "/api/v1/namespaces/paging/configmaps";
      await createMaps(recorder, ["p0", "p1", "p2", "p3", "p4"], "paging");
      const first = await call("GET", `${paged}?limit=2`);
      await quietly("DELETE", `${paged}/p2`);
      await quietly("POST", paged, { body: { metadata: { name: "p9" } } });
      const second = await call("GET", `${paged}?limit=2&continue=${textAt(first.body, "metadata", "continue")}`);
      await call("GET", `${paged}?limit=2&continue=${textAt(second.body, "metadata", "continue")}`);
      await call("GET", `${paged}?continue=${textAt(first.body, "metadata", "continue")}`);
      await call("GET", `${paged}?limit=1&labelSelector=parity%3Deven`);
      await call("GET", `${paged}?limit=5`);
      await call("GET", `${paged}?limit=0`);
      await call("GET", `${paged}?limit=-1`);
      await call("GET", `${paged}?limit=abc`);
      await call("GET", `${paged}?limit=2&continue=abc`);
      await call("GET", `${paged}?limit=2&resourceVersion=1&continue=${textAt(first.body, "metadata", "continue")}`);
      await call("GET", `${paged}?limit=2&resourceVersion=0&continue=${textAt(first.body, "metadata", "continue")}`);
      await call("GET", `${paged}?limit=2&resourceVersion=0`);
      await call("GET", `${paged}?limit=2`, { accept: table });
      await quietly("DELETE", paged);
      await call("GET", `${paged}?limit=2&continue=${textAt(first.body, "metadata", "continue")}`);
    },
  },
  {
    name: "list: resourceVersion and resourceVersionMatch",
    run: async (recorder) => {
      const { call, quietly } = recorder;
      const maps = "/api/v1/namespaces/versions/configmaps";
      await createMaps(recorder, ["v0", "v1"], "versions");
      const { body } = await quietly("GET", `${maps}/v1`);
      const version = textAt(body, "metadata", "resourceVersion");
      await quietly("DELETE", `${maps}/v0`);
      await quietly("POST", maps, { body: { metadata: { name: "v2" } } });
      for (const query of [
        "resourceVersion=0",
        `resourceVersion=${version}`,
        `resourceVersion=${version}&resourceVersionMatch=Exact`,
        `resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
        `resourceVersion=${version}&limit=1`,
        `resourceVersion=${version}&limit=1&resourceVersionMatch=NotOlderThan`,
      ]) {
        const answer = await quietly("GET", `${maps}?${query}`);
        // The version itself differs between the servers.
        await call("GET", `${maps}?${query}`);
        if (answer.status !== 200) throw new Error(`${query} was refused`);
      }
      for (const query of [
        "resourceVersion=0&resourceVersionMatch=Exact",
        "resourceVersionMatch=Exact",
        "resourceVersion=1&resourceVersionMatch=Bogus",
        "resourceVersion=abc",
        "resourceVersion=-1",
        "resourceVersion=99999999",
        "sendInitialEvents=true",
        "timeoutSeconds=abc",
      ]) {
        await call("GET", `${maps}?${query}`);
      }
      await call("GET", `${maps}/v1?resourceVersion=0`);
      await call("GET", `${maps}/v1?resourceVersion=99999999`);
      await call("GET", `${maps}/v1?resourceVersion=abc`);
    },
  },
];
