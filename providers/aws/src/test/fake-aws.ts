import { EC2Client } from "@aws-sdk/client-ec2";
import { ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { AwsCalls } from "../cloud/aws.ts";
import { toProviderError } from "../cloud/errors.ts";
import { FakeEc2 } from "./fake-ec2.ts";
import { FakeElb } from "./fake-elb.ts";
import { awsError, type Fields, fieldsOf } from "./fields.ts";

/** When a request fails: `before` it has an effect, or `after`, so that only its response is lost. */
export type Failure = { readonly when: "before" | "after"; readonly error: Error };

/** An account of AWS in memory, behind the real clients. It refuses whole batches, spells ranges in one way and has quotas, as AWS does. */
export class FakeAws {
  readonly ec2 = new FakeEc2();
  readonly elb = new FakeElb(this.ec2);
  /** Names of all requests so far. */
  readonly requests: string[] = [];
  /** Decides which requests fail. */
  failureOf: (name: string, input: Fields) => Failure | undefined = () => undefined;
  /** Called after each request that changes something. */
  onChange: (name: string) => void = () => undefined;
  readonly calls: AwsCalls;

  constructor() {
    const config = { region: "region-1", credentials: { accessKeyId: "key", secretAccessKey: "secret" } };
    const [ec2, elb] = [new EC2Client(config), new ElasticLoadBalancingV2Client(config)];
    const step = { step: "initialize", priority: "high", name: "fake" } as const;
    ec2.middlewareStack.add(
      (_, { commandName }) =>
        async ({ input }) => ({ response: undefined, output: this.#answer(String(commandName), fieldsOf(input)) }),
      step,
    );
    elb.middlewareStack.add(
      (_, { commandName }) =>
        async ({ input }) => ({ response: undefined, output: this.#answer(String(commandName), fieldsOf(input)) }),
      step,
    );
    const { signal } = new AbortController();
    this.calls = {
      ec2: async (_, send) => mapped(() => send(ec2, { abortSignal: signal })),
      elb: async (_, send) => mapped(() => send(elb, { abortSignal: signal })),
    };
  }

  /** Requests that are not reads. */
  changes(): readonly string[] {
    return this.requests.filter((name) => !name.startsWith("Describe"));
  }

  #answer(commandName: string, input: Fields) {
    const name = commandName.replace(/Command$/, "");
    this.requests.push(name);
    const failure = this.failureOf(name, input);
    if (failure?.when === "before") throw failure.error;
    const handler = this.ec2.handlers.get(name) ?? this.elb.handlers.get(name);
    if (handler === undefined) throw awsError("InvalidAction", `the fake does not serve ${name}`);
    const output = handler(input);
    if (!name.startsWith("Describe")) this.onChange(name);
    if (failure) throw failure.error;
    return { $metadata: {}, ...output };
  }
}

async function mapped<Output>(send: () => Promise<Output>): Promise<Output> {
  try {
    return await send();
  } catch (error) {
    throw toProviderError(error);
  }
}
