import type { ClusterRef } from "@cloudwire/proto/cloudprovider/v1/common";
import type { GetProviderInfoRequest, GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { problemsOf, providerInfoFromProto } from "../convert/info.ts";
import { MAX_MESSAGE_BYTES } from "./address.ts";
import { asProviderError, type ProviderError } from "../model/errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { RemoteFinding } from "./probe.ts";
import type { SocketFinding } from "./socket-probe.ts";

/** The contract this program speaks; the only major there is. */
const CONTRACT_MAJOR = 1;
const CONTRACT_MINOR = 0;

/** Program name in the handshake. */
const CLIENT_NAME = "cloudwire-controller-manager";

/** Why a provider cannot be used now. Trying goes on whatever it is: a new image, socket or setting may come at any time. */
export interface Refusal {
  readonly reason: RefusalReason;
  /** What is wrong, where, and what to do; one line. */
  readonly message: string;
}

export type RefusalReason =
  | SocketFinding["reason"]
  | RemoteFinding["reason"]
  | "TlsFilesUnusable"
  | "NotAnswering"
  | "ContractUnsupported"
  | "BrokenHandshake"
  | "HandshakeFailed";

export type Handshake =
  | { readonly kind: "accepted"; readonly info: ProviderInfo }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export function handshakeRequest(cluster: ClusterRef, version: string): GetProviderInfoRequest {
  return {
    client: {
      name: CLIENT_NAME,
      version,
      contractMajor: CONTRACT_MAJOR,
      contractMinor: CONTRACT_MINOR,
      features: [],
      maxReceiveBytes: BigInt(MAX_MESSAGE_BYTES),
    },
    cluster,
  };
}

/** Judges the answer. */
export function judgeHandshake(wire: GetProviderInfoResponse, address: string): Handshake {
  if (wire.contractMajor !== CONTRACT_MAJOR) {
    const message = `${address} speaks contract version ${wire.contractMajor}, this controller speaks ${CONTRACT_MAJOR}; use releases of both that share a version`;
    return refused("ContractUnsupported", message);
  }
  const problems = problemsOf(wire);
  if (problems.length > 0) {
    const message = `${address}: the handshake breaks the contract: ${problems.join("; ")}; report it to the provider's vendor`;
    return refused("BrokenHandshake", message);
  }
  return { kind: "accepted", info: providerInfoFromProto(wire) };
}

/** Why the handshake call itself failed. */
export function judgeFailure(error: unknown, address: string): Handshake {
  const failure: ProviderError = asProviderError(error);
  if (failure.code === "UNIMPLEMENTED") {
    const message = `${address} serves no cloudprovider.v1.CloudProvider: not a provider, or one of another contract version; check the address and the provider's release`;
    return refused("ContractUnsupported", message);
  }
  return refused("HandshakeFailed", `${address}: the handshake failed: ${failure.message}`);
}

function refused(reason: RefusalReason, message: string): Handshake {
  return { kind: "refused", refusal: { reason, message } };
}
