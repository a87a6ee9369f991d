import type { Scenario } from "./scenario.ts";
import { initialise } from "./initialise.ts";
import { join } from "./join.ts";
import { restart } from "./restart.ts";
import { services } from "./services.ts";
import { steady } from "./steady.ts";
import { verdict } from "./verdict.ts";

/** All, in the order in which they are run. */
export const SCENARIOS: readonly Scenario[] = [initialise, services, restart, join, verdict, steady];
