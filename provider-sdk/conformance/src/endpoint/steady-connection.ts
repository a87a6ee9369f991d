import { Connection } from "./connection.ts";
import type { Endpoint } from "./endpoint.ts";

/** A connection that is made anew once it was lost. */
export class SteadyConnection {
  readonly #endpoint: Endpoint;
  #connection: Connection;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#connection = new Connection(endpoint);
  }

  now(): Connection {
    if (this.#connection.lost !== undefined) {
      this.#connection.close();
      this.#connection = new Connection(this.#endpoint);
    }
    return this.#connection;
  }

  close(): void {
    this.#connection.close();
  }
}
