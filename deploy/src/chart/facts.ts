import { CONTROLLER_ALIASES, OFF_BY_DEFAULT } from "@cloudwire/controller/controller-names";
import {
  EVERY_REPLICA,
  LEADER_ELECTION,
  LEADER_MIGRATION,
  OBSERVER_PERMISSIONS,
  PERMISSIONS,
  SERVING,
  STATUS_READER,
  STATUS_READER_PATHS,
} from "@cloudwire/controller/permissions";
import { SETTINGS } from "@cloudwire/controller/settings";
import { rulesOf } from "../rbac/roles.ts";

const NOT_CONTROLLERS: ReadonlySet<string> = new Set([EVERY_REPLICA, LEADER_ELECTION, LEADER_MIGRATION, SERVING]);

/** What the chart's templates have to know of the controller: who needs which rights, what is on by default, which settings there are. */
export const chartFacts = (): object => {
  const parts = Map.groupBy(PERMISSIONS, ({ of }) => of);
  const roles = Map.groupBy([...PERMISSIONS, ...OBSERVER_PERMISSIONS], ({ of }) => of);
  return {
    controllers: [...parts.keys()]
      .filter((name) => !NOT_CONTROLLERS.has(name))
      .map((name) => ({ name, offByDefault: OFF_BY_DEFAULT.has(name) })),
    aliases: CONTROLLER_ALIASES,
    settings: SETTINGS.map(({ path, flag, isReloadable }) => ({
      path,
      flag,
      ...(isReloadable && { reloadable: true }),
    })),
    statusReader: { role: STATUS_READER, paths: STATUS_READER_PATHS },
    roles: Object.fromEntries(
      [...roles].map(([of, permissions]) => [
        of,
        [...Map.groupBy(permissions, ({ namespace = "" }) => namespace)].map(([namespace, rights]) => ({
          ...(namespace !== "" && { namespace }),
          rules: rulesOf(rights),
        })),
      ]),
    ),
  };
};
