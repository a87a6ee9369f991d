import { expect, test } from "vitest";
import { node } from "../../../../test/support/builders.ts";
import { FakeInformer } from "../../../../test/support/kube/fake-informer.ts";
import { idleProvider, info } from "../../../../test/support/provider/provider-builders.ts";
import type { Node } from "../../../api/node.ts";
import { providerSet } from "../../../provider/ownership/provider-set.ts";
import { Targets } from "./desired.ts";

const POOL = { nodeLabelKeys: ["pool"] };

const machine = (name: string, address = "10.0.0.1"): Node =>
  node(name, {
    metadata: { labels: { pool: "blue" } },
    spec: { providerID: `acme://${name}` },
    status: { addresses: [{ type: "InternalIP", address }] },
  });

test.each<[string, (nodes: FakeInformer<Node>) => void, object]>([
  ["a node joined", (nodes) => nodes.set(machine("c")), {}],
  ["a node left", (nodes) => nodes.delete("a"), {}],
  ["a node has another address", (nodes) => nodes.set(machine("a", "10.0.0.2")), {}],
  ["a node has another provider ID", (nodes) => nodes.set({ ...machine("a"), spec: machine("c").spec }), {}],
  ["the provider wants to see a label", () => undefined, POOL],
])("Targets.of() is as if newly computed when %s", (_, change, declared) => {
  const nodes = new FakeInformer<Node>();
  for (const name of ["a", "b"]) nodes.set(machine(name));
  const before = info({ providerIdPrefixes: ["acme://"] });
  const providers = providerSet([idleProvider("acme", before)]);
  const targets = new Targets({ nodes: nodes.lister, providers });
  const first = targets.of("acme", before);
  change(nodes);
  targets.changed();
  const now = { ...before, ...declared };
  const recreated = new Targets({ nodes: nodes.lister, providers }).of("acme", now);
  expect(targets.of("acme", now)).toEqual(recreated);
  expect(recreated.fingerprint).not.toBe(first.fingerprint);
});

test("Targets.of() returns the same selection until changed() is called", () => {
  const nodes = new FakeInformer<Node>();
  const now = info({ providerIdPrefixes: ["acme://"] });
  const providers = providerSet([idleProvider("acme", now)]);
  const targets = new Targets({ nodes: nodes.lister, providers });
  const first = targets.of("acme", now);
  nodes.set(machine("a"));
  expect(targets.of("acme", now)).toBe(first);
  targets.changed();
  expect(targets.of("acme", now).count).toBe(1);
});

test("Targets.of() follows what another provider declares, for it decides whose a node is", () => {
  const nodes = new FakeInformer<Node>();
  nodes.set(machine("a"));
  const now = info({ providerIdPrefixes: ["acme://"] });
  let declared = now;
  const rival = {
    ...idleProvider("rival", now),
    get info() {
      return declared;
    },
  };
  const providers = providerSet([idleProvider("acme", now), rival]);
  const targets = new Targets({ nodes: nodes.lister, providers });
  expect(targets.of("acme", now).count).toBe(0);
  declared = info({ providerIdPrefixes: ["rival://"] });
  expect(targets.of("acme", now).count).toBe(1);
});
