import { test } from "vitest";
import { wireNode, wireNodeModified } from "../../../test/support/kube/wire-nodes.ts";
import { systemClock } from "../../util/clock.ts";
import { PROTOBUF_TYPE } from "../resources/codec.ts";
import { NODES } from "../resources/node.ts";
import { StringCache } from "../../util/string-cache.ts";
import { watchStream } from "./watch.ts";

const NODES_WATCHED = 1000;

/** What a socket of TLS hands over at once. */
const CHUNK_BYTES = 16_384;

test("watch decoder", async ({ bench }) => {
  const stream = Buffer.concat(Array.from({ length: NODES_WATCHED }, (_, index) => wireNodeModified(wireNode(index))));
  const strings = new StringCache();
  await bench("1,000 Nodes change", async () => {
    const events = watchStream({
      resource: NODES,
      options: {
        signal: new AbortController().signal,
        resourceVersion: "1",
        timeoutSeconds: 300,
        startTimeoutMs: 30_000,
        initialIdleTimeoutMs: 30_000,
        idleTimeoutMs: 30_000,
      },
      clock: systemClock(),
      strings,
      open: () => Promise.resolve(answer(stream)),
    });
    for await (const _ of events);
  }).run();
});

function answer(stream: Uint8Array) {
  return {
    status: 200,
    header: () => PROTOBUF_TYPE,
    bytes: () => Promise.resolve(stream),
    chunks: async function* chunks() {
      for (let at = 0; at < stream.length; at += CHUNK_BYTES) yield stream.subarray(at, at + CHUNK_BYTES);
    },
  };
}
