import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import {
  AccountSpec,
  type CallLog as CallLogAnswer,
  CallLogQuery,
  type AskedInstances,
  type Calls,
  FaultSpec,
  KeySpec,
  SettingsPatch,
} from "../../api/admin.ts";
import { addAccount, revokeKey } from "../accounts.ts";
import type { CallLog } from "../chaos/call-log.ts";
import type { Faults } from "../chaos/faults.ts";
import type { SettingsStore } from "../chaos/settings.ts";
import { CloudError } from "../errors.ts";
import type { Database } from "../store/database.ts";
import type { World } from "../world/world.ts";
import { addMachinePaths } from "./machines.ts";
import { idParams } from "./params.ts";
import type { HttpServer } from "./server.ts";

export interface AdminOptions {
  readonly database: Database;
  readonly settings: SettingsStore;
  readonly faults: Faults;
  readonly calls: CallLog;
  readonly world: World;
  /** Without a key only callers on this machine are let in. */
  readonly adminKey: string | undefined;
}

const defaultLogged = 100;

/** How the cloud behaves, and what it was asked. No part of the cloud's own API: not counted, never struck by faults. */
export const addAdminPaths = (server: HttpServer, options: AdminOptions): void => {
  void server.register(
    async (admin: HttpServer) => {
      admin.addHook("onRequest", async (request) => {
        checkAdmin(request, options.adminKey);
      });
      addSettingPaths(admin, options);
      addFaultPaths(admin, options);
      addCallPaths(admin, options);
      addMachinePaths(admin, options.world);
    },
    { prefix: "/admin/v1" },
  );
};

const addSettingPaths = (admin: HttpServer, { settings, database }: AdminOptions): void => {
  admin.get("/health", () => ({ status: "ok" }));
  admin.get("/settings", () => settings.get());
  admin.patch("/settings", { schema: { body: SettingsPatch } }, ({ body }) => settings.change(body));
  admin.delete("/settings", () => settings.reset());
  admin.post("/accounts", { schema: { body: AccountSpec } }, async ({ body }, reply) => {
    addAccount(database, body);
    return reply.code(201).send({ id: body.id, role: body.role ?? "editor" });
  });
  admin.post("/accounts/revoke", { schema: { body: KeySpec } }, async ({ body }, reply) => {
    revokeKey(database, body.key);
    return reply.code(204).send();
  });
};

const addFaultPaths = (admin: HttpServer, { faults }: AdminOptions): void => {
  admin.get("/faults", () => ({ items: faults.list() }));
  admin.post("/faults", { schema: { body: FaultSpec } }, async ({ body }, reply) =>
    reply.code(201).send(faults.add(body)),
  );
  admin.delete("/faults", async (_, reply) => {
    faults.clear();
    return reply.code(204).send();
  });
  admin.delete("/faults/:id", { schema: { params: idParams } }, async ({ params }, reply) => {
    if (!faults.remove(params.id)) throw new CloudError("NoSuchEndpoint", `no fault ${params.id}`);
    return reply.code(204).send();
  });
};

const addCallPaths = (admin: HttpServer, { calls }: AdminOptions): void => {
  admin.get("/calls", (): Calls => calls.calls());
  admin.get("/calls/count", () => ({ calls: calls.calls().total }));
  admin.get("/calls/instances", (): AskedInstances => calls.asked());
  admin.delete("/calls", async (_, reply) => {
    calls.reset();
    return reply.code(204).send();
  });
  admin.get(
    "/calls/log",
    { schema: { querystring: CallLogQuery } },
    ({ query }): CallLogAnswer => ({
      items: calls.last(query.last ?? defaultLogged),
    }),
  );
};

const checkAdmin = (request: FastifyRequest, adminKey: string | undefined): void => {
  if (adminKey === undefined) {
    const from = request.socket.remoteAddress ?? "";
    if (/^(::ffff:)?127\./.test(from) || from === "::1") return;
    throw new CloudError("AccessDenied", "without an --admin-key the admin API answers this machine only");
  }
  const given = Buffer.from(String(request.headers["x-admin-key"] ?? ""));
  const wanted = Buffer.from(adminKey);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new CloudError("Unauthenticated", "send the admin key as `x-admin-key`");
  }
};
