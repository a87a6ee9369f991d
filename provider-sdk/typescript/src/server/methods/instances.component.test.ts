import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { describe, expect, test } from "vitest";
import { invokeOk } from "../../../test/support/invoke.ts";
import { basics, context, serveForTest } from "../../../test/support/serve-for-test.ts";

const { methods } = CloudProviderDefinition;

describe("BatchGetInstances", () => {
  test.each([
    ["acme://AB", "ab"],
    ["acme:///zone/i-1", "/i-1"],
    ["acme:///i-1", "/zone/i-1"],
    ["ACME://ab", "ab"],
  ])(
    "answers the machine of %s, which the provider calls %s, under the ID asked for (case N-7)",
    async (providerId, id) => {
      const { client } = await serveForTest({ ...basics, instances: { get: () => ({ id, name: "n" }) } });
      const { results } = await invokeOk(client, methods.batchGetInstances, {
        context,
        nodes: [{ name: "n", providerId }],
      });
      expect(results).toMatchObject([{ outcome: { $case: "instance", value: { providerId } } }]);
    },
  );
});
