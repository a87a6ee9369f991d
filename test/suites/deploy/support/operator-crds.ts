import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { outputOf } from "./images.ts";

const MODULE = fileURLToPath(new URL("../operator-crds", import.meta.url));
const OPERATOR = "github.com/prometheus-operator/prometheus-operator";

/** The file with the CustomResourceDefinition of a kind of Prometheus' operator, out of the pinned version's own module. */
export async function operatorCrd(plural: string): Promise<string> {
  const { Dir: directory }: { readonly Dir: string } = JSON.parse(
    await outputOf("go", ["-C", MODULE, "mod", "download", "-json", OPERATOR]),
  );
  return join(directory, `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`);
}
