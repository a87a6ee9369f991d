export type { PolicyRule, User } from "./access/access.ts";
export type { Clock } from "./clock.ts";
export {
  type CannedAnswer,
  type DevCluster,
  type DevClusterOptions,
  type Interception,
  type RecordedRequest,
  startDevCluster,
} from "./dev-cluster.ts";
export type { TlsIdentity } from "./http/listener.ts";
export type { Json, JsonObject } from "./json.ts";
export { createProtobufTranslator } from "./protobuf/served-kinds.ts";
export { ProtobufError } from "./protobuf/wire.ts";
export type { Translator } from "./protobuf/translator.ts";
