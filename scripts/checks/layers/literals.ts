/** Names that users see are written down once, where a reader looks for them. */
import { posix } from "node:path";
import { type ObjectExpression, Visitor } from "oxc-parser";
import { controllerPath, type Finding, type SourceFile } from "./file.ts";

const EVENT_TYPES = ["Normal", "Warning"];

/** Events are built in events.ts. */
export function eventFindings(file: SourceFile): readonly Finding[] {
  const path = controllerPath(file);
  if (path === undefined || posix.basename(path) === "events.ts") return [];
  const findings: Finding[] = [];
  new Visitor({
    ObjectExpression: (node) => {
      const isRegarding = keyOf(node, "regarding") !== undefined && keyOf(node, "reason") !== undefined;
      const type = keyOf(node, "type");
      const isTyped = type?.value.type === "Literal" && EVENT_TYPES.includes(String(type.value.value));
      if (!isRegarding && !isTyped) return;
      const message = "builds an event: events are built in the events.ts of their capability";
      findings.push({ rule: "events", path: file.path, line: file.lineAt(node.start), message });
    },
  }).visit(file.program);
  return findings;
}

interface Family {
  readonly name: string;
  readonly at: number;
}

/** A file that declares more families than this is called metrics.ts. */
const FAMILIES_ELSEWHERE = 2;

/** A metric's name is a literal in one file: that which declares it, which is a metrics.ts once there are some. */
export function metricFindings(files: readonly SourceFile[]): readonly Finding[] {
  const own = files.filter((file) => controllerPath(file) !== undefined);
  const declared = own.map((file) => ({ file, families: familiesOf(file) }));
  const homes = new Map(
    declared.flatMap(({ file, families }) => families.map(({ name }) => [name, file.path] as const)),
  );
  return declared.flatMap(({ file, families }) => [...misplaced(file, families), ...repeated(file, homes)]);
}

function misplaced(file: SourceFile, families: readonly Family[]): readonly Finding[] {
  const [first] = families;
  const { path } = file;
  if (first === undefined || families.length <= FAMILIES_ELSEWHERE || posix.basename(path) === "metrics.ts") return [];
  const message = `declares ${families.length} metrics: more than ${FAMILIES_ELSEWHERE} are declared in a metrics.ts`;
  return [{ rule: "metrics", path, line: file.lineAt(first.at), message }];
}

function repeated(file: SourceFile, homes: ReadonlyMap<string, string>): readonly Finding[] {
  const findings: Finding[] = [];
  new Visitor({
    Literal: (node) => {
      const home = typeof node.value === "string" ? homes.get(node.value) : undefined;
      if (home === undefined || home === file.path) return;
      const message = `repeats the name of a metric, ${String(node.value)}, which ${home} declares: take it from there`;
      findings.push({ rule: "metrics", path: file.path, line: file.lineAt(node.start), message });
    },
  }).visit(file.program);
  return findings;
}

/** Calls like `metrics.counter({ name: "…" })`. */
function familiesOf({ program }: SourceFile): readonly Family[] {
  const families: Family[] = [];
  new Visitor({
    CallExpression: ({ callee, arguments: [spec] }) => {
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
      if (!["counter", "gauge", "histogram"].includes(callee.property.name)) return;
      const name = spec?.type === "ObjectExpression" ? keyOf(spec, "name")?.value : undefined;
      if (name?.type === "Literal" && typeof name.value === "string")
        families.push({ name: name.value, at: name.start });
    },
  }).visit(program);
  return families;
}

function keyOf({ properties }: ObjectExpression, key: string) {
  return properties
    .filter((property) => property.type === "Property")
    .find((property) => property.key.type === "Identifier" && property.key.name === key);
}
