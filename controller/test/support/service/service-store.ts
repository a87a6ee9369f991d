import type { Condition, ObjectName } from "../../../src/api/meta.ts";
import type { LoadBalancerIngress, Service } from "../../../src/api/service.ts";
import type { KubeClient, Patch } from "../../../src/kube/client.ts";
import type { Resource } from "../../../src/kube/resources/codec.ts";
import { SERVICES } from "../../../src/kube/resources/service.ts";
import {
  asRecord,
  isRecord,
  type JsonRecord,
  recordField,
  recordsField,
  stringsField,
} from "../../../src/util/json.ts";
import { FakeInformer } from "../kube/fake-informer.ts";
import { apiError } from "../kube/fake-kube.ts";

/**
 * Services as the API server keeps them, for the patches of services/status that the controller sends, and the cache that hears of
 * them. The real server's word on these patches is in the integration tests.
 */
export class ServiceStore implements Pick<KubeClient, "patch"> {
  readonly informer = new FakeInformer<Service>();
  readonly #services = new Map<string, Service>();
  /** True: the write is refused. */
  refuses: () => boolean = () => false;
  /** Names of the writes. */
  readonly writes: string[] = [];
  #version = 0;
  /** What the cache has not heard of; undefined: it keeps up. */
  #unheard: (() => void)[] | undefined;

  /** The cache falls behind, until {@link catchUp}. */
  lag(): void {
    this.#unheard ??= [];
  }

  catchUp(): void {
    const unheard = this.#unheard ?? [];
    this.#unheard = undefined;
    for (const report of unheard) report();
  }

  #report(change: () => void): void {
    if (this.#unheard === undefined) change();
    else this.#unheard.push(change);
  }

  get(name: string): Service | undefined {
    return this.#services.get(name);
  }

  get all(): readonly Service[] {
    return [...this.#services.values()];
  }

  /** What a user or the server itself writes. */
  put(service: Service): void {
    const { name, finalizers, deletionTimestampMs } = service.metadata;
    if (deletionTimestampMs !== undefined && finalizers.length === 0) {
      this.#services.delete(name);
      this.#report(() => this.informer.delete(`default/${name}`));
      return;
    }
    const metadata = { ...service.metadata, resourceVersion: String(++this.#version) };
    this.#services.set(name, { ...service, metadata });
    this.#report(() => this.informer.set({ ...service, metadata }));
  }

  async patch<T>(resource: Resource<T>, { name }: ObjectName, patch: Patch): Promise<T> {
    this.writes.push(name);
    if (this.refuses()) throw apiError("transient");
    const service = this.#services.get(name);
    if (service === undefined || patch.kind !== "strategic") throw apiError("notFound");
    const meta = recordField(asRecord(patch.body, "body"), "metadata");
    if (meta["uid"] !== undefined && meta["uid"] !== service.metadata.uid) throw apiError("conflict");
    const added = stringsField(meta, "finalizers");
    if (added.length > 0 && service.metadata.deletionTimestampMs !== undefined) throw apiError("invalid");
    const removed = stringsField(meta, "$deleteFromPrimitiveList/finalizers");
    const finalizers = [...new Set([...service.metadata.finalizers, ...added])].filter((one) => !removed.includes(one));
    const status = statusAfter(service, recordField(asRecord(patch.body, "body"), "status"));
    const patched = { ...service, metadata: { ...service.metadata, finalizers }, status };
    this.put(patched);
    return resource.fromJson(toJson(this.#services.get(name) ?? patched));
  }
}

function statusAfter({ status }: Service, patch: JsonRecord): Service["status"] {
  const loadBalancer = recordField(patch, "loadBalancer");
  const ingress =
    "ingress" in loadBalancer
      ? SERVICES.fromJson({ status: { loadBalancer } }).status.loadBalancer.ingress
      : status.loadBalancer.ingress;
  const items = recordsField(patch, "conditions", (item) => item);
  const touched = new Set(items.map((item) => item["type"]));
  const kept = status.conditions.filter(({ type }) => !touched.has(type));
  const added = items
    .filter((item) => item["$patch"] !== "delete")
    .flatMap((item) => SERVICES.fromJson({ status: { conditions: [item] } }).status.conditions);
  return { loadBalancer: { ingress }, conditions: [...added, ...kept] };
}

/** As the server answers, for the decoder. */
function toJson({ metadata, spec, status }: Service): JsonRecord {
  const { deletionTimestampMs, creationTimestampMs, ...meta } = metadata;
  const times = {
    creationTimestamp: new Date(creationTimestampMs).toISOString(),
    ...(deletionTimestampMs === undefined ? {} : { deletionTimestamp: new Date(deletionTimestampMs).toISOString() }),
  };
  const json = {
    metadata: { ...meta, ...times },
    spec,
    status: {
      loadBalancer: { ingress: status.loadBalancer.ingress.map(pointJson) },
      conditions: status.conditions.map(conditionJson),
    },
  };
  const parsed: unknown = JSON.parse(JSON.stringify(json));
  return isRecord(parsed) ? parsed : {};
}

function pointJson({ ip, hostname, ipMode, ports }: LoadBalancerIngress): object {
  return { ip, hostname, ipMode, ports };
}

function conditionJson({ lastTransitionTimeMs, ...rest }: Condition): object {
  return { ...rest, lastTransitionTime: new Date(lastTransitionTimeMs).toISOString() };
}
