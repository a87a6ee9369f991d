import type { Access } from "../access/access.ts";
import type { Review } from "../access/reviews.ts";
import type { Deps } from "../api/context.ts";
import type { Clock } from "../clock.ts";
import type { KubeObject } from "../object.ts";
import type { Translator } from "../protobuf/translator.ts";
import type { Resource } from "../resources/resource.ts";

/** Everything that requests are answered from. */
export interface HandlerDeps extends Deps {
  readonly clock: Clock;
  readonly access: Access;
  readonly resources: readonly Resource[];
  readonly reviews: readonly Review[];
  readonly bookmarkIntervalMs: number;
  /** host:port, for discovery. */
  readonly serverAddress: () => string;
  readonly jsonCache: WeakMap<KubeObject, string>;
  readonly translator: Translator;
}
