import { methods } from "../contract/methods.ts";
import type { Intercept, ProxiedReply, ProxiedRequest } from "./mutant-proxy.ts";
import type { Mutant } from "./mutant.ts";

/** A call that a check made of a provider without fault, and the answer. */
interface TracedCall {
  /** Undefined: of none, but of the run: its handshake and its cleaning up. */
  readonly check: string | undefined;
  readonly request: ProxiedRequest;
  readonly reply: ProxiedReply;
}

/** Faults that depend on what was before show themselves at the second or third call. */
const replays = 3;

const isHandshake = ({ path }: ProxiedRequest): boolean => path.endsWith(`/${methods.getProviderInfo.name}`);

/** Takes down which check makes which calls, so that a fault can be tried on the calls alone. */
export class Trace {
  readonly #calls = new Map<string, TracedCall>();
  /** By check, the others that look at what its calls came to. */
  readonly #borrowers = new Map<string, ReadonlySet<string>>();

  /** For a proxy between the kit and the provider. */
  readonly intercept: Intercept = async (request, next) => {
    const reply = await next(request);
    // The kit's calls say as their user agent which check they are of.
    const [, check] = (request.headers["user-agent"] ?? "").split(" ");
    this.#add({ check, request, reply });
    return reply;
  };

  /** A check looks at the calls of another, too. */
  borrow(check: string, from: string): void {
    this.#borrowers.set(from, new Set([...(this.#borrowers.get(from) ?? []), check]));
  }

  /** Equal calls are taken down once, and once more with the most that was before and beside any of them. */
  #add(call: TracedCall): void {
    const { check, request } = call;
    const key = JSON.stringify([check, request.path, request.body.toString("base64"), request.headers]);
    const first = this.#calls.get(key);
    if (first === undefined) return void this.#calls.set(key, call);
    const most = this.#calls.get(`most ${key}`)?.request ?? first.request;
    const earlier = Math.max(most.earlier, request.earlier);
    const open = Math.max(most.open, request.open);
    this.#calls.set(`most ${key}`, { ...call, request: { ...request, earlier, open } });
  }

  /**
   * Ids of the checks that get to see a fault: others cannot fail on it, as every byte that they send and get is the same. "all": their requests or the
   * plan change with it, or more than calls does.
   */
  async touchedBy(mutant: Mutant): Promise<ReadonlySet<string> | "all"> {
    if (changesConnections(mutant)) return "all";
    const touched = new Set<string>();
    for (const call of this.#calls.values()) {
      if (call.check !== undefined && touched.has(call.check)) continue;
      if (!(await isTouched(mutant, call))) continue;
      if (call.check !== undefined) touched.add(call.check);
      else if (isHandshake(call.request)) return "all";
    }
    return new Set([...touched].flatMap((check) => this.#seenBy(check)));
  }

  #seenBy(check: string): readonly string[] {
    return [check, ...(this.#borrowers.get(check) ?? [])];
  }
}

/** What a mutant is made of that says something about calls, or nothing about what it does. */
const aboutCalls: ReadonlySet<string> = new Set([
  "name",
  "fault",
  "fails",
  "only",
  "level",
  "patience",
  "skip",
  "intercept",
  "stream",
]);

const changesConnections = (mutant: Mutant): boolean =>
  Object.entries(mutant).some(([name, value]) => value !== undefined && !aboutCalls.has(name));

const isTouched = async ({ intercept, stream }: Mutant, { request, reply }: TracedCall): Promise<boolean> => {
  if (stream !== undefined && reply.messages !== undefined) return true;
  if (intercept === undefined) return false;
  for (let turn = 0; turn < replays; turn++) {
    const seen: { request?: ProxiedRequest } = {};
    const answered = intercept(request, async (passed) => {
      seen.request = passed;
      return reply;
    }).catch(() => "cut" as const);
    const answer = await Promise.race([answered, afterMicrotasks()]);
    if (typeof answer === "string" || seen.request === undefined) return true;
    if (!isSameRequest(seen.request, request) || !isSameReply(answer, reply)) return true;
  }
  return false;
};

/** What has not answered by then waits for something. */
const afterMicrotasks = (): Promise<"hang"> => new Promise((resolve) => setImmediate(resolve, "hang"));

const isSameRequest = (one: ProxiedRequest, other: ProxiedRequest): boolean =>
  one === other || (one.path === other.path && one.headers === other.headers && one.body.equals(other.body));

const isSameReply = (one: ProxiedReply, other: ProxiedReply): boolean =>
  one === other ||
  (one.body.equals(other.body) &&
    one.messages === other.messages &&
    isSameTexts(one.headers, other.headers) &&
    isSameTexts(one.trailers, other.trailers));

const isSameTexts = (one: ProxiedReply["headers"], other: ProxiedReply["headers"]): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);
