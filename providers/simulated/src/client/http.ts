import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { parseRetryAfter } from "@cloudwire/provider-sdk";
import { type TSchema, type Static, Type } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { ErrorBody } from "../api/errors.ts";

/** The kinds of failed calls, as far as they can be distinguished. */
export type CallFailure =
  /** The cloud refused: it says so itself. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly code: string;
      readonly retryAfterMs: number | undefined;
    }
  /** No answer, or only a part of one: whether a change was carried out is not known. */
  | { readonly kind: "noAnswer" }
  /** A response that violates the API: it proves nothing. */
  | { readonly kind: "unreadable"; readonly status: number }
  /** The deadline passed, or the caller gave up. */
  | { readonly kind: "aborted" };

/** A call of the cloud that gave no usable answer. */
export class CloudCallError extends Error {
  readonly failure: CallFailure;
  readonly requestId: string | undefined;

  constructor(message: string, failure: CallFailure, requestId: string | undefined, cause?: unknown) {
    super(message, { cause });
    this.name = "CloudCallError";
    this.failure = failure;
    this.requestId = requestId;
  }
}

/** How one call ended, for those who count. */
export interface CallOutcome {
  /** Of the answer, if one came. */
  readonly status?: number;
  readonly error?: CloudCallError;
  readonly mutation: boolean;
  readonly requestId?: string;
}

export interface HttpOptions {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Default: new checks. */
  readonly checks?: AnswerChecks | undefined;
  /** Called for each call. */
  readonly observe?: (outcome: CallOutcome) => void;
}

export interface HttpCall<Answer extends TSchema> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With the query. */
  readonly path: string;
  readonly body?: object;
  /** The schema of the response. */
  readonly answer: Answer;
  readonly signal: AbortSignal;
  /** Default: everything but GET may change something. */
  readonly mutation?: boolean;
}

/** For answers without a body. */
export const NoContent = Type.Undefined();

/** Checks the form of answers. Making a check costs more than a thousand uses of it: clients of one program share them. */
export class AnswerChecks {
  readonly #validators = new Map<TSchema, Validator>();

  isOf<Form extends TSchema>(form: Form, value: unknown): value is Static<Form> {
    const known = this.#validators.get(form);
    if (known) return known.Check(value);
    const validator: Validator = Compile(form);
    this.#validators.set(form, validator);
    return validator.Check(value);
  }
}

/** Makes calls and believes no answer that is not of the promised form. */
export class HttpClient {
  readonly #options: HttpOptions;
  readonly #checks: AnswerChecks;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#checks = options.checks ?? new AnswerChecks();
  }

  async call<Answer extends TSchema>(call: HttpCall<Answer>): Promise<Static<Answer>> {
    const mutation = call.mutation ?? call.method !== "GET";
    const { observe = ignore } = this.#options;
    try {
      const { answer, ...outcome } = await this.#call(call);
      observe({ ...outcome, mutation });
      return answer;
    } catch (error) {
      if (error instanceof CloudCallError) observe({ ...outcomeOf(error), mutation });
      throw error;
    }
  }

  async #call<Answer extends TSchema>(call: HttpCall<Answer>) {
    const what = `${call.method} ${call.path.split("?")[0] ?? ""}`;
    const response = await this.#send(call, what);
    const { statusCode: status = 0, headers } = response;
    const requestId = oneOf(headers, "x-request-id");
    const text = await readText(response, call.signal, what, requestId);
    const body = text === "" ? undefined : parseJson(text);
    if (status < 200 || status > 299) {
      const explanation = this.#checks.isOf(ErrorBody, body) ? body : undefined;
      throw refusal({ status, headers, body: explanation }, what, requestId);
    }
    if (this.#checks.isOf(call.answer, body)) {
      return { answer: body, status, ...(requestId === undefined ? {} : { requestId }) };
    }
    const failure = { kind: "unreadable", status } as const;
    throw new CloudCallError(`${what}: the answer is not of the form that the API promises`, failure, requestId);
  }

  /** Not by `fetch`: its parser of HTTP is WebAssembly, which takes 12 MiB and a tenth of a second to compile. */
  async #send<Answer extends TSchema>(call: HttpCall<Answer>, what: string): Promise<IncomingMessage> {
    const { baseUrl, headers } = this.#options;
    const { method, signal } = call;
    try {
      const url = new URL(call.path, baseUrl);
      const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
        method,
        headers: call.body === undefined ? headers : { ...headers, "content-type": "application/json" },
        signal,
      });
      return await new Promise((resolve, reject) => {
        request.once("response", resolve).on("error", reject);
        request.end(call.body === undefined ? undefined : JSON.stringify(call.body));
      });
    } catch (error) {
      throw interruption(error, call.signal, what, undefined);
    }
  }
}

/** Builds a query; lists become repeated parameters. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>,
): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of typeof value === "object" ? value : [value]) params.append(name, String(one));
  }
  const text = params.toString();
  return text === "" ? path : `${path}?${text}`;
}

const ignore = (): void => undefined;

function outcomeOf(error: CloudCallError): Omit<CallOutcome, "mutation"> {
  const { failure, requestId } = error;
  const common = { error, ...(requestId === undefined ? {} : { requestId }) };
  return failure.kind === "refused" || failure.kind === "unreadable" ? { ...common, status: failure.status } : common;
}

function oneOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

async function readText(
  response: IncomingMessage,
  signal: AbortSignal,
  what: string,
  requestId: string | undefined,
): Promise<string> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } catch (error) {
    throw interruption(error, signal, what, requestId);
  }
}

function interruption(
  error: unknown,
  signal: AbortSignal,
  what: string,
  requestId: string | undefined,
): CloudCallError {
  if (signal.aborted) {
    return new CloudCallError(`${what}: no answer in time`, { kind: "aborted" }, requestId, error);
  }
  return new CloudCallError(`${what}: the connection failed`, { kind: "noAnswer" }, requestId, error);
}

interface Refusal {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: ErrorBody | undefined;
}

function refusal({ status, headers, body }: Refusal, what: string, requestId: string | undefined): CloudCallError {
  if (body === undefined) {
    const failure = { kind: "unreadable", status } as const;
    return new CloudCallError(`${what}: status ${status} without an explanation`, failure, requestId);
  }
  const retryAfterMs = parseRetryAfter(headers["retry-after"], Date.now());
  const failure = { kind: "refused", status, code: body.code, retryAfterMs } as const;
  return new CloudCallError(`${what}: ${body.code}: ${body.message}`, failure, requestId);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON is as unreadable as JSON of the wrong form: the check of the form says so.
    return undefined;
  }
}
