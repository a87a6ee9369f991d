import { readFileSync } from "node:fs";
import { isCommandFlag } from "../src/options/command-flags.ts";
import { defaultText } from "../src/options/flag.ts";
import { rows } from "../src/options/rows.ts";
import { type Standing, standingOf } from "../src/options/standing.ts";

/** One flag of upstream's, as its binary tells it; written by `npm run flags -w @cloudwire/test`. */
export interface UpstreamFlag {
  readonly name: string;
  readonly type: string;
  /** As Go prints it: `[a,b]`. */
  readonly default: string;
  readonly section: string;
}

export interface UpstreamFlags {
  /** Of Kubernetes. */
  readonly version: string;
  readonly flags: readonly UpstreamFlag[];
}

/** Heading of the flags that upstream's node-ipam-controller brings: a vendor has to link it, so they are beside the 84. */
export const NODE_IPAM_SECTION = "Node-ipam-controller";

const FIXTURE = new URL("../test/fixtures/upstream-flags.json", import.meta.url);

export function readUpstreamFlags(): UpstreamFlags {
  // oxlint-disable-next-line typescript/consistent-type-assertions -- a file of ours, whose form a parity test compares with the binary
  return JSON.parse(readFileSync(FIXTURE, "utf8")) as UpstreamFlags;
}

/** The default as our pages write it. */
export function upstreamDefault(flag: UpstreamFlag): string {
  return flag.default.replace(/^\[(.*)\]$/, "$1");
}

/** The default of our flag of that name; undefined where there is none to compare. */
export function ourDefault(name: string): string | undefined {
  const row = rows.get(name);
  if (row !== undefined) return defaultText(row.flag);
  return isCommandFlag(name) ? "false" : undefined;
}

/** Each flag of upstream's with what becomes of it here; fails where one is not known. */
export function standings({
  flags,
}: UpstreamFlags): readonly { readonly flag: UpstreamFlag; readonly standing: Standing }[] {
  return flags.map((flag) => {
    const standing = standingOf(flag.name);
    if (standing === undefined)
      throw new Error(`--${flag.name} of upstream's is in no table of controller/src/options`);
    return { flag, standing };
  });
}
