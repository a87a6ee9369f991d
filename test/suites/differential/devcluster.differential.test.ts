import { compareAll } from "./differential.ts";
import { accessScenarios } from "./scenarios/access.ts";
import { certificateScenarios } from "./scenarios/certificates.ts";
import { deletionScenarios } from "./scenarios/deletion.ts";
import { discoveryScenarios } from "./scenarios/discovery.ts";
import { eventScenarios } from "./scenarios/events.ts";
import { everyKindScenarios } from "./scenarios/every-kind.ts";
import { listScenarios } from "./scenarios/lists.ts";
import { nodeScenarios } from "./scenarios/nodes.ts";
import { patchScenarios } from "./scenarios/patches.ts";
import { serviceScenarios } from "./scenarios/services.ts";
import { smallKindScenarios } from "./scenarios/small-kinds.ts";
import { watchScenarios } from "./scenarios/watches.ts";

await compareAll("devcluster and kube-apiserver (case V-5)", [
  ...discoveryScenarios,
  ...everyKindScenarios,
  ...nodeScenarios,
  ...serviceScenarios,
  ...eventScenarios,
  ...smallKindScenarios,
  ...certificateScenarios,
  ...patchScenarios,
  ...listScenarios,
  ...watchScenarios,
  ...deletionScenarios,
  ...accessScenarios,
]);
