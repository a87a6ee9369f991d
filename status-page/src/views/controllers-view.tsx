import type { ControllerSummary } from "@cloudwire/operator-api";
import type { JSX } from "preact";
import { formatNumber, formatWord } from "../model/format.ts";
import { seriesOf } from "../model/plot-lines.ts";
import type { StreamState } from "../model/stream-state.ts";
import { Panel, WideTable } from "./panel.tsx";
import { LinePlot } from "./line-plot.tsx";

const COLUMNS = ["processing", "queued", "delayed", "failing"] as const;

export function ControllersView({ stream }: { readonly stream: StreamState }): JSX.Element {
  const controllers = stream.overview?.controllers ?? [];
  return (
    <>
      <h1 tabIndex={-1}>Controllers</h1>
      <Panel id="queues" title="Workqueues">
        <WideTable label="Workqueues">
          <thead>
            <tr>
              <th scope="col">Controller</th>
              <th scope="col">State</th>
              {COLUMNS.map((column) => (
                <th key={column} scope="col" class="number">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {controllers.map((controller) => (
              <ControllerLine key={controller.name} controller={controller} />
            ))}
          </tbody>
        </WideTable>
        <p class="hint">
          Number of keys. Failing: the last reconcile failed. Delayed: waiting for the next scheduled reconcile or
          retry.
        </p>
      </Panel>
      <Panel id="reconciles" title="Reconciles per second">
        <LinePlot
          label="Reconciles per second, by controller"
          series={seriesOf(stream.samples, ({ reconcilesPerSecond }) => reconcilesPerSecond)}
          unit="/s"
        />
      </Panel>
    </>
  );
}

function ControllerLine({ controller }: { readonly controller: ControllerSummary }): JSX.Element {
  return (
    <tr>
      <th scope="row">{controller.name}</th>
      <td>{formatWord(controller.state)}</td>
      {COLUMNS.map((column) => (
        <td key={column} class={`number${column === "failing" && controller.failing > 0 ? " bad" : ""}`}>
          {formatNumber(controller[column])}
        </td>
      ))}
    </tr>
  );
}
