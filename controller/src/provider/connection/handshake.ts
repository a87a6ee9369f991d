import { CONTRACT_MAJOR, problemsOf, providerInfoFromProto } from "../convert/info.ts";
import { type ProviderError, asProviderError } from "../model/errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { RemoteFinding, SocketFinding } from "./probe.ts";

/** Why a provider cannot be used now. Trying goes on whatever it is: a new image, socket or setting may come at any time. */
export interface Refusal {
  readonly reason: RefusalReason;
  /** What is wrong, where, and what to do; one line. */
  readonly message: string;
}

export type RefusalReason =
  | SocketFinding["reason"]
  | RemoteFinding["reason"]
  | "TLSFilesUnusable"
  | "NotResponding"
  | "UnsupportedContract"
  | "InvalidHandshake"
  | "HandshakeFailed";

export type Handshake =
  | { readonly kind: "accepted"; readonly info: ProviderInfo }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Judges the answer. */
export function checkHandshake(wire: Parameters<typeof providerInfoFromProto>[0], address: string): Handshake {
  if (wire.contractMajor !== CONTRACT_MAJOR) {
    const message = `${address} speaks contract version ${wire.contractMajor}, this controller speaks ${CONTRACT_MAJOR}; use releases of both that share a version`;
    return refused("UnsupportedContract", message);
  }
  const problems = problemsOf(wire);
  if (problems.length > 0) {
    const message = `${address}: the handshake breaks the contract: ${problems.join("; ")}; report it to the provider's vendor`;
    return refused("InvalidHandshake", message);
  }
  return { kind: "accepted", info: providerInfoFromProto(wire) };
}

/** Why the handshake call itself failed. */
export function handshakeFailure(error: unknown, address: string): Handshake {
  const failure: ProviderError = asProviderError(error);
  if (failure.code === "UNIMPLEMENTED") {
    const message = `${address} serves no cloudprovider.v1.CloudProvider: not a provider, or one of another contract version; check the address and the provider's release`;
    return refused("UnsupportedContract", message);
  }
  return refused("HandshakeFailed", `${address}: the handshake failed: ${failure.message}`);
}

function refused(reason: RefusalReason, message: string): Handshake {
  return { kind: "refused", refusal: { reason, message } };
}

/** One handshake of the past: which process answered, and what it declared differently than the one before. */
export interface HandshakeRecord {
  /** Wall clock. */
  readonly atMs: number;
  readonly version: string;
  readonly bootId: string;
  readonly changes: readonly string[];
}

const KEPT = 10;
/** A provider that turns into another one altogether has hundreds. */
const MAX_CHANGES = 20;

/** The last handshakes of one provider, newest first. */
export class HandshakeHistory {
  #last: ProviderInfo | undefined;
  #records: readonly HandshakeRecord[] = [];

  get last(): ProviderInfo | undefined {
    return this.#last;
  }

  get records(): readonly HandshakeRecord[] {
    return this.#records;
  }

  /** Answers what differs from the handshake before. */
  note(info: ProviderInfo, atMs: number): readonly InfoChange[] {
    const all = this.#last === undefined ? [] : infoChanges(this.#last, info);
    const told = all.slice(0, MAX_CHANGES).map(changeText);
    const changes = all.length > MAX_CHANGES ? [...told, `${all.length - MAX_CHANGES} more`] : told;
    const { version, bootId } = info;
    this.#records = [{ atMs, version, bootId, changes }, ...this.#records].slice(0, KEPT);
    this.#last = info;
    return all;
  }
}

/** One thing that a provider declares differently than before. */
export interface InfoChange {
  /** `capabilities.loadBalancers.sourceRanges`; of a whole group that came or went, its name: `capabilities.routes`. */
  readonly path: string;
  /** JSON text; undefined: not declared. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What differs between two handshakes besides the boot id, by path. */
export function infoChanges(before: ProviderInfo, after: ProviderInfo): readonly InfoChange[] {
  const apart = { bootId: undefined, diagnostics: undefined };
  return compare({ ...before, ...apart }, { ...after, ...apart }, "");
}

/** One line for people. */
export function changeText({ path, before = "absent", after = "absent" }: InfoChange): string {
  return `${path}: ${before} -> ${after}`;
}

/** A list is one value: what comes or goes in it is seen best side by side. */
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
