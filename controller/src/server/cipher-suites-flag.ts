import { cipherSuites, isCipherSuite } from "./cipher-suites.ts";
import { type Flag, type FlagGroup, listFlag, problem } from "../options/flag.ts";

/** Names of cipher suites as IANA writes them, which are Go's names as well. */
export function cipherSuitesFlag(words: {
  readonly group: FlagGroup;
  readonly help: string;
  readonly differs: string;
}): Flag<readonly string[]> {
  const list = listFlag({ ...words, valueName: "names", defaultValue: [] });
  return {
    ...list,
    shape: { kind: "list", choices: cipherSuites },
    parse: (text, before) => {
      const unknown = text.split(",").find((name) => text !== "" && !isCipherSuite(name.trim()));
      return unknown === undefined
        ? list.parse(text, before)
        : problem(`"${unknown.trim()}" is no cipher suite of this program's; there are ${cipherSuites.join(", ")}`);
    },
  };
}
