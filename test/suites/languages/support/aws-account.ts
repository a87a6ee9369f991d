import { at, listOf } from "../../../support/kube.ts";
import { askEmulator } from "./emulated-cloud.ts";

/** Thousands of machines take as long on a busy machine. */
const CALL_MS = 300_000;

/** One of many. */
interface StartedMachine {
  readonly id: string;
  /** What its Node is called. */
  readonly name: string;
}

/** The emulated AWS as the account's administrator sees it; nothing of this is counted, throttled or failed. */
export class AwsAccount {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** A call of EC2, by boto3's names. */
  async ec2(method: string, params: object = {}): Promise<unknown> {
    return this.#ask("admin", { service: "ec2", method, params });
  }

  /** A call of Elastic Load Balancing, by boto3's names. */
  async elb(method: string, params: object = {}): Promise<unknown> {
    return this.#ask("admin", { service: "elbv2", method, params });
  }

  /** How many calls of it the provider has made. */
  async calls(action: string): Promise<number> {
    return Number(at(await this.#ask("calls"), "byAction", action) ?? 0);
  }

  /** How many calls of the provider were refused as one too many. */
  async throttled(): Promise<number> {
    return Number(at(await this.#ask("calls"), "throttled"));
  }

  /** The access key that signed the provider's last call. */
  async lastKey(): Promise<unknown> {
    return at(await this.#ask("calls"), "lastKey");
  }

  /** From now on the provider has so many calls a second; 0 ends that. */
  async throttle(rate: number, burst: number): Promise<void> {
    await this.#ask("throttle", { rate, burst });
  }

  /** From now on every call of the provider is answered with 503, or none. */
  async fail(failing: boolean): Promise<void> {
    await this.#ask("fail", { failing });
  }

  /** From now on the provider's credentials are refused, or they are not. */
  async deny(denying: boolean): Promise<void> {
    await this.#ask("deny", { denying });
  }

  /** How many calls the provider has made. */
  async allCalls(): Promise<number> {
    return Number(at(await this.#ask("calls"), "all"));
  }

  /** Starts machines in a subnet of their own, all at once. */
  async runMachines(vpc: string, count: number): Promise<readonly StartedMachine[]> {
    const place = { VpcId: vpc, CidrBlock: "10.0.64.0/18", AvailabilityZone: "us-east-1a" };
    const subnet = at(await this.ec2("create_subnet", place), "Subnet", "SubnetId");
    const made = await this.#ask("runMany", { subnet, count });
    return listOf(at(made, "machines")).map(({ id, name }) => ({ id: String(id), name: String(name) }));
  }

  /** All that load balancers are made of, as words: what a Service has left behind shows. */
  async orphans(): Promise<readonly string[]> {
    const [balancers, targetGroups, securityGroups] = await Promise.all([
      this.elb("describe_load_balancers"),
      this.elb("describe_target_groups"),
      this.ec2("describe_security_groups"),
    ]);
    const nodes = listOf(at(securityGroups, "SecurityGroups"));
    return [
      ...listOf(at(balancers, "LoadBalancers")).map(
        ({ LoadBalancerName }) => `load balancer ${String(LoadBalancerName)}`,
      ),
      ...listOf(at(targetGroups, "TargetGroups")).map(
        ({ TargetGroupName }) => `target group ${String(TargetGroupName)}`,
      ),
      ...nodes
        .map(({ GroupName }) => String(GroupName))
        .filter((name) => name !== "default" && name !== "nodes")
        .map((name) => `security group ${name}`),
      ...nodes
        .filter(({ GroupName, IpPermissions }) => GroupName === "nodes" && listOf(IpPermissions).length > 0)
        .map(() => "rules of the nodes' security group"),
    ];
  }

  async #ask(what: string, body?: object): Promise<unknown> {
    return askEmulator(this.#url, what, body, CALL_MS);
  }
}
