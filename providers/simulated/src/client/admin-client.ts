import {
  type AccountSpec,
  AskedInstances,
  CallLog,
  Calls,
  Fault,
  Faults,
  type FaultSpec,
  type LoggedCall,
  Settings,
  type SettingsPatch,
} from "../api/admin.ts";
import { Type } from "typebox";
import { HttpClient, NoContent, withQuery } from "./http.ts";

export interface AdminClientOptions {
  readonly url: string;
  readonly adminKey?: string;
  /** Of each call, default 10 s. */
  readonly timeoutMs?: number;
}

/** Configures a simulated cloud and reads its calls. */
export class AdminClient {
  readonly #http: HttpClient;
  readonly #timeoutMs: number;

  constructor({ url, adminKey, timeoutMs = 10_000 }: AdminClientOptions) {
    const headers: Record<string, string> = adminKey === undefined ? {} : { "x-admin-key": adminKey };
    this.#http = new HttpClient({ baseUrl: url, headers });
    this.#timeoutMs = timeoutMs;
  }

  async settings(): Promise<Settings> {
    return this.#http.call({ ...this.#get("settings"), answer: Settings });
  }

  /** Omitted fields are not changed. */
  async change(patch: SettingsPatch): Promise<Settings> {
    return this.#http.call({ ...this.#send("PATCH", "settings", patch), answer: Settings });
  }

  async resetSettings(): Promise<Settings> {
    return this.#http.call({ ...this.#send("DELETE", "settings"), answer: Settings });
  }

  async addFault(spec: FaultSpec): Promise<Fault> {
    return this.#http.call({ ...this.#send("POST", "faults", spec), answer: Fault });
  }

  async faults(): Promise<Fault[]> {
    return (await this.#http.call({ ...this.#get("faults"), answer: Faults })).items;
  }

  async removeFault(id: string): Promise<void> {
    await this.#http.call({ ...this.#send("DELETE", `faults/${id}`), answer: NoContent });
  }

  async clearFaults(): Promise<void> {
    await this.#http.call({ ...this.#send("DELETE", "faults"), answer: NoContent });
  }

  /** Calls since the start or the last reset. */
  async calls(): Promise<Calls> {
    return this.#http.call({ ...this.#get("calls"), answer: Calls });
  }

  /** Calls of one operation. */
  async callsOf(operation: string): Promise<number> {
    const { operations } = await this.calls();
    return operations.find((counted) => counted.operation === operation)?.calls ?? 0;
  }

  /** When each instance was last asked about, in milliseconds since 1970, since the start or the last reset of the calls. */
  async instancesAsked(): Promise<ReadonlyMap<string, number>> {
    const { askedMs } = await this.#http.call({ ...this.#get("calls/instances"), answer: AskedInstances });
    return new Map(Object.entries(askedMs));
  }

  async resetCalls(): Promise<void> {
    await this.#http.call({ ...this.#send("DELETE", "calls"), answer: NoContent });
  }

  /** The last calls, oldest first. */
  async log(last = 100): Promise<LoggedCall[]> {
    return (await this.#http.call({ ...this.#get(withQuery("calls/log", { last })), answer: CallLog })).items;
  }

  async addAccount(spec: AccountSpec): Promise<void> {
    await this.#http.call({ ...this.#send("POST", "accounts", spec), answer: Type.Object({ id: Type.String() }) });
  }

  #get(path: string) {
    return this.#send("GET", path);
  }

  #send(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: object) {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    return { method, path: `/admin/v1/${path}`, signal, ...(body === undefined ? {} : { body }) };
  }
}
