import { type LabelSelector, parseLabelSelector } from "../api/labels.ts";
import { type Flag, problem, value } from "../options/flag.ts";

/** By name of the provider: which of the Nodes without a provider ID are its. */
export type ProviderSelectors = ReadonlyMap<string, LabelSelector>;

/** `--provider-node-selector NAME=SELECTOR`, repeatable, once a provider. */
export const providerSelectorFlag: Flag<ProviderSelectors> = {
  group: "provider",
  help:
    "label selector of the nodes without a provider ID that are a provider's, such as acme=example.com/cloud=acme; " +
    "repeatable, once a provider. Without one, every provider is asked for the machine of such a node",
  valueName: "name=selector",
  defaultValue: new Map(),
  shape: { kind: "list", pattern: "^[^=]+=." },
  parse: (text, before) => {
    const at = text.indexOf("=");
    const name = text.slice(0, Math.max(at, 0));
    const selector = text.slice(at + 1);
    if (name === "")
      return problem(`"${text}" names no provider; write NAME=SELECTOR, such as acme=example.com/cloud=acme`);
    if (before?.has(name) === true)
      return problem(`provider "${name}" is given a selector twice; join them with a comma`);
    const parsed = parseLabelSelector(selector);
    if (parsed.kind === "invalid")
      return problem(`the selector of provider "${name}" cannot be read: ${parsed.problem}`);
    if (parsed.selector.requirements.length === 0) {
      return problem(`the selector of provider "${name}" is empty and would match every node; name a label`);
    }
    return value(new Map([...(before ?? []), [name, parsed.selector]]));
  },
  write: (selectors) => [...selectors].map(([name, { text }]) => `${name}=${text}`),
};
