import { createReviews } from "../access/reviews.ts";
import { createAccess } from "../access/access.ts";
import { createRegistry } from "../resources/registry.ts";
import { typeTable } from "../schema/gen/type-table.ts";
import { createSchema } from "../schema/schema.ts";
import { Store } from "../storage/store.ts";
import { createTranslator, type Translator } from "./translator.ts";

/** A translator for every kind that devcluster serves, for tests that need documents in protobuf without a server. */
export function createProtobufTranslator(): Translator {
  const resources = createRegistry({
    store: new Store({ historyLimit: 1 }),
    nowMs: () => 0,
    serviceCidr: "10.96.0.0/16",
    taintsNewNodes: false,
  });
  const reviews = createReviews(createAccess({ users: [], anonymous: false }));
  return createTranslator(createSchema(typeTable), [...resources, ...reviews]);
}
