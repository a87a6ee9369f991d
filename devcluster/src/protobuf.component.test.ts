import { request as httpRequest } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createProtobufTranslator, type DevCluster, startDevCluster } from "./index.ts";
import { readFields } from "./protobuf/wire.ts";

const protobuf = "application/vnd.kubernetes.protobuf";
const either = `${protobuf},application/json`;
const translator = createProtobufTranslator();

describe("protobuf over HTTP", () => {
  let cluster: DevCluster;

  beforeEach(async () => {
    cluster = await startDevCluster({ controllers: false });
    cluster.seed({ apiVersion: "v1", kind: "Node", metadata: { name: "n", labels: { a: "b" } } });
  });

  afterEach(async () => {
    await cluster.close();
  });

  const get = async (
    path: string,
    accept: string,
  ): Promise<{ status: number; type: string | null; bytes: Uint8Array }> => {
    const response = await fetch(`${cluster.url}${path}`, { headers: { Accept: accept } });
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, type: response.headers.get("content-type"), bytes };
  };

  test("an object comes as protobuf to who likes that best", async () => {
    const { type, bytes } = await get("/api/v1/nodes/n", either);
    expect(type).toBe(protobuf);
    expect(translator.toJson(bytes)).toMatchObject({
      kind: "Node",
      apiVersion: "v1",
      metadata: { name: "n", labels: { a: "b" } },
    });
    const json = await get("/api/v1/nodes/n", `application/json,${protobuf}`);
    expect(json.type).toBe("application/json");
  });

  test("a list has its metadata and items", async () => {
    const { bytes } = await get("/api/v1/nodes", protobuf);
    const unknown = readFields(bytes.subarray(4));
    const raw = unknown.find(({ number }) => number === 2)?.value;
    const numbers = readFields(raw instanceof Uint8Array ? raw : new Uint8Array()).map(({ number }) => number);
    expect(numbers).toEqual([1, 2]);
  });

  test("a refusal is a Status in protobuf", async () => {
    const { status, type, bytes } = await get("/api/v1/nodes/missing", either);
    expect([status, type]).toEqual([404, protobuf]);
    expect(translator.toJson(bytes)).toMatchObject({
      kind: "Status",
      reason: "NotFound",
      details: { name: "missing" },
    });
  });

  test("what has no protobuf form comes as JSON, or not at all", async () => {
    expect((await get("/apis", either)).type).toBe("application/json");
    expect((await get("/apis", protobuf)).status).toBe(406);
    expect(
      (
        await get(
          "/api/v1/nodes",
          `${protobuf};as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io`,
        )
      ).type,
    ).toBe("application/json");
  });

  test("a watch comes in frames", async () => {
    const frames = await readFrames(
      `${cluster.url}/api/v1/nodes?watch=1&allowWatchBookmarks=true`,
      `${protobuf};stream=watch`,
      2,
    );
    expect(frames).toMatchObject([
      { type: "ADDED", object: { kind: "Node", metadata: { name: "n" } } },
      {
        type: "BOOKMARK",
        object: { kind: "Node", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
      },
    ]);
  });

  test("a body may be protobuf, and is recorded as JSON", async () => {
    const body = translator.toProtobuf({ apiVersion: "v1", kind: "Namespace", metadata: { name: "made" } });
    const response = await fetch(`${cluster.url}/api/v1/namespaces`, {
      method: "POST",
      headers: { "Content-Type": protobuf },
      body: Buffer.from(body ?? new Uint8Array()),
    });
    expect(response.status).toBe(201);
    expect(cluster.read("v1", "Namespace", "", "made")).toMatchObject({ status: { phase: "Active" } });
    expect(JSON.parse(cluster.requests[0]?.body ?? "")).toMatchObject({
      kind: "Namespace",
      metadata: { name: "made" },
    });
  });

  test("a broken body is answered with 400", async () => {
    const response = await fetch(`${cluster.url}/api/v1/namespaces`, {
      method: "POST",
      headers: { "Content-Type": protobuf },
      body: Buffer.from("no protobuf"),
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { reason: "BadRequest", message: expect.stringContaining("Kubernetes protobuf") },
    ]);
  });
});

async function readFrames(url: string, accept: string, count: number): Promise<readonly object[]> {
  return await new Promise((resolve, reject) => {
    let rest = Buffer.alloc(0);
    const frames: object[] = [];
    const request = httpRequest(url, { headers: { Accept: accept } }, (response) => {
      response.on("data", (chunk: Buffer) => {
        rest = Buffer.concat([rest, chunk]);
        while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
          const end = 4 + rest.readUInt32BE();
          frames.push(readEvent(rest.subarray(4, end)));
          rest = rest.subarray(end);
        }
        if (frames.length < count) return;
        response.destroy();
        resolve(frames);
      });
    });
    request.on("error", reject);
    request.end();
  });
}

/** metav1.WatchEvent: the type, and the object inside a RawExtension. */
function readEvent(message: Uint8Array): object {
  const bytesOf = (bytes: Uint8Array, number: number): Uint8Array => {
    const value = readFields(bytes).find((field) => field.number === number)?.value;
    return value instanceof Uint8Array ? value : new Uint8Array();
  };
  return {
    type: Buffer.from(bytesOf(message, 1)).toString(),
    object: translator.toJson(bytesOf(bytesOf(message, 2), 1)),
  };
}
