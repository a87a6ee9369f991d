import type { ComponentChildren, JSX } from "preact";
import { useErrorBoundary } from "preact/hooks";

/** A view that breaks must not stay in sight as it was, which would look current. */
export function Guarded({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const [fault]: readonly [unknown, () => void] = useErrorBoundary((error: unknown) => console.error(error));
  if (fault === undefined) return <>{children}</>;
  return (
    <p class="banner lost" role="alert">
      <strong>This view broke by a fault of the page:</strong>{" "}
      {fault instanceof Error ? fault.message : "an error without a message"}.{" "}
      <button type="button" onClick={() => location.reload()}>
        Load it anew
      </button>
    </p>
  );
}
