import { expect } from "vitest";
import type { Scenario } from "../stage.ts";

const driver = "cinder.csi.openstack.org";

export const volumes: Scenario = {
  name: "volumes",
  env: () => ({}),
  play: async (stage, places) => {
    const volume = await stage.fact(
      "volume",
      async (tenant) => ({ id: await tenant.createVolume() }),
      ({ member }, { id }) => member.ask("cinder", "DELETE", `/volumes/${id}`),
    );
    const csi = (volumeHandle: string) => ({
      name: `pv-${volumeHandle.slice(-3)}`,
      source: { $case: "csi" as const, value: { driver, volumeHandle } },
    });
    stage.begin("a volume, one that is not there and a handle that is none");
    const handles = [volume["id"] ?? "", "00000000-0000-4000-8000-ffffffffffff", "?"];
    const { results } = await stage.client.batchGetVolumes({ volumes: handles.map(csi) });
    expect(results.map(({ outcome }) => outcome)).toMatchObject([
      { $case: "volume", value: { id: volume["id"], zones: [places["zone"]], region: places["region"] } },
      { $case: "absent" },
      { $case: "unknown", value: { reason: "FIELD_INVALID" } },
    ]);
  },
};
