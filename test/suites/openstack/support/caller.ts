import { at } from "../../../support/kube.ts";

/** Services take their time on a busy machine. */
const CALL_MS = 120_000;

/** Services by the names that OpenStack gives them. */
export type ServiceName = "keystone" | "glance" | "nova" | "neutron" | "octavia" | "cinder";

/** What each service's requests begin with. */
const VERSIONS: Readonly<Record<ServiceName, string>> = {
  keystone: "/v3",
  glance: "/v2",
  nova: "/v2.1",
  neutron: "/v2.0",
  octavia: "/v2.0",
  cinder: "/v3",
};

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface CloudAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

/** Who asks: a user by password, in a project. */
export interface Login {
  readonly user: string;
  readonly password: string;
  readonly project: string;
}

/** Asks OpenStack's services directly, with no code of the provider. */
export class CloudCaller {
  readonly #urls: Readonly<Record<ServiceName, string>>;
  readonly #token: string;
  readonly userId: string;
  readonly projectId: string;

  private constructor(urls: Readonly<Record<ServiceName, string>>, token: string, about: unknown) {
    this.#urls = urls;
    this.#token = token;
    this.userId = String(at(about, "token", "user", "id"));
    this.projectId = String(at(about, "token", "project", "id"));
  }

  static async login(urls: Readonly<Record<ServiceName, string>>, login: Login): Promise<CloudCaller> {
    const domain = { id: "default" };
    const user = { name: login.user, domain, password: login.password };
    const identity = { methods: ["password"], password: { user } };
    const auth = { identity, scope: { project: { name: login.project, domain } } };
    const { status, body, headers } = await request(`${urls.keystone}/v3/auth/tokens`, "POST", {}, { auth });
    if (status !== 201) throw new Error(`${login.user} cannot log in: ${status} ${JSON.stringify(body)}`);
    return new CloudCaller(urls, headers.get("x-subject-token") ?? "", body);
  }

  /** Whatever it answers. */
  async send(service: ServiceName, method: Method, path: string, payload?: object): Promise<CloudAnswer> {
    // The first version in which Nova reports zones and flavors as the provider reads them.
    const headers = { "x-auth-token": this.#token, "x-openstack-nova-api-version": "2.69" };
    return request(`${this.#urls[service]}${VERSIONS[service]}${path}`, method, headers, payload);
  }

  /** Its answer; anything but success throws. */
  async ask(service: ServiceName, method: Method, path: string, payload?: object): Promise<unknown> {
    const { status, body } = await this.send(service, method, path, payload);
    if (status >= 300) throw new Error(`${service}: ${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** The bytes of an image. */
  async upload(path: string, bytes: string): Promise<void> {
    const { status } = await fetch(`${this.#urls.glance}${VERSIONS.glance}${path}`, {
      method: "PUT",
      headers: { "content-type": "application/octet-stream", "x-auth-token": this.#token },
      signal: AbortSignal.timeout(CALL_MS),
      body: bytes,
    });
    if (status !== 204) throw new Error(`glance: PUT ${path}: ${status}`);
  }

  /** Makes one object, as most services take and answer it: below its kind. Answers its id. */
  async make(service: ServiceName, path: string, kind: string, payload: object): Promise<string> {
    return String(at(await this.ask(service, "POST", path, { [kind]: payload }), kind, "id"));
  }
}

async function request(
  url: string,
  method: Method,
  headers: Readonly<Record<string, string>>,
  payload: object | undefined,
): Promise<CloudAnswer> {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    signal: AbortSignal.timeout(CALL_MS),
    ...(payload === undefined ? {} : { body: JSON.stringify(payload) }),
  });
  const text = await response.text();
  return { status: response.status, body: readJson(text), headers: response.headers };
}

/** Pages that are none say what went wrong, too. */
function readJson(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
