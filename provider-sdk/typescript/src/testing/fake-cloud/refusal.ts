/** Thrown by a route or a table of a fake cloud: the request is answered with this status. */
export class FakeCloudRefusal extends Error {
  override readonly name = "FakeCloudRefusal";
  /** HTTP status of the answer. */
  readonly status: number;
  /** JSON of the answer. */
  readonly body: unknown;

  /** `body` may be anything that JSON can tell. */
  constructor(status: number, body: unknown = { error: `refused with ${status}` }) {
    super(`the fake cloud answers ${status}`);
    this.status = status;
    this.body = body;
  }
}
