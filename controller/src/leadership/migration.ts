import { MIGRATION_LEASE_NAME } from "../api/lease.ts";
import { isRecord } from "../util/json.ts";
import {
  type FileKind,
  type ReadText,
  readFileText,
  readKubernetesFile,
  unknownFields,
  unless,
} from "../options/text-file.ts";
import type { LeadershipOptions } from "./options.ts";
import type { Problem, Setting } from "../options/flag.ts";

/** Which controllers are led under a second Lease while they move between two programs (KEP-2436). */
export interface LeaderMigration {
  readonly leaseName: string;
  /** Program that runs each controller now; `*` is any. */
  readonly leaders: ReadonlyMap<string, string>;
}

/** Where a controller runs: under the main Lease, under the second one, or in another program. */
export type Placement = "main" | "migration" | "elsewhere";

const COMPONENT = "cloud-controller-manager";

const FILE: FileKind = {
  kind: "LeaderMigrationConfiguration",
  group: "controllermanager.config.k8s.io",
  fields: new Set(["leaderName", "resourceLock", "controllerLeaders"]),
};
const LEADER_FIELDS: ReadonlySet<string> = new Set(["name", "component"]);

/** Default without a file: the controllers that moved out of kube-controller-manager (controller-manager/pkg/leadermigration/config v0.36.3). */
export const DEFAULT_MIGRATION: LeaderMigration = {
  leaseName: MIGRATION_LEASE_NAME,
  leaders: new Map(
    ["route-controller", "service-controller", "cloud-node-lifecycle-controller"].map((name) => [name, "*"]),
  ),
};

const FILE_NAMES: Readonly<Record<string, string>> = {
  "route-controller": "node-route-controller",
  "service-controller": "service-lb-controller",
};

/** `aliases` as for --controllers: files of kube-controller-manager use the names of its time. */
export function placementOf(
  controller: string,
  migration: LeaderMigration | undefined,
  aliases: Readonly<Record<string, string>>,
): Placement {
  const named = [...(migration?.leaders ?? [])].find(
    ([name]) => (FILE_NAMES[name] ?? aliases[name] ?? name) === controller,
  );
  if (named === undefined) return "main";
  return named[1] === COMPONENT || named[1] === "*" ? "migration" : "elsewhere";
}

export function readMigration(
  options: Pick<LeadershipOptions, "enableLeaderMigration" | "leaderMigrationConfig" | "leaderElectResourceName">,
  readText: ReadText,
): Setting<LeaderMigration> {
  const { enableLeaderMigration, leaderMigrationConfig: path, leaderElectResourceName } = options;
  if (!enableLeaderMigration) return { value: undefined, problems: [] };
  const read = path === "" ? { value: DEFAULT_MIGRATION, problems: [] } : readMigrationFile(path, readText);
  if (read.value?.leaseName !== leaderElectResourceName) return read;
  const what = `both Leases have the name ${leaderElectResourceName}; give the second one a different name`;
  return { value: undefined, problems: [{ where: "--enable-leader-migration", what }] };
}

function readMigrationFile(path: string, readText: ReadText): Setting<LeaderMigration> {
  const wrong = (what: string): Problem => ({ where: "--leader-migration-config", what: `${path}: ${what}` });
  const file = readFileText(path, readText);
  if (file.kind === "unreadable") return { value: undefined, problems: [wrong(file.what)] };
  const { value, problems } = parseLeaderMigration(file.text);
  return { value, problems: problems.map((what) => wrong(what)) };
}

export function parseLeaderMigration(text: string): {
  readonly value: LeaderMigration | undefined;
  readonly problems: readonly string[];
} {
  const { document, problems: wrongHead } = readKubernetesFile(text, FILE);
  if (document === undefined) return { value: undefined, problems: wrongHead };
  const { leaderName, resourceLock, controllerLeaders } = document;
  const { leaders, problems: wrongLeaders } = readLeaders(controllerLeaders);
  const problems = [
    ...wrongHead,
    ...unless(typeof leaderName === "string" && leaderName !== "", "leaderName: is missing; name the second Lease"),
    ...unless(
      resourceLock === undefined || resourceLock === "leases",
      `resourceLock: is "${String(resourceLock)}"; only leases are supported`,
    ),
    ...wrongLeaders,
  ];
  return { value: problems.length > 0 ? undefined : { leaseName: String(leaderName), leaders }, problems };
}

function readLeaders(value: unknown): { readonly leaders: Map<string, string>; readonly problems: readonly string[] } {
  const leaders = new Map<string, string>();
  if (value === undefined) return { leaders, problems: [] };
  if (!Array.isArray(value)) return { leaders, problems: ["controllerLeaders: is not a list"] };
  const problems = value.flatMap((entry: unknown, index) => {
    const where = `controllerLeaders[${index}]`;
    if (!isRecord(entry)) return [`${where}: is not an object with name and component`];
    const { name, component } = entry;
    if (typeof name !== "string" || name === "") return [`${where}.name: is missing`];
    if (typeof component !== "string" || component === "") return [`${where}.component: is missing`];
    if (leaders.has(name)) return [`${where}.name: "${name}" is given twice`];
    leaders.set(name, component);
    return unknownFields(entry, LEADER_FIELDS, FILE.kind, `${where}.`);
  });
  return { leaders, problems };
}
