import manifest from "../../package.json" with { type: "json" };
import { EXIT } from "../exit-codes.ts";
import type { Command } from "./command.ts";

export const version: Command = {
  name: "version",
  summary: "Print the version of this program",
  operands: "",
  about: ["Print the version of this program. `status` shows the version of the controller."],
  options: {},
  examples: [],
  run: async ({ terminal }) => {
    terminal.out(`cloudwire ${readVersion()}\n`);
    return EXIT.ok;
  },
};

/** Version in package.json. */
export function readVersion(): string {
  return manifest.version;
}
