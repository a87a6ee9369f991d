import { raceAbort, sleep } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import type { ConnectionLog } from "./log.ts";
import type { Handshake } from "./handshake.ts";
import type { ProviderChannel, Successor } from "./channel.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { RpcCaller } from "../convert/methods.ts";

export interface ChannelRenewalDeps {
  readonly channel: ProviderChannel;
  readonly clock: Clock;
  readonly log: ConnectionLog;
  /** Interval of reading the TLS files. */
  readonly intervalMs: number;
  readonly connectMs: number;
  readonly handshake: (caller: RpcCaller, signal: AbortSignal) => Promise<Handshake>;
  /** A new channel is in use; `info` is its handshake. */
  readonly onRenewed: (info: ProviderInfo) => void;
}

/**
 * Watches the TLS files of a connection until `signal` aborts. Changed files get a second channel, which replaces the first after a
 * successful handshake, so that no call meets unusable certificates.
 */
export async function renewChannel(deps: ChannelRenewalDeps, signal: AbortSignal): Promise<void> {
  const { channel, clock, log, intervalMs } = deps;
  while (channel.hasTls && !signal.aborted) {
    log.certificate(channel.shortLife);
    await sleep(intervalMs, signal, clock).catch(() => undefined);
    if (signal.aborted) return;
    const successor = await channel.successor();
    log.tlsFiles(channel.problem);
    if (successor !== undefined) await test(deps, successor, signal);
  }
}

async function test(deps: ChannelRenewalDeps, successor: Successor, signal: AbortSignal): Promise<void> {
  const { log, connectMs, handshake, onRenewed } = deps;
  const { transport } = successor;
  try {
    const isConnected = await raceAbort(transport.connected(connectMs), signal);
    const result = isConnected ? await handshake(transport, signal) : undefined;
    if (result?.kind === "accepted") {
      successor.adopt();
      log.renewed();
      return onRenewed(result.info);
    }
    const problem = result?.rejection.message ?? "no connection is established with them";
    successor.reject(problem);
    log.tlsFiles(problem);
  } catch (error) {
    successor.reject("the connection was lost");
    if (!signal.aborted) throw error;
  }
}
