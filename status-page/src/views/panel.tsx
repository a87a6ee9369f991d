import type { ComponentChildren, JSX } from "preact";

interface PanelProps {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** A section of a view with a heading. */
export function Panel({ id, title, children, class: more = "" }: PanelProps): JSX.Element {
  return (
    <section class={`panel ${more}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** A table that scrolls horizontally, also by keyboard, if it is wider than the window. */
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
