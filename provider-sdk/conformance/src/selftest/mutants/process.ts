import crypto from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import { chmodSync, existsSync, openSync, rmSync, writeFileSync } from "node:fs";
import { copyFile, mkdtemp } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { ApplyNodeSetResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { HealthCheckResponse, HealthCheckResponse_ServingStatus } from "@cloudwire/proto/grpc/health/v1/health";
import { property } from "../../contract/field-rules.ts";
import { frame } from "../../endpoint/frames.ts";
import { ownDirectoryPrefix } from "../../endpoint/own-providers.ts";
import { durableDefinition } from "../../reference/durable-provider.ts";
import { referenceFixtures } from "../../reference/provider.ts";
import type { ProcessMutant } from "../mutant.ts";
import type { TlsFault } from "../tls-front.ts";

const neverMs = 600_000;
const lateMs = 12_000;

/** Writes the headers of each call to standard error. */
const logHeaders = (): void =>
  subscribe("http2.server.stream.created", (message) => {
    process.stderr.write(`call with ${JSON.stringify(property(message, "headers"))}\n`);
  });

/** Ends the process where it should answer with an error. */
const crashOnError = (): void =>
  subscribe("http2.server.stream.finish", (message) => {
    if (/"grpc-status":"?[1-9]/.test(JSON.stringify(message, ["headers", "grpc-status"]))) process.exit(70);
  });

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

/** Faults of what a process knows of the node sets that another process received. */
const setProcessMutants: readonly ProcessMutant[] = [
  {
    name: "restart-empty-set",
    fault: "a set from before a restart is taken for one that is known, with nothing in it",
    fails: ["nset.restart"],
    before: answerBasesWithSuccess,
  },
];

const watches = /^\/cloudprovider\.v1\.CloudProvider\/Watch/;
const healthWatch = /^\/grpc\.health\.v1\.Health\/Watch$/;

/** Reports each stream that is opened by calls of some paths. */
const onStream = (paths: RegExp, report: (stream: object) => void): void =>
  subscribe("http2.server.stream.created", (message) => {
    const stream = property(message, "stream");
    const path = property(property(message, "headers"), ":path");
    if (typeof stream === "object" && stream !== null && typeof path === "string" && paths.test(path)) report(stream);
  });

const healthFrame = (status: HealthCheckResponse_ServingStatus): Buffer =>
  frame(HealthCheckResponse.encode({ status }).finish());

/** Says SERVING where it should say NOT_SERVING. */
const alwaysServing = (stream: object): void => {
  const write = property(stream, "write");
  const [bad, good] = [HealthCheckResponse_ServingStatus.NOT_SERVING, HealthCheckResponse_ServingStatus.SERVING].map(
    healthFrame,
  );
  const reported = (chunk: unknown): unknown => (Buffer.isBuffer(chunk) && bad?.equals(chunk) === true ? good : chunk);
  Reflect.set(stream, "write", (chunk: unknown, ...rest: readonly unknown[]): unknown =>
    typeof write === "function" ? Reflect.apply(write, stream, [reported(chunk), ...rest]) : false,
  );
};

/** Processes with a fault in what they do with streams. */
const streamProcessMutants = [
  {
    name: "waits-for-watches",
    fault: "SIGTERM does not end watches",
    fails: ["proc.term.streams"],
    before: () => onStream(watches, (stream) => Reflect.set(stream, "sendTrailers", () => undefined)),
  },
  {
    name: "health-no-drain",
    fault: "health watchers do not see that the process ends",
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

/** Faulty processes, each with the checks that find its fault. */
export const processMutants: readonly ProcessMutant[] = [
  {
    name: "slow-start",
    fault: "it listens minutes after it was started",
    fails: [],
    before: () => wait(neverMs),
  },
  {
    name: "late-socket",
    fault: "it listens 12 s after it was started beside another",
    fails: ["proc.socket.appears"],
    before: (socket) => (socket.includes(ownDirectoryPrefix) ? wait(lateMs) : undefined),
  },
  {
    name: "open-socket",
    fault: "its process lets every user use the socket",
    fails: ["proc.socket.mode"],
    after: (socket) => chmodSync(socket, 0o777),
  },
  {
    name: "lock-file-sibling",
    fault: "a lock file is made beside the socket",
    fails: ["proc.socket.siblings"],
    before: (socket) => writeFileSync(`${socket}.lock`, ""),
  },
  {
    name: "gives-up-gladly",
    fault: "a second process at a socket ends as if all were well",
    fails: ["proc.socket.live"],
    before: (socket) => {
      if (existsSync(socket)) process.on("exit", () => (process.exitCode = 0));
    },
  },
  {
    name: "steals-socket",
    fault: "a second process at a socket takes it from the first",
    fails: ["proc.socket.live"],
    before: (socket) => rmSync(socket, { force: true }),
  },
  {
    name: "exits-with-1",
    fault: "SIGTERM ends it with code 1",
    fails: ["proc.term.drain"],
    before: () => void process.on("SIGTERM", () => process.exit(1)),
  },
  {
    name: "leaves-socket",
    fault: "a socket file stays when it ends",
    fails: ["proc.term.unlink"],
    before: (socket) => void process.on("exit", () => writeFileSync(socket, "")),
  },
  {
    name: "no-unlink-stale",
    fault: "a socket file that is left over is a reason not to start",
    fails: ["proc.socket.stale", "proc.kill.recover"],
    before: (socket) => {
      if (existsSync(socket)) process.exit(1);
    },
  },
  {
    name: "boot-fixed",
    fault: "boot_id is a constant of the program",
    fails: ["info.boot.changes"],
    before: () => {
      crypto.randomUUID = () => "11111111-1111-4111-8111-111111111111";
      syncBuiltinESMExports();
    },
  },
  {
    name: "tls-static",
    fault: "certificate and key are read once",
    fails: ["sec.tls.reload"],
    transport: "tls",
    before: async () => {
      const directory = await mkdtemp(join(tmpdir(), "tls-static-"));
      process.on("exit", () => rmSync(directory, { recursive: true }));
      for (const name of ["CLOUD_PROVIDER_TLS_CERT_FILE", "CLOUD_PROVIDER_TLS_KEY_FILE"]) {
        await copyFile(process.env[name] ?? "", join(directory, name));
        process.env[name] = join(directory, name);
      }
    },
  },
  {
    name: "crash-on-error",
    fault: "an error of one call ends the process",
    fails: ["proc.panic.isolated"],
    before: crashOnError,
  },
  {
    name: "leaks-token-log",
    fault: "the headers of calls are written to the log, with the tokens of callers",
    fails: ["sec.secret.logs"],
    before: logHeaders,
  },
  {
    name: "leaks-secret-log",
    fault: "its own credentials are written to the log when it starts",
    fails: ["sec.secret.logs"],
    before: () => void process.stderr.write(`connecting with key ${referenceFixtures.canarySecret}\n`),
  },
  {
    name: "creates-again-after-kill",
    fault: "what it was making when it was killed is made again, for it looks in its memory alone",
    fails: ["fault.kill.create"],
    definition: (socket) => durableDefinition(socket, "looks in its memory before it makes"),
  },
  {
    name: "delete-memory-only",
    fault: "what it was deleting when it was killed is said to be gone, because the deletion was only in its memory",
    fails: ["fault.kill.delete"],
    definition: (socket) => durableDefinition(socket, "deletes what it remembers"),
  },
  ...streamProcessMutants,
  ...setProcessMutants,
];

/** A provider with one fault in how it is reached over TLS. */
export interface TlsMutant {
  readonly name: string;
  /** What it does wrong. */
  readonly fault: string;
  /** Ids of the checks that fail on it: these and no others. */
  readonly fails: readonly string[];
  readonly front: TlsFault;
}

/** Faulty TLS, each with the checks that find it. */
export const tlsMutants: readonly TlsMutant[] = [
  {
    name: "tls-optional",
    fault: "plaintext is served at the port of TLS, too",
    fails: ["sec.tls.plaintext"],
    front: { plaintextToo: true },
  },
  {
    name: "tls-no-client",
    fault: "callers are asked for no certificate",
    fails: ["sec.tls.client-cert"],
    front: { callers: "not at all" },
  },
  {
    name: "tls-any-client",
    fault: "any certificate of a caller is good enough",
    fails: ["sec.tls.client-cert"],
    front: { callers: "by any certificate" },
  },
  {
    name: "tls-by-name",
    fault: "the name of their authority is all that is looked at in certificates of callers",
    fails: ["sec.tls.client-cert"],
    front: { callers: "by the name of their authority" },
  },
  {
    name: "tls-1-1",
    fault: "TLS 1.0 and 1.1 are spoken",
    fails: ["sec.tls.version"],
    front: { oldest: "TLSv1" },
  },
];
