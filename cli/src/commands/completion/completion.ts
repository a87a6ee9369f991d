import { completionScript, SHELLS } from "./scripts.ts";
import { UsageError } from "../../errors.ts";
import { EXIT } from "../../exit-codes.ts";
import type { Command } from "../command.ts";

export const completion: Command = {
  name: "completion",
  summary: "writes a script with which a shell completes command lines",
  operands: SHELLS.join(" | "),
  about: [
    "Writes a script with which a shell completes commands, options and, where the cluster answers at once, names of objects.",
    "For kubectl cloudwire, kubectl's own completion asks a program kubectl_complete-cloudwire in the path: a link of that name to this program.",
  ],
  options: {},
  examples: [
    ["completion bash > /etc/bash_completion.d/cloudwire", "for everybody on this machine"],
    ["completion zsh > ~/.zfunc/_cloudwire", "where ~/.zfunc is in fpath"],
    ["completion fish > ~/.config/fish/completions/cloudwire.fish", "for fish"],
  ],
  complete: async (_call, before) => (before.length === 0 ? SHELLS : []),
  run: async ({ operands, terminal }) => {
    const shell = SHELLS.find((known) => known === operands[0]);
    if (shell === undefined || operands.length > 1)
      throw new UsageError([
        `completion is written for one of ${SHELLS.join(", ")}, and not for ${operands.join(" ") || "nothing"}`,
      ]);
    terminal.out(completionScript(shell));
    return EXIT.ok;
  },
};
