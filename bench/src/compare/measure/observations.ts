/** What a peer has done and used since the measuring began. Undefined: it has no such thing. */
export interface Counts {
  readonly cpuSeconds: number;
  /** Of its first program, the controller. */
  readonly controllerRssBytes: number | undefined;
  readonly rssBytes: number | undefined;
  readonly pssBytes: number | undefined;
  readonly peakRssBytes: number | undefined;
  readonly cloudCalls: number;
  readonly cloudChanges: number;
  /** Without events and leases. */
  readonly apiWrites: number;
  readonly events: number;
}

/** How fast a controller answered while the work went on. */
export interface Reaction {
  /** Of the page of its health, since it answered first. */
  readonly healthMs: readonly number[];
  /** 99 of 100 turns of its event loop were late by less. Undefined of what is no Node process. */
  readonly eventLoopP99Ms: number | undefined;
}

/** How far a work has come, and when. */
export interface Done {
  readonly seconds: number;
  /** 1: all of it. */
  readonly share: number;
}
