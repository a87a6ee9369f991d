import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { balancer, CONTEXT, ensureRequest, recordingText, SERVICE, type WrittenCall } from "../../test/recordings.ts";
import { type Ran, runCli } from "../../test/run-cli.ts";
import { RecordedServer } from "./recorded-server.ts";
import { readRecording } from "./recording.ts";

let directory: string;
let socket: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "replay-"));
  socket = join(directory, "provider.sock");
  file = join(directory, "provider.rec");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const info: WrittenCall = {
  method: "GetProviderInfo",
  response: { name: "acme", contractMajor: 1, scopeId: "scope-1" },
};
const ensure = (id: string, fields = {}): WrittenCall => ({
  method: "EnsureLoadBalancer",
  request: ensureRequest(80),
  response: { loadBalancer: balancer(id, fields) },
});
const throttled: WrittenCall = {
  method: "GetLoadBalancer",
  request: { context: CONTEXT, service: SERVICE },
  code: "RESOURCE_EXHAUSTED",
  details: [{ "@type": "google.rpc.ErrorInfo", reason: "RATE_LIMITED", domain: "cloudprovider.v1" }],
};
const deleted: WrittenCall = {
  method: "DeleteLoadBalancer",
  request: { context: CONTEXT, change: { requestId: "r2" }, service: SERVICE, loadBalancerId: "lb-1" },
  response: { done: true },
};

/** A provider that answers as `calls` say. */
function serve(calls: readonly WrittenCall[]): Promise<RecordedServer> {
  const address = `unix://${socket}`;
  const onUnknown = (): void => undefined;
  const recording = readRecording("served", recordingText(calls));
  return RecordedServer.start(recording, { address, target: address, isPaced: false, onUnknown });
}

async function against(calls: readonly WrittenCall[], ...args: readonly string[]): Promise<Ran> {
  await writeFile(file, recordingText(calls));
  return runCli(["replay", file, "--against", `unix://${socket}`, ...args]);
}

describe("replay --against", () => {
  test("reports no difference if only names differ, with the digest", async () => {
    await using _provider = await serve([info, ensure("lb-other"), throttled, deleted]);
    const ran = await against([info, ensure("lb-1"), throttled, deleted]);
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toMatch(
      /^4 calls of provider acme replayed, 4 compared: no differences\ndigest of the responses: sha256:[0-9a-f]{64}\n$/,
    );
  });

  test("stops at the first call that is answered otherwise, and goes on with --all", async () => {
    await using _provider = await serve([info, ensure("lb-1", { registeredNodes: 1 }), { ...deleted, response: {} }]);
    const calls = [info, ensure("lb-1", { registeredNodes: 2 }), deleted];
    const first = await against(calls);
    expect(first.code).toBe(1);
    expect(first.out).toBe(
      "2 calls of provider acme replayed, 2 compared: 1 call with a different response\ncall 2 (line 4), EnsureLoadBalancer: loadBalancer.registeredNodes\n  expected: 2\n  actual:   1\n",
    );
    const all = await against(calls, "--all", "-o", "json");
    const report: { readonly differences: readonly { readonly call: number; readonly field: string }[] } = JSON.parse(
      all.out,
    );
    expect(report.differences.map(({ call, field }) => `${call} ${field}`)).toEqual([
      "2 loadBalancer.registeredNodes",
      "3 done",
    ]);
  });

  test("distinguishes errors from responses, and their reasons", async () => {
    const other = [{ "@type": "google.rpc.ErrorInfo", reason: "QUOTA_EXCEEDED", domain: "cloudprovider.v1" }];
    await using _provider = await serve([
      { ...throttled, details: other },
      { ...deleted, response: undefined, code: "ABORTED", details: other },
    ]);
    const { out } = await against([throttled, deleted], "--all");
    expect(out).toContain('GetLoadBalancer: reason\n  expected: "cloudprovider.v1/RATE_LIMITED"');
    expect(out).toContain(
      'DeleteLoadBalancer: code\n  expected: "OK"\n  actual:   "ABORTED cloudprovider.v1/QUOTA_EXCEEDED: no"',
    );
  });

  test("compares nothing that no provider had answered, and says so", async () => {
    await using _provider = await serve([info, ensure("lb-1")]);
    const { code, out } = await against([
      { ...info, response: undefined, code: "UNAVAILABLE" },
      { ...ensure("lb-1"), response: undefined, code: "CANCELLED", cancelled: true },
    ]);
    expect(code).toBe(0);
    expect(out).toContain("not compared: call 1, GetProviderInfo: no provider responded in the recording: UNAVAILABLE");
    expect(out).toContain("not compared: call 2, EnsureLoadBalancer: the controller canceled it");
  });

  test("asks a read again for as long as it may, for clouds that take their time", async () => {
    const get = (phase: string): WrittenCall => ({
      method: "GetLoadBalancer",
      request: { context: CONTEXT, service: SERVICE },
      response: { loadBalancer: balancer("lb-1", { phase: `LOAD_BALANCER_PHASE_${phase}` }) },
    });
    const provided = [get("PROVISIONING"), get("PROVISIONING"), get("ACTIVE")];
    await using provider = await serve(provided);
    expect(await against([get("ACTIVE")])).toMatchObject({ code: 1 });
    expect(await against([get("ACTIVE")], "--retry-timeout=20s")).toMatchObject({ code: 0 });
    expect(provider.report.answered).toEqual({ GetLoadBalancer: 3 });
  });

  test("applies --expect, --until and --hook", async () => {
    await using _provider = await serve([info, ensure("lb-1", { registeredNodes: 3 }), { ...deleted, response: {} }]);
    const calls = [info, ensure("lb-1", { registeredNodes: 2 }), deleted];
    const mark = join(directory, "mark");
    const args = ["--expect", "2:loadBalancer.registeredNodes=3", "--until=2", "--hook", `2:echo done > ${mark}`];
    expect(await against(calls, ...args)).toMatchObject({ code: 0 });
    expect(await readFile(mark, "utf8")).toBe("done\n");
    expect(await against(calls, "--hook", "2:false")).toMatchObject({
      code: 1,
      err: expect.stringContaining("--hook"),
    });
    expect(await against(calls, "--expect", "9:done=true")).toMatchObject({
      code: 1,
      err: expect.stringContaining("has no call 9"),
    });
  });

  test("expects nothing of what is not compared, for such a test would never fail", async () => {
    const watch: WrittenCall = { method: "WatchInstances", request: { context: CONTEXT } };
    await writeFile(file, recordingText([info, watch, info, info], ["b1", "e1", "b2", "e2", "b3", "e3", "b4"]));
    const expected = [2, 3, 4].flatMap((call) => ["--expect", `${call}:code="OK"`]);
    expect(await runCli(["replay", file, "--against", `unix://${socket}`, ...expected, "--until", "2"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("call 2, 3, 4 is not compared, so --expect has no effect"),
    });
  });

  test("does not wait for a provider that answers nothing when it is to end", async () => {
    const stop = new AbortController();
    const server = createServer(() => stop.abort(new Error("enough")));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    await writeFile(file, recordingText([info]));
    const ran = runCli(["replay", file, "--against", `unix://${socket}`], { signal: stop.signal });
    await expect(ran).rejects.toThrow("the replay was interrupted");
    server.close();
  });

  test.each(["max", "recorded"])(
    "makes calls together that had been under way together, at speed %s",
    async (speed) => {
      await using _provider = await serve([info, ensure("lb-1")]);
      await writeFile(file, recordingText([info, ensure("lb-1")], ["b1", "b2", "e2", "e1"]));
      expect(await runCli(["replay", file, "--against", `unix://${socket}`, `--speed=${speed}`])).toMatchObject({
        code: 0,
      });
    },
  );
});

describe("replay --serve", () => {
  test("serves until stopped, and rejects and reports unknown requests", async () => {
    await writeFile(file, recordingText([info, ensure("lb-1")]));
    const stop = new AbortController();
    const address = `unix://${socket}`;
    const served = runCli(["replay", file, "--serve", address], { signal: stop.signal });
    await expect
      .poll(() =>
        stat(socket).then(
          ({ mode }) => mode & 0o777,
          () => 0,
        ),
      )
      .toBe(0o660);
    const other = join(directory, "other.rec");
    await writeFile(other, recordingText([info, deleted]));
    const { out } = await runCli(["replay", other, "--against", address]);
    expect(out).toContain(
      "FAILED_PRECONDITION replay.cloudwire.dev/NOT_RECORDED: DeleteLoadBalancer: this request is not in the recording",
    );
    stop.abort(new Error("enough"));
    const ran = await served;
    expect(ran).toMatchObject({
      code: 1,
      out: expect.stringContaining("1 recorded responses sent (GetProviderInfo 1), 1 requests not in the recording"),
    });
    expect(ran.err).toContain("the recording has no DeleteLoadBalancer");
    await expect(stat(socket)).rejects.toThrow("ENOENT");
  });

  test("does not take the place of a provider that serves there", async () => {
    await using _provider = await serve([info]);
    await writeFile(file, recordingText([info]));
    const ran = await runCli(["replay", file, "--serve", `unix://${socket}`]);
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("another process listens on") });
  });
});

describe("replay --start", () => {
  test("says the last words of a provider that ends", async () => {
    await writeFile(file, recordingText([info]));
    const ran = await runCli(["replay", file, "--start", "echo no cloud; exit 3"], {
      environment: { PATH: process.env["PATH"] ?? "" },
    });
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("no cloud") });
  });

  test.each([
    [
      "life.sh",
      'exec "${CLOUDWIRE:-cloudwire}" replay "$(dirname "$0")"/provider.rec \'--expect=1:name="b"\' --start "$PROVIDER"',
    ],
    ["life.test.ts", 'const args = ["replay", recording, "--start", provider, ...["--expect=1:name=\\"b\\""]];'],
  ])("writes the test %s", async (name, line) => {
    await writeFile(file, recordingText([info]));
    const path = join(directory, name);
    const args = ["--start", "./it's mine", "--write-test", path, "--expect", '1:name="b"'];
    expect(await runCli(["replay", file, ...args])).toMatchObject({ code: 0 });
    expect(await readFile(path, "utf8")).toContain(line);
    expect(await runCli(["replay", file, ...args])).toMatchObject({ code: 1, err: expect.stringContaining("EEXIST") });
  });
});

describe("the command line of replay", () => {
  test.each([
    [[], "replay requires one FILE"],
    [["f"], "replay requires one of --serve, --against and --start"],
    [["f", "--serve=unix:///a", "--against=unix:///b"], "replay requires one of --serve, --against and --start"],
    [["f", "--serve=unix:///a", "--until=3"], "--until cannot be combined with --serve"],
    [["f", "--serve=nowhere"], "invalid --serve nowhere; use unix:///PATH, or tcp://HOST:PORT"],
    [["f", "--against=unix:///a", "--write-test=a.sh"], "--write-test requires --start"],
    [["f", "--start=x", "--write-test=a.txt"], "invalid --write-test a.txt; it must end in one of"],
    [["f", "--against=unix:///a", "--hook=x"], "invalid --hook x; use CALL:COMMAND"],
  ])("refuses %j", async (args, message) => {
    expect(await runCli(["replay", ...args])).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  });

  test("says what is wrong with a file that is no recording", async () => {
    await writeFile(file, "{}\n");
    expect(await runCli(["replay", file, "--against=unix:///a"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("is not a recording"),
    });
    expect(await runCli(["replay", join(directory, "none"), "--against=unix:///a"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("ENOENT"),
    });
  });
});
