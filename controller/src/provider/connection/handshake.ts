import { CONTRACT_MAJOR, problemsOf, providerInfoFromProto } from "../convert/info.ts";
import { type ProviderError, asProviderError } from "../model/errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { Finding } from "./probe.ts";

/** Why a provider is unusable. Retries continue in all cases: image, socket or configuration may change. */
export interface Rejection {
  readonly reason: RejectionReason;
  /** One line: the problem, where, and how to fix it. */
  readonly message: string;
}

export type RejectionReason =
  | Finding["reason"]
  | "TLSFilesUnusable"
  | "NotResponding"
  | "UnsupportedContract"
  | "InvalidHandshake"
  | "HandshakeFailed";

export type Handshake =
  | { readonly kind: "accepted"; readonly info: ProviderInfo }
  | { readonly kind: "rejected"; readonly rejection: Rejection };

export function checkHandshake(wire: Parameters<typeof providerInfoFromProto>[0], address: string): Handshake {
  if (wire.contractMajor !== CONTRACT_MAJOR) {
    const message = `${address} uses contract version ${wire.contractMajor}, this controller ${CONTRACT_MAJOR}; use releases of both with the same version`;
    return rejected("UnsupportedContract", message);
  }
  const problems = problemsOf(wire);
  if (problems.length > 0) {
    const message = `${address}: the handshake violates the contract: ${problems.join("; ")}; report it to the provider's vendor`;
    return rejected("InvalidHandshake", message);
  }
  return { kind: "accepted", info: providerInfoFromProto(wire) };
}

/** The error of the handshake call. */
export function handshakeFailure(error: unknown, address: string): Handshake {
  const failure: ProviderError = asProviderError(error);
  if (failure.code === "UNIMPLEMENTED") {
    const message = `${address} does not serve cloudprovider.v1.CloudProvider: not a provider, or a different contract version; check the address and the provider's release`;
    return rejected("UnsupportedContract", message);
  }
  return rejected("HandshakeFailed", `${address}: the handshake failed: ${failure.message}`);
}

function rejected(reason: RejectionReason, message: string): Handshake {
  return { kind: "rejected", rejection: { reason, message } };
}

/** A past handshake and its changes from the one before. */
export interface HandshakeRecord {
  /** Wall clock. */
  readonly atMs: number;
  readonly version: string;
  readonly bootId: string;
  readonly changes: readonly string[];
}

const KEPT = 10;
/** A completely different provider has hundreds. */
const MAX_CHANGES = 20;

export class HandshakeHistory {
  last: ProviderInfo | undefined;
  /** Newest first. */
  records: readonly HandshakeRecord[] = [];

  /** Returns the changes from the handshake before. */
  record(info: ProviderInfo, atMs: number): readonly InfoChange[] {
    const all = this.last === undefined ? [] : infoChanges(this.last, info);
    const shown = all.slice(0, MAX_CHANGES).map(changeText);
    const changes = all.length > MAX_CHANGES ? [...shown, `${all.length - MAX_CHANGES} more`] : shown;
    const { version, bootId } = info;
    this.records = [{ atMs, version, bootId, changes }, ...this.records].slice(0, KEPT);
    this.last = info;
    return all;
  }
}

/** A changed declaration of a provider. */
export interface InfoChange {
  /** `capabilities.loadBalancers.sourceRanges`; for an added or removed group its name: `capabilities.routes`. */
  readonly path: string;
  /** JSON text; undefined: not declared. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Changes between two handshakes by path, without the boot ID. */
export function infoChanges(before: ProviderInfo, after: ProviderInfo): readonly InfoChange[] {
  const apart = { bootId: undefined, diagnostics: undefined };
  return compare({ ...before, ...apart }, { ...after, ...apart }, "");
}

export function changeText({ path, before = "absent", after = "absent" }: InfoChange): string {
  return `${path}: ${before} -> ${after}`;
}

/** A list is one value, so that its changes are shown side by side. */
function compare(before: unknown, after: unknown, path: string): readonly InfoChange[] {
  const [old, now] = [entriesOf(before), entriesOf(after)];
  if (old === undefined || now === undefined) {
    const change = { path, before: textOf(before), after: textOf(after) };
    return change.before === change.after ? [] : [change];
  }
  const keys = [...new Set([...old.keys(), ...now.keys()])].toSorted();
  return keys.flatMap((key) => compare(old.get(key), now.get(key), path === "" ? key : `${path}.${key}`));
}

function entriesOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
  return isGroup ? new Map(Object.entries(value)) : undefined;
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
