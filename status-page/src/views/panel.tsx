import type { ComponentChildren, JSX } from "preact";

interface PanelProps {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** A part of a view, with a heading that names it. */
export function Panel({ id, title, children, class: more = "" }: PanelProps): JSX.Element {
  return (
    <section class={`panel ${more}`} aria-labeledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** A table that may be wider than the window: then it scrolls by itself, by keyboard too. */
export function WideTable({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="wide" role="group" aria-label={label} tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}
