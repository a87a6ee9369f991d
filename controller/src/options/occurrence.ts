import type { Problem } from "./problem.ts";

/** One value of one setting, as somebody wrote it. */
export interface Occurrence {
  /** Key in the table of options. */
  readonly key: string;
  readonly text: string;
  /** Where it was written, for messages: `--cluster-name`, `CLOUDWIRE_CLUSTER_NAME`, `/etc/ccm.yaml:4: KubeCloudShared.ClusterName`. */
  readonly where: string;
}

/** What one place says: a command line, the environment, a file. */
export interface Said {
  readonly occurrences: readonly Occurrence[];
  /** What cannot be meant as a setting. */
  readonly problems: readonly Problem[];
  /** What was said in vain. */
  readonly warnings: readonly Problem[];
  /** Keys of settings whose problem hides what they were meant to be; "all" when nothing could be read. */
  readonly lost: readonly string[] | "all";
}

export const NOTHING_SAID: Said = { occurrences: [], problems: [], warnings: [], lost: [] };
