/** A place in the tree that names the machine it was written on. */
export interface Trace {
  readonly path: string;
  readonly line: number;
  readonly found: string;
  readonly rule: string;
}

interface Rule {
  readonly name: string;
  readonly pattern: RegExp;
  /** Hits that are meant. */
  readonly allowed?: RegExp;
}

const RULES: readonly Rule[] = [
  {
    name: "path of one machine",
    // A home, or a work directory at the root: a checkout. Not below another directory, not in a URL.
    pattern: /(?<![\w.$}~/*-])\/(?:home|root|Users|work|farm)\/[A-Za-z.][\w./-]*/,
  },
  {
    name: "package registry's host",
    pattern: /https?:\/\/[^\s/"'`)]*(?:registry|goproxy|artifactory|nexus|verdaccio|mirror)[^\s/"'`)]*/i,
    // Where Kubernetes publishes its images: named by manifests, never fetched from by a build here.
    allowed: /^https?:\/\/registry\.k8s\.io$/,
  },
  {
    name: "lockfile with download addresses (omit-lockfile-registry-resolved=true keeps them out)",
    pattern: /"resolved": "https?:[^"]*"/,
  },
];

/** Every line of the given files (path to text) that breaks a rule. */
export function findTraces(files: ReadonlyMap<string, string>): readonly Trace[] {
  const traces: Trace[] = [];
  for (const [path, text] of files) {
    for (const [index, line] of text.split("\n").entries()) {
      for (const { name, pattern, allowed } of RULES) {
        const found = pattern.exec(line)?.[0];
        if (found !== undefined && allowed?.test(found) !== true)
          traces.push({ path, line: index + 1, found, rule: name });
      }
    }
  }
  return traces;
}
