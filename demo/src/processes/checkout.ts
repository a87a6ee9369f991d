import { dirname } from "node:path";

/** The checkout's top directory, in which all programs of the demo run. */
export const ROOT = dirname(dirname(dirname(import.meta.dirname)));
