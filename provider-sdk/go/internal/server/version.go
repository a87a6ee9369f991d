package server

// SDKVersion is reported in the handshake.
const SDKVersion = "0.1.0"
