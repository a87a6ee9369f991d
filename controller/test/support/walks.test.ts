import { describe, expect, test } from "vitest";
import { filesOf, firstSentence, listedStops, type Walk, withStops } from "./walks.ts";

const counts = (calls: Readonly<Record<string, number>>): ReadonlyMap<string, number> => new Map(Object.entries(calls));

describe("filesOf()", () => {
  test("takes a file of which one function is called for each object, beyond idleness", () => {
    const busy = counts({
      "kube/a.ts#f@1": 3,
      "kube/a.ts#g@9": 1,
      "kube/b.ts#f@1": 2,
      "kube/c.ts#f@1": 5,
      "kube/d.ts#f@1": 6,
    });
    const idle = [counts({ "kube/c.ts#f@1": 1 }), counts({ "kube/c.ts#f@1": 3, "kube/d.ts#f@1": 3 })];
    expect(filesOf("node", busy, idle, 3)).toEqual(["kube/a.ts", "kube/d.ts"]);
  });

  test.each<[Walk, readonly string[]]>([
    ["node", ["controllers/node/plan.ts", "kube/http-client.ts", "leadership/lease-annotations.ts"]],
    ["service", ["controllers/service/plan/plan.ts", "kube/http-client.ts", "leadership/lease-annotations.ts"]],
    ["guard", ["controllers/node-lifecycle/guard/guard.ts", "leadership/lease-annotations.ts"]],
  ])("leaves out what other controllers do on the way of a %s", (walk, files) => {
    const all = [
      "controllers/node/plan.ts",
      "controllers/service/plan/plan.ts",
      "controllers/node-lifecycle/guard/guard.ts",
      "kube/http-client.ts",
      "leadership/lease-annotations.ts",
    ];
    expect(filesOf(walk, counts(Object.fromEntries(all.map((file) => [`${file}#f@1`, 1]))), [], 1)).toEqual(files);
  });

  test.each([
    "util/json.ts#isRecord@1",
    "api/node.ts#nodeReference@1",
    "app/process.ts#uninitialized@1",
    "telemetry/log.ts#info@1",
    "controllers/node/metrics.ts#initialized@1",
    "provider/status-metrics.ts#set@1",
    "controllers/node/options.ts#refreshPeriodMs@1",
    "explain/history/timeline.ts#note@1",
    "runtime/history.ts#add@1",
    "provider/sidecar.ts#get info@1",
    "provider/sidecar.ts#admit@1",
  ])("leaves out %s", (call) => {
    expect(filesOf("node", counts({ [call]: 1 }), [], 1)).toEqual([]);
  });

  test.each([
    "provider/sidecar.ts#getInstances@1",
    "observe/write-filter.ts#patch@1",
    "kube/connection/transport.ts#send@1",
  ])("takes %s", (call) => {
    expect(filesOf("node", counts({ [call]: 1 }), [], 1)).toHaveLength(1);
  });
});

const PAGE = `before
<!-- walk: node -->

1. \`kube/watch.ts\`: streams
2. \`kube/store.ts\`: stores
3. \`node/plan.ts\`: decides

<!-- /walk -->
<!-- walk: guard -->

1. \`kube/watch.ts\`: another list

<!-- /walk -->
`;

describe("withStops()", () => {
  const about = (file: string): string => `about ${file}`;

  test("leaves a list that is true as it is", () => {
    expect(withStops(PAGE, "node", ["kube/store.ts", "kube/watch.ts", "node/plan.ts"], about)).toBe(PAGE);
  });

  test("removes, follows moves, and adds behind the neighbors", () => {
    const page = withStops(PAGE, "node", ["kube/cache/watch.ts", "node/apply.ts", "node/plan.ts", "new/$&.ts"], about);
    expect(listedStops(page, "node")).toEqual([
      { file: "kube/cache/watch.ts", phrase: "streams" },
      { file: "node/plan.ts", phrase: "decides" },
      { file: "node/apply.ts", phrase: "about node/apply.ts" },
      { file: "new/$&.ts", phrase: "about new/$&.ts" },
    ]);
    expect(listedStops(page, "guard")).toEqual([{ file: "kube/watch.ts", phrase: "another list" }]);
  });

  test("begins an empty list", () => {
    const empty = "before\n\n<!-- walk: node -->\n\n<!-- /walk -->\n";
    expect(withStops(empty, "node", ["kube/watch.ts"], about)).toBe(
      "before\n\n<!-- walk: node -->\n\n1. `kube/watch.ts`: about kube/watch.ts\n\n<!-- /walk -->\n",
    );
  });

  test("refuses a page without the list", () => {
    expect(() => withStops(PAGE, "service", [], about)).toThrow('has no list of the walk "service"');
  });
});

test.each([
  [
    "/** A limit. */\nconst MS = 1;\n/** Stores objects by key. More. */\nexport class Store {}",
    "stores objects by key",
  ],
  ["/**\n * What one\n * may do: this.\n */\nexport async function f() {}", "what one may do"],
  ["/** Undescribed. */\nexport interface A {}\nexport function f() {}", "see there"],
])("firstSentence() of %j", (source, sentence) => {
  expect(firstSentence(source)).toBe(sentence);
});
