import { CONTROLLER_ALIASES } from "../api/controller-names.ts";
import { choiceFlag, type Flag, type Problem, problem, value } from "../options/flag.ts";
import type { OptionsOf } from "../options/table.ts";

/** `active`: plans are carried out. `observe`: they are made and reported, and nothing is written. */
export type Mode = "active" | "observe";

/** What the operator says: of the whole process, and of single controllers and providers. */
export interface Modes {
  readonly process: Mode;
  /** By canonical name. */
  readonly controllers: ReadonlyMap<string, Mode>;
  /** By the operator's name. */
  readonly providers: ReadonlyMap<string, Mode>;
}

/**
 * What is said of a controller or of a provider counts more than what is said of the process, and of these "observe" counts more than
 * "active". Without provider (""), for what belongs to none or cannot be told: as long as one of them is observed, so is it, unless the
 * controller is said to be active.
 */
export function isObserved({ process, controllers, providers }: Modes, controller: string, provider: string): boolean {
  const ofController = controllers.get(controller);
  if (ofController === "observe") return true;
  if (provider === "") return ofController === undefined && (process === "observe" || hasObserved(providers));
  const ofProvider = providers.get(provider);
  if (ofProvider === "observe") return true;
  return (ofController ?? ofProvider ?? process) === "observe";
}

/** Something is observed; all else may be written. */
export function observesAny({ process, controllers, providers }: Modes): boolean {
  return process === "observe" || hasObserved(controllers) || hasObserved(providers);
}

/** Nothing is ever written, so nothing need be led: it runs beside whoever leads. */
export function observesAll({ process, controllers, providers }: Modes): boolean {
  return process === "observe" && ![...controllers.values(), ...providers.values()].includes("active");
}

function hasObserved(modes: ReadonlyMap<string, Mode>): boolean {
  return [...modes.values()].includes("observe");
}

const MODES = ["active", "observe"] as const satisfies readonly Mode[];

/** Whether plans are carried out, or only made and reported. */
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

/** `NAME=active` or `NAME=observe`. */
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
      if (mode === undefined) return problem(`"${given}" is no mode; there are ${MODES.join(", ")}`);
      if (before?.has(name) === true) return problem(`${what} "${name}" is given two modes`);
      return value(new Map([...(before ?? []), [name, mode]]));
    },
    write: (modes) => [...modes].map(([name, mode]) => `${name}=${mode}`),
  };
}

/** What the options say of who writes. */
export function modesOf({ mode, controllerMode, providerMode }: ModeOptions): Modes {
  const canonical = [...controllerMode].map(([name, ofName]) => [CONTROLLER_ALIASES[name] ?? name, ofName] as const);
  return { process: mode, controllers: new Map(canonical), providers: providerMode };
}

/** Whether a Lease is held: who writes nothing leads nobody. */
export function holdsLease(options: ModeOptions & { readonly leaderElect: boolean }): boolean {
  return options.leaderElect && !observesAll(modesOf(options));
}

/** Controllers that there are not. */
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
