import { type Cidr, parseCidr } from "../../util/cidr.ts";
import type { Problem } from "../../options/flag.ts";

/** The ranges of `cidr[,cidr]`; what is none is left out. */
export function readCidrs(text: string): readonly Cidr[] {
  return text.split(",").flatMap((part) => parseCidr(part.trim()) ?? []);
}

/** cloud-provider/app/core.go v0.36.3: nothing, one range, or one of each family. */
export function cidrListProblems(where: string, text: string): readonly Problem[] {
  if (text === "") return [];
  const parts = text.split(",").map((part) => part.trim());
  const ranges = parts.map((part) => ({ part, range: parseCidr(part) }));
  const malformed = ranges.filter(({ range }) => range === undefined);
  if (malformed.length > 0) {
    return malformed.map(({ part }) => ({
      where,
      what: `"${part}" is not a range; write it like 10.120.0.0/16 or fd00:10::/48`,
    }));
  }
  if (parts.length > 2)
    return [{ where, what: `${parts.length} ranges are given; give one, or one of each IP family` }];
  if (parts.length === 2 && ranges[0]?.range?.family === ranges[1]?.range?.family) {
    return [{ where, what: `both ranges of "${text}" are ${ranges[0]?.range?.family}; give one of each IP family` }];
  }
  return [];
}
