import type { WatchInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import type { WatchLoadBalancersResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { Random } from "../../util/clock.ts";
import type { InstanceHint, LoadBalancerHint, WatchEvent, WatchOptions } from "../model/client.ts";
import { instanceFromProto } from "../convert/instance.ts";
import { loadBalancerFromProto, serviceRefFromProto } from "../convert/load-balancer.ts";
import { RPCS } from "../convert/methods.ts";
import type { Session } from "./session.ts";
import { watchLoop } from "./watch-loop.ts";

export function watchInstances(
  session: Session,
  random: Random,
  options: WatchOptions,
): AsyncIterable<WatchEvent<InstanceHint>> {
  return watchLoop<InstanceHint>(
    {
      clock: session.clock,
      random,
      async *open(resumeToken, sendInitialEvents, signal) {
        const request = { resumeToken, sendInitialEvents };
        const stream = session.stream(RPCS.watchInstances, (context) => ({ context, ...request }), signal);
        for await (const message of stream) {
          yield { hint: instanceHint(message.event), resumeToken: message.resumeToken };
        }
      },
    },
    options,
  );
}

export function watchLoadBalancers(
  session: Session,
  random: Random,
  options: WatchOptions,
): AsyncIterable<WatchEvent<LoadBalancerHint>> {
  return watchLoop<LoadBalancerHint>(
    {
      clock: session.clock,
      random,
      async *open(resumeToken, sendInitialEvents, signal) {
        const request = { resumeToken, sendInitialEvents };
        const stream = session.stream(RPCS.watchLoadBalancers, (context) => ({ context, ...request }), signal);
        for await (const message of stream) {
          yield { hint: loadBalancerHint(message.event), resumeToken: message.resumeToken };
        }
      },
    },
    options,
  );
}

/** A hint of a kind newer than this program says nothing here; its token still counts. */
const NOTHING_NEW = { kind: "bookmark", initialEventsEnd: false } as const;

function instanceHint(event: WatchInstancesResponse["event"]): InstanceHint {
  if (event === undefined) return NOTHING_NEW;
  switch (event.$case) {
    case "upsert":
      return { kind: "upsert", instance: instanceFromProto(event.value) };
    case "gone":
      return { kind: "gone", providerId: event.value.providerId };
    case "bookmark":
      return { kind: "bookmark", initialEventsEnd: event.value.initialEventsEnd };
    case "resync":
      return { kind: "resync", message: event.value.message };
  }
  return event satisfies never;
}

function loadBalancerHint(event: WatchLoadBalancersResponse["event"]): LoadBalancerHint {
  if (event === undefined) return NOTHING_NEW;
  switch (event.$case) {
    case "upsert": {
      const loadBalancer = loadBalancerFromProto(event.value);
      return loadBalancer === undefined ? NOTHING_NEW : { kind: "upsert", loadBalancer };
    }
    case "gone": {
      const { service } = event.value;
      return service === undefined ? NOTHING_NEW : { kind: "gone", service: serviceRefFromProto(service) };
    }
    case "bookmark":
      return { kind: "bookmark", initialEventsEnd: event.value.initialEventsEnd };
    case "resync":
      return { kind: "resync", message: event.value.message };
  }
  return event satisfies never;
}
