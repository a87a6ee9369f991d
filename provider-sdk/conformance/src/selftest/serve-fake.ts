import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveProvider } from "@cloudwire/provider-sdk";
import { UsageError } from "../errors.ts";
import { referenceDefinition } from "../reference/provider.ts";
import { parseEndpoint } from "../endpoint/endpoint.ts";
import type { Mutant } from "./mutant.ts";
import { startMutantProxy } from "./mutant-proxy.ts";
import { processMutants } from "./mutants/process.ts";

/** What to serve, and where. */
export interface ServeFakeOptions {
  /** Default: what CLOUD_PROVIDER_ENDPOINT says, else a socket in a new directory. */
  readonly endpoint: string | undefined;
  /** Names of mutants; none: it is correct. */
  readonly faults: readonly string[];
  /** Called once it serves. */
  readonly onServing: (endpoint: string) => void;
}

/** Serves the reference provider as the job of this process, which ends with it: on SIGTERM, SIGINT, or where it cannot be served. */
export const serveFake = async ({ endpoint, faults, onServing }: ServeFakeOptions): Promise<void> => {
  const own = faults.flatMap((name) => processMutants.filter((mutant) => mutant.name === name));
  const ofCalls = own.length === faults.length ? [] : await callMutants(faults);
  const unknown = faults.filter((name) => ![...own, ...ofCalls].some((mutant) => mutant.name === name));
  if (unknown.length > 0)
    throw new UsageError(`there is no fault ${unknown.join(", ")}; cloudwire-conformance selftest prints the names`);
  const where = endpoint ?? process.env["CLOUD_PROVIDER_ENDPOINT"] ?? `unix://${await newSocket()}`;
  const { path } = socketOf(where, faults);
  for (const { before } of own) await before?.(path);
  const definition = own.find((mutant) => mutant.definition !== undefined)?.definition?.(path) ?? referenceDefinition();
  if (ofCalls.length === 0) await serveProvider(definition, { endpoint: where });
  else await serveBehind(ofCalls, path);
  for (const { after } of own) after?.(path);
  onServing(where);
};

/** They come with much that most processes have no use for. */
const callMutants = async (names: readonly string[]): Promise<readonly Mutant[]> => {
  const { mutants } = await import("./mutants.ts");
  return names.flatMap((name) => mutants.filter((mutant) => mutant.name === name));
};

const newSocket = async (): Promise<string> =>
  join(await mkdtemp(join(tmpdir(), "conformance-fake-")), "provider.sock");

/** Faults are put in at a socket file. */
const socketOf = (endpoint: string, faults: readonly string[]): { readonly path: string } => {
  const parsed = parseEndpoint(endpoint);
  if (parsed.kind === "unix") return parsed;
  const atSockets = faults.filter((name) =>
    processMutants.every((mutant) => mutant.name !== name || !mutant.transport),
  );
  if (atSockets.length > 0)
    throw new UsageError(`${atSockets.join(", ")} needs an endpoint unix:///path.sock, and ${endpoint} is none`);
  return { path: "" };
};

/** The correct provider at a private socket, behind one proxy for each fault. */
const serveBehind = async (faults: readonly Mutant[], path: string): Promise<void> => {
  let upstream = await newSocket();
  await serveProvider(referenceDefinition(), { endpoint: `unix://${upstream}` });
  for (const [index, fault] of faults.entries()) {
    const socket = index === faults.length - 1 ? path : await newSocket();
    const intercept = fault.intercept ?? ((request, next) => next(request));
    await startMutantProxy({ kind: "unix", path: upstream }, socket, { ...fault, intercept });
    upstream = socket;
  }
};
