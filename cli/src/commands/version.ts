import { EXIT } from "../exit-codes.ts";
import { readVersion } from "../version.ts";
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
