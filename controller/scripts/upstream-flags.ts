import upstream from "../test/fixtures/upstream-flags.json" with { type: "json" };
import { TABLE } from "../src/app/options.ts";
import { isCommandFlag } from "../src/options/table.ts";
import { defaultText } from "../src/options/flag.ts";
import { type FlagSupport, supportOf } from "../src/options/upstream-flags.ts";

/** Every upstream flag, as reported by its binary; test/suites/flags/upstream-flags.ts writes and describes them. */
export { upstream };

/** Form of {@link upstream}. */
export type UpstreamFlags = typeof upstream;

/** One of them. */
export type UpstreamFlag = UpstreamFlags["flags"][number];

/** Heading of the flags that upstream's node-ipam-controller brings: a vendor has to link it, so they are beside the 85. */
export const NODE_IPAM_SECTION = "Node-ipam-controller";

/** The default as our pages write it. */
export function upstreamDefault(flag: UpstreamFlag): string {
  return flag.default.replace(/^\[(.*)\]$/, "$1");
}

/** The default of our flag of that name; undefined where there is none to compare. */
export function ourDefault(name: string): string | undefined {
  const row = TABLE.byName.get(name);
  if (row !== undefined) return defaultText(row.flag);
  return isCommandFlag(name) ? "false" : undefined;
}

/** Each flag of upstream's with what becomes of it here; fails where one is not known. */
export function standings({
  flags,
}: UpstreamFlags): readonly { readonly flag: UpstreamFlag; readonly support: FlagSupport }[] {
  return flags.map((flag) => {
    const support = supportOf(TABLE, flag.name);
    if (support === undefined) throw new Error(`--${flag.name} of upstream's is in no table of flags`);
    return { flag, support };
  });
}
