import { dirname } from "node:path";
import { blocksOf, callsOf, constantsOf, type GoFile, stringOf } from "./go-source.ts";

/** What of upstream users or providers can see, by kind: name to its details. */
export type Inventory = Readonly<Record<Kind, ReadonlyMap<string, string>>>;

export const KINDS = [
  "flags",
  "configuration",
  "metrics",
  "events",
  "permissions",
  "feature gates",
  "interfaces",
] as const;
export type Kind = (typeof KINDS)[number];

type Entry = readonly [name: string, details: string];

/** Read from the sources, because not all modules of a version can be built. */
export function inventoryOf(files: readonly GoFile[]): Inventory {
  const packages = [...Map.groupBy(files, ({ path }) => dirname(path)).values()];
  const of = (read: (file: GoFile, constants: ReadonlyMap<string, string>) => readonly Entry[]) =>
    new Map(
      packages.flatMap((own) => {
        const constants = constantsOf(own);
        return own.flatMap((file) => read(file, constants));
      }),
    );
  return {
    flags: of(flags),
    configuration: configuration(files),
    metrics: of(metrics),
    events: of(events),
    permissions: of(permissions),
    "feature gates": of(featureGates),
    interfaces: of(interfaces),
  };
}

/** `fs.DurationVar(&o.Period, "period", o.Period, "help")`, also with a shorthand. */
function flags({ text }: GoFile, constants: ReadonlyMap<string, string>): readonly Entry[] {
  return callsOf(text, /^(?:\w*Var|\w*VarP|Var|VarP)$/).flatMap(({ name, args }) => {
    const flag = stringOf(args[1] ?? "", constants);
    if (flag === undefined || !/^[a-z][a-z0-9-]*$/.test(flag) || args.length < 3) return [];
    const help = (args.at(-1) ?? "").replaceAll(/"\s*\+\s*"/g, "");
    return [[`--${flag}`, `${name.replace(/VarP?$/, "") || "Value"} ${help}`]];
  });
}

const ROOT_KIND = "CloudControllerManagerConfiguration";

/** Paths of the configuration, from the structs of all `config/v1alpha1`. */
function configuration(files: readonly GoFile[]): ReadonlyMap<string, string> {
  const structs = new Map(
    files
      .filter(({ path }) => path.endsWith("config/v1alpha1/types.go"))
      .flatMap(({ text }) => blocksOf(text, /^type (\w+) struct \{/gm))
      .map(({ match, body }) => [match[1] ?? "", body] as const),
  );
  const below = (kind: string, path: string): readonly Entry[] =>
    [...(structs.get(kind) ?? "").matchAll(/^\s*(\w+)\s+([*[\]\w.]+)/gm)].flatMap(([, field = "", type = ""]) => {
      const here = path === "" ? field : `${path}.${field}`;
      const base =
        type
          .replaceAll(/[*[\]]/g, "")
          .split(".")
          .at(-1) ?? "";
      return structs.has(base) && !type.startsWith("[]") ? below(base, here) : [[here, type] as const];
    });
  return new Map(below(ROOT_KIND, ""));
}

/** `metrics.NewCounterVec(&metrics.CounterOpts{Name: "x"}, []string{"label"})` */
function metrics({ text }: GoFile, constants: ReadonlyMap<string, string>): readonly Entry[] {
  return callsOf(text, /^New(?:Counter|Gauge|Histogram|Summary)(?:Vec)?$/).flatMap(
    ({ name, args: [options = "", labels] }) => {
      const field = (key: string): string | undefined =>
        new RegExp(`\\b${key}:\\s*("[^"]*"|[\\w.]+)`).exec(options)?.[1];
      const parts = ["Namespace", "Subsystem", "Name"].map((key) => stringOf(field(key) ?? '""', constants));
      if (parts.includes(undefined) || parts[2] === "") return [];
      const buckets = /\bBuckets:\s*(.*?)(?:,\s*\w+:|,?\s*\}$)/.exec(options)?.[1];
      const details = [
        name.replace(/^New|Vec$/g, "").toLowerCase(),
        labels === undefined ? "" : `labels ${labels.replace(/^\[\]string/, "")}`,
        buckets === undefined ? "" : `buckets ${buckets}`,
        field("StabilityLevel")?.split(".").at(-1) ?? "",
      ];
      return [[parts.filter((part) => part !== "").join("_"), details.filter((part) => part !== "").join(", ")]];
    },
  );
}

/** `recorder.Eventf(object, v1.EventTypeNormal, "Reason", "message")`, or the helper of the node-ipam-controller */
function events({ path, text }: GoFile, constants: ReadonlyMap<string, string>): readonly Entry[] {
  return callsOf(text, /^(?:Eventf?|RecordNodeStatusChange)$/).flatMap(({ name, args }) => {
    const [type, reason, ...message] =
      name === "RecordNodeStatusChange" ? ["EventTypeNormal", ...args.slice(3)] : args.slice(1);
    const said = stringOf(reason ?? "", constants);
    return said === undefined
      ? []
      : [[`${said} (${dirname(path)})`, [type?.split(".").at(-1), message[0]].join(" ").trim()]];
  });
}

/** Controllers of kube-controller-manager whose role upstream's cloud-controller-manager has. */
const ROLES = new Set(["node-controller", "route-controller", "service-controller"]);

/** Rules of the bootstrap policy, and calls of the API server. */
function permissions({ path, text }: GoFile): readonly Entry[] {
  if (path.endsWith("bootstrappolicy/controller_policy.go")) {
    return blocksOf(text, /rbacv1\.ClusterRole\{/g).flatMap(({ body }) => {
      const role = /saRolePrefix \+ "([\w-]+)"/.exec(body)?.[1] ?? "";
      if (!ROLES.has(role)) return [];
      return [...body.matchAll(/NewRule\(.*RuleOrDie\(\)/g)].map(([rule]): Entry => [`role ${role}: ${rule}`, ""]);
    });
  }
  const calls = text.matchAll(
    /\.(\w+V\d\w*)\(\)\.(\w+)\([^()]*(?:\([^()]*\))?[^()]*\)\.(Get|List|Watch|Create|Update\w*|Patch\w*|Delete\w*)\(/g,
  );
  return [...calls].map(([, group = "", resource = "", verb = ""]) => [
    `${verb} ${group} ${resource} (${dirname(path)})`,
    "",
  ]);
}

function featureGates({ text }: GoFile): readonly Entry[] {
  return blocksOf(text, /^\s*(\w+): \{$/gm).flatMap(({ match, body }) => {
    const versions = [...body.matchAll(/MustParse\("([\d.]+)"\), Default: (\w+), PreRelease: featuregate\.(\w+)/g)];
    if (versions.length === 0) return [];
    return [[match[1] ?? "", versions.map(([, version, value, stage]) => `${version} ${stage} ${value}`).join(", ")]];
  });
}

/** Methods that a provider implements. */
function interfaces({ path, text }: GoFile): readonly Entry[] {
  if (path !== "cloud-provider/cloud.go") return [];
  return blocksOf(text, /^type (\w+) interface \{/gm).flatMap(({ match, body }) =>
    [...body.matchAll(/^\s*(\w+)(\(.*)$/gm)].map(
      ([, method = "", signature = ""]): Entry => [`${match[1]}.${method}`, signature.trim()],
    ),
  );
}
