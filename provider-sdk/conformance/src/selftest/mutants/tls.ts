import type { TlsFault } from "../tls-front.ts";

/** A provider with one fault in how it is reached over TLS. */
export interface TlsMutant {
  readonly name: string;
  /** What it does wrong. */
  readonly fault: string;
  /** Ids of the checks that fail on it: these and no others. */
  readonly fails: readonly string[];
  readonly front: TlsFault;
}

/** Faulty TLS, each with the checks that find it. */
export const tlsMutants: readonly TlsMutant[] = [
  {
    name: "tls-optional",
    fault: "plaintext is served at the port of TLS, too",
    fails: ["sec.tls.plaintext"],
    front: { plaintextToo: true },
  },
  {
    name: "tls-no-client",
    fault: "callers are asked for no certificate",
    fails: ["sec.tls.client-cert"],
    front: { callers: "not at all" },
  },
  {
    name: "tls-any-client",
    fault: "any certificate of a caller is good enough",
    fails: ["sec.tls.client-cert"],
    front: { callers: "by any certificate" },
  },
  {
    name: "tls-by-name",
    fault: "the name of their authority is all that is looked at in certificates of callers",
    fails: ["sec.tls.client-cert"],
    front: { callers: "by the name of their authority" },
  },
  {
    name: "tls-1-1",
    fault: "TLS 1.0 and 1.1 are spoken",
    fails: ["sec.tls.version"],
    front: { oldest: "TLSv1" },
  },
];
