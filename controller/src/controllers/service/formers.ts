import { contractError } from "../../provider/model/errors.ts";
import type { Provider, ProviderSet } from "../../provider/model/provider.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import type { Inventory } from "./gather/load-balancer-lister.ts";
import type { Former, Ledger } from "./ledger.ts";
import { isSamePlace, isSuccessor } from "./strays.ts";

export interface FormersDependencies {
  readonly providers: Pick<ProviderSet, "providers">;
  readonly ledger: Ledger;
  readonly inventory: Inventory;
}

/**
 * What another provider than `owner` has of a Service that wants a load balancer: what this process knows of it, or, where nothing `isKnown` as after a
 * restart, what lists show. The ledger forgets what the former owner acknowledged. undefined: nothing is known, and nothing is guessed.
 */
export async function formerOf(
  deps: FormersDependencies,
  owner: Provider,
  uid: string,
  isKnown: boolean,
  context: ReconcileContext,
): Promise<Former | undefined> {
  const { ledger } = deps;
  const { key } = context;
  takeOver(deps, owner, uid, key);
  if (!isKnown && ledger.former(key, uid) === undefined) {
    for (const other of candidates(deps, owner, key)) {
      const loadBalancerId = await listed(deps, other, uid, context);
      if (loadBalancerId !== undefined) ledger.recordFormer(key, uid, { provider: other.name, loadBalancerId });
    }
  }
  return stillFormer(deps, owner, uid, key);
}

/**
 * As {@link formerOf}, for a Service that is to have no load balancer at all: a provider that nobody can tell about is asked to delete,
 * too. Throws while one has not answered yet.
 */
export async function leftoverOf(
  deps: FormersDependencies,
  owner: Provider,
  uid: string,
  isKnown: boolean,
  context: ReconcileContext,
): Promise<Former | undefined> {
  const { ledger } = deps;
  const { key } = context;
  if (!isKnown && ledger.former(key, uid) === undefined) {
    for (const other of candidates(deps, owner, key)) {
      const { info, name } = other;
      if (info === undefined) {
        throw other.unavailable ?? contractError("PROVIDER_STARTING", `provider ${name} has not answered yet`);
      }
      if (info.capabilities.loadBalancers === undefined) continue;
      const loadBalancerId = await listed(deps, other, uid, context);
      if (loadBalancerId === undefined && deps.inventory.isListed(other)) continue;
      ledger.recordFormer(key, uid, { provider: name, loadBalancerId });
    }
  }
  return stillFormer(deps, owner, uid, key);
}

/** The owner has changed under this process. */
function takeOver({ ledger, providers }: FormersDependencies, owner: Provider, uid: string, key: string): void {
  const holder = ledger.holder(key);
  if (holder === undefined || holder.provider === owner.name) return;
  const earlier = providers.providers.find(({ name }) => name === holder.provider);
  const loadBalancerId = ledger.entry(key)?.loadBalancerId;
  ledger.lose(key, { service: holder.service, provider: owner.name });
  if (earlier === undefined || isSamePlace(earlier, owner)) return;
  ledger.recordFormer(key, uid, { provider: earlier.name, loadBalancerId });
}

/** Providers that may have something of the Service and were not found to have nothing. */
function candidates({ providers, ledger }: FormersDependencies, owner: Provider, key: string): readonly Provider[] {
  return providers.providers.filter(
    (other) => other.name !== owner.name && !isSamePlace(other, owner) && !ledger.isRetired(key, other.name),
  );
}

async function listed(
  { inventory }: FormersDependencies,
  other: Provider,
  uid: string,
  { signal, log }: ReconcileContext,
): Promise<string | undefined> {
  return (await inventory.peek(other, uid, signal, log))?.id;
}

/** What the owner itself has, adopted perhaps, is no leftover. */
function stillFormer(
  { ledger, providers }: FormersDependencies,
  owner: Provider,
  uid: string,
  key: string,
): Former | undefined {
  const present = ledger.entry(key)?.loadBalancerId;
  for (const former of ledger.formers(key, uid)) {
    const earlier = providers.providers.find(({ name }) => name === former.provider);
    const isOwners = former.provider === owner.name || (earlier !== undefined && isSamePlace(earlier, owner));
    const isAdopted = former.loadBalancerId === present && earlier !== undefined && isSuccessor(owner, earlier);
    if (!isOwners && (present === undefined || !isAdopted)) return former;
    ledger.retired(key, former.provider);
  }
  return undefined;
}
