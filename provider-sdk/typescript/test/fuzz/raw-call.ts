import type { Client, ServiceError } from "@grpc/grpc-js";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { methodRules } from "@cloudwire/proto/methods";
import { errorReasons } from "@cloudwire/proto/reasons";
import { type ErrorOutcome, toErrorOutcome } from "../../src/testing/error-outcome.ts";

/** The outcome of a raw call. */
export type RawOutcome = { readonly kind: "ok"; readonly bytes: Buffer } | ErrorOutcome;

/** All methods of the contract. */
export const allMethods = Object.values(CloudProviderDefinition.methods);

/** Any method of the contract. */
export type AnyMethod = (typeof allMethods)[number];

/** A call that takes longer hangs: the provider behind it answers at once. */
const hangMs = 10_000;

const asIs = (bytes: Buffer): Buffer => bytes;

/** Sends bytes as the request of a method, answers the first message or the error; may give the call up after some milliseconds. */
export const callRaw = (
  client: Client,
  { name, responseStream }: Pick<AnyMethod, "name" | "responseStream">,
  bytes: Uint8Array,
  cancelAfterMs?: number,
): Promise<RawOutcome> =>
  new Promise((resolve) => {
    const path = `/cloudprovider.v1.CloudProvider/${name}`;
    const options = { deadline: Date.now() + hangMs };
    const failed = (error: ServiceError) => resolve(toErrorOutcome(error));
    if (responseStream) {
      const stream = client.makeServerStreamRequest(path, asIs, asIs, Buffer.from(bytes), options);
      stream.on("error", failed);
      stream.on("data", (message: Buffer) => {
        resolve({ kind: "ok", bytes: message });
        stream.cancel();
      });
      if (cancelAfterMs !== undefined) setTimeout(() => stream.cancel(), cancelAfterMs);
      return;
    }
    const call = client.makeUnaryRequest(path, asIs, asIs, Buffer.from(bytes), options, (error, answer) => {
      if (error) failed(error);
      else resolve({ kind: "ok", bytes: answer ?? Buffer.alloc(0) });
    });
    if (cancelAfterMs !== undefined) setTimeout(() => call.cancel(), cancelAfterMs);
  });

const cancelled = 1;
const invalidArgument = 3;
const maxDetailsBytes = 4_096;
const maxMessageBytes = 1_024;

/** Reasons that say that the provider or the SDK made a mistake, or was too slow; the provider behind it does not. */
const mistakes = new Set([
  "UNMAPPED_ERROR",
  "INVARIANT_BROKEN",
  "DEADLINE_PASSED",
  "CLOUD_TIMEOUT",
  "PROVIDER_STARTING",
]);

/** Violations of the contract, sections 4 and 5, in an outcome. */
export const outcomeFaults = (method: AnyMethod, outcome: RawOutcome, wasCancelled = false): readonly string[] => {
  if (outcome.kind === "ok") return decodes(method, outcome.bytes) ? [] : ["the answer is no message of the contract"];
  if (wasCancelled && outcome.code === cancelled) return [];
  const { code, reason, domain, details, fields, detailsBytes, message } = outcome;
  const permitted: readonly string[] = methodRules[method.name].reasons;
  const rule = Object.entries(errorReasons).find(([name]) => name === reason)?.[1];
  const isUndecodable = message.includes("is not a valid protobuf message");
  const faults: readonly (readonly [boolean, string])[] = [
    [details.filter((name) => name === "ErrorInfo").length !== 1, "there is not exactly one ErrorInfo (ERR-1)"],
    [new Set(details).size !== details.length, "a detail appears twice (ERR-2)"],
    [domain !== "cloudprovider.v1", "the domain is not the contract's"],
    [reason === undefined || !permitted.includes(reason), "the reason is not in the method's row (RPC-2)"],
    [reason !== undefined && mistakes.has(reason), "the reason says that the provider made a mistake"],
    [rule?.code !== code, "the code is not the reason's"],
    [code === invalidArgument && fields.length === 0 && !isUndecodable, "no field is named (ERR-5)"],
    [detailsBytes > maxDetailsBytes || Buffer.byteLength(message) > maxMessageBytes, "it is too long (ERR-3)"],
  ];
  return faults.flatMap(([isFault, what]) => (isFault ? [`${what}: ${code} ${reason} ${message}`] : []));
};

const decodes = ({ responseType }: AnyMethod, bytes: Buffer): boolean => {
  try {
    responseType.decode(bytes);
    return true;
  } catch {
    return false;
  }
};
