import { request } from "node:https";
import { expect, test } from "vitest";
import { startDevCluster } from "./index.ts";

// A self-signed certificate of 127.0.0.1 for this test alone; it expires in a hundred years.
const certificate = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUKgAwIBAgIUDc3LxRszOQAtnw9NTkSJzvcnL1UwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPZGV2Y2x1c3Rlci10ZXN0MCAXDTI2MTEyMTE1MDAxNVoYDzIx
MjYxMDI4MTUwMDE1WjAaMRgwFgYDVQQDDA9kZXZjbHVzdGVyLXRlc3QwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAASk5EE1iU0Wrze1t36zZIghwIb/oHsJwaPpOYzs
wJ3zFTeVAmaPgQnhItKmgOpFLYXdIQkXGUVEvSA1dQ+xspfto2QwYjAdBgNVHQ4E
FgQUCeulgMKgMUJl2QIt8dEHrfFQXeswHwYDVR0jBBgwFoAUCeulgMKgMUJl2QIt
8dEHrfFQXeswDwYDVR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqG
SM49BAMCA0cAMEQCIEIrpSKUvGrlrtbxClsFHyc0AtIqg1mvEW7rz0L2uHusAiBh
oJugyyGHE3HKAnCSXGxK2rFTCQZsO6Kd+u2Gl1W0kA==
-----END CERTIFICATE-----
`;
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg665gIs4salMyo1YE
TcVz5l8HXodXJPwkFfdaX1bgU7ShRANCAASk5EE1iU0Wrze1t36zZIghwIb/oHsJ
waPpOYzswJ3zFTeVAmaPgQnhItKmgOpFLYXdIQkXGUVEvSA1dQ+xspft
-----END PRIVATE KEY-----
`;

test("startDevCluster() serves HTTPS with a certificate, and its kubeconfig trusts it", async () => {
  const cluster = await startDevCluster({ tls: { certificate, key } });
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const call = request(`${cluster.url}/readyz`, { ca: certificate, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    call.on("error", reject);
    call.end();
  });
  await cluster.close();
  expect([cluster.url.startsWith("https://127.0.0.1:"), status]).toEqual([true, 200]);
  expect(JSON.parse(cluster.kubeconfig())).toMatchObject({
    clusters: [{ cluster: { "certificate-authority-data": Buffer.from(certificate).toString("base64") } }],
  });
});

test("the kubeconfig of a cluster without TLS says that nothing proves who the server is", async () => {
  const cluster = await startDevCluster();
  await cluster.close();
  expect(JSON.parse(cluster.kubeconfig())).toMatchObject({
    clusters: [{ cluster: { server: cluster.url, "insecure-skip-tls-verify": true } }],
  });
});
