import type { DeletionCircuitBreaker, Overview, ProviderSummary } from "@cloudwire/operator-api";
import type { JSX } from "preact";
import { formatCount, formatNumber, formatWord } from "../model/format.ts";
import { formatPlace } from "../model/place.ts";
import { Panel, WideTable } from "./panel.tsx";

/** The providers, their connection, and their deletion circuit breaker. */
export function ProvidersPanel({ overview }: { readonly overview: Overview }): JSX.Element {
  return (
    <Panel id="providers" title="Providers and deletion circuit breaker">
      <WideTable label="Providers and deletion circuit breaker">
        <thead>
          <tr>
            <th scope="col">Provider</th>
            <th scope="col">Connection</th>
            <th scope="col">Circuit breaker</th>
            <th scope="col" class="number">
              Calls
            </th>
            <th scope="col" class="number">
              Failed
            </th>
            <th scope="col" class="number">
              In flight
            </th>
          </tr>
        </thead>
        <tbody>
          {overview.providers.map((provider) => (
            <ProviderLine key={provider.name} provider={provider} />
          ))}
        </tbody>
      </WideTable>
    </Panel>
  );
}

function ProviderLine({ provider }: { readonly provider: ProviderSummary }): JSX.Element {
  const { name, connection, ready, reasons, version, address } = provider;
  return (
    <tr>
      <th scope="row">
        <a href={formatPlace({ view: "object", object: { kind: "provider", name } })}>{name}</a>
        <small>
          {version === undefined ? "" : `${version}, `}
          {address}
        </small>
      </th>
      <td>
        <span class={ready ? "good" : "bad"}>
          {formatWord(connection)}
          {ready ? "" : ", not ready"}
        </span>
        {reasons.map((reason) => (
          <small key={reason}>{reason}</small>
        ))}
      </td>
      <td>
        {provider.deletionCircuitBreaker === undefined ? (
          <small>available only on the leader</small>
        ) : (
          <CircuitBreaker breaker={provider.deletionCircuitBreaker} />
        )}
      </td>
      <td class="number">{formatNumber(provider.calls)}</td>
      <td class="number">{formatNumber(provider.failedCalls)}</td>
      <td class="number">{formatNumber(provider.inFlight)}</td>
    </tr>
  );
}

function CircuitBreaker({
  breaker: { open, absentNodes, message },
}: {
  readonly breaker: DeletionCircuitBreaker;
}): JSX.Element {
  const detail =
    absentNodes === 0 ? "no absent instances" : `instances of ${formatCount(absentNodes, "Node")} reported as deleted`;
  return (
    <>
      <span class={open ? "bad" : "good"}>{open ? "open" : "closed"}</span>
      <small>{detail}</small>
      {message === undefined ? null : <small>{message}</small>}
    </>
  );
}
