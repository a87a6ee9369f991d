import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { record } from "../test/records.ts";
import { withLoadBalancer } from "./state.ts";
import { openStore, type Store } from "./store.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "store-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const open = async (): Promise<Store> => (await openStore(directory)).store;
const add = (store: Store, key: string): Promise<void> =>
  store.update((state) => withLoadBalancer(state, record({ key })));
const keys = (store: Store): readonly string[] => store.state().loadBalancers.map(({ key }) => key);

describe("Store.refresh()", () => {
  test("takes over what another process has written, and loses nothing of it", async () => {
    const [one, other] = [await open(), await open()];
    await add(one, "k8s-a");
    await other.refresh();
    expect(keys(other)).toEqual(["k8s-a"]);
    await add(other, "k8s-b");
    await one.refresh();
    expect(keys(one)).toEqual(["k8s-a", "k8s-b"]);
    await add(one, "k8s-c");
    await add(one, "k8s-d");
    await other.refresh();
    expect(keys(other)).toEqual(["k8s-a", "k8s-b", "k8s-c", "k8s-d"]);
  });

  test("leaves a change of its own alone that is not on the disk yet", async () => {
    const [one, other] = [await open(), await open()];
    await add(other, "k8s-a");
    const writing = add(one, "k8s-b");
    await one.refresh();
    expect(keys(one)).toEqual(["k8s-b"]);
    await writing;
    await one.refresh();
    expect(keys(one)).toEqual(["k8s-b"]);
  });

  test("goes on with what it knows where the file is gone or cannot be read", async () => {
    const store = await open();
    await add(store, "k8s-a");
    await writeFile(join(directory, "state.json"), "{");
    await store.refresh();
    await rm(join(directory, "state.json"));
    await store.refresh();
    expect(keys(store)).toEqual(["k8s-a"]);
    await add(store, "k8s-b");
    expect(keys(await open())).toEqual(["k8s-a", "k8s-b"]);
  });
});
