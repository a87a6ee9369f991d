import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { type MethodName, methodRules } from "@cloudwire/proto/methods";
import { withoutSecrets } from "@cloudwire/proto/secrets";
import { type Json, at, isRecord, textAt } from "../../client/json.ts";
import { canonical } from "./walk.ts";

/** An RPC whose messages are JSON here and bytes on the wire. */
export interface Method {
  readonly name: MethodName;
  readonly path: string;
  readonly isChange: boolean;
  readonly isStream: boolean;
  /** Full names of its messages. */
  readonly requestType: string;
  readonly responseType: string;
  readonly encodeRequest: (json: Json) => Buffer;
  /** Without secrets, as recordings have them. */
  readonly decodeRequest: (bytes: Uint8Array) => Json;
  readonly encodeResponse: (json: Json) => Buffer;
  readonly decodeResponse: (bytes: Uint8Array) => Json;
}

interface Codec<Message> {
  readonly decode: (bytes: Uint8Array) => Message;
  readonly encode: (message: Message) => { readonly finish: () => Uint8Array };
  readonly toJSON: (message: Message) => unknown;
  readonly fromJSON: (json: unknown) => Message;
}

const { methods, fullName } = CloudProviderDefinition;

const ALL: readonly Method[] = [
  method(methods.getProviderInfo),
  method(methods.getProviderStatus),
  method(methods.batchGetInstances),
  method(methods.listInstances),
  method(methods.watchInstances),
  method(methods.getLoadBalancer),
  method(methods.listLoadBalancers),
  method(methods.ensureLoadBalancer),
  method(methods.updateLoadBalancerNodes),
  method(methods.deleteLoadBalancer),
  method(methods.watchLoadBalancers),
  method(methods.applyNodeSet),
  method(methods.listRoutes),
  method(methods.batchEnsureRoutes),
  method(methods.batchDeleteRoutes),
  method(methods.batchGetVolumes),
];

/** Every RPC of the contract. */
export const METHODS: ReadonlyMap<MethodName, Method> = new Map(ALL.map((one) => [one.name, one]));

export function methodNamed(name: MethodName): Method {
  const found = METHODS.get(name);
  if (found === undefined) throw new Error(`no codec for ${name}`);
  return found;
}

function method<Request, Response>({
  name,
  requestType,
  responseType,
}: {
  readonly name: MethodName;
  readonly requestType: Codec<Request>;
  readonly responseType: Codec<Response>;
}): Method {
  const { change, stream } = methodRules[name];
  const types = { requestType: `cloudprovider.v1.${name}Request`, responseType: `cloudprovider.v1.${name}Response` };
  const request = coder(requestType, types.requestType);
  const response = coder(responseType, types.responseType);
  return {
    name,
    path: `/${fullName}/${name}`,
    isChange: change,
    isStream: stream,
    ...types,
    encodeRequest: request.encode,
    decodeRequest: request.decode,
    encodeResponse: response.encode,
    decodeResponse: response.decode,
  };
}

function coder<Message>(
  type: Codec<Message>,
  name: string,
): { readonly encode: (json: Json) => Buffer; readonly decode: (bytes: Uint8Array) => Json } {
  return {
    encode: (json) => Buffer.from(type.encode(type.fromJSON(json)).finish()),
    decode: (bytes) => {
      const json = withoutSecrets(name, type.toJSON(type.decode(bytes)));
      return isRecord(json) ? json : {};
    },
  };
}

/**
 * An RPC about many items, which are matched one by one: which of them are asked for together depends on what is wanted at the same
 * moment, and is another in each run.
 */
export interface Batch {
  /** The list of the request. */
  readonly items: string;
  /** What an item is about, whatever else is said of it. */
  readonly key: (item: Json) => string;
  /** The field of a result in which an error stands. */
  readonly error: string;
}

const route: Batch = {
  items: "routes",
  key: (item) => `${textAt(item, "destinationCidr")} ${textAt(item, "targetNodeName")}`,
  error: "error",
};

export const BATCHES: Partial<Readonly<Record<MethodName, Batch>>> = {
  BatchGetInstances: {
    items: "nodes",
    // If there is a provider ID it alone decides.
    key: (item) => (textAt(item, "providerId") === "" ? `name ${textAt(item, "name")}` : textAt(item, "providerId")),
    error: "unknown",
  },
  BatchGetVolumes: {
    items: "volumes",
    key: (item) => canonical([at(item, "csi"), at(item, "inTree")]),
    error: "unknown",
  },
  BatchEnsureRoutes: route,
  BatchDeleteRoutes: route,
};

/** The records of a list; none where there is no list. */
export function recordsAt(message: Json, field: string): readonly Json[] {
  const items = message[field];
  return Array.isArray(items) ? items.filter(isRecord) : [];
}
