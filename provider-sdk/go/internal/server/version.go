package server

// SDKVersion is told in the handshake.
const SDKVersion = "0.1.0"
