import { at, listOf } from "../../../support/kube.ts";

const CALL_MS = 20_000;

export interface EmulatedMachine {
  /** As the cloud has it, without the provider's prefix. */
  readonly id: string;
  /** What its Node is called. */
  readonly name: string;
  readonly zone: string;
  readonly address: string;
}

export interface EmulatedLoadBalancer {
  readonly name: string;
  /** IP address or host name. */
  readonly address: string;
  /** Each target in the cloud's own way. */
  readonly targets: readonly unknown[];
}

/** A cloud whose emulator is arranged and looked at over HTTP: AWS by test/programs/emulators, Google by its own fake in test/programs/bridged/gcp. */
export class EmulatedCloud {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Starts a machine. */
  async run(zone = ""): Promise<EmulatedMachine> {
    const machine = await this.#ask("run", { zone });
    return {
      id: text(machine, "id"),
      name: text(machine, "name"),
      zone: text(machine, "zone"),
      address: text(machine, "address"),
    };
  }

  /** Ends a machine for good. */
  async terminate({ id, name }: EmulatedMachine): Promise<void> {
    await this.#ask("terminate", { id, name });
  }

  /** From now on every call of the provider fails, or none. */
  async fail(failing: boolean): Promise<void> {
    await this.#ask("fail", { failing });
  }

  /** Each as the destination and the target, in order. */
  async routes(): Promise<readonly (readonly [destination: string, target: string])[]> {
    return listOf(at(await this.#ask("state"), "routes"))
      .map((route) => [text(route, "destination"), text(route, "instance")] as const)
      .toSorted(([left], [right]) => left.localeCompare(right));
  }

  /** With what is left of one that is none any more, such as a target group: its name is empty. */
  async loadBalancers(): Promise<readonly EmulatedLoadBalancer[]> {
    return listOf(at(await this.#ask("state"), "loadBalancers")).map((balancer) => ({
      name: text(balancer, "name"),
      address: text(balancer, "address"),
      targets: [at(balancer, "targets")].flat(),
    }));
  }

  /** All that is there, to be compared with itself. */
  async state(): Promise<unknown> {
    return this.#ask("state");
  }

  /** How many calls there were that change something. */
  async changes(): Promise<number> {
    return Number(at(await this.#ask("calls"), "changes"));
  }

  /** How many calls there were in all. */
  async calls(): Promise<number> {
    return Number(at(await this.#ask("calls"), "all"));
  }

  async #ask(what: string, command?: object): Promise<unknown> {
    return askEmulator(this.#url, what, command, CALL_MS);
  }
}

/** What an emulator answers a test that arranges something, or looks at it. */
export async function askEmulator(
  url: string,
  what: string,
  command: object | undefined,
  timeoutMs: number,
): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  const init = command === undefined ? { signal } : { signal, method: "POST", body: JSON.stringify(command) };
  const response = await fetch(`${url}/emulator/${what}`, init);
  const answer = await response.text();
  if (!response.ok) throw new Error(`the emulator, asked to ${what}: ${response.status} ${answer}`);
  return JSON.parse(answer);
}

function text(value: unknown, key: string): string {
  const found = at(value, key);
  if (typeof found !== "string")
    throw new Error(`the emulator's answer has no text "${key}": ${JSON.stringify(value)}`);
  return found;
}
