import { isIP } from "node:net";
import type { Options } from "./options.ts";
import type { Problem } from "./problem.ts";

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
