import { writeFile } from "node:fs/promises";
import type { Call, Command } from "../command.ts";
import { noOperands } from "../operands.ts";
import { CommandError, messageOf, UsageError } from "../../errors.ts";
import { EXIT } from "../../exit-codes.ts";
import { CONNECTION_OPTIONS } from "../../options/shared-options.ts";
import { printable } from "../../terminal/terminal.ts";
import { readVersion } from "../version.ts";
import { type Manifest, makeBundle } from "./bundle.ts";
import { type Part, controllerParts, tailPart, wholePart } from "./parts.ts";
import { objectParts } from "./object-parts.ts";
import { redact } from "./redact.ts";

/** The archive describes the cluster, so only its owner may read it. */
const MODE = 0o600;

export const supportBundle: Command = {
  name: "support-bundle",
  summary: "Collect diagnostics of a controller in an archive, without secrets",
  operands: "",
  about: [
    "Collect configuration, status, metrics and health of a controller, and the explanations of blocked objects, in one archive. Its manifest lists all files, and the parts that are unavailable, with the reason.",
    "The command redacts secrets by their format and by the names of their fields. It does not redact names and addresses: review the archive before you send it.",
  ],
  options: {
    file: {
      type: "text",
      letter: "f",
      valueName: "file",
      default: "cloudwire-support-bundle.tar.gz",
      completes: "files",
      help: "Path of the archive. An existing file is not overwritten.",
    },
    "audit-log": {
      type: "texts",
      valueName: "file",
      completes: "files",
      help: "Include the end of an audit log (--audit-log-path of the controller).",
    },
    log: {
      type: "texts",
      valueName: "file",
      completes: "files",
      help: "Include the end of a log of the controller or of a provider.",
    },
    recording: {
      type: "texts",
      valueName: "file",
      completes: "files",
      help: "Include a recording (--record-provider of the controller).",
    },
    objects: {
      type: "flag",
      help: "Include Nodes and Services, with annotation values only for keys of Kubernetes and Cloudwire.",
    },
    ...CONNECTION_OPTIONS,
  },
  examples: [
    ["support-bundle", "diagnostics of the leader"],
    ["support-bundle --objects --audit-log audit.log --recording provider.rec -f issue-42.tar.gz", "with all parts"],
  ],
  run,
};

async function run(call: Call): Promise<number> {
  noOperands(call);
  const { terminal, values } = call;
  const { controller, parts } = await gather(call);
  call.signal.throwIfAborted();
  if (!parts.some(({ kind }) => kind === "file")) {
    throw new CommandError(
      "NOTHING_TO_COLLECT",
      `nothing to collect: ${parts.map((part) => (part.kind === "unavailable" ? part.message : "")).join("; ")}`,
    );
  }
  const head = { program: `cloudwire ${readVersion()}`, time: new Date().toISOString(), controller };
  const { manifest, bytes } = await makeBundle(parts, head);
  const file = values.textOf("file");
  await writeFile(file, bytes, { flag: "wx", mode: MODE }).catch((error: unknown) => {
    throw new CommandError("FILE_NOT_WRITABLE", `cannot write ${file}: ${messageOf(error)}`);
  });
  terminal.out(summary(file, bytes.length, manifest));
  return EXIT.ok;
}

interface Gathered {
  /** Description of the controller; "": unreachable. */
  readonly controller: string;
  readonly parts: readonly Part[];
}

async function gather(call: Call): Promise<Gathered> {
  const { values } = call;
  const files = [
    ...values.texts("audit-log").map((path, index) => tailPart(`files/audit-log-${index + 1}.jsonl`, path)),
    ...values.texts("log").map((path, index) => tailPart(`files/log-${index + 1}.txt`, path)),
    ...values.texts("recording").map((path, index) => wholePart(`files/recording-${index + 1}.rec`, path)),
  ];
  const objects = values.flag("objects") ? await ofCluster(call) : [];
  const { controller, parts } = await ofController(call);
  return { controller, parts: [...parts, ...objects, ...(await Promise.all(files))] };
}

async function ofController(call: Call): Promise<Gathered> {
  try {
    const connection = await call.controller();
    return { controller: redact(connection.description).text, parts: await controllerParts(connection) };
  } catch (error) {
    if (!(error instanceof CommandError) || error instanceof UsageError) throw error;
    return { controller: "", parts: [{ kind: "unavailable", name: "controller", message: error.message }] };
  }
}

async function ofCluster(call: Call): Promise<readonly Part[]> {
  try {
    return await objectParts(await call.kube());
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return [{ kind: "unavailable", name: "objects", message: error.message }];
  }
}

function summary(file: string, bytes: number, { files, unavailable }: Manifest): string {
  const secrets = files.reduce(
    (sum, { redacted }) => sum + Object.values(redacted).reduce((all, count) => all + count, 0),
    0,
  );
  return [
    `${file}: ${files.length} files, ${bytes} bytes; ${secrets === 1 ? "1 secret" : `${secrets} secrets`} redacted`,
    ...unavailable.map(({ name, message }) => `unavailable: ${name}: ${printable(message)}`),
    "The archive has names and addresses of your cluster: review it before you send it.",
    "",
  ].join("\n");
}
