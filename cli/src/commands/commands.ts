import type { Command } from "./command.ts";
import { completion } from "./completion/completion.ts";
import { explain } from "./explain.ts";
import { list } from "./list.ts";
import { orphans } from "./orphans.ts";
import { statusPage } from "./status-page/status-page.ts";
import { plan } from "./plan.ts";
import { approveNodeDeletion } from "./approve-node-deletion.ts";
import { replay } from "./replay/replay.ts";
import { supportBundle } from "./support-bundle/support-bundle.ts";
import { status } from "./status.ts";
import { version } from "./version.ts";

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  explain,
  list,
  status,
  plan,
  orphans,
  approveNodeDeletion,
  statusPage,
  replay,
  supportBundle,
  completion,
  version,
];
