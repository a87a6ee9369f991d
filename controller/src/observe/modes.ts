import { CONTROLLER_ALIASES } from "../api/controller-names.ts";
import { type Modes, observesAll } from "./mode.ts";
import type { Options } from "../app/options.ts";
import type { Problem } from "../options/flag.ts";

type ModeOptions = Pick<Options, "mode" | "controllerMode" | "providerMode">;

/** What the options say of who writes. */
export function modesOf({ mode, controllerMode, providerMode }: ModeOptions): Modes {
  const canonical = [...controllerMode].map(([name, ofName]) => [CONTROLLER_ALIASES[name] ?? name, ofName] as const);
  return { process: mode, controllers: new Map(canonical), providers: providerMode };
}

/** Whether a Lease is held: who writes nothing leads nobody. */
export function holdsLease(options: ModeOptions & Pick<Options, "leaderElect">): boolean {
  return options.leaderElect && !observesAll(modesOf(options));
}

/** Controllers that there are not. */
export function controllerModeProblems(
  { controllerMode }: Pick<Options, "controllerMode">,
  known: ReadonlySet<string>,
): readonly Problem[] {
  return [...controllerMode.keys()]
    .filter((name) => !known.has(name))
    .map((name) => ({
      where: "--controller-mode",
      what: `"${name}" is not a controller; there are ${[...known].join(", ")}`,
    }));
}
