import { configPaths } from "./config-paths.ts";
import { flagName } from "./options.ts";
import { flagOfKey } from "../options/rows.ts";

/** A setting, as those need to know it who write configurations. */
export interface Setting {
  /** In the configuration file: `Generic.LeaderElection.LeaseDuration`. */
  readonly path: string;
  /** Without dashes: `leader-elect-lease-duration`. */
  readonly flag: string;
  /** A change of the file takes effect without a restart. */
  readonly isReloadable: boolean;
}

/** Every setting of the configuration file, in the order of `--help`. */
export const SETTINGS: readonly Setting[] = [...configPaths].map(([path, key]) => ({
  path,
  flag: flagName(key),
  isReloadable: flagOfKey(key)?.reloadable === true,
}));
