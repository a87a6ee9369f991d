import { describe, expect, test } from "vitest";
import { messages } from "./test/messages.ts";

const SERVICE = "controller/src/controllers/service";

describe("gatherFindings()", () => {
  test.each([
    ["readers of the provider", 'import type { ProviderReads } from "../../provider/model/client.ts";'],
    ["the type of a resource", 'import type { ObjectName } from "../../kube/client.ts";'],
    ["what is read besides", 'import { desired } from "./gather/desired.ts";'],
    ["another controller's word for it", 'import { applyOf } from "./applying.ts";'],
  ])("allows %s", (_sentence, text) => {
    expect(messages({ [`${SERVICE}/gather.ts`]: text })).toEqual([]);
  });

  test.each([
    [
      "the API server's client",
      "gather.ts",
      'import type { KubeClient } from "../../kube/client.ts";',
      "imports KubeClient, which can write: gather takes its get and list alone",
    ],
    [
      "changes of the provider under another name",
      "gather/owner.ts",
      'import type { ProviderChanges as Changes } from "../../../provider/model/client.ts";',
      "imports ProviderChanges, which can write: gather takes ProviderReads",
    ],
    [
      "a provider that can change",
      "gather.ts",
      'import type { ChangeableProvider } from "../../provider/model/provider.ts";',
      "imports ChangeableProvider, which can write: gather takes ReadableProvider",
    ],
    [
      "the records",
      "gather/gather.ts",
      'import { Records } from "../record/records.ts";',
      "imports Records, which can write: gather takes the type of its readers",
    ],
    [
      "what applies",
      "gather.ts",
      'import type { Applied } from "./apply.ts";',
      "imports from apply, which writes: gather only reads",
    ],
    [
      "a part of what applies",
      "gather/owner.ts",
      'import { deleted } from "../apply/delete.ts";',
      "imports from apply, which writes: gather only reads",
    ],
  ])("refuses %s", (_sentence, path, text, message) => {
    expect(messages({ [`${SERVICE}/${path}`]: text })).toEqual([`${SERVICE}/${path}:1 ${message}`]);
  });
});
