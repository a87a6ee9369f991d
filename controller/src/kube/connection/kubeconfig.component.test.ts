import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { selfSignedCertificate } from "../../server/certificates/self-signed.ts";
import { causesOf, messageOf } from "../../util/errors.ts";
import { kubeconfigAccess } from "./kubeconfig.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "kubeconfig-"));
});
afterAll(() => rm(directory, { recursive: true }));

/** All that a log could show of it. */
function reported(error: unknown): string {
  const stacks = causesOf(error).map((cause) => (cause instanceof Error ? cause.stack : ""));
  return [messageOf(error), ...stacks].join("\n");
}

test.each([
  { mistake: "an indentation", text: "users:\n- name: u\n  user:\n    token: SECRET\n   more: [" },
  { mistake: "an alias", text: "a: *x\ntoken: SECRET\n" },
  { mistake: "an open quote", text: 'users:\n- user:\n    token: "SECRET\n' },
  { mistake: "an open brace", text: "{token: SECRET" },
])("kubeconfigAccess() shows no line of a kubeconfig with $mistake that is wrong", async ({ text }) => {
  const path = join(directory, "config");
  await writeFile(path, text);
  const failure: unknown = await kubeconfigAccess({ path, clock: new FakeClock() }).catch((error: unknown) => error);
  expect(reported(failure)).toContain("is not a valid kubeconfig: ");
  expect(reported(failure)).not.toContain("SECRET");
});

test("kubeconfigAccess() shows nothing that a plugin wrote but the first line", async () => {
  const path = join(directory, "config");
  const script = "echo 'no session' >&2; echo 'token=SECRET' >&2; exit 1";
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "sh", args: ["-c", script] };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: "https://localhost:1" } }],
    users: [{ name: "u", user: { exec } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  await writeFile(path, JSON.stringify(config));
  const access = await kubeconfigAccess({ path, clock: new FakeClock() });
  const failure: unknown = await access.credentials(false).catch((error: unknown) => error);
  expect(reported(failure)).toContain("cannot get credentials: no session");
  expect(reported(failure)).not.toContain("SECRET");
});

test("kubeconfigAccess() takes no client certificate that has expired in the place of one before", async () => {
  const path = join(directory, "config");
  const clock = new FakeClock();
  const put = async (nowMs: number): Promise<string> => {
    const { certificate, key } = selfSignedCertificate({ commonName: "u", hosts: [], nowMs, validMs: 60_000 });
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const user = { "client-certificate-data": base64(certificate), "client-key-data": base64(key) };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
      clusters: [{ name: "k", cluster: { server: "https://127.0.0.1:1" } }],
      users: [{ name: "u", user }],
    };
    await writeFile(path, JSON.stringify(config));
    return certificate;
  };
  const first = await put(clock.nowMs());
  const access = await kubeconfigAccess({ path, clock });
  const shown = async (): Promise<string> => String((await access.credentials(true)).tls.cert);
  expect(await shown()).toBe(first);
  await put(clock.nowMs() - 120_000);
  expect(await shown()).toBe(first);
  const next = await put(clock.nowMs() + 1000);
  expect(await shown()).toBe(next);
  // Nothing is better than what has expired: what else is in the file, such as a token, must not stay away for it.
  await clock.advance(120_000);
  const expired = await put(clock.nowMs() - 120_000);
  expect(await shown()).toBe(expired);
});

test("kubeconfigAccess() reads the token of a tokenFile, relative to the kubeconfig, before a token, and again later", async () => {
  const path = join(directory, "config");
  const clock = new FakeClock();
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    clusters: [{ name: "k", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "other" }, { name: "u", user: { token: "old", tokenFile: "token" } }],
  };
  await writeFile(path, JSON.stringify(config));
  const access = await kubeconfigAccess({ path, clock });
  const failure: unknown = await access.credentials(false).catch((error: unknown) => error);
  expect(messageOf(failure)).toContain(`cannot read tokenFile ${join(directory, "token")}: ENOENT`);
  await writeFile(join(directory, "token"), "one\n");
  expect((await access.credentials(false)).headers).toEqual({ authorization: "Bearer one" });
  await writeFile(join(directory, "token"), "two\n");
  await clock.advance(61_000);
  expect((await access.credentials(false)).headers).toEqual({ authorization: "Bearer two" });
});
