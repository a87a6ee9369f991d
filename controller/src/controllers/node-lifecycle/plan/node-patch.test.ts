import { expect, test } from "vitest";
import { CREATED_MS, node, type NodeParts, taint } from "../../../../test/support/builders.ts";
import { nodePatch, type ShutdownTaint } from "./node-patch.ts";

const KEY = "node.cloudprovider.kubernetes.io/shutdown";
const RELEASE = "cloudwire.dev/release-deletion";
const SHUTDOWN = { key: KEY, effect: "NoSchedule" };
const NOT_READY = { conditions: [] };
const own = { ...taint("own", "NoExecute", "v"), timeAddedMs: CREATED_MS };
const ownJson = { key: "own", value: "v", effect: "NoExecute", timeAdded: "2026-11-21T11:00:00Z" };
const metadata = { uid: "uid-a", resourceVersion: "1" };

test.each<{ it: string; parts: NodeParts; wish: ShutdownTaint; want: object | undefined }>([
  {
    it: "adds the taint to others",
    parts: { spec: { taints: [own] }, status: NOT_READY },
    wish: "on",
    want: { metadata, spec: { taints: [ownJson, SHUTDOWN] } },
  },
  {
    it: "leaves a taint that is there",
    parts: { spec: { taints: [taint(KEY)] }, status: NOT_READY },
    wish: "on",
    want: undefined,
  },
  {
    it: "adds the taint beside one of another effect",
    parts: { spec: { taints: [taint(KEY, "NoExecute")] }, status: NOT_READY },
    wish: "on",
    want: { metadata, spec: { taints: [{ key: KEY, effect: "NoExecute" }, SHUTDOWN] } },
  },
  {
    it: "takes off only that taint",
    parts: { spec: { taints: [taint(KEY), own] }, status: NOT_READY },
    wish: "off",
    want: { metadata, spec: { taints: [ownJson] } },
  },
  {
    it: "takes off the last taint",
    parts: { spec: { taints: [taint(KEY)] }, status: NOT_READY },
    wish: "off",
    want: { metadata, spec: { taints: null } },
  },
  {
    it: "leaves a Node without the taint",
    parts: { spec: { taints: [own] }, status: NOT_READY },
    wish: "off",
    want: undefined,
  },
  {
    it: "keeps what is there",
    parts: { spec: { taints: [taint(KEY)] }, status: NOT_READY },
    wish: "keep",
    want: undefined,
  },
  { it: "never marks a Node that is Ready by now", parts: {}, wish: "on", want: undefined },
  {
    it: "unmarks a Node that is Ready by now",
    parts: { spec: { taints: [taint(KEY)] } },
    wish: "on",
    want: { metadata, spec: { taints: null } },
  },
  {
    it: "takes back a release",
    parts: { metadata: { annotations: { [RELEASE]: "true", other: "x" } }, status: NOT_READY },
    wish: "keep",
    want: { metadata: { ...metadata, annotations: { [RELEASE]: null } } },
  },
  {
    it: "takes back a release and the taint at once",
    parts: { metadata: { annotations: { [RELEASE]: "no" } }, spec: { taints: [taint(KEY)] }, status: NOT_READY },
    wish: "off",
    want: { metadata: { ...metadata, annotations: { [RELEASE]: null } }, spec: { taints: null } },
  },
])("nodePatch() $it", ({ parts, wish, want }) => {
  expect(nodePatch(node("a", parts), wish)).toStrictEqual(want);
});
