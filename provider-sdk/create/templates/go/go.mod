module acme.example.com/acme-provider

go 1.25.0

require cloudwire.dev/provider-sdk/go v0.1.0
