const PEM = /^-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END CERTIFICATE REQUEST-----\s*$/;

/**
 * The bytes of the one PEM block that `base64` holds. Throws unless there is that block and nothing else: other readers skip what they
 * do not understand and take the first block that they do, which then need not be the same.
 */
export function decodeRequestPem(base64: string, maxBytes: number): Uint8Array {
  // Twice base64: 4/3 of 4/3, with room for line ends.
  if (base64.length > 2 * maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  const [, body] = PEM.exec(Buffer.from(base64, "base64").toString("latin1")) ?? [];
  if (body === undefined) throw new Error("it is not one PEM block of type CERTIFICATE REQUEST");
  const text = body.replaceAll(/[\r\n]/g, "");
  const der = Buffer.from(text, "base64");
  // Node skips what is no base64; other readers do not.
  if (der.toString("base64") !== text) throw new Error("its PEM block is not base64");
  return der;
}
