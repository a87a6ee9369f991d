import crypto from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { copyFile, mkdtemp } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { property } from "../../contract/field-rules.ts";
import { durableDefinition } from "../../reference/durable-provider.ts";
import { referenceFixtures } from "../../reference/provider.ts";
import { ownFolderPrefix } from "../../endpoint/own-providers.ts";
import type { ProcessMutant } from "../process-mutant.ts";
import { setProcessMutants } from "./process-sets.ts";
import { streamProcessMutants } from "./process-streams.ts";

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
    before: (socket) => (socket.includes(ownFolderPrefix) ? wait(lateMs) : undefined),
  },
  {
    name: "open-socket",
    fault: "its process lets anybody use the socket",
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
      const folder = await mkdtemp(join(tmpdir(), "tls-static-"));
      process.on("exit", () => rmSync(folder, { recursive: true }));
      for (const name of ["CLOUD_PROVIDER_TLS_CERT_FILE", "CLOUD_PROVIDER_TLS_KEY_FILE"]) {
        await copyFile(process.env[name] ?? "", join(folder, name));
        process.env[name] = join(folder, name);
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
    fault: "what it was deleting when it was killed is said to be gone, for the wish was in its memory alone",
    fails: ["fault.kill.delete"],
    definition: (socket) => durableDefinition(socket, "deletes what it remembers"),
  },
  ...streamProcessMutants,
  ...setProcessMutants,
];
