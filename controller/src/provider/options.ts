import { readFileText, type ReadText } from "../options/text-file.ts";
import type { Options } from "../app/options.ts";
import type { Problem } from "../options/flag.ts";
import type { ProviderTls } from "./connection/address.ts";

type ProviderOptions = Pick<Options, "provider" | "providerTls" | "providerPlaintext">;

const TLS = "--provider-tls";
const PLAINTEXT = "--provider-plaintext";

/** Providers at tcp:// addresses have TLS files, or their plaintext is asked for; the others have neither. */
export function providerTlsProblems({ provider, providerTls, providerPlaintext }: ProviderOptions): readonly Problem[] {
  const addresses = new Map(provider.map(({ name, address }) => [name, address]));
  const given = [
    ...[...providerTls.keys()].map((name) => ({ where: TLS, name })),
    ...providerPlaintext.map((name) => ({ where: PLAINTEXT, name })),
  ];
  const misplaced = given.flatMap(({ where, name }) => {
    const what = misplacedAt(name, addresses);
    return what === undefined ? [] : [{ where, what }];
  });
  const both = providerPlaintext
    .filter((name) => providerTls.has(name))
    .map((name) => ({
      where: PLAINTEXT,
      what: `provider "${name}" has --provider-tls as well; take one of them away`,
    }));
  return [...misplaced, ...both, ...unprotected({ provider, providerTls, providerPlaintext })];
}

function misplacedAt(name: string, addresses: ReadonlyMap<string, string>): string | undefined {
  const address = addresses.get(name);
  if (address === undefined && addresses.size === 0) return undefined;
  if (address === undefined) return `"${name}" is no provider; --provider names ${[...addresses.keys()].join(", ")}`;
  if (isTcp(address)) return undefined;
  return `provider "${name}" is at ${address}; a Unix socket has no TLS, its file's permissions guard it: take this away`;
}

function unprotected({ provider, providerTls, providerPlaintext }: ProviderOptions): readonly Problem[] {
  return provider
    .filter(({ name, address }) => isTcp(address) && !providerTls.has(name) && !providerPlaintext.includes(name))
    .map(({ name, address }) => ({
      where: "--provider",
      what: `${address} without TLS is refused: whoever can reach it, or is on the way, could change the cloud; add --provider-tls=${name}=ca=FILE,cert=FILE,key=FILE`,
    }));
}

/** Files that cannot be read now: a slip of the pen, or a Secret that is not mounted. What is in them is looked at when connecting. */
export function providerTlsFileProblems({ providerTls }: ProviderOptions, readText: ReadText): readonly Problem[] {
  return [...providerTls].flatMap(([name, tls]) =>
    filesOf(tls).flatMap(([key, path]) => {
      const file = readFileText(path, readText);
      return file.kind === "text" ? [] : [{ where: TLS, what: `${key}= of provider "${name}" ${file.what}` }];
    }),
  );
}

function filesOf({ caFile, certFile, keyFile }: ProviderTls): readonly (readonly [string, string])[] {
  return [
    ["ca", caFile],
    ["cert", certFile],
    ["key", keyFile],
  ];
}

function isTcp(address: string): boolean {
  return address.startsWith("tcp://");
}
