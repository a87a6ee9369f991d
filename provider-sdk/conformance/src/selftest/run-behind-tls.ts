import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Report } from "../report/report.ts";
import { runConformance } from "../suite/run-conformance.ts";
import { runOptions, type SelftestTarget, timedChecks } from "./run-mutant.ts";
import { startTlsFront, type TlsFault } from "./tls-front.ts";

/** What is about connections, and something of everything else. */
const seenThroughTls: readonly string[] = ["sec.**", "proc.**", "info.**", "health.*", "err.frame.*"];

/** Runs the checks that can see how TLS is served on a provider behind it. */
export const runBehindTls = async (
  fault: TlsFault,
  target: SelftestTarget,
  ids: readonly string[] = [],
): Promise<Report> => {
  const { endpoint, fixtures, close } = await target.serve();
  const run = ids.length === 0 ? seenThroughTls : ids;
  const directory = await mkdtemp(join(tmpdir(), "conformance-tls-"));
  if (endpoint.kind !== "unix") throw new TypeError("TLS is put before a provider at a socket");
  const front = await startTlsFront(endpoint.path, directory, fault);
  try {
    const { endpoint: here, tls } = front;
    return await runConformance({ ...runOptions(target), fixtures, endpoint: here, tls, run, skip: timedChecks });
  } finally {
    await front.close();
    await close();
    await rm(directory, { recursive: true, force: true });
  }
};
