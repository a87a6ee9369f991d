import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { type ApiAccess, inClusterAccess } from "./access.ts";
import { kubeconfigAccess } from "./kubeconfig.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "cloudwire-access-"));
});
afterEach(() => rm(dir, { recursive: true }));

const write = async (name: string, text: string): Promise<string> => {
  const path = join(dir, name);
  await writeFile(path, text);
  return path;
};

/** A certificate and its key. */
const pair = async (name: string): Promise<{ readonly cert: string; readonly key: string }> => {
  const file = (suffix: string) =>
    readFile(new URL(`../../../test/fixtures/provider-tls/${name}.${suffix}`, import.meta.url), "utf8");
  return { cert: await file("pem"), key: await file("key") };
};

const kubeconfig = (
  user: unknown,
  cluster: unknown = { server: "https://10.0.0.1:6443" },
  context: unknown = { cluster: "c", user: "u" },
): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "main",
    contexts: [{ name: "main", context }],
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
  });

describe("kubeconfigAccess() credentials", () => {
  test("sends a token and trusts the cluster's authority", async () => {
    const ca = Buffer.from("CA PEM").toString("base64");
    const path = await write(
      "config",
      kubeconfig(
        { token: "t0" },
        { server: "https://h:1", "certificate-authority-data": ca, "tls-server-name": "kubernetes" },
      ),
    );
    const access = await kubeconfigAccess({ path, clock: new FakeClock() });
    expect(access).toMatchObject({ server: "https://h:1", description: `kubeconfig ${path}, context "main"` });
    expect(await access.credentials(false)).toEqual({
      headers: { authorization: "Bearer t0" },
      tls: { ca: Buffer.from("CA PEM"), servername: "kubernetes" },
    });
  });

  test("presents a client certificate from files beside the kubeconfig, and reads them again when they may have been rotated, whole ones only", async () => {
    const shown = async (access: ApiAccess, renew = false) => String((await access.credentials(renew)).tls.cert);
    const [first, second] = await Promise.all([pair("client"), pair("client-2")]);
    await write("cert", first.cert);
    await write("key", first.key);
    const path = await write("config", kubeconfig({ "client-certificate": "cert", "client-key": "key" }));
    const clock = new FakeClock();
    const access = await kubeconfigAccess({ path, clock });
    expect(await shown(access)).toBe(first.cert);
    await write("cert", second.cert);
    expect(await shown(access)).toBe(first.cert);
    await clock.advance(60_000);
    // The key is still the other's.
    expect(await shown(access)).toBe(first.cert);
    await rm(join(dir, "key"));
    expect(await shown(access, true)).toBe(first.cert);
    await write("key", second.key);
    await clock.advance(60_000);
    expect(await shown(access)).toBe(second.cert);
  });

  test("sends a name and password", async () => {
    const path = await write("config", kubeconfig({ username: "ann", password: "pw" }));
    const { headers } = await (await kubeconfigAccess({ path, clock: new FakeClock() })).credentials(false);
    expect(headers).toEqual({ authorization: `Basic ${Buffer.from("ann:pw").toString("base64")}` });
  });

  test("asks an exec plugin once for calls that come together, and again when its answer is stale", async () => {
    const plugin = await write(
      "plugin",
      `#!/bin/sh\necho x >> ${join(dir, "calls")}\nn=$(wc -l < ${join(dir, "calls")} | tr -d ' ')\n` +
        `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t'$n'"}}'\n`,
    );
    await chmod(plugin, 0o755);
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: plugin, args: [], interactiveMode: "Never" };
    const path = await write("config", kubeconfig({ exec }));
    const access = await kubeconfigAccess({ path, clock: new FakeClock() });
    const together = await Promise.all([access.credentials(false), access.credentials(false)]);
    const later = await access.credentials(false);
    const renewed = await access.credentials(true);
    const tokens = [...together, later, renewed].map(({ headers }) => headers["authorization"]);
    expect(tokens).toEqual(["Bearer t1", "Bearer t1", "Bearer t1", "Bearer t2"]);
  });

  test("says which plugin failed without a stack", async () => {
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: join(dir, "missing"), args: [] };
    const path = await write("config", kubeconfig({ exec }));
    const access = await kubeconfigAccess({ path, clock: new FakeClock() });
    await expect(access.credentials(false)).rejects.toMatchObject({
      code: "KUBE_ACCESS",
      message: expect.stringMatching(/^kubeconfig .*config: cannot get credentials: spawn .*missing ENOENT$/),
    });
  });
});

describe("kubeconfigAccess() on bad input", () => {
  const cases = [
    { what: "no YAML", text: "{", message: /is not a valid kubeconfig: / },
    { what: "an empty file", text: " \n", message: /is not a valid kubeconfig: it is empty$/ },
    {
      what: "another document",
      text: "kind: Pod",
      message: /has no current-context: set one with kubectl config use-context$|is not a valid kubeconfig/,
    },
    {
      what: "a context without a cluster",
      text: kubeconfig({}, { server: "https://h" }, { cluster: "other", user: "u" }),
      message: /context "main" has no cluster with a server address$/,
    },
    {
      what: "a server that is no address",
      text: kubeconfig({}, { server: "h:6443" }),
      message: /server "h:6443" is not an http:\/\/ or https:\/\/ address$/,
    },
  ];
  test.each(cases)("$what ends in one line that names the file", async ({ text, message }) => {
    const path = await write("config", text);
    const failed = kubeconfigAccess({ path, clock: new FakeClock() });
    await expect(failed).rejects.toMatchObject({ code: "KUBE_ACCESS", message: expect.stringMatching(message) });
    await expect(failed).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`^kubeconfig ${path}[^\\n]*$`)),
    });
  });

  test("a missing file is named", async () => {
    await expect(kubeconfigAccess({ path: join(dir, "none"), clock: new FakeClock() })).rejects.toMatchObject({
      message: expect.stringMatching(/^cannot read kubeconfig .*none: ENOENT/),
    });
  });

  test("an unknown context is answered with those there are", async () => {
    const path = await write("config", kubeconfig({}));
    await expect(kubeconfigAccess({ path, context: "dev", clock: new FakeClock() })).rejects.toMatchObject({
      message: `kubeconfig ${path} has no context "dev"; it has "main"`,
    });
  });
});

describe("inClusterAccess()", () => {
  const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };

  test("uses the pod's token and authority, and reads them again after a minute or a refusal", async () => {
    await write("token", "t1\n");
    await write("ca.crt", "CA");
    const clock = new FakeClock();
    const access = await inClusterAccess({ environment, clock, directory: dir });
    await write("token", "t2");
    const tokens = [await access.credentials(false), await access.credentials(true)];
    await write("token", "t3");
    await clock.advance(60_000);
    tokens.push(await access.credentials(false));
    expect(access.server).toBe("https://[fd00::1]:443");
    expect(tokens.map(({ headers, tls }) => [headers["authorization"], tls.ca])).toEqual([
      ["Bearer t1", "CA"],
      ["Bearer t2", "CA"],
      ["Bearer t3", "CA"],
    ]);
  });

  test("goes on with the last token while the files are being replaced", async () => {
    await write("token", "t1");
    await write("ca.crt", "CA");
    const access = await inClusterAccess({ environment, clock: new FakeClock(), directory: dir });
    await rm(join(dir, "token"));
    expect((await access.credentials(true)).headers).toEqual({ authorization: "Bearer t1" });
  });

  test.each([
    { what: "outside a pod", environment: {}, message: /^cannot find the API server: .* pass --kubeconfig$/ },
    {
      what: "without a service account",
      environment,
      message: /^cannot read the pod's service account in .*automountServiceAccountToken/,
    },
  ])("$what says what to do", async ({ environment: given, message }) => {
    const failed = inClusterAccess({ environment: given, clock: new FakeClock(), directory: dir });
    await expect(failed).rejects.toMatchObject({ code: "KUBE_ACCESS", message: expect.stringMatching(message) });
  });
});
