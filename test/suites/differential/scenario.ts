import type { Recorder } from "./recorder.ts";

/** A script of calls that both clusters have to answer alike. Names in it are its own: all scenarios share the clusters. */
export interface Scenario {
  readonly name: string;
  readonly run: (recorder: Recorder) => Promise<void>;
}

export const merge = "application/merge-patch+json";
export const strategic = "application/strategic-merge-patch+json";
export const jsonPatch = "application/json-patch+json";
export const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
