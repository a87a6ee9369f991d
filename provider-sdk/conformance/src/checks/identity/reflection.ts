import { type Check, type CheckContext, oncePerRun } from "../../suite/check.ts";
import { expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { serviceName } from "../../contract/methods.ts";
import { contractFiles, parseFile, reflect, wireDifferences } from "../../endpoint/reflection.ts";

type File = ReturnType<typeof parseFile>;

const base = { level: "S", profile: "core", transport: "unix" } as const;
/** Services that belong to every provider, whether or not it lists them. */
const common = /^grpc\.(?:health|reflection)\./;
/** More files than any contract has: a server that invents imports is not followed for ever. */
const maxFiles = 200;

const listServices = async (context: CheckContext) => {
  const called = await reflect(context.caller, { $case: "listServices", value: "*" });
  const { response } = expectOk(called, "reflection is not served");
  const answer = response.messageResponse;
  if (answer?.$case !== "listServicesResponse")
    return fail({ message: "services are not listed", got: show(response), exchange: called.exchange });
  return { services: answer.value.service.map(({ name }) => name), exchange: called.exchange };
};

/** The file of the service, and everything it imports. */
const closure = oncePerRun(async (context: CheckContext): Promise<ReadonlyMap<string, File>> => {
  const files = new Map<string, File>();
  const ask = async (question: Parameters<typeof reflect>[1], what: string): Promise<void> => {
    const called = await reflect(context.caller, question);
    const answer = expectOk(called, `${what} is not answered`).response.messageResponse;
    if (answer?.$case !== "fileDescriptorResponse")
      return fail({ message: `${what} is not there`, got: show(answer), exchange: called.exchange });
    for (const bytes of answer.value.fileDescriptorProto) {
      const file = parseFile(bytes);
      files.set(file.name, file);
    }
  };
  await ask({ $case: "fileContainingSymbol", value: serviceName }, serviceName);
  for (const { dependency } of files.values()) {
    for (const name of dependency) {
      if (files.has(name)) continue;
      if (files.size >= maxFiles) fail({ message: `there are more than ${maxFiles} files` });
      await ask({ $case: "fileByFilename", value: name }, name);
      if (!files.has(name)) fail({ message: `a question for ${name} brings other files` });
    }
  }
  return files;
});

/** What a server reports about itself to tools such as grpcurl. */
export const reflectChecks: readonly Check[] = [
  {
    ...base,
    id: "reflect.lists",
    title: "server reflection lists the contract's service",
    rules: ["TRN-10"],
    why: "An operator at three in the morning has grpcurl and no .proto files.",
    run: async (context) => {
      const { services, exchange } = await listServices(context);
      if (!services.includes(serviceName))
        fail({ message: "the service is not listed", expected: serviceName, got: show(services), exchange });
    },
  },
  {
    ...base,
    id: "reflect.resolves",
    title: "reflection answers the descriptors of the service and of everything they import",
    rules: ["TRN-10"],
    why: "One missing import, and tools can call nothing. Usually the well-known types.",
    requires: ["reflect.lists"],
    run: async (context) => void (await closure(context)),
  },
  {
    ...base,
    id: "reflect.compatible",
    title: "the descriptors have the contract's field numbers and types",
    rules: ["EVO-2", "EVO-4"],
    why: "A provider built from a changed copy of the .proto files reads other fields than were sent.",
    requires: ["reflect.resolves"],
    run: async (context) => {
      const theirs = await closure(context);
      const found = contractFiles().flatMap((ours) => {
        const file = theirs.get(ours.name);
        return file === undefined ? [] : wireDifferences(ours, file);
      });
      expectNone(found, "the provider has another contract");
    },
  },
  {
    ...base,
    id: "sec.services.only",
    title: "every service on the socket is listed in the handshake",
    rules: ["TRN-10"],
    why: "A debug service that was forgotten is a door to the cloud account.",
    requires: ["reflect.lists"],
    run: async (context) => {
      const { services, exchange } = await listServices(context);
      const unreported = services.filter((name) => !context.info.services.includes(name) && !common.test(name));
      expectNone(unreported, "services are served and not reported", {
        exchange,
        expected: show(context.info.services),
      });
    },
  },
];
