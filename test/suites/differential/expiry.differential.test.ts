import { compareAll } from "./differential.ts";
import { expiryScenarios } from "./scenarios/expiry.ts";

await compareAll("devcluster and kube-apiserver after compaction", expiryScenarios, { forgets: true });
