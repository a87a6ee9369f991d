import { eventually } from "../../../support/eventually.ts";
import { at, type Json, listOf } from "../../../support/kube.ts";
import type { CloudAddress } from "./address.ts";
import { CloudCaller, type ServiceName } from "./caller.ts";

const PATIENCE_MS = 120_000;
/** Addresses of machines and load balancers. */
const SUBNET = "10.60.0.0/24";
const FLOATING = "198.51.100.0/24";
/** Of a project. */
const ROLES: readonly string[] = ["member", "load-balancer_member"];

export interface Server {
  readonly id: string;
  readonly name: string;
  /** Its fixed address. */
  readonly address: string;
}

/** What the administrator has made for the project. */
interface Parts {
  readonly network: string;
  readonly subnet: string;
  readonly router: string;
  readonly floatingNetwork: string;
  readonly flavor: string;
  readonly image: string;
}

/** A project of the cloud, as its administrator arranges it and looks at it: with no code of the provider. */
export class Tenant {
  readonly cloud: CloudAddress;
  /** Of the project and all that is in it. */
  readonly name: string;
  readonly admin: CloudCaller;
  /** Its own user. */
  readonly member: CloudCaller;
  readonly parts: Parts;
  readonly credential: { readonly id: string; readonly secret: string };

  private constructor(
    cloud: CloudAddress,
    name: string,
    admin: CloudCaller,
    member: CloudCaller,
    parts: Parts,
    credential: Tenant["credential"],
  ) {
    this.cloud = cloud;
    this.name = name;
    this.admin = admin;
    this.member = member;
    this.parts = parts;
    this.credential = credential;
  }

  static async create(cloud: CloudAddress, admin: CloudCaller): Promise<Tenant> {
    const name = `cluster-${crypto.randomUUID().slice(0, 8)}`;
    const project = await admin.make("keystone", "/projects", "project", { name, domain_id: "default" });
    const payload = { name, password: name, domain_id: "default", default_project_id: project };
    const user = await admin.make("keystone", "/users", "user", payload);
    for (const role of ROLES) {
      const path = `/projects/${project}/users/${user}/roles/${await roleId(admin, role)}`;
      await admin.ask("keystone", "PUT", path);
    }
    const member = await CloudCaller.login(cloud.urls, { user: name, password: name, project: name });
    const parts = await createParts(admin, member, name);
    return new Tenant(cloud, name, admin, member, parts, await newCredential(member, name));
  }

  /** The provider's environment, as its options are read from it. */
  get env(): Readonly<Record<string, string>> {
    return {
      OS_AUTH_URL: this.cloud.authUrl,
      OS_APPLICATION_CREDENTIAL_ID: this.credential.id,
      OS_APPLICATION_CREDENTIAL_SECRET: this.credential.secret,
      OS_REGION_NAME: this.cloud.region,
      CLOUDWIRE_OPENSTACK_LOAD_BALANCER_SUBNET: this.parts.subnet,
      CLOUDWIRE_OPENSTACK_MEMBER_SUBNET: this.parts.subnet,
      CLOUDWIRE_OPENSTACK_FLOATING_NETWORK: this.parts.floatingNetwork,
      CLOUDWIRE_OPENSTACK_ROUTER: this.parts.router,
      CLOUDWIRE_OPENSTACK_POD_CIDR: "10.120.0.0/16",
    };
  }

  /** A server that runs. */
  async createServer(name: string): Promise<Server> {
    const { network, flavor, image } = this.parts;
    const payload = { name, flavorRef: flavor, imageRef: image, networks: [{ uuid: network }] };
    const id = await this.member.make("nova", "/servers", "server", payload);
    const server = await this.serverBecomes(id, "ACTIVE");
    const [address] = Object.values(toRecord(at(server, "addresses"))).flatMap(listOf);
    return { id, name, address: String(address?.["addr"]) };
  }

  async stopServer(id: string): Promise<void> {
    await this.member.ask("nova", "POST", `/servers/${id}/action`, { "os-stop": null });
    await this.serverBecomes(id, "SHUTOFF");
  }

  async startServer(id: string): Promise<void> {
    await this.member.ask("nova", "POST", `/servers/${id}/action`, { "os-start": null });
    await this.serverBecomes(id, "ACTIVE");
  }

  /** Until Nova no longer knows it. */
  async deleteServer(id: string): Promise<void> {
    await this.member.ask("nova", "DELETE", `/servers/${id}`);
    await eventually(`server ${id} to be gone`, PATIENCE_MS, async () =>
      (await this.member.send("nova", "GET", `/servers/${id}`)).status === 404 ? true : undefined,
    );
  }

  async serverBecomes(id: string, status: string): Promise<Json> {
    const ask = async () => toRecord(at(await this.member.ask("nova", "GET", `/servers/${id}`), "server"));
    return eventually(`server ${id} to be ${status}`, PATIENCE_MS, async () => {
      const server = await ask();
      if (server["status"] === "ERROR") throw new Error(`server ${id}: ${JSON.stringify(server["fault"])}`);
      return server["status"] === status ? server : undefined;
    });
  }

  /** A volume of 1 GiB that is available. Answers its id. */
  async createVolume(): Promise<string> {
    const id = await this.member.make("cinder", "/volumes", "volume", { size: 1 });
    await eventually(`volume ${id} to be available`, PATIENCE_MS, async () =>
      at(await this.member.ask("cinder", "GET", `/volumes/${id}`), "volume", "status") === "available"
        ? true
        : undefined,
    );
    return id;
  }

  /** The router's routes as destination and next hop, in order. */
  async routes(): Promise<readonly (readonly [destination: unknown, nexthop: unknown])[]> {
    const router = await this.member.ask("neutron", "GET", `/routers/${this.parts.router}`);
    return listOf(at(router, "router", "routes"))
      .map((route) => [route["destination"], route["nexthop"]] as const)
      .toSorted(([left], [right]) => String(left).localeCompare(String(right)));
  }

  async routerTags(): Promise<unknown> {
    return at(await this.member.ask("neutron", "GET", `/routers/${this.parts.router}`), "router", "tags");
  }

  /** Objects of Octavia: `loadbalancers`, `listeners`, `pools`, `healthmonitors`. */
  async octavia(kind: string): Promise<readonly Json[]> {
    return this.#list("octavia", `/lbaas/${kind}`, kind);
  }

  /** Members of the project's pools, all in one list. */
  async members(): Promise<readonly Json[]> {
    const pools = await this.octavia("pools");
    const lists = pools.map(({ id }) => this.#list("octavia", `/lbaas/pools/${String(id)}/members`, "members"));
    return (await Promise.all(lists)).flat();
  }

  /** A floating IP that is at no port. Answers its address. */
  async createFloatingIp(): Promise<string> {
    const payload = { floatingip: { floating_network_id: this.parts.floatingNetwork } };
    const made = await this.member.ask("neutron", "POST", "/floatingips", payload);
    return String(at(made, "floatingip", "floating_ip_address"));
  }

  async floatingIps(): Promise<readonly Json[]> {
    return this.#list("neutron", "/floatingips", "floatingips");
  }

  /** All that a provider makes for Services, as words: what one has left behind shows. */
  async orphans(): Promise<readonly string[]> {
    const kinds = ["loadbalancers", "listeners", "pools", "healthmonitors"];
    const ofOctavia = await Promise.all(
      kinds.map(async (kind) => (await this.octavia(kind)).map(({ name, id }) => `${kind} ${String(name ?? id)}`)),
    );
    const ports = await this.#list("neutron", "/ports?device_owner=Octavia", "ports");
    const floating = await this.floatingIps();
    return [
      ...ofOctavia.flat(),
      ...floating.map((each) => `floating IP ${String(each["floating_ip_address"])}`),
      ...ports.map(({ name }) => `port ${String(name)}`),
    ];
  }

  /** Most load balancers that the project may have. */
  async limitLoadBalancers(count: number): Promise<void> {
    const payload = { quota: { load_balancer: count } };
    await this.admin.ask("octavia", "PUT", `/lbaas/quotas/${this.member.projectId}`, payload);
  }

  /** Most floating IPs that the project may have. */
  async limitFloatingIps(count: number): Promise<void> {
    await this.admin.ask("neutron", "PUT", `/quotas/${this.member.projectId}`, { quota: { floatingip: count } });
  }

  /** Another application credential, which can be deleted. */
  async anotherCredential(name: string): Promise<Tenant["credential"]> {
    return newCredential(this.member, name);
  }

  async deleteCredential(id: string): Promise<void> {
    await this.member.ask("keystone", "DELETE", `/users/${this.member.userId}/application_credentials/${id}`);
  }

  /** Of the machines that it makes. */
  get flavorName(): string {
    return flavorName(this.name);
  }

  async #list(service: ServiceName, path: string, kind: string): Promise<readonly Json[]> {
    return listOf(at(await this.member.ask(service, "GET", path), kind));
  }
}

async function roleId(admin: CloudCaller, name: string): Promise<string> {
  const found = listOf(at(await admin.ask("keystone", "GET", `/roles?name=${name}`), "roles"));
  const [role] = found;
  return role === undefined ? admin.make("keystone", "/roles", "role", { name }) : String(role["id"]);
}

async function newCredential(member: CloudCaller, name: string): Promise<Tenant["credential"]> {
  const path = `/users/${member.userId}/application_credentials`;
  const payload = { application_credential: { name } };
  const made = at(await member.ask("keystone", "POST", path, payload), "application_credential");
  return { id: String(at(made, "id")), secret: String(at(made, "secret")) };
}

async function createParts(admin: CloudCaller, member: CloudCaller, name: string): Promise<Parts> {
  const floatingNetwork = await admin.make("neutron", "/networks", "network", {
    name: `${name}-outside`,
    "router:external": true,
  });
  await createSubnet(admin, floatingNetwork, FLOATING);
  const network = await member.make("neutron", "/networks", "network", { name });
  const subnet = await createSubnet(member, network, SUBNET);
  const payload = { name, external_gateway_info: { network_id: floatingNetwork } };
  const router = await member.make("neutron", "/routers", "router", payload);
  await member.ask("neutron", "PUT", `/routers/${router}/add_router_interface`, { subnet_id: subnet });
  const ofFlavor = { name: flavorName(name), ram: 64, vcpus: 1, disk: 1 };
  const flavor = await admin.make("nova", "/flavors", "flavor", ofFlavor);
  const image = await createImage(member, name);
  return { network, subnet, router, floatingNetwork, flavor, image };
}

function flavorName(project: string): string {
  return `${project}-small`;
}

async function createSubnet(caller: CloudCaller, network: string, cidr: string): Promise<string> {
  return caller.make("neutron", "/subnets", "subnet", { network_id: network, ip_version: 4, cidr });
}

/** A few bytes: nothing is ever started from it. */
async function createImage(member: CloudCaller, name: string): Promise<string> {
  const payload = { name, disk_format: "raw", container_format: "bare" };
  const id = String(at(await member.ask("glance", "POST", "/images", payload), "id"));
  await member.upload(`/images/${id}/file`, "a machine");
  return id;
}

function toRecord(value: unknown): Json {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
