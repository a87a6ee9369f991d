import type { ComponentChildren, JSX } from "preact";
import { useErrorBoundary } from "preact/hooks";

/** Replaces a failed view, which would otherwise look current. */
export function Guarded({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const [failure]: readonly [unknown, () => void] = useErrorBoundary((error: unknown) => console.error(error));
  if (failure === undefined) return <>{children}</>;
  return (
    <p class="banner lost" role="alert">
      <strong>This view failed (page bug):</strong>{" "}
      {failure instanceof Error ? failure.message : "an error without a message"}.{" "}
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </p>
  );
}
