import crypto from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import { openSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { HealthCheckResponse, HealthCheckResponse_ServingStatus } from "@cloudwire/proto/grpc/health/v1/health";
import { property } from "../../contract/field-rules.ts";
import { frame } from "../../endpoint/frames.ts";

const watches = /^\/cloudprovider\.v1\.CloudProvider\/Watch/;
const healthWatch = /^\/grpc\.health\.v1\.Health\/Watch$/;

/** Tells of each stream that is opened by calls of some paths. */
const onStream = (paths: RegExp, tell: (stream: object) => void): void =>
  subscribe("http2.server.stream.created", (message) => {
    const stream = property(message, "stream");
    const path = property(property(message, "headers"), ":path");
    if (typeof stream === "object" && stream !== null && typeof path === "string" && paths.test(path)) tell(stream);
  });

const healthFrame = (status: HealthCheckResponse_ServingStatus): Buffer =>
  frame(HealthCheckResponse.encode({ status }).finish());

/** Says SERVING where it should say NOT_SERVING. */
const alwaysServing = (stream: object): void => {
  const write = property(stream, "write");
  const [bad, good] = [HealthCheckResponse_ServingStatus.NOT_SERVING, HealthCheckResponse_ServingStatus.SERVING].map(
    healthFrame,
  );
  const told = (chunk: unknown): unknown => (Buffer.isBuffer(chunk) && bad?.equals(chunk) === true ? good : chunk);
  Reflect.set(stream, "write", (chunk: unknown, ...rest: readonly unknown[]): unknown =>
    typeof write === "function" ? Reflect.apply(write, stream, [told(chunk), ...rest]) : false,
  );
};

/** Processes with a fault in what they do with streams. */
export const streamProcessMutants = [
  {
    name: "waits-for-watches",
    fault: "SIGTERM does not end watches",
    fails: ["proc.term.streams"],
    before: () => onStream(watches, (stream) => Reflect.set(stream, "sendTrailers", () => undefined)),
  },
  {
    name: "health-no-drain",
    fault: "whoever watches health is not told that the process ends",
    fails: ["health.watch.drain"],
    before: () => onStream(healthWatch, alwaysServing),
  },
  {
    name: "restart-gap",
    fault: "tokens of the process before it mean something else to it, and are taken",
    fails: ["watch.token.restart", "lb.watch.token.restart"],
    before: () => {
      crypto.randomBytes = () => Buffer.alloc(8);
      syncBuiltinESMExports();
    },
  },
  {
    name: "watch-keeps-files",
    fault: "each watch opens a file that is never closed",
    fails: ["watch.cancel.memory"],
    before: () => onStream(watches, () => openSync("/dev/null", "r")),
  },
] as const;
