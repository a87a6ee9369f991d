import { QUOTA_CLASSES, type QuotaClass } from "./model/call-rate.ts";
import { type Flag, type Parsed, problem, value } from "../options/flag.ts";

/** How often the cloud behind a provider may be called. */
export interface ProviderCallRate {
  readonly provider: string;
  /** undefined: all calls together. */
  readonly quotaClass: QuotaClass | undefined;
  /** undefined: no limit. */
  readonly rate: { readonly cloudCallsPerSecond: number; readonly burst: number } | undefined;
}

/** `--provider-call-rate NAME[/CLASS]=RATE[:BURST]`, repeatable. */
export const providerCallRateFlag: Flag<readonly ProviderCallRate[]> = {
  group: "provider",
  reloadable: true,
  help:
    "requests a second that a provider may make to its cloud, and how many at once after a pause, such as acme=20:40 for all " +
    `together or acme/load_balancers=5 for one class (${QUOTA_CLASSES.join(", ")}); repeatable. It takes the place of what the provider declares; 0: no limit`,
  valueName: "name[/class]=rate[:burst]",
  defaultValue: [],
  shape: { kind: "list", pattern: `^[-a-z0-9.]+(/(${QUOTA_CLASSES.join("|")}))?=[0-9.]+(:[0-9]+)?$` },
  parse: (text, before = []) => {
    const [, provider = "", className, perSecond = "", burst] =
      /^([^=/]+)(?:\/([^=]*))?=([^:]*)(?::(.*))?$/.exec(text) ?? [];
    if (provider === "") return problem(`"${text}" is not NAME=RATE or NAME/CLASS=RATE, such as acme=20:40`);
    const quotaClass = QUOTA_CLASSES.find((one) => one === className);
    if (className !== undefined && quotaClass === undefined)
      return problem(`"${className}" is no class of calls; there are ${QUOTA_CLASSES.join(", ")}`);
    if (before.some((one) => one.provider === provider && one.quotaClass === quotaClass))
      return problem(`${text.slice(0, text.indexOf("="))} is given two rates`);
    const rate = parseRate(perSecond, burst);
    return rate.kind === "problem" ? rate : value([...before, { provider, quotaClass, rate: rate.value }]);
  },
  write: (rates) =>
    rates.map(({ provider, quotaClass, rate }) => {
      const figures = rate === undefined ? "0" : `${rate.cloudCallsPerSecond}:${rate.burst}`;
      return `${provider}${quotaClass === undefined ? "" : `/${quotaClass}`}=${figures}`;
    }),
};

function parseRate(perSecond: string, burstText: string | undefined): Parsed<ProviderCallRate["rate"]> {
  if (!/^\d{1,6}(\.\d{1,3})?$/.test(perSecond))
    return problem(`"${perSecond}" is not a number of requests a second, such as 20 or 0.5`);
  const cloudCallsPerSecond = Number(perSecond);
  const burst = burstText ?? String(Math.max(1, Math.ceil(cloudCallsPerSecond)));
  if (!/^[1-9]\d{0,5}$/.test(burst)) return problem(`the burst "${burst}" is not a whole number, 1 or more`);
  return value(cloudCallsPerSecond === 0 ? undefined : { cloudCallsPerSecond, burst: Number(burst) });
}
