import type { CallBudgetStatus, ProviderSummary, Sample } from "@cloudwire/operator-api";
import type { JSX } from "preact";
import { formatNumber, formatRate, formatTime } from "../model/format.ts";
import { seriesOf } from "../model/plot-lines.ts";
import type { StreamState } from "../model/stream-state.ts";
import { LinePlot } from "./line-plot.tsx";
import { Panel, WideTable } from "./panel.tsx";

export function CallsView({ stream }: { readonly stream: StreamState }): JSX.Element {
  return (
    <>
      <h1 tabIndex={-1}>Calls to providers</h1>
      <CallRatePlots stream={stream} />
      <div class="plots">
        <Panel id="tokens" title="Remaining budget">
          <LinePlot
            label="Remaining budget in calls, by provider and quota class"
            series={seriesOf(stream.budgets, ({ tokens }) => tokens)}
            unit=" calls"
            empty="No provider has a rate limit."
          />
        </Panel>
        <Panel id="queued" title="Queued calls">
          <LinePlot
            label="Queued calls, by provider and quota class"
            series={seriesOf(stream.budgets, ({ waiting }) => waiting)}
            unit=" calls"
          />
        </Panel>
      </div>
      <Budgets providers={stream.overview?.providers ?? []} />
    </>
  );
}

/** Rates of calls and of failed calls. */
export function CallRatePlots({ stream }: { readonly stream: StreamState }): JSX.Element {
  return (
    <div class="plots">
      <Panel id="rates" title="Calls per second">
        <LinePlot
          label="Calls per second, by provider"
          series={seriesOf(stream.samples, ({ callsPerSecond }) => callsPerSecond)}
          unit="/s"
        />
      </Panel>
      <Panel id="failures" title="Failed calls per second">
        <LinePlot
          label="Failed calls per second, by provider"
          series={seriesOf(stream.samples, failuresOf)}
          unit="/s"
        />
      </Panel>
    </div>
  );
}

/** A sample has no entry for providers without failures. */
function failuresOf({ callsPerSecond, failedCallsPerSecond }: Sample): Readonly<Record<string, number>> {
  const none = Object.fromEntries(Object.keys(callsPerSecond).map((name) => [name, 0]));
  return { ...none, ...failedCallsPerSecond };
}

function Budgets({ providers }: { readonly providers: readonly ProviderSummary[] }): JSX.Element {
  return (
    <Panel id="budgets" title="Budgets">
      <WideTable label="Budgets">
        <thead>
          <tr>
            <th scope="col">Provider</th>
            <th scope="col">Quota class</th>
            <th scope="col" class="number">
              Limit
            </th>
            <th scope="col" class="number">
              Remaining
            </th>
            <th scope="col" class="number">
              Queued
            </th>
            <th scope="col">Throttled until</th>
          </tr>
        </thead>
        <tbody>
          {providers.flatMap(({ name, budgets }) =>
            budgets.map((budget) => (
              <BudgetLine key={`${name} ${budget.quotaClass}`} provider={name} budget={budget} />
            )),
          )}
        </tbody>
      </WideTable>
    </Panel>
  );
}

function BudgetLine({
  provider,
  budget,
}: {
  readonly provider: string;
  readonly budget: CallBudgetStatus;
}): JSX.Element {
  const { quotaClass, cloudCallsPerSecond, tokens, queuedCalls, throttledUntilTime } = budget;
  return (
    <tr>
      <th scope="row">{provider}</th>
      <td>{quotaClass}</td>
      <td class="number">{cloudCallsPerSecond === undefined ? "none" : formatRate(cloudCallsPerSecond)}</td>
      <td class="number">{tokens === undefined ? "" : formatNumber(Math.floor(tokens))}</td>
      <td class="number">{formatNumber(queuedCalls)}</td>
      <td>{throttledUntilTime === undefined ? "" : <span class="bad">{formatTime(throttledUntilTime)}</span>}</td>
    </tr>
  );
}
