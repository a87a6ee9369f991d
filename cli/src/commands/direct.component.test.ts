import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATHS } from "@cloudwire/operator-api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { CERTIFICATE, KEY } from "../test/certificate.ts";
import { FakeController } from "../test/fake-controller.ts";
import { type RunOptions, runCli } from "../test/run-cli.ts";
import { goneNode, heldNode, heldRows, noNode, noPlans, orphans, overview, plans } from "../test/samples.ts";

let controller: FakeController;
let directory: string;
let server: readonly string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "cli-"));
  controller = await FakeController.start();
  await writeFile(join(directory, "ca.pem"), CERTIFICATE);
  await writeFile(join(directory, "key.pem"), KEY);
  await writeFile(join(directory, "token"), "t0ken\n");
  const address = `https://127.0.0.1:${controller.port}`;
  server = [
    "--server",
    address,
    "--certificate-authority",
    join(directory, "ca.pem"),
    "--token-file",
    join(directory, "token"),
  ];
});
afterEach(async () => {
  await controller[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const run = (args: readonly string[], options?: RunOptions) => runCli([...args, ...server], options);

describe("list", () => {
  test.each([
    ["list", "limit=500"],
    ["list svc", "kind=service&limit=500"],
    ["list nodes,services Node --state blocked", "kind=node,service&state=blocked&limit=500"],
    ["list --state waiting,blocked --search eu-1 --limit 7", "state=waiting,blocked&search=eu-1&limit=7"],
  ])("%s asks for %s", async (line, query) => {
    let asked: URLSearchParams | undefined;
    controller.pages.set(PATHS.objects, (given) => {
      asked = given;
      return { body: heldRows };
    });
    const { code, out } = await run(line.split(" "));
    expect([code, decodeURIComponent(String(asked))]).toEqual([0, query]);
    expect(out).toMatch(
      /^object +state +provider +reason +summary\nnode\/worker-1 +blocked +aws +TooManyNodeDeletions/,
    );
  });

  test("says all that is wrong with the question", async () => {
    const { code, out, err } = await run(["list", "pods,nodes,wires", "--state", "ok,broken"]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("unknown kind pods; use one of node, service, route, provider");
    expect(err).toContain("unknown kind wires");
    expect(err).toContain("invalid --state broken; use ok, progressing, waiting, blocked, unmanaged");
  });
});

describe("what the controller says", () => {
  beforeEach(() => {
    controller.pages.set(PATHS.explain, (query) => ({ body: { ...heldNode, object: query.get("object") } }));
    controller.pages.set(PATHS.overview, { body: overview });
    controller.pages.set(PATHS.plans, { body: plans });
    controller.pages.set(PATHS.orphans, { body: orphans });
  });

  test.each([
    ["explain node/worker-1", 0, "node/worker-1  blocked\naws reports its instance as deleted"],
    ["explain svc shop/web", 0, "service/shop/web  blocked"],
    ["status", 0, "cluster prod\n\nAlarms\n  provider/aws: TooManyNodeDeletions: 12 of 40 Nodes are gone"],
    ["plan", 3, "Differences: existing objects or resources would be updated or deleted."],
    ["orphans", 1, "provider  kind          id"],
  ])("%s ends with %d", async (line, code, beginning) => {
    const ran = await run(line.split(" "));
    expect([ran.code, ran.out.slice(0, beginning.length)]).toEqual([code, beginning]);
  });

  test.each([
    ["explain node/worker-1", { ...heldNode, object: "node/worker-1" }],
    ["status", overview],
    ["plan", plans],
    ["orphans", orphans],
  ])("%s -o json and -o yaml have all of it, as it is", async (line, content) => {
    const json = await run([...line.split(" "), "-o", "json"]);
    const yaml = await run([...line.split(" "), "-o", "yaml"]);
    expect([JSON.parse(json.out), parse(yaml.out)]).toEqual([content, content]);
  });

  test("is asked for with the token, and for the object by its name", async () => {
    await run(["explain", "node/worker 1&x"]);
    expect(controller.seen).toEqual([
      {
        method: "GET",
        url: "/debug/explain?object=node%2Fworker+1%26x",
        authorization: "Bearer t0ken",
        cookie: undefined,
        commonName: undefined,
      },
    ]);
  });

  test("is asked for with a certificate", async () => {
    const files = ["--client-certificate", join(directory, "ca.pem"), "--client-key", join(directory, "key.pem")];
    const ran = await runCli(["status", ...server.slice(0, 4), ...files]);
    expect([ran.code, controller.seen.map(({ commonName, authorization }) => [commonName, authorization])]).toEqual([
      0,
      [["cli-test", undefined]],
    ]);
  });

  test("that a cutover is safe decides the exit code of plan", async () => {
    controller.pages.set(PATHS.plans, { body: noPlans });
    expect(await run(["plan"])).toMatchObject({ code: 0, out: expect.stringMatching(/^Safe to proceed/) });
    controller.pages.set(PATHS.plans, { body: { ...noPlans, observing: false } });
    expect(await run(["plan"])).toMatchObject({
      code: 4,
      out: expect.stringMatching(/^Unknown: this controller is not in observe mode/),
    });
  });

  test("is in ASCII where the terminal has nothing else", async () => {
    controller.pages.set(PATHS.overview, { body: { ...overview, cluster: "größe…" } });
    const ran = await run(["status"], { terminal: { isUnicode: false } });
    expect(ran.out.split("\n")[0]).toBe("cluster gr??e...");
  });

  test("names of objects are candidates for completion", async () => {
    controller.pages.set(PATHS.objects, (query) => ({ body: query.get("search") === "worker" ? heldRows : [] }));
    const complete = (line: string) => runCli(["__complete", "--", ...line.split(" ").toSpliced(1, 0, ...server)]);
    expect((await complete("explain node/worker")).out).toBe("node/worker-2\nnode/worker-1\nnode/worker-3\n:4\n");
    expect((await complete("explain node worker")).out).toBe("worker-2\nworker-1\nworker-3\n:4\n");
    expect((await complete("approve node-deletion ")).out).toBe(":4\n");
  });
});

describe("explain of an object that is not in the cluster", () => {
  const NOWHERE =
    "cloudwire: there is no node/wroker-1; did you mean node/worker-1? See how it is called with `kubectl get`. [OBJECT_NOT_FOUND]\n";

  test("is an error where nothing is known of it", async () => {
    controller.pages.set(PATHS.explain, { body: noNode });
    expect(await run(["explain", "node/wroker-1"])).toEqual({ code: 1, out: "", err: NOWHERE });
  });

  test.each([
    ["json", (text: string): unknown => JSON.parse(text)],
    ["yaml", (text: string): unknown => parse(text)],
  ])("is the same error with -o %s, and the document is still written", async (format, read) => {
    controller.pages.set(PATHS.explain, { body: noNode });
    const { code, out, err } = await run(["explain", "node/wroker-1", "-o", format]);
    expect([code, read(out), err]).toEqual([1, noNode, NOWHERE]);
  });

  test("is none where something is known of it", async () => {
    controller.pages.set(PATHS.explain, { body: goneNode });
    const { code, out, err } = await run(["explain", "node/wroker-1"]);
    expect([code, out, err]).toEqual([0, expect.stringContaining("Deleted: It is not"), ""]);
  });

  test("waits for it with --watch", async () => {
    const stop = new AbortController();
    const bodies = [noNode, heldNode];
    controller.pages.set(PATHS.explain, () => ({ body: bodies.shift() ?? heldNode }));
    const { code, out, err } = await run(["explain", "node/worker-1", "--watch", "--interval", "1ms", "-o", "json"], {
      signal: stop.signal,
      onOut: (text) => {
        if (text.includes("TooManyNodeDeletions")) stop.abort();
      },
    });
    const lines = out.trimEnd().split("\n");
    expect([code, lines.map((line) => JSON.parse(line)), err]).toEqual([0, [noNode, heldNode], ""]);
  });
});

describe("--watch", () => {
  /** Runs until so many texts came, answering each question with the next sample; the last one stays. */
  const watch = async (samples: readonly unknown[], texts: number, args: readonly string[], terminal = {}) => {
    const stop = new AbortController();
    let asked = 0;
    let came = 0;
    controller.pages.set(PATHS.overview, () => {
      const body = samples[Math.min(asked++, samples.length - 1)];
      return typeof body === "number" ? { status: body, body: "away\n" } : { body };
    });
    const onOut = () => {
      if (++came === texts) stop.abort();
    };
    return run(["status", "--watch", "--interval", "1ms", ...args], { signal: stop.signal, onOut, terminal });
  };
  const later = { ...overview, time: "2026-11-23T15:04:09.000Z" };
  const other = { ...later, cluster: "other" };

  test("writes one line of JSON for each change, and none for what is only later", async () => {
    const ran = await watch([overview, later, later, other], 2, ["-o", "json"]);
    expect(
      ran.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([overview, other]);
  });

  test("writes one document of YAML for each change", async () => {
    const ran = await watch([overview, other], 2, ["-o", "yaml"]);
    expect(parseAllDocuments(ran.out).map((document) => document.toJS())).toEqual([overview, other]);
  });

  test("redraws on a terminal", async () => {
    const ran = await watch([overview, later], 4, [], { canRedraw: true });
    expect(ran.out.split("\u001B[H\u001B[2J").map((text) => text.split("\n")[0])).toEqual([
      "",
      "cluster prod",
      "cluster prod",
    ]);
  });

  test("goes on when the controller is away for a while", async () => {
    const ran = await watch([overview, 503, other], 2, ["-o", "json"]);
    expect([ran.code, ran.err]).toEqual([
      0,
      expect.stringContaining("responded to /debug/overview with 503 Service Unavailable: away"),
    ]);
  });

  test("ends at once where the first question fails", async () => {
    expect(await watch([503], 1, [])).toMatchObject({ code: 1, out: "" });
  });
});

describe("what is wrong is one sentence with what to do", () => {
  test.each([
    [
      401,
      "",
      "rejected your credentials (401): specify a token (--token-file, --service-account) or a client certificate",
    ],
    [403, "Forbidden\n", 'you need a ClusterRole with the rule {nonResourceURLs: ["/debug/overview"], verbs: [get]}'],
    [404, "{}", "does not have /debug/overview (404): use the version of cloudwire that matches it"],
    [400, "object: want KIND/NAME\n", "cloudwire: object: want KIND/NAME [CONTROLLER_ERROR]\n"],
    [500, "oh dear", "responded to /debug/overview with 500 Internal Server Error: oh dear"],
    [200, "<html>", "to /debug/overview is not JSON"],
  ])("for an answer %d %j", async (status, body, message) => {
    controller.pages.set(PATHS.overview, { status, body });
    expect(await run(["status"])).toEqual({ code: 1, out: "", err: expect.stringContaining(message) });
  });

  test("for a certificate that no trusted CA signed", async () => {
    const ran = await runCli(["status", ...server.slice(0, 2)]);
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("--insecure-skip-tls-verify") });
    controller.pages.set(PATHS.overview, { body: overview });
    expect(await runCli(["status", ...server.slice(0, 2), "--insecure-skip-tls-verify"])).toMatchObject({ code: 0 });
  });

  test.each([
    [["--server", "localhost:10258"], "use an address such as https://10.0.0.7:10258"],
    [["--server", "https://h:1/prefix"], "use an address such as https://10.0.0.7:10258"],
    [["--server", "https://me:secret@h:1"], "use an address such as https://10.0.0.7:10258"],
    [["--server", "https://h:1", "--pod", "a"], "--pod cannot be used with --server"],
    [["--server", "https://h:1", "--client-key", "a"], "--client-certificate and --client-key must be used together"],
    [["--insecure-skip-tls-verify"], "--insecure-skip-tls-verify cannot be used without --server"],
    [["--token-file", "a", "--service-account", "b"], "mutually exclusive"],
    [["surplus"], "the command takes no arguments, but got surplus"],
  ])("for the command line status %j", async (args, message) => {
    expect(await runCli(["status", ...args])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(message),
    });
  });

  test("for a token on its way without TLS", async () => {
    const args = ["--server", "http://10.0.0.7:10258", "--token-file", join(directory, "token")];
    expect(await runCli(["status", ...args])).toMatchObject({
      code: 2,
      err: expect.stringContaining("must not be sent without TLS"),
    });
  });

  test("for a file that is not there, and a controller that is not", async () => {
    const absent = await runCli([
      "status",
      "--server",
      "https://127.0.0.1:1",
      "--token-file",
      join(directory, "absent"),
    ]);
    expect(absent).toMatchObject({ code: 1, err: expect.stringContaining("cannot read the file of --token-file") });
    const unreachable = await runCli(["status", "--server", "https://127.0.0.1:1"]);
    expect(unreachable).toMatchObject({
      code: 1,
      err: expect.stringContaining("cannot reach the controller at https://127.0.0.1:1"),
    });
  });

  test("for an answer that takes too long", async () => {
    // Less than it takes to connect.
    const ran = await run(["status", "--timeout", "1ms"]);
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("no response within 0.001 s") });
    expect(await run(["orphans", "--timeout", "1ms"])).toMatchObject({ code: 1, err: ran.err });
  });
});

test("a controller on loopback without TLS, as npm start serves it, is asked without credentials", async () => {
  await using plain = await FakeController.start({ isPlain: true });
  plain.pages.set(PATHS.overview, { body: overview });
  const ran = await runCli(["status", "--server", `http://127.0.0.1:${plain.port}`]);
  expect([ran.code, plain.seen.map(({ authorization }) => authorization)]).toEqual([0, [undefined]]);
});
