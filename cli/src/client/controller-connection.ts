import { readFile } from "node:fs/promises";
import { CommandError, messageOf, UsageError } from "../errors.ts";
import type { OptionValues } from "../options/option.ts";
import type { Connection } from "./connection.ts";
import type { Credentials, KubeApi } from "./kube-api.ts";
import { directConnection } from "./direct-connection.ts";
import { textAt } from "./json.ts";
import { leaderPod } from "./leader.ts";
import { podConnection } from "./pod-connection.ts";

export interface ControllerChoice {
  readonly values: OptionValues;
  /** Called only without --server or with --service-account. */
  readonly kube: () => Promise<KubeApi>;
  /** All of standard input. */
  readonly input: () => Promise<string>;
  /** Cancels pending requests. */
  readonly ending: AbortSignal;
}

/** Only with --server, or only without. */
const ONLY_THROUGH_API = ["pod", "service-account"];
const ONLY_DIRECT = ["insecure-skip-tls-verify"];

/** Lifetime of a requested token: the minimum of the API server. */
const TOKEN_SECONDS = 600;

/** Connects to the controller that the options select. */
export async function controllerConnection({ values, kube, input, ending }: ControllerChoice): Promise<Connection> {
  checkOptions(values);
  const server = values.text("server");
  const given = await givenCredentials(values, input);
  const tls = {
    ending,
    ca: await fileOf(values, "certificate-authority"),
    servername: values.text("tls-server-name"),
    timeoutMs: values.durationMs("timeout"),
  };
  if (server !== undefined) {
    const skipsVerification = values.flag("insecure-skip-tls-verify");
    return directConnection({ ...tls, server, credentials: given ?? {}, skipsVerification });
  }
  const api = await kube();
  const namespace = values.textOf("namespace");
  const name = values.text("pod") ?? (await leaderPod(api, { namespace, lease: values.textOf("lease") }));
  const account = values.text("service-account");
  const credentials =
    given ?? (account === undefined ? await api.credentials() : await tokenOf(api, namespace, account));
  return podConnection({ ...tls, kube: api, pod: { namespace, name, port: values.number("port") }, credentials });
}

function checkOptions(values: OptionValues): void {
  const isDirect = values.text("server") !== undefined;
  const misplaced = (isDirect ? ONLY_THROUGH_API : ONLY_DIRECT).filter(
    (name) => !["false", undefined].includes(values.text(name)),
  );
  const problems = misplaced.map((name) => `--${name} cannot be used ${isDirect ? "with" : "without"} --server`);
  const [certificate, key] = [values.text("client-certificate"), values.text("client-key")];
  if ((certificate === undefined) !== (key === undefined))
    problems.push("--client-certificate and --client-key must be used together");
  const ways = [certificate, values.text("token-file"), values.text("service-account")].filter(
    (way) => way !== undefined,
  );
  if (ways.length > 1) problems.push("--client-certificate, --token-file and --service-account are mutually exclusive");
  if (problems.length > 0) throw new UsageError(problems);
}

async function givenCredentials(
  values: OptionValues,
  input: ControllerChoice["input"],
): Promise<Credentials | undefined> {
  const token = await (values.text("token-file") === "-" ? input() : fileOf(values, "token-file"));
  if (token?.trim() === "") throw new CommandError("CREDENTIALS_UNAVAILABLE", "the file of --token-file is empty");
  if (token !== undefined) return { token: token.trim() };
  const [certificate, key] = await Promise.all([fileOf(values, "client-certificate"), fileOf(values, "client-key")]);
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

async function fileOf(values: OptionValues, option: string): Promise<string | undefined> {
  const path = values.text(option);
  if (path === undefined) return undefined;
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new CommandError("FILE_UNREADABLE", `cannot read the file of --${option}: ${messageOf(error)}`);
  }
}

async function tokenOf(kube: KubeApi, namespace: string, account: string): Promise<Credentials> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(account)}/token`;
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds: TOKEN_SECONDS },
  };
  const permission = { apiGroup: "", resource: "serviceaccounts/token", verbs: ["create"], namespace };
  const token = textAt(await kube.create(path, body, permission), "status", "token");
  if (token === "")
    throw new CommandError(
      "CREDENTIALS_UNAVAILABLE",
      `ServiceAccount ${namespace}/${account} does not exist; correct --service-account or --namespace`,
    );
  return { token };
}
