/** One request of the provider and what a service of OpenStack answered. */
export interface Exchange {
  /** Method, path and query: `GET /compute/v2.1/servers?limit=1`. The first part of the path is the service's type in the catalog. */
  readonly ask: string;
  /** The header `OpenStack-API-Version`, where one was sent. */
  readonly microversion?: string;
  /** The body that was sent. */
  readonly sent?: unknown;
  readonly status: number;
  /** Those of the answer that the provider reads. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly answer?: unknown;
}

/** What passed during one part of a scenario, mostly a call of the contract. */
export interface RecordedStep {
  readonly step: string;
  readonly exchanges: readonly Exchange[];
}

/** What a scenario found or made in the cloud before it called the provider: ids, names, addresses. */
export type Fact = Readonly<Record<string, string>>;

/** A scenario as it went with the real services. */
export interface Recording {
  readonly scenario: string;
  /** Versions of the services. */
  readonly services: Readonly<Record<string, string>>;
  readonly facts: Readonly<Record<string, Fact>>;
  readonly steps: readonly RecordedStep[];
}

/** The step before the first: what the provider asks when it starts and, as checks, at any time after. */
export const START = "start";

/** True: the request changes nothing, so that it may be made any number of times. */
export function isRead({ ask }: Pick<Exchange, "ask">): boolean {
  return ask.startsWith("GET ");
}

/** As a file: a line of JSON for what is the scenario's, for each step and for each exchange. */
export function formatRecording({ scenario, services, facts, steps }: Recording): string {
  const lines: readonly object[] = [
    { scenario, services, facts },
    ...steps.flatMap(({ step, exchanges }) => [{ step }, ...exchanges]),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** @throws Error for a file that `formatRecording` has not written */
export function parseRecording(text: string): Recording {
  const [first, ...lines] = text.trimEnd().split("\n").map(objectOf);
  const { scenario, services, facts } = first ?? {};
  if (typeof scenario !== "string") throw new Error("the recording's first line names no scenario");
  const steps: { readonly step: string; readonly exchanges: Exchange[] }[] = [];
  for (const line of lines) {
    if (typeof line["step"] === "string") steps.push({ step: line["step"], exchanges: [] });
    else stepNow(steps).exchanges.push(toExchange(line));
  }
  return { scenario, services: textsOf(services), facts: factsOf(facts), steps };
}

function stepNow<Step>(steps: readonly Step[]): Step {
  const step = steps.at(-1);
  if (step === undefined) throw new Error("the recording has an exchange before its first step");
  return step;
}

type Line = Readonly<Record<string, unknown>>;

function objectOf(line: string): Line {
  const value: unknown = JSON.parse(line);
  return recordOf(value);
}

function recordOf(value: unknown): Line {
  if (typeof value !== "object" || value === null) throw new Error(`the recording has no object: ${String(value)}`);
  return Object.fromEntries(Object.entries(value));
}

function toExchange({ ask, microversion, status, headers, ...bodies }: Line): Exchange {
  if (typeof ask !== "string" || typeof status !== "number") throw new Error("an exchange needs `ask` and `status`");
  return {
    ask,
    ...(typeof microversion === "string" ? { microversion } : {}),
    ...bodies,
    status,
    ...(headers === undefined ? {} : { headers: textsOf(headers) }),
  };
}

function factsOf(value: unknown): Readonly<Record<string, Fact>> {
  return Object.fromEntries(Object.entries(recordOf(value)).map(([name, fact]) => [name, textsOf(fact)]));
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(recordOf(value)).map(([key, text]) => [key, String(text)]));
}
