import type { DeletionCircuitBreaker, Overview, ProviderSummary } from "@cloudwire/operator-api";
import type { JSX } from "preact";
import { formatCount, formatNumber, formatWord } from "../model/format.ts";
import { formatPlace } from "../model/place.ts";
import { Panel, WideTable } from "./panel.tsx";

/** Who the clouds are, whether they answer, and whether Nodes may be deleted on their word. */
export function GuardPanel({ overview }: { readonly overview: Overview }): JSX.Element {
  return (
    <Panel id="guard" title="Providers and the brake on deletions">
      <WideTable label="Providers and the brake on deletions">
        <thead>
          <tr>
            <th scope="col">Provider</th>
            <th scope="col">Connection</th>
            <th scope="col">Brake</th>
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
          <small>the replica that leads knows</small>
        ) : (
          <Brake brake={provider.deletionCircuitBreaker} />
        )}
      </td>
      <td class="number">{formatNumber(provider.calls)}</td>
      <td class="number">{formatNumber(provider.failedCalls)}</td>
      <td class="number">{formatNumber(provider.inFlight)}</td>
    </tr>
  );
}

function Brake({ brake: { open, absentNodes, message } }: { readonly brake: DeletionCircuitBreaker }): JSX.Element {
  const said =
    absentNodes === 0
      ? "no machine is said to be gone"
      : `machines of ${formatCount(absentNodes, "Node")} are said to be gone`;
  return (
    <>
      <span class={open ? "bad" : "good"}>{open ? "holds" : "released"}</span>
      <small>{said}</small>
      {message === undefined ? null : <small>{message}</small>}
    </>
  );
}
