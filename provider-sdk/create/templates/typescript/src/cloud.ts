// The client of your cloud. The API here is made up: put your cloud's in its place, or its own SDK, and keep what the rest of the provider
// calls. Nothing but this file knows how the cloud is spoken to.

/** A machine as the cloud describes it. */
export interface Machine {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly zone: string;
  readonly region: string;
  readonly privateIps: readonly string[];
  readonly publicIps: readonly string[];
  readonly power: "on" | "off" | "terminated";
}

/** What is asked of a load balancer. */
export interface BalancerSpec {
  readonly ports: readonly { readonly port: number; readonly nodePort: number }[];
  readonly targetIds: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

/** A load balancer as the cloud describes it: its targets are those that it could take. It is ready once it has an address. */
export interface Balancer extends BalancerSpec {
  readonly id: string;
  readonly name: string;
  readonly ip?: string;
}

/** Sends a request: the SDK's fetch cancels it with the call, counts it, and notices when the cloud is down. */
export interface Via {
  readonly fetch: typeof fetch;
}

/** The cloud refused a request. The SDK knows what HTTP's status and `Retry-After` mean. */
export class CloudError extends Error {
  override readonly name = "CloudError";
  readonly status: number;
  readonly headers: Headers;

  constructor(request: string, response: Response) {
    super(`${request}: HTTP ${response.status}`);
    this.status = response.status;
    this.headers = response.headers;
  }
}

/** The cloud of one account. */
export class Cloud {
  readonly #url: string;
  readonly #token: () => string;

  /** `token` is asked for each request, so that a new one is used as soon as it is there. */
  constructor(url: string, token: () => string) {
    this.#url = url;
    this.#token = token;
  }

  /** Which account the credentials belong to. */
  async accountId(via: Via): Promise<string> {
    const { id } = await this.#read<{ id: string }>(via, "/account");
    return id;
  }

  /** Those of the machines asked for that there are. */
  async machines(via: Via, wanted: { readonly ids: readonly string[]; readonly names: readonly string[] }) {
    const query = new URLSearchParams({ ids: wanted.ids.join(), names: wanted.names.join() });
    const { machines } = await this.#read<{ machines: readonly Machine[] }>(via, `/machines?${query}`);
    return machines;
  }

  /** All machines of the account, page by page. */
  async *allMachines(via: Via): AsyncGenerator<Machine> {
    let token: string | undefined = "";
    while (token !== undefined) {
      const page: { machines: readonly Machine[]; nextPage?: string } = await this.#read(
        via,
        `/machines?${new URLSearchParams({ page: token })}`,
      );
      yield* page.machines;
      token = page.nextPage;
    }
  }

  /** The load balancer of that name, if there is one. */
  async balancer(via: Via, name: string): Promise<Balancer | undefined> {
    // A list with one entry at most: a 404 could as well come from a wrong URL, and would be no proof.
    const { loadBalancers } = await this.#read<{ loadBalancers: readonly Balancer[] }>(
      via,
      `/load-balancers?name=${encodeURIComponent(name)}`,
    );
    return loadBalancers[0];
  }

  /** All load balancers that have the tag. */
  async balancersWithTag(via: Via, key: string, value: string): Promise<readonly Balancer[]> {
    const query = new URLSearchParams({ tag: `${key}=${value}` });
    const { loadBalancers } = await this.#read<{ loadBalancers: readonly Balancer[] }>(via, `/load-balancers?${query}`);
    return loadBalancers;
  }

  /** Makes the load balancer of that name, or changes it. */
  async putBalancer(via: Via, name: string, spec: BalancerSpec): Promise<Balancer> {
    const response = await this.#send(via, "PUT", `/load-balancers/${encodeURIComponent(name)}`, spec);
    return await json<Balancer>(response);
  }

  /** Removes the load balancer of that name. */
  async deleteBalancer(via: Via, name: string): Promise<void> {
    await this.#send(via, "DELETE", `/load-balancers/${encodeURIComponent(name)}`);
  }

  async #read<Answer>(via: Via, path: string): Promise<Answer> {
    return await json<Answer>(await this.#send(via, "GET", path));
  }

  async #send(via: Via, method: string, path: string, body?: unknown): Promise<Response> {
    const response = await via.fetch(this.#url + path, {
      method,
      headers: { authorization: `Bearer ${this.#token()}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new CloudError(`${method} ${path}`, response);
    return response;
  }
}

const json = async <Answer>(response: Response): Promise<Answer> => JSON.parse(await response.text());
