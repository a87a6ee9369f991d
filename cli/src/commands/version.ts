import manifest from "../../package.json" with { type: "json" };
import { EXIT } from "../exit-codes.ts";
import type { Command } from "./command.ts";

export const version: Command = {
  name: "version",
  summary: "says which version this program has",
  operands: "",
  about: ["Says which version this program has. `status` says that of the controller."],
  options: {},
  examples: [],
  run: async ({ terminal }) => {
    terminal.out(`cloudwire ${readVersion()}\n`);
    return EXIT.ok;
  },
};

/** Version of this program: package.json is its one place. */
export function readVersion(): string {
  return manifest.version;
}
