import { deletionProtection, type Service } from "../../../api/service.ts";
import { specFingerprint } from "../../../provider/convert/fingerprint.ts";
import { loadBalancerSpec } from "../../../provider/convert/service.ts";
import type { Entry, Former } from "../ledger.ts";
import type { Leftover } from "../plan/input.ts";
import type { Wish } from "../plan/wish.ts";
import type { GatherDependencies } from "./dependencies.ts";
import { holderOf, type Owner } from "./owner.ts";

/** A wish that is this process' own. */
export interface KnownWish extends Wish {
  readonly spec: NonNullable<Wish["spec"]>;
}

/** What a former provider has, and how its protection at the cloud is lifted where the Service says that it may go. */
export function leftover(deps: GatherDependencies, service: Service, former: Former): Leftover {
  const owner = holderOf(deps, former.provider);
  if (owner?.loadBalancers.deletionProtection !== true || deletionProtection(service) !== false) return former;
  const wish = wishOf(deps, service, owner, undefined);
  return { ...former, unprotected: unprotectedOf(wish, wish.spec) };
}

/** The same without protection at the cloud. */
export function unprotectedOf(wish: Wish, asked: KnownWish["spec"]): KnownWish {
  const spec = { ...asked, deletionProtection: false };
  return { ...wish, spec, specFingerprint: specFingerprint(spec) };
}

/** What the Service wishes of its owner. */
export function wishOf(
  deps: GatherDependencies,
  service: Service,
  { provider, info, loadBalancers }: Owner,
  entry: Entry | undefined,
): KnownWish {
  const { annotationPrefixes } = info;
  const asked = loadBalancerSpec(service, { annotationPrefixes, loadBalancers }, deps.settings);
  // To say nothing would leave a protection as it is that this process has asked for.
  const isLifted = asked.deletionProtection === undefined && entry?.spec?.deletionProtection !== undefined;
  const spec = isLifted ? { ...asked, deletionProtection: false } : asked;
  return { spec, specFingerprint: specFingerprint(spec), nodes: deps.targets.of(provider.name, info) };
}
