// Node version ranges as `engines.node` writes them. Plain JavaScript: runs before any package is installed.

/** What the programs run on: engines.node of the workspace. A constant, because a bundled program has no package.json beside it. */
export const SUPPORTED = ">=24.21.0 <25";

/**
 * "v24.21.0" as [24, 21, 0]; undefined when it is no version.
 * @param {string} text
 */
export function parseVersion(text) {
  const match = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text.trim());
  return match === null ? undefined : [1, 2, 3].map((part) => Number(match[part] ?? 0));
}

/**
 * Whether `version` lies in `range`: comparators `>=A` and `<B`, separated by blanks, all of which must hold.
 * @param {string} version
 * @param {string} range
 */
export function satisfies(version, range) {
  const actual = parseVersion(version);
  if (actual === undefined) return false;
  return range
    .trim()
    .split(/\s+/)
    .every((comparator) => {
      const [, operator, text = ""] = /^(>=|<)(.+)$/.exec(comparator) ?? [];
      const bound = parseVersion(text);
      if (bound === undefined) throw new Error(`not a range this understands: "${range}"; write it as ">=A <B"`);
      return operator === ">=" ? compare(actual, bound) >= 0 : compare(actual, bound) < 0;
    });
}

/**
 * The error message for an unsupported Node version; undefined: supported.
 * @param {string} version
 * @param {string} range
 * @param {string} path where that Node is
 */
export function refusal(version, range, path) {
  if (satisfies(version, range)) return undefined;
  return `this program needs Node ${range}, but ${path} is Node ${version}; in a checkout use the npm scripts, which bring the right one`;
}

/**
 * @param {readonly number[]} left
 * @param {readonly number[]} right
 */
function compare(left, right) {
  const at = left.findIndex((part, index) => part !== right[index]);
  return at === -1 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}
