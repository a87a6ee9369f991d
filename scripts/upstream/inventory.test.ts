import { describe, expect, test } from "vitest";
import { type Inventory, inventoryOf, type Kind, KINDS } from "./inventory.ts";
import { isKnownIn } from "./known.ts";
import { stagingVersion } from "./modules.ts";
import { changedSources, changesOf, report } from "./report.ts";

const file = (path: string, text: string) => ({ path, text });
const entries = (inventory: Inventory, kind: Kind): unknown => Object.fromEntries(inventory[kind]);

describe("inventoryOf()", () => {
  test("reads flags, with shorthands and joined texts", () => {
    const text = `package options
// fs.BoolVar(&o.Old, "commented-out", false, "")
func add(fs *pflag.FlagSet) {
	fs.DurationVar(&o.Period.Duration, "some-period", o.Period.Duration, "The period, "+
		"in Go's (form).")
	fs.StringSliceVarP(&o.Names, "names", "n", []string{"a", "b"}, fmt.Sprintf("One of %s", all))
	fs.Var(&value{}, "value", "A value.")
	other.Var(1, name, "x")
}`;
    expect(entries(inventoryOf([file("cloud-provider/options/a.go", text)]), "flags")).toEqual({
      "--some-period": `Duration "The period, in Go's (form)."`,
      "--names": 'StringSlice fmt.Sprintf("One of %s", all)',
      "--value": 'Value "A value."',
    });
  });

  test("reads metrics, whose names and labels may be constants", () => {
    const text = `const subsystem = "some_controller"
var calls = metrics.NewCounterVec(
	&metrics.CounterOpts{
		Subsystem:      subsystem,
		Name:           "calls_total", // not "other"
		StabilityLevel: metrics.ALPHA,
	},
	[]string{"operation", "result"},
)
var seconds = metrics.NewHistogram(&metrics.HistogramOpts{Name: "seconds", Buckets: metrics.ExponentialBuckets(0.001, 2, 15)})`;
    expect(entries(inventoryOf([file("a/metrics.go", text)]), "metrics")).toEqual({
      some_controller_calls_total: 'counter, labels {"operation", "result"}, ALPHA',
      seconds: "histogram, buckets metrics.ExponentialBuckets(0.001, 2, 15)",
    });
  });

  test("reads paths of the configuration across packages", () => {
    const root = `type CloudControllerManagerConfiguration struct {
	metav1.TypeMeta \`json:""\`
	// Shared settings
	Shared SharedConfiguration
	NodeController nodeconfig.NodeControllerConfiguration
	Frequency metav1.Duration
}
type SharedConfiguration struct { // of two programs
	Names []string
}`;
    const node = "type NodeControllerConfiguration struct {\n\tSyncs int32\n}";
    const files = [
      file("cloud-provider/config/v1alpha1/types.go", root),
      file("cloud-provider/controllers/node/config/v1alpha1/types.go", node),
    ];
    expect(entries(inventoryOf(files), "configuration")).toEqual({
      "Shared.Names": "[]string",
      "NodeController.Syncs": "int32",
      Frequency: "metav1.Duration",
    });
  });

  test("reads events, calls of the API server, roles, feature gates and methods of providers", () => {
    const controller = `const deleted = "DeletingNode"
func run() {
	c.recorder.Eventf(ref, v1.EventTypeNormal, deleted, "Deleting node %s", name)
	controllerutil.RecordNodeStatusChange(logger, r.recorder, node, "CIDRNotAvailable")
	c.kubeClient.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
}`;
    const policy = `addControllerRole(&roles, rbacv1.ClusterRole{
	ObjectMeta: metav1.ObjectMeta{Name: saRolePrefix + "route-controller"},
	Rules: []rbacv1.PolicyRule{
		rbacv1helpers.NewRule("list").Groups(legacyGroup).Resources("nodes").RuleOrDie(),
	},
})`;
    const features = `var features = map[featuregate.Feature]featuregate.VersionedSpecs{
	SomeFeature: {
		{Version: version.MustParse("1.35"), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MustParse("1.38"), Default: true, PreRelease: featuregate.Beta},
	},
}`;
    const inventory = inventoryOf([
      file("cloud-provider/controllers/x/x.go", controller),
      file("kubernetes/plugin/bootstrappolicy/controller_policy.go", policy),
      file("controller-manager/pkg/features/features.go", features),
      file("cloud-provider/cloud.go", "type Zones interface {\n\tGetZone(ctx context.Context) (Zone, error)\n}"),
    ]);
    expect(Object.fromEntries(KINDS.map((kind) => [kind, entries(inventory, kind)]))).toEqual({
      flags: {},
      configuration: {},
      metrics: {},
      events: {
        "DeletingNode (cloud-provider/controllers/x)": 'EventTypeNormal "Deleting node %s"',
        "CIDRNotAvailable (cloud-provider/controllers/x)": "EventTypeNormal",
      },
      permissions: {
        "Delete CoreV1 Nodes (cloud-provider/controllers/x)": "",
        'role route-controller: NewRule("list").Groups(legacyGroup).Resources("nodes").RuleOrDie()': "",
      },
      "feature gates": { SomeFeature: "1.35 Alpha false, 1.38 Beta true" },
      interfaces: { "Zones.GetZone": "(ctx context.Context) (Zone, error)" },
    });
  });
});

describe("report()", () => {
  const flag = (name: string, help: string): string => `fs.BoolVar(&o.X, "${name}", false, "${help}")`;
  const from = [file("cloud-provider/controllers/a.go", `${flag("kept", "as before")}\n${flag("gone", "")}`)];
  const to = [
    file("cloud-provider/controllers/a.go", `${flag("kept", "otherwise")}\n${flag("new", "")}\n${flag("newer", "")}`),
  ];
  const isKnown = isKnownIn({ flags: "--kept=BOOLEAN\n--new=BOOLEAN\n" });

  test("has what was added, removed and changed, and whether this repository knows it", () => {
    const text = report(
      { version: "v0.1.0", files: from, missing: [] },
      { version: "v0.2.0", files: to, missing: ["b: no"] },
      isKnown,
    );
    expect(text.slice(0, text.indexOf("configuration:"))).toBe(`upstream v0.1.0 to v0.2.0

not served by the Go module proxy, not compared:
  b: no

flags:
  - --gone: Bool "" [UNKNOWN HERE]
  ~ --kept [known here]
      before: Bool "as before"
      after:  Bool "otherwise"
  + --new: Bool "" [known here]
  + --newer: Bool "" [UNKNOWN HERE]

`);
    expect(text).toContain("cloud-provider/controllers/a.go -2 +3");
  });

  test("has nothing for the same sources", () => {
    expect(changesOf(inventoryOf(from), inventoryOf(from))).toEqual([]);
    expect(changedSources(from, from)).toEqual([]);
  });
});

test.each<[name: string, known: boolean | undefined, kind: Kind]>([
  ["workqueue_depth", true, "metrics"],
  ["workqueue_dept", false, "metrics"],
  ["apiserver_audit_total", true, "metrics"],
  ["Synced (cloud-provider/controllers/node)", true, "events"],
  ["A.B", undefined, "configuration"],
])("isKnownIn() of %s is %s", (name, known, kind) => {
  const lists = { metrics: "workqueue_depth gauge\n| `apiserver_*` | absent |", events: "node Normal Synced" };
  expect(isKnownIn(lists)(kind, name)).toBe(known);
});

test("stagingVersion() takes the versions of Kubernetes and of its modules", () => {
  const versions = ["v0.37.2", "1.37.2", "v1.38.0-beta.0", "0.38.0-rc.1"];
  expect(versions.map(stagingVersion)).toEqual(["v0.37.2", "v0.37.2", "v0.38.0-beta.0", "v0.38.0-rc.1"]);
  expect(() => stagingVersion("latest")).toThrow('"latest" is not a version');
});
