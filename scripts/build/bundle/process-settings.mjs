// What a program's process needs that can only be said when it starts. Measured in docs/decisions/0015.

/**
 * Flags of V8 by name, without dashes.
 * - max-semi-space-size, in MiB: young objects are collected in smaller steps than V8's default of 16, with which garbage of up to 48 MiB piles up.
 * - heap-growing-percent: old objects are collected when they have become half as many again, not twice to four times as many.
 * @type {Readonly<Record<string, string>>}
 */
const V8_FLAGS = { "max-semi-space-size": "4", "heap-growing-percent": "50" };

/**
 * - MALLOC_ARENA_MAX (glibc): the threads of V8 and libuv otherwise keep arenas of their own, free memory in each.
 * @type {Readonly<Record<string, string>>}
 */
const ENVIRONMENT = { MALLOC_ARENA_MAX: "1" };

/**
 * What a process must be restarted with; undefined when nothing is missing. Existing settings stay.
 * @param {{ readonly execArgv: readonly string[], readonly env: Readonly<Record<string, string | undefined>> }} process
 * @returns {{ readonly execArgv: string[], readonly env: Record<string, string | undefined> } | undefined}
 */
export function missingSettings({ execArgv, env }) {
  const given = [...execArgv, ...(env["NODE_OPTIONS"] ?? "").split(/\s+/)].map(flagName);
  const flags = Object.entries(V8_FLAGS).filter(([name]) => !given.includes(name));
  const variables = Object.entries(ENVIRONMENT).filter(([name]) => env[name] === undefined);
  if (flags.length === 0 && variables.length === 0) return undefined;
  return {
    execArgv: [...flags.map(([name, value]) => `--${name}=${value}`), ...execArgv],
    env: { ...env, ...Object.fromEntries(variables) },
  };
}

/**
 * V8 takes `_` for `-`.
 * @param {string} flag
 */
function flagName(flag) {
  return /^--([^=]+)/.exec(flag)?.[1]?.replaceAll("_", "-");
}
