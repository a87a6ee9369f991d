import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Fixtures } from "../suite/fixtures.ts";
import type { Report } from "./report.ts";

/** Shorter words stand for themselves only where nothing else is said: they could be part of any other. */
const shortest = 4;

/** A report that may be public: ids of the account, its instances and volumes are replaced by placeholders. */
export const withoutIds = (report: Report, info: GetProviderInfoResponse, fixtures: Fixtures): Report => {
  const names = idsOf(info, fixtures);
  const ofCloud = info.providerIdPrefixes
    .filter((prefix) => prefix !== "")
    .map((prefix) => new RegExp(`${escaped(prefix)}[^\\s"'\`,;)\\]}]+`, "g"));
  const hidden = (text: string): string => {
    const whole = names.find(([id]) => id === text);
    if (whole !== undefined) return whole[1];
    const named = names.reduce(
      (left, [id, name]) => (id.length < shortest ? left : left.replaceAll(wordOf(id), name)),
      text,
    );
    return ofCloud.reduce((left, pattern) => left.replaceAll(pattern, "<provider id>"), named);
  };
  return {
    ...report,
    target: { ...report.target, ...(report.target.command && { command: report.target.command.map(hidden) }) },
    results: report.results.map((result) => ({
      ...result,
      ...(result.repeat !== undefined && { repeat: hidden(result.repeat) }),
      result:
        "finding" in result.result ? { ...result.result, finding: deep(result.result.finding, hidden) } : result.result,
    })),
  };
};

const escaped = (text: string): string => text.replaceAll(/[^\w:/-]/g, "\\$&");

/** An id that is not part of a longer one: 192.0.2.1 is not in 192.0.2.10. */
const wordOf = (id: string): RegExp => new RegExp(`(?<![A-Za-z0-9])${escaped(id)}(?![A-Za-z0-9])`, "g");

/** Each id with what is written instead, the longest first, for one may be part of another. */
const idsOf = ({ scopeId }: GetProviderInfoResponse, fixtures: Fixtures): readonly (readonly [string, string])[] => {
  const found: (readonly [string, string])[] = [[scopeId, "<scope>"]];
  const visit = (value: unknown, path: string): void => {
    if (typeof value === "string") found.push([value, `<${path}>`]);
    else if (Array.isArray(value)) for (const item of value) visit(item, path);
    else if (typeof value === "object" && value !== null)
      for (const [key, item] of Object.entries(value)) visit(item, path === "" ? key : `${path}.${key}`);
  };
  visit(Object.fromEntries(Object.entries(fixtures).filter(([key]) => !notIds.has(key))), "");
  return found
    .filter(([id]) => id !== "")
    .toSorted(([one], [other]) => other.length - one.length || one.localeCompare(other));
};

/** Parts of the configuration that name nothing of the account. */
const notIds = new Set(["limits", "testCloud", "hooks", "routeCidrs", "loadBalancer", "scale"]);

const deep = <Value>(value: Value, change: (text: string) => string): Value => {
  const text = JSON.stringify(value, (_key, item: unknown) => (typeof item === "string" ? change(item) : item));
  const changed: Value = JSON.parse(text);
  return changed;
};
