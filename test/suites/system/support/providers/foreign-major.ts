import { Server, ServerCredentials, status } from "@grpc/grpc-js";

export interface ForeignProvider {
  close(): void;
}

const PATH = "/cloudprovider.v2.CloudProvider/GetProviderInfo";

/** A gRPC server as a provider of a later major would be: it knows service cloudprovider.v2 and nothing of v1. */
export async function serveForeignMajor(socketPath: string): Promise<ForeignProvider> {
  const server = new Server();
  server.addService(
    {
      GetProviderInfo: {
        path: PATH,
        requestStream: false,
        responseStream: false,
        requestSerialize: (bytes: Buffer) => bytes,
        requestDeserialize: (bytes: Buffer) => bytes,
        responseSerialize: (bytes: Buffer) => bytes,
        responseDeserialize: (bytes: Buffer) => bytes,
      },
    },
    {
      GetProviderInfo: (_call: unknown, callback: (error: object) => void) =>
        callback({ code: status.INTERNAL, details: "" }),
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socketPath}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
  return { close: () => server.forceShutdown() };
}
