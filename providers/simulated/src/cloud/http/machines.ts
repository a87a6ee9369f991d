import { type Machine, MachineSpec } from "../../api/admin.ts";
import { createInstances, moveInstance } from "../world/instances.ts";
import { instanceKind } from "../world/kinds.ts";
import type { World } from "../world/world.ts";
import type { HttpServer } from "./server.ts";

/** Whose machines they are. */
const account = "demo";

/**
 * Machines by their names, for conformance runs: made, stopped, started and terminated, as often as one likes. A machine that is not there is
 * terminated already.
 */
export const addMachinePaths = (admin: HttpServer, world: World): void => {
  const [region] = world.geography;
  admin.post("/machines", { schema: { body: MachineSpec } }, async ({ body }, reply) => {
    const zone = body.zone ?? region?.zones[0] ?? "";
    const [made] = createInstances(world, account, [{ name: body.nodeName, zone }]);
    return reply.code(201).send(made === undefined ? {} : toMachine(made));
  });
  for (const action of ["start", "stop", "terminate"] as const) {
    admin.post(`/machines/${action}`, { schema: { body: MachineSpec } }, async ({ body }) => ({
      items: named(world, body.nodeName).map((machine) => toMachine(moveInstance(world, account, machine.id, action))),
    }));
  }
};

const named = (world: World, name: string) =>
  world.store
    .list(instanceKind, account, { names: [name] }, { snapshot: world.store.latest() })
    .filter(({ state }) => state !== "terminated");

/** As the sidecar names it that has no brand of its own. */
const toMachine = ({
  id,
  name,
  zone,
}: {
  readonly id: string;
  readonly name: string;
  readonly zone: string;
}): Machine => ({
  providerId: `sim://${zone}/${id}`,
  nodeName: name,
});
