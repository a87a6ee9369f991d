import process from "node:process";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/lib/longest-first.ts";
import { SAY_EVERY_MS } from "./scripts/lib/waiting.ts";
import { OTHER_MINORS, suiteOn } from "./scripts/lib/kubernetes-minors.ts";
import { ProgressReporter } from "./scripts/suites/progress-reporter.ts";
import { NOT_IN_POD } from "./test/suites/system/pod/selection.ts";

// Workspace packages resolve to their TypeScript sources: no build step stands between an edit and a test.
const conditions = ["development", "node"];
const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
};
const ignored = ["**/node_modules/**", "**/dist/**", "**/bin/**"];

/**
 * `tries` above 1 are for tests over real processes, where a busy machine may hold one up at a bad moment. `npm test` names each test
 * that needed the second: it is a bug to look into, not one that stops everybody's work.
 */
const project = (
  name: string,
  include: readonly string[],
  exclude: readonly string[],
  timeoutMs: number,
  tries: 1 | 2 = 1,
) => ({
  ...shared,
  test: {
    name,
    include: [...include],
    exclude: [...ignored, ...exclude],
    // npm run bench:micro; once, and not once a project.
    benchmark: {
      include: name === "unit" ? ["**/*.bench.ts"] : [],
      exclude: ignored,
      suppressExportGetterWarnings: true,
    },
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    retry: tries - 1,
    pool: "forks" as const,
  },
});

/** Suffixes that need more than one process: they belong to a project of their own. */
const heavier = [
  "**/*.component.test.ts",
  "**/*.component-long.test.ts",
  "**/*.smoke.test.ts",
  "**/*.hostile.test.ts",
  "**/*.integration.test.ts",
  "**/*.system.test.ts",
  "**/*.differential.test.ts",
  "**/*.parity.test.ts",
  "**/*.languages.test.ts",
  "**/*.network.test.ts",
  "**/*.openstack.test.ts",
  "**/*.deploy.test.ts",
  "**/*.page.test.ts",
  "**/*.kubelet.test.ts",
  "**/*.selftest.test.ts",
  "**/*.upgrade.test.ts",
];

/** The product's own suite, with a sidecar that is written in another language. */
const systemWith = (sidecar: string) => {
  const files = ["node", "service", "route", "lifecycle"].map((name) => `test/suites/system/*/${name}.system.test.ts`);
  const { test, ...rest } = project(`system-${sidecar}`, files, [], 300_000, 2);
  return { ...rest, test: { ...test, env: { CLOUDWIRE_TEST_SIDECAR: sidecar } } };
};

/** What a minor of Kubernetes changes, if anything: the files about each kind of object, the Lease, and the rights of the chart's role. */
const ON_EACH_MINOR = [
  "node/node",
  "node/lifecycle",
  "node/ipam",
  "node/csr",
  "service/service",
  "route/route",
  "leadership/leadership",
  "operators/endpoints",
  "operators/rights",
];

/** These files of the product's own suite, on another minor of Kubernetes than the default one. */
const systemOn = (minor: string) => {
  const files = ON_EACH_MINOR.map((name) => `test/suites/system/${name}.system.test.ts`);
  const { test, ...rest } = project(suiteOn(minor), files, [], 300_000, 2);
  return { ...rest, test: { ...test, env: { CLOUDWIRE_KUBERNETES_MINOR: minor } } };
};

/** The product's own suite, with its programs as containers of the chart's pod, in the images that are shipped. */
const systemPod = (() => {
  const leftOut = Object.keys(NOT_IN_POD).map((name) => `test/suites/system/*/${name}.system.test.ts`);
  const { test, ...rest } = project("system-pod", ["test/suites/system/*/*.system.test.ts"], leftOut, 300_000, 2);
  return { ...rest, test: { ...test, globalSetup: ["test/suites/system/pod/global-setup.ts"] } };
})();

/** Where times are asserted that another file's work would stretch: how soon another replica leads, how late a certificate is taken. */
const alone = [
  "**/leadership*.system.test.ts",
  "**/rotation.system.test.ts",
  "**/hot-upgrade.system.test.ts",
  "**/service-scale.system.test.ts",
  "**/several-providers.system.test.ts",
  "**/soak.system.test.ts",
];

/** Modules share nothing but constants, so each process loads one once, and not once a file: of component tests that is 40 % of their time. */
const loadedOnce = (of: ReturnType<typeof project>) => ({ ...of, test: { ...of.test, isolate: false } });

/** All its files ask one cloud, which is started once. One after the other: it is a dozen services on one machine. */
const openstack = (() => {
  const { test, ...rest } = project("openstack", ["**/*.openstack.test.ts"], [], 600_000);
  return { ...rest, test: { ...test, fileParallelism: false, globalSetup: ["test/suites/openstack/global-setup.ts"] } };
})();

/** A terminal shows how far a run is; a log needs lines. */
const progress = process.stdout.isTTY
  ? []
  : [
      new ProgressReporter({
        write: (line) => process.stdout.write(`${line}\n`),
        nowMs: () => performance.now(),
        everyMs: SAY_EVERY_MS,
      }),
    ];

/** Selected scenarios run alone, without the other suites that compare with upstream. */
const PARITY_FILES =
  process.env["CLOUDWIRE_PARITY_ONLY"] === undefined
    ? ["**/*.parity.test.ts"]
    : ["test/suites/parity/parity.parity.test.ts"];

/** Where scripts/test.ts wants the counts. */
const report = process.env["CLOUDWIRE_TEST_REPORT"];
const counts: readonly ["json", { readonly outputFile: string }][] =
  report === undefined ? [] : [["json", { outputFile: report }]];

export default defineConfig({
  test: {
    reporters: ["default", ...progress, ...counts],
    // All cores: vitest would leave one of them idle.
    maxWorkers: "100%",
    sequence: { sequencer: LongestFirst },
    projects: [
      loadedOnce(project("unit", ["**/*.test.ts"], heavier, 10_000)),
      loadedOnce(project("component", ["**/*.component.test.ts"], [], 60_000, 2)),
      // Those that take long, and no developer's time: what they test changes seldom.
      project("component-long", ["**/*.component-long.test.ts"], [], 60_000, 2),
      project("smoke", ["**/*.smoke.test.ts"], [], 60_000, 2),
      // Once: its tests read the results of one run.
      project("hostile", ["**/*.hostile.test.ts"], [], 1_200_000),
      // Once: it retries each fault itself, and its tests read the results of one run.
      project("selftest", ["**/*.selftest.test.ts"], [], 1_500_000),
      project("integration", ["**/*.integration.test.ts"], [], 300_000, 2),
      project("differential", ["**/*.differential.test.ts"], [], 300_000, 2),
      // Once: what its tests look at is made by one run, before them all.
      project("parity", PARITY_FILES, [], 600_000),
      project("system", ["**/*.system.test.ts"], alone, 300_000, 2),
      project("system-alone", alone, [], 300_000, 2),
      project("languages", ["**/*.languages.test.ts"], [], 300_000, 2),
      project("network", ["**/*.network.test.ts"], [], 300_000, 2),
      project("deploy", ["**/*.deploy.test.ts"], [], 300_000, 2),
      // In a real Chromium.
      project("page", ["**/*.page.test.ts"], [], 60_000, 2),
      // Once: each of its tests goes on from where the one before it ended.
      project("kubelet", ["**/*.kubelet.test.ts"], [], 300_000),
      project("upgrade", ["**/*.upgrade.test.ts"], [], 300_000),
      openstack,
      systemPod,
      systemWith("go"),
      systemWith("python"),
      ...OTHER_MINORS.map(systemOn),
    ],
  },
});
