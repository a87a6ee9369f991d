import { BlockList, isIP } from "node:net";
import { type Problem, parseAddress } from "../options/flag.ts";
import type { Options } from "../app/options.ts";

type Serving = Pick<Options, "securePort" | "bindAddress" | "tlsCertFile" | "tlsPrivateKeyFile">;

/** What is wrong with the settings of the HTTPS server. */
export function servingProblems({
  securePort,
  bindAddress,
  tlsCertFile,
  tlsPrivateKeyFile,
}: Serving): readonly Problem[] {
  if (securePort === 0) return [];
  const problems: Problem[] = [];
  if (isIP(bindAddress) === 0) {
    problems.push({
      where: "--bind-address",
      what: `"${bindAddress}" is not an IP address; write it like 0.0.0.0 or ::`,
    });
  }
  if ((tlsCertFile === "") !== (tlsPrivateKeyFile === "")) {
    const [given, missing] =
      tlsCertFile === ""
        ? ["--tls-private-key-file", "--tls-cert-file"]
        : ["--tls-cert-file", "--tls-private-key-file"];
    problems.push({ where: missing, what: `is missing: ${given} is given, and one is of no use without the other` });
  }
  return problems;
}

/** Nobody is asked who they are there: it is for this machine alone. */
export function statusPageProblems({ statusPageAddress }: Pick<Options, "statusPageAddress">): readonly Problem[] {
  if (statusPageAddress === "") return [];
  const where = "--status-page-address";
  const address = parseAddress(statusPageAddress);
  if (address === undefined || isIP(address.host) === 0)
    return [{ where, what: `"${statusPageAddress}" is not an IP address and a port; write it like 127.0.0.1:10269` }];
  if (LOOPBACK.check(address.host, isIP(address.host) === 6 ? "ipv6" : "ipv4")) return [];
  const what = `"${statusPageAddress}" is not on loopback, and there is no authentication; take 127.0.0.1 or [::1], or the page at --secure-port`;
  return [{ where, what }];
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");
