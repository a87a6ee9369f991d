import { createSecureContext } from "node:tls";
import { type Flag, type FlagGroup, listFlag, problem } from "./flag.ts";

/** Names of cipher suites as IANA writes them, which are Go's names as well. OpenSSL decides which there are. */
export function cipherSuitesFlag(words: { readonly group: FlagGroup; readonly help: string }): Flag<readonly string[]> {
  const list = listFlag({ ...words, valueName: "names", defaultValue: [] });
  return {
    ...list,
    parse: (text, before) => {
      const unknown = text.split(",").find((name) => !isKnown(name.trim()));
      return unknown === undefined
        ? list.parse(text, before)
        : problem(`"${unknown.trim()}" is no cipher suite of this program's`);
    },
  };
}

function isKnown(name: string): boolean {
  if (!/^TLS_[A-Z0-9_]+$/.test(name)) return false;
  try {
    createSecureContext({ ciphers: name });
    return true;
  } catch {
    return false;
  }
}
