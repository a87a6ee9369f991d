import type { RuleName } from "./file.ts";

/** Places that break a rule, and why they may. */
export interface Exception {
  readonly rule: RuleName;
  readonly reason: string;
  /** A file below the checkout's top, of `rows` with the row that it imports: `path → row`; of `directory-size` a directory. */
  readonly places: readonly string[];
}

/** May only shrink: a place that needs none any more fails the check. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    rule: "gather",
    reason: "takes all of the client or of the records yet",
    places: ["controller/src/controllers/route/gather.ts"],
  },
  {
    rule: "pure",
    reason: "takes a value of what converts messages yet",
    places: ["controller/src/controllers/service/plan/unsupported.ts"],
  },
  {
    rule: "process",
    reason: "reads it itself yet, instead of being given it",
    places: ["controller/src/provider/connection/probe.ts", "controller/src/provider/convert/caller.ts"],
  },
  {
    rule: "wire",
    reason: "handles messages of the contract yet, instead of types of the controller",
    places: [
      "controller/src/provider/calls/instances.ts",
      "controller/src/provider/calls/load-balancers.ts",
      "controller/src/provider/calls/node-sets.ts",
      "controller/src/provider/calls/routes.ts",
      "controller/src/provider/calls/session.ts",
      "controller/src/provider/calls/validate-only.ts",
      "controller/src/provider/calls/volumes.ts",
      "controller/src/provider/calls/watches.ts",
      "controller/src/provider/connection/connection.ts",
      "controller/src/provider/connection/handshake.ts",
      "controller/src/provider/lookup/instance-batcher.ts",
      "controller/src/provider/lookup/instance-reader.ts",
      "controller/src/provider/lookup/volume-reader.ts",
      "controller/src/provider/model/client.ts",
      "controller/src/provider/providers.ts",
      "controller/src/provider/sidecar.ts",
    ],
  },
];
