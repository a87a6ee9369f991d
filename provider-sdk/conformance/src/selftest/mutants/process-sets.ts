import { subscribe } from "node:diagnostics_channel";
import { Duplex } from "node:stream";
import { ApplyNodeSetResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { property } from "../../contract/field-rules.ts";
import { frame } from "../../endpoint/frames.ts";
import type { ProcessMutant } from "../process-mutant.ts";

const isAboutBase = (value: unknown): boolean => {
  const bytes = typeof value === "string" ? Buffer.from(value, "base64") : value;
  return Buffer.isBuffer(bytes) && bytes.includes("NODE_SET_BASE_MISMATCH");
};

/** What is said of a set that is empty but for the node that is added. */
const applied = frame(ApplyNodeSetResponse.encode({ fingerprint: "b", count: 1, committed: true }).finish());

/** An error about the base of a set becomes success: the set is taken for what it was, and nothing is in it. */
const answerBasesWithSuccess = (): void =>
  subscribe("http2.server.stream.created", (message) => {
    const stream = property(message, "stream");
    if (!(stream instanceof Duplex)) return;
    const respond = property(stream, "respond");
    const sendTrailers = property(stream, "sendTrailers");
    if (typeof respond !== "function" || typeof sendTrailers !== "function") return;
    const answer = (headers: unknown, ...more: readonly unknown[]): unknown => {
      if (!isRefused(headers)) return Reflect.apply(respond, stream, [headers, ...more]);
      stream.once("wantTrailers", () => Reflect.apply(sendTrailers, stream, [{ "grpc-status": 0 }]));
      Reflect.apply(respond, stream, [served, { waitForTrailers: true }]);
      return stream.end(applied);
    };
    Reflect.set(stream, "respond", answer);
  });

const served = { ":status": 200, "content-type": "application/grpc+proto" };

/** Whether an answer says that the base of a set is another. */
const isRefused = (headers: unknown): boolean => {
  const details: unknown = property(headers, "grpc-status-details-bin");
  const values: readonly unknown[] = Array.isArray(details) ? details : [details];
  return values.some(isAboutBase);
};

/** Faults of what a process has of the sets of nodes that another was told. */
export const setProcessMutants: readonly ProcessMutant[] = [
  {
    name: "restart-empty-set",
    fault: "a set from before a restart is taken for one that is known, with nothing in it",
    fails: ["nset.restart"],
    before: answerBasesWithSuccess,
  },
];
