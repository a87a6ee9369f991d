import { X509Certificate } from "node:crypto";
import { elements } from "./der.ts";

/** The name of the authority that signed a certificate, as DER: the second SEQUENCE of what is signed, after that of the algorithm (RFC 5280, 4.1). */
export const issuerName = (cert: string | Buffer): Buffer => {
  const [certificate] = elements(new X509Certificate(cert).raw);
  const [toBeSigned] = elements(certificate?.content ?? Buffer.alloc(0));
  const sequences = elements(toBeSigned?.content ?? Buffer.alloc(0)).filter(({ tag }) => tag === 0x30);
  return sequences[1]?.whole ?? Buffer.alloc(0);
};
