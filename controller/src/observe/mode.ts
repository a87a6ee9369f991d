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
