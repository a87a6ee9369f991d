import { CONTROLLER_NAMES } from "../../../src/app/controllers.ts";
import { parseCommand } from "../../../src/app/options.ts";

/** One rejection of a flag or setting. `USAGE` is the code of all. */
export interface RejectionRow {
  /** The message of {@link RejectionExample.args}, as the process prints it. */
  readonly message: string;
  readonly cause: string;
  readonly remedy: string;
}

interface RejectionExample extends Omit<RejectionRow, "message"> {
  readonly args: readonly string[];
  /** Text of the file of --config. */
  readonly config?: string;
}

const PROVIDER = "--provider=acme=unix:///run/acme.sock";
const CONFIG = "--config=/etc/ccm.yaml";
const HEAD = "apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1\nkind: CloudControllerManagerConfiguration\n";

const EXAMPLES: readonly RejectionExample[] = [
  {
    args: [],
    cause: "No provider is specified.",
    remedy: "Add `--provider` for each provider.",
  },
  {
    args: [PROVIDER, "--leader-elekt=false"],
    cause: "The program has no such flag.",
    remedy: "Use the suggested flag, or one of `--help`.",
  },
  {
    args: [PROVIDER, "kubeconfig"],
    cause: "The dashes of a flag are missing.",
    remedy: "Add the dashes.",
  },
  {
    args: [PROVIDER, "start"],
    cause: "An argument is not a flag.",
    remedy: "Remove it. In a container, check `command` and `args`.",
  },
  {
    args: [PROVIDER, "--cluster-name"],
    cause: "A flag at the end of the command line has no value.",
    remedy: "Add the value.",
  },
  {
    args: [PROVIDER, "--leader-elect", "false"],
    cause: "The value of a boolean flag is a separate argument.",
    remedy: "Write `--flag=true` or `--flag=false`.",
  },
  {
    args: [PROVIDER, "--leader-elect=maybe"],
    cause: "The value of a boolean flag is invalid.",
    remedy: "Use `true` or `false`.",
  },
  {
    args: [PROVIDER, "--node-deletion-max-percent=120"],
    cause: "A number is invalid or out of range.",
    remedy: "Use a decimal number in the range of the message.",
  },
  {
    args: [PROVIDER, "--node-monitor-period=fast"],
    cause: "The value is not a duration.",
    remedy: "Write a number with its unit: `300ms`, `15s`, `1m30s`.",
  },
  {
    args: [PROVIDER, "--node-monitor-period=1ms"],
    cause: "A duration is shorter than the minimum of its flag.",
    remedy: "Use at least the minimum in the message.",
  },
  {
    args: [PROVIDER, "--mode=dry"],
    cause: "The value is not one of the choices of its flag.",
    remedy: "Use one of the choices in the message.",
  },
  {
    args: [PROVIDER, "--controllers=cloud-nodes"],
    cause: "`--controllers` names an unknown controller.",
    remedy: "Use a name in the message.",
  },
  {
    args: [PROVIDER, "--provider-mode=other=observe"],
    cause: "A flag refers to a provider that `--provider` does not have.",
    remedy: "Correct the name, or add the provider.",
  },
  {
    args: ["--provider=acme=/run/acme.sock"],
    cause: "The address of a provider is invalid.",
    remedy: "Use `unix:///PATH` or `tcp://HOST:PORT`.",
  },
  {
    args: [PROVIDER, "--leader-elect-lease-duration=5s"],
    cause: "The durations of leader election conflict.",
    remedy: "Make the lease duration longer than the renew deadline, and that longer than the retry period.",
  },
  {
    args: [PROVIDER, "--bind-address=here"],
    cause: "An address to listen on is not an IP address.",
    remedy: "Use an IP address, such as `0.0.0.0` or `::`.",
  },
  {
    args: [PROVIDER, CONFIG],
    config: "kind: Config\n",
    cause: "The file of `--config` has another kind or API version.",
    remedy: "Use the kind and the API version in the message.",
  },
  {
    args: [PROVIDER, CONFIG],
    config: `${HEAD}Generic:\n  LeaderElection:\n    LeaseDurations: 15s\n`,
    cause: "The file of `--config` has an unknown setting.",
    remedy: "Use the suggested path, or one of [configuration](configuration.md).",
  },
  {
    args: [PROVIDER, CONFIG],
    config: `${HEAD}Generic:\n  ClientConnection:\n    QPS: "20"\n`,
    cause: "A setting in the file of `--config` has the wrong type.",
    remedy: "Use the type in the message: strings and durations in quotes, numbers and booleans without.",
  },
];

/** The rejections, with their messages from the parser. */
export const REJECTION_ROWS: readonly RejectionRow[] = EXAMPLES.map(({ args, config = "", cause, remedy }) => {
  const parsed = parseCommand({ args, environment: {}, readText: () => config }, CONTROLLER_NAMES);
  const [first] = parsed.kind === "invalid" ? parsed.problems : [];
  if (first === undefined) throw new Error(`no problem with ${args.join(" ")}`);
  return { message: `${first.where}: ${first.what}`, cause, remedy };
});
