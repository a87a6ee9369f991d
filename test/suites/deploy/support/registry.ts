import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { buildControlPlane, makeCertificates } from "@cloudwire/control-plane";
import { Program } from "../../../support/program.ts";
import { freePort } from "../../../support/secure-page.ts";
import { outputOf } from "./images.ts";

const HOST = "127.0.0.1";

/** A registry of images, empty at first, on loopback. */
export class Registry implements AsyncDisposable {
  /** `127.0.0.1:40123`, as it stands in references. */
  readonly address: string;
  /** By which programs trust its certificate beside those of this machine. */
  readonly env: Readonly<Record<string, string>>;
  readonly #program: Program;

  private constructor(address: string, env: Readonly<Record<string, string>>, program: Program) {
    this.address = address;
    this.env = env;
    this.#program = program;
  }

  /** Keeps all that it has in the directory. */
  static async start(directory: string): Promise<Registry> {
    const authorities = join(directory, "authorities");
    await mkdir(authorities, { recursive: true });
    const { dir } = await buildControlPlane();
    const { authority, certificateOf } = await makeCertificates(dir, {
      registry: { commonName: "registry", hosts: [HOST] },
    });
    const { certificate, key } = certificateOf("registry");
    const files = { "tls.crt": certificate, "tls.key": key, "authorities/registry.crt": authority.certificate };
    for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
    const address = `${HOST}:${await freePort()}`;
    const config = {
      version: "0.1",
      storage: { filesystem: { rootdirectory: join(directory, "data") } },
      http: { addr: address, tls: { certificate: join(directory, "tls.crt"), key: join(directory, "tls.key") } },
    };
    await writeFile(join(directory, "config.yml"), JSON.stringify(config));
    const program = new Program({ command: "docker-registry", args: ["serve", join(directory, "config.yml")] });
    await program.said(/listening on/);
    const trusted = [process.env["SSL_CERT_DIR"] ?? "/etc/ssl/certs", authorities].join(":");
    return new Registry(address, { SSL_CERT_DIR: trusted }, program);
  }

  /** Digests of what the reference names, by platform, as every client that pulls it gets them. */
  async platforms(reference: string): Promise<Readonly<Record<string, string>>> {
    const text = await outputOf("skopeo", ["inspect", "--raw", `docker://${reference}`], this.env);
    const { manifests }: { readonly manifests: readonly ListedManifest[] } = JSON.parse(text);
    return Object.fromEntries(
      manifests.map(({ platform: { os, architecture }, digest }) => [`${os}/${architecture}`, digest]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
  }
}

interface ListedManifest {
  readonly digest: string;
  readonly platform: { readonly os: string; readonly architecture: string };
}
