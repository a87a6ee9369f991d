import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { TLSSocket } from "node:tls";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import type { Program } from "../../../support/program.ts";
import { freePort } from "../../../support/secure-page.ts";
import { eachHarness } from "../support/each-harness.ts";
import { RotatingFiles } from "../support/rotating-files.ts";
import type { Harness } from "../support/harness.ts";

let harness: Harness;
let files: RotatingFiles[];

eachHarness((fresh) => {
  harness = fresh;
  files = [];
});
afterEach(async () => {
  for (const set of files) await set[Symbol.asyncDispose]();
});

async function rotatingFiles(): Promise<RotatingFiles> {
  const set = await RotatingFiles.create();
  files.push(set);
  return set;
}

const fixture = (name: string): Promise<string> =>
  readFile(new URL(`../../../../controller/test/fixtures/provider-tls/${name}`, import.meta.url), "utf8");

/** What a round of a rotation puts in place: whose pair is shown, and whose pairs are trusted. */
async function pairOf(name: string, authorities: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const trusted = await Promise.all(authorities.map((authority) => fixture(`${authority}.pem`)));
  return {
    "tls.crt": await fixture(`${name}.pem`),
    "tls.key": await fixture(`${name}.key`),
    "ca.crt": trusted.join(""),
  };
}

/** Machines that come up one after the other for as long as the work lasts; answers their names when all are initialized. */
async function withNewNodes(count: number, work: () => Promise<void>): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `r-${index}`);
  await harness.createMachines(names.map((name) => ({ name, zone: "north-a" })));
  const registered: string[] = [];
  const end = new AbortController();
  const register = async (): Promise<void> => {
    for (const name of names) {
      if (end.signal.aborted) return;
      await harness.registerNode(name);
      registered.push(name);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  };
  await Promise.all([register(), work().finally(() => end.abort())]);
  for (const name of registered) await harness.initialized(name);
  return registered;
}

/** Lines of the controller's metrics. */
async function metrics(controller: Program): Promise<readonly string[]> {
  const [, url] = await controller.said(/health=(http:\S+)/);
  const text = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(10_000) })).text();
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

const times = (program: Program, text: string): number => program.output.split(text).length - 1;

async function saidTimes(program: Program, text: string, count: number): Promise<void> {
  await eventually(
    `"${text}" to be said ${count} times`,
    60_000,
    async () => (times(program, text) >= count ? true : undefined),
    () => harness.outputs(),
  );
}

describe("certificates that are rotated while work goes on", () => {
  test("of a provider elsewhere, its authority included, lose no call", async () => {
    const [served, shown] = [await rotatingFiles(), await rotatingFiles()];
    // Both trust both, before anyone shows what the other authority signed.
    const both = ["authority", "authority-2"];
    await served.put(await pairOf("server", both));
    await shown.put(await pairOf("client", both));
    const rounds = [
      { server: await pairOf("server-2", both), client: await pairOf("client-2", both) },
      { server: await pairOf("server-2", ["authority-2"]), client: await pairOf("client-2", ["authority-2"]) },
    ];
    const port = await freePort();
    const sidecar = await harness.startSidecar({
      env: {
        CLOUD_PROVIDER_ENDPOINT: `tcp://127.0.0.1:${port}`,
        CLOUD_PROVIDER_TLS_CERT_FILE: served.path("tls.crt"),
        CLOUD_PROVIDER_TLS_KEY_FILE: served.path("tls.key"),
        CLOUD_PROVIDER_TLS_CLIENT_CA_FILE: served.path("ca.crt"),
      },
    });
    const tls = `ca=${shown.path("ca.crt")},cert=${shown.path("tls.crt")},key=${shown.path("tls.key")}`;
    const controller = harness.startController({
      provider: [
        `--provider=simulated=tcp://127.0.0.1:${port}`,
        `--provider-tls=simulated=${tls},server-name=provider.test`,
      ],
    });
    await controller.said(/Connected to provider/);
    await controller.said(/Became leader/);
    const nodes = await withNewNodes(400, async () => {
      for (const [index, { server, client }] of rounds.entries()) {
        await Promise.all([served.put(server), shown.put(client)]);
        await saidTimes(sidecar, "Serving with changed TLS files", index + 1);
        await saidTimes(controller, "Reconnected to provider", index + 1);
      }
    });
    const calls = (await metrics(controller)).filter((line) =>
      line.startsWith("cloudwire_provider_call_duration_seconds_count"),
    );
    expect(nodes.length).toBeGreaterThan(20);
    expect(calls.filter((line) => line.includes('method="BatchGetInstances"'))).not.toEqual([]);
    expect(calls.filter((line) => !line.includes('code="OK"'))).toEqual([]);
    expect(controller.output).not.toContain("Lost connection to provider");
  });

  test("of the controller at the API server lose no write, though the old one expires", async () => {
    const identity = ["cloud-controller-manager", ["system:masters"]] as const;
    const renewed = await harness.controlPlane.kubeconfigFor(...identity);
    await harness.startSidecar();
    // It has to outlive the controller's start, and the test has to outlive it.
    const old = await harness.controlPlane.kubeconfigFor(...identity, 20);
    const endsMs = Date.parse(new X509Certificate(old.client.certificate).validTo);
    const set = await rotatingFiles();
    const pem = ({ client }: typeof old) => ({ "tls.crt": client.certificate, "tls.key": client.key });
    const kubeconfig = withFiles(old.content, set.path("tls.crt"), set.path("tls.key"));
    await set.put({ ...pem(old), kubeconfig });
    const controller = harness.startController({
      kubeconfigPath: set.path("kubeconfig"),
      // Written all the time.
      args: ["--leader-elect-retry-period=500ms"],
    });
    await controller.said(/Connected to provider/);
    const nodes = await withNewNodes(400, async () => {
      await set.put({ ...pem(renewed), kubeconfig });
      await eventually("the old certificate to end", 60_000, () => (Date.now() > endsMs + 1000 ? true : undefined));
      const address = await harness.createService("late", 8080).then(() => harness.addressed("late"));
      expect(address).not.toBe("");
    });
    expect(nodes.length).toBeGreaterThan(20);
    const isComplaint = (line: string): boolean =>
      / (?:WARN|ERROR) /.test(line) && /unauthorized|credential|certificate|\b40[13]\b/i.test(line);
    expect(controller.output.split("\n").filter(isComplaint)).toEqual([]);
    expect(controller.running).toBe(true);
    const refused = (await metrics(controller)).filter((line) =>
      /^rest_client_requests_total\{.*code="(?!2|404|409)/.test(line),
    );
    // The server's "no" to the certificate that has expired is answered by the same request with the new one.
    expect(refused.filter((line) => !line.includes('code="401"'))).toEqual([]);
  });

  test("of the controller's own servers lose no request", async () => {
    const [secure, webhook] = [await freePort(), await freePort()];
    const set = await rotatingFiles();
    await set.put(await pairOf("server", []));
    await harness.startSidecar();
    const [cert, key] = [set.path("tls.crt"), set.path("tls.key")];
    const controller = harness.startController({
      args: [
        `--secure-port=${secure}`,
        `--tls-cert-file=${cert}`,
        `--tls-private-key-file=${key}`,
        "--webhooks=persistent-volume-label",
        `--webhook-secure-port=${webhook}`,
        `--webhook-tls-cert-file=${cert}`,
        `--webhook-tls-private-key-file=${key}`,
      ],
    });
    await controller.said(/Became leader/);
    const end = new AbortController();
    onTestFinished(() => end.abort());
    const answers: string[] = [];
    const failures: unknown[] = [];
    const load = async (agent: Agent | false, port: number): Promise<void> => {
      while (!end.signal.aborted) {
        await ask(agent, port).then(
          (shown) => answers.push(shown),
          (error: unknown) => failures.push(error),
        );
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const kept = new Agent({ keepAlive: true, rejectUnauthorized: false });
    const loads = [secure, webhook].flatMap((port) => [load(kept, port), load(false, port)]);
    await set.put(await pairOf("server-2", []));
    for (const port of [secure, webhook])
      await eventually(`port ${port} to show it`, 60_000, async () =>
        (await ask(false, port)) === "server-2" ? true : undefined,
      );
    const { length } = answers;
    await eventually("requests to go on", 20_000, () => (answers.length > length + 200 ? true : undefined));
    end.abort();
    await Promise.all(loads);
    kept.destroy();
    expect(failures).toEqual([]);
  });
});

/** The kubeconfig with its certificate and key in files of their own. */
function withFiles(content: string, certificate: string, key: string): string {
  const config = JSON.parse(content);
  const [{ name }] = config.users;
  config.users = [{ name, user: { "client-certificate": certificate, "client-key": key } }];
  return JSON.stringify(config);
}

/** One request; answers the common name of the certificate that is shown. */
function ask(agent: Agent | false, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const outgoing = request(
    { host: "127.0.0.1", port, path: "/healthz", agent, rejectUnauthorized: false, timeout: 20_000 },
    (incoming) => {
      const { socket } = incoming;
      const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.subject : undefined;
      incoming.resume();
      incoming.once("end", () => resolve(shown?.replace("CN=", "") ?? ""));
      incoming.once("error", reject);
    },
  );
  outgoing.once("timeout", () => outgoing.destroy(new Error("no answer")));
  outgoing.once("error", reject);
  outgoing.end();
  return promise;
}
