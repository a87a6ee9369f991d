import { describe, expect, test } from "vitest";
import { createPaint } from "../terminal/terminal.ts";
import { heldNode, heldRows, noPlans, orphans, overview, plans, quietOverview, quietService } from "../test/samples.ts";
import { renderExplanation } from "./explanation.ts";
import { renderBlocked, renderOrphans, renderRows } from "./lists.ts";
import { renderOverview } from "./overview.ts";
import { renderPlans } from "./plans.ts";

const plain = { paint: createPaint(false), columns: undefined };
const narrow = { paint: createPaint(false), columns: 72 };
const colored = { paint: createPaint(true), columns: 72 };

const ESCAPE = "\u001B";

/** Codes of colors. */
const escapes = new RegExp(`${ESCAPE}\\[\\d+m`, "g");

describe("renderExplanation()", () => {
  test("shows all fields of a blocked object", () => {
    expect(renderExplanation(heldNode, plain)).toMatchInlineSnapshot(`
      "node/worker-1  blocked
      aws reports its instance as deleted, and the circuit breaker blocks it.

      Causes
        TooManyNodeDeletions: Too many Nodes would be deleted, so none of them is.
          To fix:  Check in the cloud whether these instances exist.
          Docs: docs/explanation/deletion-guard.md
        ClientThrottled: Calls of quota class reads are rate limited.

      Next retry  in 30 s (15:04:35Z): the guard looks again

      Desired state
        met      taint uninitialized removed
        pending  Node deleted: blocked by the circuit breaker
        unmet    addresses match the cloud

      Details
        provider id  aws:///eu-1a/i-0123
        created      2026-11-20T10:00:00Z

      Controllers
        cloud-node-lifecycle-controller  worker-1  retrying in 30 s; last requeued 3 s ago in 12 ms, reconcile r-1
        cloud-node-controller            worker-1  queued (at most 3 ahead), priority low, failed 2 times in a row; last error 4m ago in 1.5 s, reconcile r-2: UNAVAILABLE, the cloud is away
        service-lb-controller            worker-1  idle
        node-route-controller            worker-1  processing for 250 ms, failed once
        node-ipam-controller             worker-1  not running here: --controllers

      Provider
        aws  not ready, connection connected
        its credentials expire soon
        absence reports are currently ignored: it failed 12 s ago
        calls of quota class reads are throttled until 15:05:00Z

      Recent provider calls
        5 s ago  GetInstances  OK           to aws, 87 ms, in a batch of 40, request req-1, req-2
        1h ago   GetInstances  UNAVAILABLE  5 s, CLOUD_UNAVAILABLE, no answer

      Timeline
        3 s ago   event   TooManyNodeDeletions  Not deleted: 12 of 40 Nodes would go (cloud-node-lifecycle-controller, 3 times)
        3d5h ago  object  Created               The Node was created

      Reported by ccm-0_1b2c (leader), version 0.1.0, at 15:04:05Z.
      "
    `);
  });

  test("keeps to the width of a terminal", () => {
    const text = renderExplanation(heldNode, narrow);
    expect(text).toMatchInlineSnapshot(`
      "node/worker-1  blocked
      aws reports its instance as deleted, and the circuit breaker blocks it.

      Causes
        TooManyNodeDeletions: Too many Nodes would be deleted, so none of them
        is.
          To fix:  Check in the cloud whether these instances exist.
          Docs: docs/explanation/deletion-guard.md
        ClientThrottled: Calls of quota class reads are rate limited.

      Next retry  in 30 s (15:04:35Z): the guard looks again

      Desired state
        met      taint uninitialized removed
        pending  Node deleted: blocked by the circuit breaker
        unmet    addresses match the cloud

      Details
        provider id  aws:///eu-1a/i-0123
        created      2026-11-20T10:00:00Z

      Controllers
        cloud-node-lifecycle-controller  worker-1
            retrying in 30 s; last requeued 3 s ago in 12 ms, reconcile r-1
        cloud-node-controller            worker-1
            queued (at most 3 ahead), priority low, failed 2 times in a row;
            last error 4m ago in 1.5 s, reconcile r-2: UNAVAILABLE, the cloud
            is away
        service-lb-controller            worker-1
            idle
        node-route-controller            worker-1
            processing for 250 ms, failed once
        node-ipam-controller             worker-1
            not running here: --controllers

      Provider
        aws  not ready, connection connected
        its credentials expire soon
        absence reports are currently ignored: it failed 12 s ago
        calls of quota class reads are throttled until 15:05:00Z

      Recent provider calls
        5 s ago  GetInstances  OK
            to aws, 87 ms, in a batch of 40, request req-1, req-2
        1h ago   GetInstances  UNAVAILABLE
            5 s, CLOUD_UNAVAILABLE, no answer

      Timeline
        3 s ago   event   TooManyNodeDeletions
            Not deleted: 12 of 40 Nodes would go
            (cloud-node-lifecycle-controller, 3 times)
        3d5h ago  object  Created
            The Node was created

      Reported by ccm-0_1b2c (leader), version 0.1.0, at 15:04:05Z.
      "
    `);
    expect(text.split("\n").filter((line) => line.length > 72)).toEqual([]);
  });

  test("says no more than there is of an object that is gone", () => {
    expect(renderExplanation(quietService, plain)).toMatchInlineSnapshot(`
      "service/shop/web  ok  (not in the cluster)
      There is no such Service.

      Reported by ccm-1_9f (standby; leader ccm-0_1b2c; only the leader knows the reconcile state), version 0.1.0, at 15:04:05Z.
      "
    `);
  });
});

describe("renderOverview()", () => {
  test("begins with alarms", () => {
    expect(renderOverview(overview, narrow)).toMatchInlineSnapshot(`
      "cluster prod

      Alarms
        provider/aws: TooManyNodeDeletions: 12 of 40 Nodes are gone
          To fix:  Check the instances in the cloud.

      Objects
                  ok  progressing  waiting  blocked  unmanaged
        node      28            0        0       12          0
        service    4            1        2        0          0
        route      0            0        0        0          0
        provider   1            0        0        1          0
        to see the causes: \`list --state waiting,blocked\`

      Controllers
        name                   state    queued  processing  delayed  failing
        cloud-node-controller  running       3           1        0        2
        node-route-controller  off           0           0        0        0

      Providers
        aws  ready, connection connected, unix:///run/aws.sock, version 1.2.3
          120 calls, 1 failed, 2 in flight
          budget reads: 20 calls/s, 39 left, 4 queued, throttled until
          15:05:00Z
          budget changes: no limit
          deletion circuit breaker open: 12 of 40 Nodes are gone
        metal  not ready, connection backoff, unix:///run/metal.sock
          0 calls, 0 failed, 0 in flight
          connection refused

      Reported by ccm-0_1b2c (leader), version 0.1.0, at 15:04:05Z.
      "
    `);
  });

  test("says that nothing is wrong, and that something is only observed", () => {
    expect(renderOverview(quietOverview, narrow)).toMatchInlineSnapshot(`
      "cluster prod  observe mode: see \`plan\`
      No alarms.

      Objects
                  ok  progressing  waiting  blocked  unmanaged
        node      28            0        0       12          0
        service    4            1        2        0          0
        route      0            0        0        0          0
        provider   1            0        0        1          0
        to see the causes: \`list --state waiting,blocked\`

      Controllers
        name  state  queued  processing  delayed  failing

      Providers
        none

      Reported by ccm-0_1b2c (leader), version 0.1.0, at 15:04:05Z.
      "
    `);
  });
});

describe("renderRows()", () => {
  test("has a line for each object, by name", () => {
    expect(renderRows(heldRows, 500, plain)).toMatchInlineSnapshot(`
      "object         state    provider  reason                summary
      node/worker-1  blocked  aws       TooManyNodeDeletions  Its instance is deleted.
      node/worker-2  blocked  aws       TooManyNodeDeletions  Its instance is deleted.
      node/worker-3  blocked            NodeUnowned           No provider serves it. Not TooManyNodeDeletions.
      "
    `);
  });

  test("says that there may be more, within the width of a terminal", () => {
    expect(renderRows(heldRows, 3, narrow)).toMatchInlineSnapshot(`
      "object         state    provider  reason
          summary
      node/worker-1  blocked  aws       TooManyNodeDeletions
          Its instance is deleted.
      node/worker-2  blocked  aws       TooManyNodeDeletions
          Its instance is deleted.
      node/worker-3  blocked            NodeUnowned
          No provider serves it. Not TooManyNodeDeletions.
      Showing the first 3 objects. Use --limit for more, --state and --search
      for fewer.
      "
    `);
  });

  test("says that there are none", () => {
    expect(renderRows([], 500, plain)).toBe("No objects.\n");
  });
});

describe("renderPlans()", () => {
  test("says what would be written, by key", () => {
    expect(renderPlans(plans, narrow)).toMatchInlineSnapshot(`
      "Differences: existing objects or resources would be updated or deleted.
      The plan is not complete yet.
      0 deletes, 1 update and 1 create.

      cloud-node-controller worker-1 (aws)
        create  patch nodes worker-1: metadata.labels.zone
        update  aws EnsureLoadBalancer (service changed)

      Failed reconciles (their writes are unknown)
        node-route-controller  routes  aws
      "
    `);
  });

  test("gives the go-ahead", () => {
    expect(renderPlans(noPlans, narrow)).toMatchInlineSnapshot(`
      "Safe to proceed: the plan is complete, and nothing that exists would be
      updated or deleted.
      0 deletes, 0 updates and 0 creates.
      "
    `);
  });
});

describe("renderOrphans()", () => {
  test("lists resources without an owner, and unreachable providers", () => {
    expect(renderOrphans(orphans, narrow)).toMatchInlineSnapshot(`
      "provider  kind          id          owner
          message
      aws       loadBalancer  lb-1        shop/old
          no Service of that name; it is deleted when its owner's UID is known
          to be gone
      aws       route         r-10.0.1.0  worker-9
          deleted at the next look

      Unreachable providers (their orphans may be missing)
        metal  not connected
      "
    `);
  });

  test("says that there are none", () => {
    expect(renderOrphans({ ...orphans, orphans: [], unreachableProviders: [] }, plain)).toMatchInlineSnapshot(`
      "No orphans: every resource with this cluster's ownership tags has an owner in the cluster.
      "
    `);
  });

  test("does not say that there are none where it does not know", () => {
    expect(renderOrphans({ ...orphans, orphans: [] }, plain)).toMatchInlineSnapshot(`
      "No orphans are known.

      Unreachable providers (their orphans may be missing)
        metal  not connected
      "
    `);
  });
});

describe("renderHeld()", () => {
  const nodes = heldRows.map(({ object, provider, summary }) => ({ name: object.slice(5), provider, summary }));

  test.each([
    [
      "the blocked Nodes",
      nodes.slice(0, 2),
      "blocked",
      "Deletion of 2 Nodes is blocked by the circuit breaker:\n  worker-2  aws  Its instance is deleted.\n  worker-1  aws  Its instance is deleted.\n",
    ],
    [
      "the Nodes to approve",
      nodes.slice(0, 1),
      "chosen",
      "To approve for deletion: 1 Node\n  worker-2  aws  Its instance is deleted.\n",
    ],
    ["a closed circuit breaker", [], "blocked", "The circuit breaker is closed.\n"],
  ] as const)("lists %s", (_what, some, which, text) => {
    expect(renderBlocked(some, which, plain)).toBe(text);
  });
});

test.each([
  ["explanation", renderExplanation(heldNode, colored), renderExplanation(heldNode, narrow)],
  ["overview", renderOverview(overview, colored), renderOverview(overview, narrow)],
  ["plans", renderPlans(plans, colored), renderPlans(plans, narrow)],
  ["orphans", renderOrphans(orphans, colored), renderOrphans(orphans, narrow)],
])("colors of the %s change nothing else of it", (_what, withColors, without) => {
  expect(withColors).toMatch(escapes);
  expect(withColors.replaceAll(escapes, "")).toBe(without);
});
