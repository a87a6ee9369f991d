#!/bin/sh
# Runs the conformance kit against this provider: does it keep the contract. Needs Node 24 (24.21 or newer); more arguments go to the kit.
set -eu
cd "$(dirname "$0")"
go build -o bin/ . ./internal/with-fake-cloud
exec bin/with-fake-cloud \
  npx --yes --package @cloudwire/conformance@0.1.0 cloudwire-conformance run --level M --yes --config conformance.yaml "$@" -- bin/acme-provider
