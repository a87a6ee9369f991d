import type { Command } from "../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { REPLAY_OPTIONS } from "./replay-options.ts";

export const replay: Command = {
  name: "replay",
  summary: "Replay a recording as a provider or against a provider",
  operands: "FILE",
  about: [
    "FILE is a recording from a controller with --record-provider: every provider call with its response.",
    "With --serve, a controller gets the recorded responses to the same requests, without a cloud. A request that is not in the recording fails and is reported.",
    "With --against or --start, the command repeats the calls in the recorded order and concurrency, and compares the responses. Values that the cloud generates (IDs, addresses, times) may differ, but must be used consistently. docs/reference/replay.md lists what is not compared.",
  ],
  options: REPLAY_OPTIONS,
  examples: [
    [
      "replay provider.rec --serve unix:///run/provider.sock",
      "serve a controller with --provider=simulated=unix:///run/provider.sock",
    ],
    ["replay provider.rec --against unix:///run/provider.sock", "report the calls with different responses"],
    ["replay provider.rec --start ./my-provider --write-test tests/issue-42.test.ts", "write a test from a recording"],
  ],
  exitCodes: {
    [EXIT.failed]: "a response differs; or failure, with the error in the last line of standard error",
  },
  // Loaded on demand: gRPC and the contract's messages are most of the program and would slow down shell completion.
  run: async (call) => (await import("./run-replay.ts")).runReplay(call),
};
