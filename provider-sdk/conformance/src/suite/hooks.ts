/** What a vendor lets the kit do to its cloud and its credentials, and what each is undone by. */
export const hookActions = {
  instanceCreate: {
    what: "makes a machine named $CONFORMANCE_NODE_NAME; writes JSON: providerId, and nodeName if it is another",
    undo: "instanceTerminate",
  },
  instanceStop: { what: "stops the machine $CONFORMANCE_NODE_NAME, and waits until it is" },
  instanceStart: { what: "starts it again" },
  instanceTerminate: { what: "terminates it, if it is there" },
  cloudBlock: { what: "cuts the provider off from the cloud", undo: "cloudUnblock" },
  cloudUnblock: { what: "lets it reach the cloud again" },
  cloudFault429: { what: "makes the cloud throttle every call", undo: "cloudFaultClear" },
  cloudFault500: { what: "makes the cloud fail every call with a server error", undo: "cloudFaultClear" },
  cloudFaultHang: { what: "makes the cloud take calls and answer none", undo: "cloudFaultClear" },
  cloudFaultQuota: { what: "makes the cloud refuse new load balancers for a quota", undo: "cloudFaultClear" },
  cloudFaultClear: { what: "ends any of these four" },
  credRevoke: { what: "makes the cloud refuse the provider's credentials", undo: "credRestore" },
  credRotate: {
    what: "gives the provider new credentials, where it finds them, and makes the old ones invalid",
    undo: "credRestore",
  },
  credRestore: { what: "makes the first credentials valid again, and gives them to the provider" },
  zoneOutage: { what: "makes the zone $CONFORMANCE_ZONE of the cloud unreadable", undo: "zoneRestore" },
  zoneRestore: { what: "ends that" },
  procStats: {
    what: "writes JSON: rssBytes and openFiles of the provider's process; where the kit started it on Linux, it looks itself",
  },
  cloudCallCount: { what: "writes JSON: calls, how many the provider has made of the cloud so far" },
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
