import type { JsonObject, WriteOptions } from "../../../src/kube/client.ts";
import { ApiError } from "../../../src/kube/errors.ts";
import type { Resource } from "../../../src/kube/resources/codec.ts";
import { type JsonRecord, recordField } from "../../../src/util/json.ts";
import { FakeKube } from "./fake-kube.ts";

/** An API server that answers reviews as a test says, given the `spec` that was asked. */
export class FakeReviews extends FakeKube {
  /** Specs asked, in order. */
  readonly asked: JsonRecord[] = [];
  readonly #status: (spec: JsonRecord) => JsonRecord | ApiError;

  constructor(status: (spec: JsonRecord) => JsonRecord | ApiError) {
    super();
    this.#status = status;
  }

  override async create<T>(
    resource: Resource<T>,
    _namespace: string | undefined,
    body: JsonObject,
    _options: WriteOptions,
  ): Promise<T> {
    const spec = recordField(body, "spec");
    this.asked.push(spec);
    const status = this.#status(spec);
    if (status instanceof ApiError) throw status;
    return resource.fromJson({ ...body, status });
  }
}
