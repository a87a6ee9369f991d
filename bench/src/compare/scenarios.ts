import type { Scenario } from "./scenario.ts";
import { initialise } from "./scenarios/initialise.ts";
import { join } from "./scenarios/join.ts";
import { restart } from "./scenarios/restart.ts";
import { services } from "./scenarios/services.ts";
import { steady } from "./scenarios/steady.ts";
import { verdict } from "./scenarios/verdict.ts";

/** All, in the order in which they are run. */
export const SCENARIOS: readonly Scenario[] = [initialise, services, restart, join, verdict, steady];
