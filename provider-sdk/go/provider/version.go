package provider

// sdkVersion is told in the handshake.
const sdkVersion = "0.1.0"
