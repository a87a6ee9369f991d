import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Check, CheckContext, OwnProvider } from "../../suite/check.ts";
import { expectNone } from "../../suite/expect.ts";
import { methods, methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { client } from "../../endpoint/reach.ts";
import { ending, withLife } from "./lifecycle.ts";
import { provocableMethods } from "../calls/provoked.ts";

/** A word that must not be seen, and what it is. */
interface Secret {
  readonly what: string;
  readonly word: string;
}

/** As it is, as in headers that carry bytes, and as in URLs. */
const formsOf = (word: string): readonly string[] => [
  word,
  Buffer.from(word).toString("base64").replace(/=+$/, ""),
  encodeURIComponent(word),
];

/** How much of the output around a secret is reported. */
const aroundChars = 60;

/** Looks for secrets in output that comes in pieces. */
class Search {
  readonly #secrets: readonly (Secret & { readonly forms: readonly string[] })[];
  readonly #longest: number;
  readonly #found = new Map<string, string>();
  #rest = "";

  constructor(secrets: readonly Secret[]) {
    this.#secrets = secrets.map((secret) => ({ ...secret, forms: formsOf(secret.word) }));
    this.#longest = Math.max(...this.#secrets.flatMap(({ forms }) => forms.map(({ length }) => length)));
  }

  read(piece: string): void {
    const text = this.#rest + piece;
    for (const { what, forms } of this.#secrets)
      for (const form of forms) {
        const at = text.indexOf(form);
        // This text goes to reports: leave the secret itself out.
        if (at >= 0) this.#found.set(what, `${what} is in: ${text.slice(Math.max(0, at - aroundChars), at)}***`);
      }
    this.#rest = text.slice(-this.#longest);
  }

  get problems(): readonly string[] {
    return [...this.#found.values()];
  }
}

const token = (): string => `conformance-${randomUUID()}`;

/** Calls everything that changes nothing, rightly and wrongly, each with a token in its headers. */
const callAll = async (context: CheckContext, bearer: string): Promise<void> => {
  const { caller, callContext } = context;
  const elsewhere = { ...callContext, scopeId: "another-scope" };
  const options = { headers: { authorization: `Bearer ${bearer}` }, patienceMs: 5_000 };
  await caller.call(methods.getProviderInfo, { client }, options);
  for (const name of provocableMethods(context)) {
    const request = sampleRequest(name, context);
    await caller.call(methodsByName[name], request, options);
    await caller.call(methodsByName[name], { ...request, context: elsewhere }, options);
    await caller.call(methodsByName[name], request, { ...options, requestBytes: Buffer.of(0xff, 0xff) });
  }
  await caller.call(methods.getProviderInfo, { client }, { ...options, service: "conformance.NoSuchService" });
};

/** Output may arrive a little after the end of its process. */
const lateMs = 250;

const watched = (own: OwnProvider, secrets: readonly Secret[]): Search => {
  const search = new Search(secrets);
  search.read(own.process.log());
  own.process.onOutput((piece) => search.read(piece));
  return search;
};

/** What a provider writes while it is called. */
export const secretLogChecks: readonly Check[] = [
  {
    level: "D",
    profile: "core",
    id: "sec.secret.logs",
    title: "neither credentials nor tokens of callers are in what the provider writes",
    rules: ["SEC-1"],
    why: "Logs are collected, kept for years and read by many. Usually the headers of calls or of requests to the cloud are written down.",
    requires: ["proc.socket.appears"],
    starts: true,
    exclusive: true,
    timeoutMs: 60_000,
    run: (context) =>
      withLife(context, undefined, async (life) => {
        const { canarySecret } = context.fixtures;
        const bearer = token();
        const search = watched(life.own, [
          { what: "the token of a caller", word: bearer },
          ...(canarySecret === undefined ? [] : [{ what: "the planted secret", word: canarySecret }]),
        ]);
        await callAll(life.context, bearer);
        life.own.process.signal("SIGTERM");
        await ending(life.own, context);
        await wait(lateMs);
        expectNone(search.problems, "secrets are in the output of the provider");
      }),
  },
];
