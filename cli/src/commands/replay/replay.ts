import type { Command } from "../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { REPLAY_OPTIONS } from "./replay-options.ts";

export const replay: Command = {
  name: "replay",
  summary: "serves a recording as a provider, or plays it against one",
  operands: "FILE",
  about: [
    "FILE is a recording that a controller made with --record-provider: every call to a provider, with its answer.",
    "With --serve a controller meets the same answers to the same requests, without any cloud. A request that was never made fails, and is told of.",
    "With --against or --start the calls are made again, in their order and with as many at once as then, and the answers are compared. What the cloud makes anew each time (ids, addresses, times) may have other values, but has to be the same thing wherever it stands. docs/reference/replay.md has all that is not compared.",
  ],
  options: REPLAY_OPTIONS,
  examples: [
    [
      "replay provider.rec --serve unix:///run/provider.sock",
      "is a provider for a controller with --provider=simulated=unix:///run/provider.sock",
    ],
    ["replay provider.rec --against unix:///run/provider.sock", "says which call is answered otherwise"],
    ["replay provider.rec --start ./my-provider --to-test tests/issue-42.test.ts", "makes a test of a recording"],
  ],
  exitCodes: {
    [EXIT.failed]:
      "a call was answered otherwise; or it could not be done, and the last line of standard error says why",
  },
  // Not before it is asked for: gRPC and the contract's messages are most of the program, and a shell that completes a name waits for it.
  run: async (call) => (await import("./run-replay.ts")).runReplay(call),
};
