/** What a vendor lets the kit do to its cloud and its credentials, and what each is undone by. */
export const hookActions = {
  instanceCreate: {
    what: "creates an instance named $CONFORMANCE_NODE_NAME; prints JSON with providerId, and with nodeName if the name differs",
    undo: "instanceTerminate",
  },
  instanceStop: { what: "stops the instance $CONFORMANCE_NODE_NAME and waits until it has stopped" },
  instanceStart: { what: "starts the stopped instance" },
  instanceTerminate: { what: "terminates the instance if it exists" },
  cloudBlock: { what: "blocks the provider's access to the cloud", undo: "cloudUnblock" },
  cloudUnblock: { what: "restores the provider's access to the cloud" },
  cloudFault429: { what: "makes the cloud throttle every call", undo: "cloudFaultClear" },
  cloudFault500: { what: "makes the cloud fail every call with a server error", undo: "cloudFaultClear" },
  cloudFaultHang: { what: "makes the cloud accept calls and never respond", undo: "cloudFaultClear" },
  cloudFaultQuota: { what: "makes the cloud reject new load balancers because of a quota", undo: "cloudFaultClear" },
  cloudFaultClear: { what: "clears any of the four faults" },
  credRevoke: { what: "makes the cloud reject the provider's credentials", undo: "credRestore" },
  credRotate: {
    what: "writes new credentials to where the provider reads them, and invalidates the old ones",
    undo: "credRestore",
  },
  credRestore: { what: "makes the original credentials valid again and writes them to where the provider reads them" },
  zoneOutage: { what: "makes the zone $CONFORMANCE_ZONE of the cloud unavailable", undo: "zoneRestore" },
  zoneRestore: { what: "makes the zone available again" },
  procStats: {
    what: "prints JSON with rssBytes and openFiles of the provider's process; not needed on Linux if the kit starts the provider",
  },
  cloudCallCount: { what: "prints JSON with calls, the number of cloud calls that the provider has made so far" },
} as const satisfies Readonly<Record<string, HookAction>>;

interface HookAction {
  readonly what: string;
  readonly undo?: string;
}

export type HookName = keyof typeof hookActions;

/** Names of all actions, in the order of the documentation. */
export const hookNames: readonly HookName[] = (() => {
  const names: HookName[] = [];
  let name: HookName;
  for (name in hookActions) names.push(name);
  return names;
})();

/** What undoes an action; undefined: nothing has to. */
export const undoOf = (name: HookName): HookName | undefined => {
  const action: HookAction = hookActions[name];
  return hookNames.find((candidate) => candidate === action.undo);
};

/** The run's values for a hook, by the names of its environment variables. */
export type HookVariables = Readonly<Record<string, string>>;

/** How an action is carried out. */
export type Hook =
  /** A command that ends with code 0; it is given the variables in its environment. */
  | {
      readonly kind: "command";
      readonly command: readonly string[];
      /** Where it runs. Default: where the kit does. */
      readonly directory?: string;
      readonly timeoutMs?: number;
    }
  /** A request that is answered with a status below 300; `${NAME}` stands for a variable, or one of the kit's environment. */
  | {
      readonly kind: "http";
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string;
      readonly timeoutMs?: number;
    }
  /** For programs that use the kit as a library. */
  | {
      readonly kind: "function";
      readonly call: (variables: HookVariables) => string | Promise<string>;
      readonly timeoutMs?: number;
    };

/** The actions that a vendor has. */
export type Hooks = Readonly<Partial<Record<HookName, Hook>>>;

/** An action could not be carried out: nothing is known of the provider. */
export class HookError extends Error {
  override readonly name = "HookError";
}

/** A machine that an action has made. */
export interface HookMachine {
  readonly providerId: string;
  readonly nodeName: string;
}

/** What a check does with the vendor's actions. Whatever it sets is undone at its end, however it ends. */
export interface CheckHooks {
  readonly has: (name: HookName) => boolean;
  /** Sets a fault, until it is undone or the check ends. */
  readonly set: (name: HookName, variables?: HookVariables) => Promise<void>;
  /** Undoes a fault now. */
  readonly undo: (name: HookName) => Promise<void>;
  /** Makes a machine, which goes with the check. */
  readonly createMachine: () => Promise<HookMachine>;
  readonly stopMachine: (machine: HookMachine) => Promise<void>;
  readonly terminateMachine: (machine: HookMachine) => Promise<void>;
  /** Calls of the cloud so far. */
  readonly cloudCalls: () => Promise<number>;
  readonly procStats: () => Promise<{ readonly rssBytes: number; readonly openFiles: number }>;
}
