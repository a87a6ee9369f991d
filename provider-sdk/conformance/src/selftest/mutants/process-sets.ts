import { subscribe } from "node:diagnostics_channel";
import { property } from "../../contract/field-rules.ts";
import type { ProcessMutant } from "../process-mutant.ts";

/** An error about the base of a set becomes success: the set is taken for what it was, and nothing is in it. */
const forgiven = (headers: unknown): unknown => {
  const details: unknown = property(headers, "grpc-status-details-bin");
  const values: readonly unknown[] = Array.isArray(details) ? details : [details];
  if (!values.some(isAboutBase) || typeof headers !== "object") return headers;
  return { ...headers, "grpc-status": 0, "grpc-message": "", "grpc-status-details-bin": "" };
};

const isAboutBase = (value: unknown): boolean => {
  const bytes = typeof value === "string" ? Buffer.from(value, "base64") : value;
  return Buffer.isBuffer(bytes) && bytes.includes("NODE_SET_BASE_MISMATCH");
};

/** Changes what each stream of the process is answered with. */
const answerBasesWithSuccess = (): void =>
  subscribe("http2.server.stream.created", (message) => {
    const stream = property(message, "stream");
    const respond = property(stream, "respond");
    if (typeof stream !== "object" || stream === null || typeof respond !== "function") return;
    const answer = (headers: unknown, ...more: readonly unknown[]): unknown =>
      Reflect.apply(respond, stream, [forgiven(headers), ...more]);
    Reflect.set(stream, "respond", answer);
  });

/** Faults of what a process has of the sets of nodes that another was told. */
export const setProcessMutants: readonly ProcessMutant[] = [
  {
    name: "restart-empty-set",
    fault: "a set from before a restart is taken for one that is known, with nothing in it",
    fails: ["nset.restart"],
    before: answerBasesWithSuccess,
  },
];
