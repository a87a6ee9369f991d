import { type Static, Type } from "typebox";

const text = Type.Optional(Type.Union([Type.String(), Type.Null()]));

/** The fields of a Nova server that are read. All but the ID can be missing if a cell does not respond. */
const serverSchema = Type.Object({
  id: Type.String(),
  status: Type.String(),
  name: Type.Optional(Type.String()),
  created: Type.Optional(Type.String()),
  hostId: Type.Optional(Type.String()),
  accessIPv4: text,
  accessIPv6: text,
  addresses: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Array(
        Type.Object({
          addr: Type.String(),
          version: Type.Number(),
          "OS-EXT-IPS:type": Type.Optional(Type.String()),
        }),
      ),
    ),
  ),
  flavor: Type.Optional(Type.Object({ original_name: Type.Optional(Type.String()) })),
  fault: Type.Optional(Type.Object({ message: Type.Optional(Type.String()) })),
  "OS-EXT-AZ:availability_zone": text,
  "OS-EXT-STS:task_state": text,
});

export const serverAnswerSchema = Type.Object({ server: serverSchema });

export const serverListSchema = Type.Object({
  servers: Type.Array(serverSchema),
  servers_links: Type.Optional(Type.Array(Type.Object({ rel: Type.String() }))),
});

/** A list without details. */
export const serverIdsSchema = Type.Object({ servers: Type.Array(Type.Object({ id: Type.String() })) });

export type Server = Static<typeof serverSchema>;

/** A server with all fields, because its cell responds. */
export interface KnownServer extends Server {
  readonly name: string;
}

export function isKnown(server: Server): server is KnownServer {
  return server.name !== undefined && server.status !== "UNKNOWN";
}

/** True: deleted, and still returned by Nova. */
export function isDeleted({ status }: Pick<Server, "status">): boolean {
  return status === "DELETED";
}
