import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PATHS } from "@cloudwire/operator-api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CERTIFICATE, KEY } from "../test/certificate.ts";
import { ADMIN, ClusterFixture, UNPRIVILEGED } from "../test/cluster-fixture.ts";
import { runCli } from "../test/run-cli.ts";
import { overview } from "../test/samples.ts";

let world: ClusterFixture;

beforeEach(async () => {
  world = await ClusterFixture.start();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("the leader", () => {
  const shown = { code: 0, out: expect.stringMatching(/^cluster prod/), err: "" };

  test("is found by its Lease, in the pod of that hostname, through the API server", async () => {
    world.lead("ccm-b_5e1f");
    world.runPod({ name: "ccm-a" });
    world.runPod({ name: "ccm-b" });
    world.forward("kube-system/ccm-b");
    expect(await world.run("status")).toEqual(shown);
    expect(world.controller.seen).toMatchObject([{ url: PATHS.overview, authorization: `Bearer ${ADMIN.token}` }]);
  });

  test("is found in the host's network by the Node, among others there by what it is called", async () => {
    world.lead("node-1.lan_5e1f");
    world.runPod({ name: "kube-proxy-1", spec: { hostNetwork: true } });
    world.runPod({
      name: "ccm-x",
      spec: { hostNetwork: true },
      labels: { "app.kubernetes.io/name": "cloud-controller-manager" },
    });
    world.runPod({
      name: "ccm-y",
      spec: { hostNetwork: true, nodeName: "node-2" },
      labels: { "k8s-app": "cloud-controller-manager" },
    });
    world.forward("kube-system/ccm-x");
    expect(await world.run("status")).toEqual(shown);
  });

  test("is the only pod that is called so where no hostname fits: a Node may have another name than its machine", async () => {
    world.lead("machine-77_5e1f");
    world.runPod({ name: "kube-proxy-1", spec: { hostNetwork: true } });
    world.runPod({
      name: "ccm-x",
      spec: { hostNetwork: true },
      labels: { "app.kubernetes.io/name": "cloud-controller-manager" },
    });
    world.forward("kube-system/ccm-x");
    expect(await world.run("status")).toEqual(shown);
  });

  test("is looked for where --namespace, --lease and --port say", async () => {
    world.cluster.seed({ apiVersion: "v1", kind: "Namespace", metadata: { name: "cloud" } });
    world.lead("ccm_1", { name: "observer", namespace: "cloud" });
    world.runPod({ name: "ccm", namespace: "cloud" });
    world.forward("cloud/ccm", 10300);
    expect(await world.run("status -n cloud --lease observer --port 10300")).toEqual(shown);
  });

  test("need not be asked: --pod names another replica", async () => {
    world.forward("kube-system/ccm-standby");
    expect(await world.run("status --pod ccm-standby")).toEqual(shown);
    expect(world.cluster.requests.map(({ path }) => path)).toEqual([]);
  });

  test.each([
    ["there is no Lease", () => undefined, "Lease kube-system/cloud-controller-manager does not exist"],
    [
      "the Lease's name is another",
      () => world.lead("ccm_1"),
      "Lease kube-system/cloud-controller-manager?x=y does not exist",
      "--lease cloud-controller-manager?x=y",
    ],
    ["it has no leader", () => world.lead(""), "no controller is the leader"],
    [
      "its pod is not there",
      () => world.lead("ccm-0_1"),
      "cannot determine the pod of leader ccm-0_1: no running pod in kube-system has hostname ccm-0",
    ],
    [
      "it may be one of several",
      () => {
        world.lead("node-1_1");
        for (const name of ["ccm-a", "ccm-b"])
          world.runPod({ name, spec: { hostNetwork: true }, labels: { app: "ccm" } });
      },
      "several pods match: ccm-a, ccm-b; specify it with --pod",
    ],
  ])("is asked for by name where %s", async (_what, prepare, message, options = "") => {
    prepare();
    expect(await world.run(`status ${options}`.trimEnd())).toEqual({
      code: 1,
      out: "",
      err: expect.stringContaining(message),
    });
  });

  test("that has changed is found again by --watch", async () => {
    world.lead("ccm-a_1");
    world.runPod({ name: "ccm-a" });
    world.runPod({ name: "ccm-b" });
    world.forward("kube-system/ccm-a");
    const stop = new AbortController();
    const steps = [
      () => {
        world.api.forwardings.length = 0;
        world.lead("ccm-b_2");
        world.forward("kube-system/ccm-b");
        world.controller.pages.set(
          PATHS.overview,
          (() => {
            let asked = 0;
            return () =>
              asked++ === 0 ? { status: 500, body: "ending" } : { body: { ...overview, cluster: "second" } };
          })(),
        );
      },
      () => stop.abort(),
    ];
    const ran = await world.run("status --watch --interval 1ms -o json", {
      signal: stop.signal,
      onOut: () => steps.shift()?.(),
    });
    expect([ran.code, ran.out.match(/"cluster":"\w+"/g)]).toEqual([0, ['"cluster":"prod"', '"cluster":"second"']]);
    const leases = world.cluster.requests.filter(({ path }) => path.includes("/leases/"));
    expect(leases).toHaveLength(2);
  });
});

describe("who asks the controller", () => {
  beforeEach(() => world.forward("kube-system/ccm"));
  const credentials = () => world.controller.seen.map(({ authorization, commonName }) => [authorization, commonName]);
  const certificate = {
    "client-certificate-data": Buffer.from(CERTIFICATE).toString("base64"),
    "client-key-data": Buffer.from(KEY).toString("base64"),
  };

  test("shows the kubeconfig's certificate where there is one, and no token then", async () => {
    await world.writeKubeconfig({ ...certificate, token: ADMIN.token });
    await world.run("status --pod ccm");
    expect(credentials()).toEqual([[undefined, "cli-test"]]);
  });

  test("shows the token of a file that the kubeconfig names", async () => {
    await writeFile(join(world.directory, "token"), `${ADMIN.token}\n`);
    await world.writeKubeconfig({ tokenFile: "token" });
    await world.run("status --pod ccm");
    expect(credentials()).toEqual([[`Bearer ${ADMIN.token}`, undefined]]);
  });

  test("shows what a plug-in answers", async () => {
    const status = {
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      status: { token: ADMIN.token },
    };
    const exec = {
      apiVersion: status.apiVersion,
      command: "echo",
      args: [JSON.stringify(status)],
      interactiveMode: "Never",
    };
    await world.writeKubeconfig({ exec });
    await world.run("status --pod ccm");
    expect(credentials()).toEqual([[`Bearer ${ADMIN.token}`, undefined]]);
  });

  test("shows what the command line says instead", async () => {
    await writeFile(join(world.directory, "other"), "other-token");
    await world.run(`status --pod ccm --token-file ${join(world.directory, "other")}`);
    expect(credentials()).toEqual([["Bearer other-token", undefined]]);
  });

  test("is anonymous where the kubeconfig has a password, which is the API server's alone", async () => {
    await world.writeKubeconfig({ username: "me", password: "secret" });
    await world.run("status --pod ccm");
    expect(credentials()).toEqual([[undefined, undefined]]);
  });

  test("verifies the controller's certificate where authorities are named", async () => {
    await writeFile(join(world.directory, "ca.pem"), CERTIFICATE);
    const line = `status --pod ccm --certificate-authority ${join(world.directory, "ca.pem")}`;
    expect(await world.run(line)).toMatchObject({ code: 0 });
    expect(await world.run(`${line} --tls-server-name ccm.example`)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        "the controller in pod kube-system/ccm does not respond on port 10258: Hostname/IP does not match",
      ),
    });
  });
});

describe("what is wrong is one sentence with what to do", () => {
  test("where nothing listens in the pod", async () => {
    expect(await world.run("status --pod ccm")).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        "does not respond on port 10258: pod kube-system/ccm: error forwarding port 10258 to pod: connection refused",
      ),
    });
  });

  test("where the connection is closed without a word", async () => {
    world.api.forwardings.push({ pod: "kube-system/ccm", port: 10258, to: "closed" });
    expect(await world.run("status --pod ccm")).toMatchObject({
      code: 1,
      err: expect.stringContaining("does not respond on port 10258: the connection was closed immediately"),
    });
  });

  test("where ports may not be forwarded", async () => {
    world.api.refusal = { status: 403, message: 'pods "ccm" is forbidden' };
    expect(await world.run("status --pod ccm")).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'pods "ccm" is forbidden; you need a Role in kube-system with the rule {apiGroups: [""], resources: [pods/portforward], verbs: [get, create]}',
      ),
    });
  });

  test("where the pod is not there", async () => {
    world.api.refusal = { status: 404, message: 'pods "ccm" not found' };
    expect(await world.run("status --pod ccm")).toMatchObject({
      code: 1,
      err: expect.stringContaining('rejected the connection to pod kube-system/ccm (404): pods "ccm" not found'),
    });
  });

  test("where Leases may not be read", async () => {
    await world.writeKubeconfig({ token: UNPRIVILEGED.token });
    expect(await world.run("status")).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'you need a Role in kube-system with the rule {apiGroups: ["coordination.k8s.io"], resources: [leases], verbs: [get]}',
      ),
    });
  });

  test("where the API server does not know the user, or is not there", async () => {
    await world.writeKubeconfig({ token: "expired" });
    expect(await world.run("status")).toMatchObject({
      code: 1,
      err: expect.stringContaining("rejected the credentials of the kubeconfig (401)"),
    });
    const dead = await runCli(["status", "--kubeconfig", join(world.directory, "kubeconfig")]);
    expect(dead).toMatchObject({
      code: 1,
      err: expect.stringContaining("cannot reach the API server https://127.0.0.1:1"),
    });
  });

  test.each([
    ["no kubeconfig", {}, "", "no kubeconfig found"],
    ["one that is not there", {}, "--kubeconfig=/nowhere", "cannot read the kubeconfig /nowhere"],
    [
      "a list of which none is there",
      { KUBECONFIG: "/nowhere:/neither" },
      "",
      "no file in KUBECONFIG exists: /nowhere, /neither",
    ],
    [
      "another context",
      {},
      "--kubeconfig=DIRECTORY/kubeconfig --context=other",
      "has no context other; its contexts: dead, live",
    ],
  ])("for %s", async (_what, environment, options, message) => {
    const args = options
      .replace("DIRECTORY", world.directory)
      .split(" ")
      .filter((word) => word !== "");
    expect(await runCli(["status", ...args], { environment })).toMatchObject({
      code: 1,
      err: expect.stringContaining(message),
    });
  });
});

test("files of KUBECONFIG are put together as kubectl does: the first counts, one that is missing does not", async () => {
  world.forward("kube-system/ccm");
  const first = join(world.directory, "first");
  await writeFile(
    first,
    JSON.stringify({ users: [{ name: "me", user: { token: "of-the-first" } }], "current-context": "live" }),
  );
  const environment = { KUBECONFIG: `/nowhere:${first}:${join(world.directory, "kubeconfig")}` };
  expect(await runCli(["status", "--pod", "ccm"], { environment })).toMatchObject({ code: 0 });
  expect(world.controller.seen.map(({ authorization }) => authorization)).toEqual(["Bearer of-the-first"]);
});
