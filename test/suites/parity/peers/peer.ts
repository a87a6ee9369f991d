import type { Program } from "../../../support/program.ts";

/** What a controller under test is started with. */
export interface PeerSite {
  readonly kubeconfigPath: string;
  readonly cloudUrl: string;
  readonly apiKey: string;
  /** UID of namespace kube-system. */
  readonly clusterId: string;
  /** For sockets. */
  readonly directory: string;
}

/** Flags that both sides know, and those that only one of them has a use for. */
export interface PeerFlags {
  readonly both: readonly string[];
  readonly upstream: readonly string[];
  readonly ours: readonly string[];
  /** Of our sidecar. */
  readonly sidecar?: readonly string[];
}

/** One of the two implementations. */
export interface Peer {
  /** Also its user at the API server. */
  readonly name: "upstream" | "ours";
  /** Starts its programs; the controller last. */
  readonly start: (site: PeerSite, flags: PeerFlags) => Promise<readonly Program[]>;
  /** Whether these programs have recorded events that they have not sent to the API server yet. */
  readonly eventsWait: (programs: readonly Program[]) => Promise<boolean>;
}
