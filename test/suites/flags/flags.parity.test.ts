import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { skipReason } from "../differential/differential.ts";
import { buildUpstream } from "../parity/upstream/module.ts";
import { Program } from "../../support/program.ts";
import { KNOWN_FLAGS } from "./known-flags.ts";
import { readUpstreamFlags } from "./upstream-flags.ts";

const BUILD_MS = 60 * 60_000;
const END_MS = 60_000;

/** Reading it is what a program does next once it has taken its flags. */
const KUBECONFIG = "/nonexistent/kubeconfig";

type Outcome = "taken" | "refused";

interface Row {
  readonly flags: readonly string[];
  readonly upstream: Outcome;
  /** Left out: the same. */
  readonly ours?: Outcome;
  /** Why not. */
  readonly because?: string;
}

const both = (outcome: Outcome, ...rows: readonly string[]): readonly Row[] =>
  rows.map((row) => ({ flags: row === "" ? [] : row.split(" "), upstream: outcome }));

/** Reported before anything starts; upstream detects it later, or never. */
const early = (...rows: readonly string[]): readonly Row[] =>
  rows.map((row) => ({
    flags: row.split(" "),
    upstream: "taken",
    ours: "refused",
    because: "upstream detects it later",
  }));

/** What operators write, rightly and wrongly. */
const ROWS: readonly Row[] = [
  ...both(
    "taken",
    "",
    "--cluster-name=blue --cluster-cidr=10.0.0.0/16",
    "--cluster_name=blue",
    "--cluster-name blue",
    "--leader-elect=false",
    "--leader-elect",
    "--leader-elect-lease-duration=30s --leader-elect-renew-deadline=20s --leader-elect-retry-period=3s",
    "--leader-elect-resource-name=ccm --leader-elect-resource-namespace=other",
    "--leader-elect-resource-lock=leases",
    "--enable-leader-migration",
    "--controllers=*,-route",
    "--controllers=-service-lb-controller,cloud-node",
    "--configure-cloud-routes=false --allocate-node-cidrs=false",
    "--cidr-allocator-type=RangeAllocator",
    "--concurrent-node-syncs=30 --concurrent-service-syncs=30 --concurrent-node-status-updates=10",
    "--concurrent-node-lifecycle-syncs=4",
    "--node-monitor-period=10s --node-status-update-frequency=1m --route-reconciliation-period=30s",
    "--min-resync-period=1h --controller-start-interval=1s",
    "--kube-api-qps=50 --kube-api-burst=100 --kube-api-content-type=application/json",
    "--kube-api-qps=0.5",
    "--use-service-account-credentials --cloud-config=",
    "--v=4 --vmodule=main=2",
    "-v=4",
    "-v 4",
    "--logging-format=text --log-flush-frequency=1s",
    "--profiling=false --contention-profiling",
    "--secure-port=0",
    "--bind-address=127.0.0.1 --secure-port=20258",
    "--tls-min-version=VersionTLS13",
    "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256",
    "--authorization-always-allow-paths=/healthz,/metrics",
    "--authentication-skip-lookup --authentication-token-webhook-cache-ttl=1m",
    "--requestheader-allowed-names=front-proxy-client --requestheader-group-headers=X-Group",
    "--authorization-webhook-cache-authorized-ttl=1m --authorization-webhook-cache-unauthorized-ttl=1s",
    "--feature-gates=WatchList=true",
    "--disable-http2-serving --http2-max-streams-per-connection=100",
    "--webhook-secure-port=20260 --webhook-bind-address=127.0.0.1",
    // How values are written.
    "--leader-elect=1 --configure-cloud-routes=F --profiling=TRUE --cluster-name=a --cluster-name= --controllers=* --controllers=-route",
    "--leader_elect=false --leader-elect_lease_duration=1s",
    "--controllers=",
    "--authorization-always-allow-paths= --requestheader-username-headers= --tls-cipher-suites= --feature-gates=",
    "-v4 --v=99 --kube-api-qps=.5 --node-monitor-period=1.5s --node-status-update-frequency=.5m --bind-address=:: --",
    // What has no effect here.
    "--node-sync-period=1s --allow-untagged-cloud --external-cloud-volume-plugin=x --vmodule=a=1,b*=2 --log-flush-frequency=1m",
    "--tls-sni-cert-key=a.crt,a.key:a.example --tls-curve-preferences=23,24 --concurrent-node-status-updates=-1 --http2-max-streams-per-connection=-1",
    "--node-cidr-mask-size=24 --service-cluster-ip-range=10.0.0.0/12",
  ),
  ...both(
    "refused",
    "--bogus",
    "extra",
    "--concurrent-node-syncs=many",
    "--concurrent-node-lifecycle-syncs=0",
    "--concurrent-node-syncs=1.5",
    "--kube-api-qps=fast",
    "--leader-elect=perhaps",
    "--leader-elect-lease-duration=15",
    "--leader-elect-resource-lock=endpoints",
    "--controllers=nope",
    "--v=loud",
    "--bind-address=everywhere",
    "--secure-port=70000",
    "--feature-gates=WatchList=perhaps",
    "--node-monitor-period=5",
    "--kubeconfig",
    // How values are written.
    "--leader-elect false",
    "--leader-elect=",
    "--v=0x10",
    "---v=2",
    "-leader-elect",
    "--CLUSTER-NAME=x",
    "-- --v=2",
    "-",
    "--controllers=*,,-route",
    "--concurrent-node-syncs=",
    "--node-monitor-period=5d",
    "--secure-port=-1",
    "--logging-format=xml",
    // What has no effect here.
    "--contention-profiling=maybe",
    "--feature-gates=WatchList",
    "--log-flush-frequency=5",
    "--log-text-info-buffer-size=lots",
    "--vmodule=a",
    "--tls-sni-cert-key=a.crt",
    "--tls-curve-preferences=x",
  ),
  ...early(
    "--leader-elect-lease-duration=5s",
    "--leader-elect-retry-period=0",
    "--leader-elect-resource-name=",
    "--leader-migration-config=/etc/migration.yaml",
    "--concurrent-node-syncs=0",
    "--concurrent-service-syncs=-1",
    "--kube-api-burst=0",
    "--node-monitor-period=0s",
    "--node-monitor-period=-5s",
    "--route-reconciliation-period=0",
    "--cluster-cidr=10.0.0.0",
    "--cidr-allocator-type=Other",
    "--tls-min-version=VersionTLS9",
    "--tls-cipher-suites=TLS_NONE",
    "--tls-cert-file=/etc/server.crt",
    "--master=nonsense",
  ),
  { flags: ["--tls-min-version=VersionTLS10"], upstream: "taken", ours: "refused", because: "TLS 1.0 is broken" },
  {
    flags: ["--feature-gates=NoSuchFeature=true"],
    upstream: "refused",
    ours: "taken",
    because: "feature gates have no effect here, which a warning says; a manifest need not lose them one by one",
  },
  {
    flags: ["--log-text-info-buffer-size=1Ki"],
    upstream: "refused",
    ours: "taken",
    because: "it needs a feature gate, and here there are none",
  },
  {
    flags: ["--logging-format=json"],
    upstream: "refused",
    ours: "taken",
    because: "upstream's binary is linked without",
  },
  { flags: ["--webhooks=persistent-volume-label"], upstream: "refused", ours: "taken", because: "upstream has none" },
  { flags: ["--concurrent-node-syncs=0x10"], upstream: "taken", ours: "refused", because: "numbers are decimal" },
  { flags: ["--secure-port=010"], upstream: "taken", ours: "refused", because: "Go reads port 8, people read 10" },
  { flags: ["--kube-api-qps=-1"], upstream: "taken", ours: "refused", because: "0 is no limit, as the default" },
  { flags: ["--bind-address="], upstream: "taken", ours: "refused", because: "0.0.0.0 says what is meant" },
  { flags: ["--tls-min-version="], upstream: "taken", ours: "refused", because: "the default has a name" },
];

const reason = await skipReason("flags of upstream and ours");
let upstreamPath = "";
describe.skipIf(reason !== undefined)("flags", () => {
  beforeAll(async () => {
    upstreamPath = await buildUpstream();
  }, BUILD_MS);

  test.each(ROWS.map((row) => ({ ...row, line: row.flags.join(" ") || "none" })))(
    "$line: upstream $upstream, ours as it should",
    async ({ flags, upstream, ours = upstream }) => {
      const [theirOutcome, outcome] = await Promise.all([upstreamOutcome(flags), ourOutcome(flags)]);
      expect({ upstream: theirOutcome, ours: outcome }).toEqual({ upstream, ours });
    },
  );

  test("of upstream's binary are those that our reference compares with; if not: npm run flags -w @cloudwire/test", async () => {
    expect(await readUpstreamFlags()).toEqual(JSON.parse(readFileSync(KNOWN_FLAGS, "utf8")));
  });
});

/** What of upstream's answer comes from the step after the flags. */
const UPSTREAM_NEXT = /no such file or directory|invalid configuration/;

async function upstreamOutcome(flags: readonly string[]): Promise<Outcome> {
  await using program = new Program({
    command: upstreamPath,
    args: ["--cloud-provider=simulated", `--kubeconfig=${KUBECONFIG}`, "--secure-port=0", ...flags],
    env: { SIMCLOUD_URL: "http://127.0.0.1:1", SIMCLOUD_API_KEY: "none", SIMCLOUD_CLUSTER_ID: "none" },
  });
  await program.exit(END_MS);
  return UPSTREAM_NEXT.test(program.output) ? "taken" : "refused";
}

async function ourOutcome(flags: readonly string[]): Promise<Outcome> {
  const output = await ourOutput(flags);
  return output.includes(`cannot read kubeconfig ${KUBECONFIG}`) ? "taken" : "refused";
}

async function ourOutput(flags: readonly string[]): Promise<string> {
  const args = ["--provider=simulated=unix:///nonexistent/socket", `--kubeconfig=${KUBECONFIG}`, ...flags];
  await using ours = new Program({ source: "controller/src/main.ts", args });
  await ours.exit(END_MS);
  return ours.output;
}
