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
  /** How often TLS files are read. */
  readonly intervalMs: number;
  readonly connectMs: number;
  readonly handshake: (caller: RpcCaller, signal: AbortSignal) => Promise<Handshake>;
  /** Another channel is in use, and this is what its provider says. */
  readonly onRenewed: (info: ProviderInfo) => void;
}

/**
 * Looks after the TLS files of a connection that stands, until `signal` aborts: with changed ones a second channel is made and shaken
 * hands over before it takes the first one's place, so that no call meets certificates that do not work.
 */
export async function renewChannel(deps: ChannelRenewalDeps, signal: AbortSignal): Promise<void> {
  const { channel, clock, log, intervalMs } = deps;
  while (channel.hasTls && !signal.aborted) {
    log.certificate(channel.shortLife);
    await sleep(intervalMs, signal, clock).catch(() => undefined);
    if (signal.aborted) return;
    const successor = await channel.successor();
    log.tlsFiles(channel.problem);
    if (successor !== undefined) await tryOut(deps, successor, signal);
  }
}

async function tryOut(deps: ChannelRenewalDeps, successor: Successor, signal: AbortSignal): Promise<void> {
  const { log, connectMs, handshake, onRenewed } = deps;
  const { transport } = successor;
  try {
    const isThere = await raceAbort(transport.connected(connectMs), signal);
    const judged = isThere ? await handshake(transport, signal) : undefined;
    if (judged?.kind === "accepted") {
      successor.adopt();
      log.renewed();
      return onRenewed(judged.info);
    }
    const why = judged?.refusal.message ?? "no connection comes about with them";
    successor.reject(why);
    log.tlsFiles(why);
  } catch (error) {
    successor.reject("the connection was lost meanwhile");
    if (!signal.aborted) throw error;
  }
}
