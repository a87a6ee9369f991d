import type { Recorder } from "../recorder.ts";
import { type Scenario, merge } from "../scenario.ts";
import { valueAt } from "../value.ts";

const nodes = "/api/v1/nodes";
const namespaces = "/api/v1/namespaces";

/** What devcluster does in place of kube-controller-manager. */
export const controllerScenarios: readonly Scenario[] = [
  {
    name: "stand-ins: the taint not-ready comes at creation and goes with Ready",
    run: async (recorder) => {
      const { call, quietly } = recorder;
      const node = `${nodes}/becoming-ready`;
      const taint = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
      await call("POST", nodes, { body: { metadata: { name: "becoming-ready" }, spec: { taints: [taint] } } });
      const condition = {
        type: "Ready",
        status: "True",
        reason: "KubeletReady",
        lastHeartbeatTime: new Date().toISOString(),
      };
      await quietly("PATCH", `${node}/status`, { contentType: merge, body: { status: { conditions: [condition] } } });
      await until(recorder, node, (body) => !body.includes("node.kubernetes.io/not-ready"));
      // The real controller adds labels and annotations of its own; the taints are what devcluster stands in for.
      const { body } = await quietly("GET", node);
      recorder.note("taints", valueAt(body, "spec", "taints"));
    },
  },
  {
    name: "stand-ins: a deleted namespace is emptied and goes",
    run: async (recorder) => {
      const { call, quietly } = recorder;
      const space = `${namespaces}/doomed`;
      await quietly("POST", namespaces, { body: { metadata: { name: "doomed" } } });
      await quietly("POST", `${space}/configmaps`, { body: { metadata: { name: "free" } } });
      await quietly("POST", `${space}/configmaps`, { body: { metadata: { name: "held", finalizers: ["a.b/c"] } } });
      await quietly("POST", `${space}/services`, {
        body: { metadata: { name: "service" }, spec: { ports: [{ port: 80 }] } },
      });
      await quietly("DELETE", space);
      await until(recorder, `${space}/configmaps/held`, (body) => body.includes("deletionTimestamp"));
      await until(recorder, `${space}/configmaps/free`, (body) => body.includes("NotFound"));
      await until(recorder, `${space}/services/service`, (body) => body.includes("NotFound"));
      const { status } = await quietly("GET", space);
      recorder.note("the namespace waits for what is held", status);
      await quietly("PATCH", `${space}/configmaps/held`, {
        contentType: merge,
        body: { metadata: { finalizers: null } },
      });
      await until(recorder, space, (body) => body.includes("NotFound"));
      await call("GET", space);
      await call("GET", `${space}/configmaps`);
    },
  },
];

async function until({ quietly }: Recorder, path: string, reached: (body: string) => boolean): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const { body } = await quietly("GET", path);
    if (reached(JSON.stringify(body))) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
  throw new Error(`${path} did not get there in time`);
}
