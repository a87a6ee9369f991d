/** Provider IDs and CIDRs are values: as texts, one instance or one network has several. */
import { type Expression, Visitor } from "oxc-parser";
import type { Finding, SourceFile } from "./file.ts";

const CHECKED = /^(?:controller\/src|provider-sdk\/typescript\/src|providers\/[^/]+\/src)\//;

const PROVIDER_ID = /provider_?id$/i;
const CIDR = /(?:^|[a-z])cidr$/i;

const COMPARISONS: ReadonlySet<string> = new Set(["==", "===", "!=", "!=="]);
const TEXT_METHODS: ReadonlySet<string> = new Set(["includes", "indexOf", "startsWith", "endsWith"]);

/** Comparisons of provider IDs and CIDRs as texts. Two versions of one object may be compared: that finds a change of the text. */
export function identityFindings(file: SourceFile): readonly Finding[] {
  if (file.isTest || !CHECKED.test(file.path)) return [];
  const findings: Finding[] = [];
  const add = (what: string, start: number): void => {
    const message = `compares ${what} as texts: use isSameInstance(), InstanceMap, hasPrefix(), parseCidr() or canonicalCidr()`;
    findings.push({ rule: "identity", path: file.path, line: file.lineAt(start), message });
  };
  new Visitor({
    BinaryExpression: ({ operator, left, right, start }) => {
      if (!COMPARISONS.has(operator) || isEmpty(left) || isEmpty(right)) return;
      if (isVersions(left, right)) return;
      const what = [left, right].map((side) => kindOf(side)).find((kind) => kind !== undefined);
      if (what !== undefined) add(what, start);
    },
    CallExpression: ({ callee, arguments: args, start }) => {
      if (callee.type !== "MemberExpression" || !TEXT_METHODS.has(nameOf(callee.property) ?? "")) return;
      const what = [callee.object, ...args].map((part) => kindOf(part)).find((kind) => kind !== undefined);
      if (what !== undefined) add(what, start);
    },
  }).visit(file.program);
  return findings;
}

/** `""` and `undefined`: whether there is one. */
function isEmpty(side: { readonly type: string; readonly value?: unknown }): boolean {
  return (side.type === "Literal" && side.value === "") || nameOf(side) === "undefined";
}

/** `old.spec.providerID` and `node.spec.providerID`. */
function isVersions(left: Expression, right: Expression): boolean {
  if (left.type !== "MemberExpression" || right.type !== "MemberExpression") return false;
  const isOfSpec = (object: Expression): boolean =>
    object.type === "MemberExpression" && nameOf(object.property) === "spec";
  return nameOf(left.property) === nameOf(right.property) && isOfSpec(left.object) && isOfSpec(right.object);
}

function kindOf(side: object): string | undefined {
  const name =
    "property" in side && typeof side.property === "object" && side.property !== null
      ? nameOf(side.property)
      : nameOf(side);
  if (name === undefined) return undefined;
  if (PROVIDER_ID.test(name)) return "provider IDs";
  return CIDR.test(name) ? "CIDRs" : undefined;
}

function nameOf(node: object): string | undefined {
  return "name" in node && typeof node.name === "string" ? node.name : undefined;
}
