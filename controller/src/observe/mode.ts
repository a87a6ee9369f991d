import { CONTROLLER_ALIASES } from "../api/controller-names.ts";
import { choiceFlag, type Flag, type Problem, problem, value } from "../options/flag.ts";
import type { OptionsOf } from "../options/table.ts";

/** `active`: writes are made. `observe`: they are planned and reported. */
export type Mode = "active" | "observe";

export interface Modes {
  readonly process: Mode;
  readonly controllers: ReadonlyMap<string, Mode>;
  readonly providers: ReadonlyMap<string, Mode>;
}

/**
 * The mode of a controller or provider takes precedence over the process, and "observe" over "active". Without provider (""), for what has
 * no or an unknown owner, the key is observed if any provider is, unless the controller is active.
 */
export function isObserved({ process, controllers, providers }: Modes, controller: string, provider: string): boolean {
  const ofController = controllers.get(controller);
  if (ofController === "observe") return true;
  if (provider === "") return ofController === undefined && (process === "observe" || hasObserved(providers));
  const ofProvider = providers.get(provider);
  if (ofProvider === "observe") return true;
  return (ofController ?? ofProvider ?? process) === "observe";
}

export function observesAny({ process, controllers, providers }: Modes): boolean {
  return process === "observe" || hasObserved(controllers) || hasObserved(providers);
}

/** Nothing is written, so that no leader election is needed. */
export function observesAll({ process, controllers, providers }: Modes): boolean {
  return process === "observe" && ![...controllers.values(), ...providers.values()].includes("active");
}

function hasObserved(modes: ReadonlyMap<string, Mode>): boolean {
  return [...modes.values()].includes("observe");
}

const MODES = ["active", "observe"] as const satisfies readonly Mode[];

export const modeFlags = {
  mode: choiceFlag({
    group: "mode",
    choices: MODES,
    defaultValue: "active",
    help: "active: make changes; observe: only plan and report them, without writes to Kubernetes or a cloud, next to the controller manager in use",
  }),
  controllerMode: modesFlag(
    "controller",
    "mode of a controller, such as service-lb-controller=observe; repeatable; takes precedence over --mode. Observe mode of a controller or a provider takes precedence over active mode of the other",
  ),
  providerMode: modesFlag(
    "provider",
    "mode of a provider and of the objects that it owns, such as acme=observe; repeatable; takes precedence over --mode",
  ),
};

export type ModeOptions = OptionsOf<typeof modeFlags>;

function modesFlag(what: "controller" | "provider", help: string): Flag<ReadonlyMap<string, Mode>> {
  return {
    group: "mode",
    help,
    valueName: `name=${MODES.join("|")}`,
    defaultValue: new Map(),
    shape: { kind: "list", pattern: `^[-a-z0-9.]+=(${MODES.join("|")})$` },
    parse: (text, before) => {
      const [, name = "", given = ""] = /^([^=]+)=(.*)$/.exec(text) ?? [];
      const mode = MODES.find((candidate) => candidate === given);
      if (name === "") return problem(`"${text}" is not NAME=MODE, such as acme=observe`);
      if (mode === undefined) return problem(`"${given}" is not a mode; valid modes are ${MODES.join(", ")}`);
      if (before?.has(name) === true) return problem(`${what} "${name}" has two modes`);
      return value(new Map([...(before ?? []), [name, mode]]));
    },
    write: (modes) => [...modes].map(([name, mode]) => `${name}=${mode}`),
  };
}

export function modesOf({ mode, controllerMode, providerMode }: ModeOptions): Modes {
  const canonical = [...controllerMode].map(([name, ofName]) => [CONTROLLER_ALIASES[name] ?? name, ofName] as const);
  return { process: mode, controllers: new Map(canonical), providers: providerMode };
}

/** A process that writes nothing needs no Lease. */
export function holdsLease(options: ModeOptions & { readonly leaderElect: boolean }): boolean {
  return options.leaderElect && !observesAll(modesOf(options));
}

export function modeProblems(
  { controllerMode }: Pick<ModeOptions, "controllerMode">,
  known: ReadonlySet<string>,
): readonly Problem[] {
  return [...controllerMode.keys()]
    .filter((name) => !known.has(name))
    .map((name) => ({
      where: "--controller-mode",
      what: `unknown controller "${name}"; available: ${[...known].join(", ")}`,
    }));
}
