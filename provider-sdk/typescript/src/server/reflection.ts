import {
  ServerReflectionDefinition as ReflectionV1,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "@cloudwire/proto/grpc/reflection/v1/reflection";
import { ServerReflectionDefinition as ReflectionV1Alpha } from "@cloudwire/proto/grpc/reflection/v1alpha/reflection";
import { duplex, type RpcService } from "./rpc/method.ts";
import type { DescribedFile, DescriptorIndex } from "./descriptor-index.ts";

/** Full names of the reflection services. */
export const reflectionServices = [ReflectionV1.fullName, ReflectionV1Alpha.fullName] as const;

/** What reflection needs. */
export interface ReflectionOptions {
  readonly services: readonly string[];
  /** Called at the first question: descriptors are read only for those who ask. */
  readonly descriptors: () => Promise<DescriptorIndex>;
}

const notFound = 5;
const invalidArgument = 3;

type Answer = NonNullable<ServerReflectionResponse["messageResponse"]>;

/**
 * Server reflection v1 and v1alpha. Answers hold the file asked for and everything it imports, well-known types included,
 * so that a client never has to guess.
 */
export const createReflectionServices = (options: ReflectionOptions): readonly RpcService[] => {
  async function* answerEach(
    requests: AsyncIterable<ServerReflectionRequest>,
  ): AsyncGenerator<ServerReflectionResponse> {
    const sent = new Set<string>();
    for await (const request of requests) {
      const messageResponse = answer(request, options.services, await options.descriptors(), sent);
      yield { validHost: request.host, originalRequest: request, messageResponse };
    }
  }
  return [
    {
      fullName: ReflectionV1.fullName,
      methods: [duplex(ReflectionV1.methods.serverReflectionInfo, answerEach)],
    },
    {
      // Messages of both versions have the same fields with the same numbers.
      fullName: ReflectionV1Alpha.fullName,
      methods: [duplex(ReflectionV1Alpha.methods.serverReflectionInfo, answerEach)],
    },
  ];
};

const answer = (
  { messageRequest: asked }: ServerReflectionRequest,
  services: readonly string[],
  descriptors: DescriptorIndex,
  sent: Set<string>,
): Answer => {
  switch (asked?.$case) {
    case "fileByFilename":
      return files(descriptors.byName(asked.value), `file ${asked.value}`, descriptors, sent);
    case "fileContainingSymbol":
      return files(descriptors.bySymbol(asked.value), `symbol ${asked.value}`, descriptors, sent);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = asked.value;
      const found = descriptors.byExtension(containingType, extensionNumber);
      return files(found, `extension ${extensionNumber} of ${containingType}`, descriptors, sent);
    }
    case "allExtensionNumbersOfType": {
      const numbers = descriptors.extensionNumbers(asked.value);
      if (!numbers) return failure(notFound, `type ${asked.value} is not known`);
      const value = { baseTypeName: asked.value, extensionNumber: [...numbers] };
      return { $case: "allExtensionNumbersResponse", value };
    }
    case "listServices":
      return { $case: "listServicesResponse", value: { service: services.map((name) => ({ name })) } };
    case undefined:
      return failure(invalidArgument, "the request asks for nothing");
    default:
      throw new TypeError(`unknown request ${JSON.stringify(asked satisfies never)}`);
  }
};

/** The file asked for, always, and those of its imports that this stream has not carried yet. */
const files = (
  found: DescribedFile | undefined,
  what: string,
  descriptors: DescriptorIndex,
  sent: Set<string>,
): Answer => {
  if (!found) return failure(notFound, `${what} is not known`);
  const news = descriptors.closure(found).filter((file) => file === found || !sent.has(file.name));
  for (const { name } of news) sent.add(name);
  return {
    $case: "fileDescriptorResponse",
    value: { fileDescriptorProto: news.map(({ bytes }) => Buffer.from(bytes)) },
  };
};

const failure = (errorCode: number, errorMessage: string): Answer => ({
  $case: "errorResponse",
  value: { errorCode, errorMessage },
});
