module cloudwire.dev/test/suites/deploy/oci-check

go 1.26.0

require github.com/opencontainers/image-spec v1.1.1

require (
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // indirect
)
