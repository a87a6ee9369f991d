module cloudwire.dev/scripts/build/sdk-reference/go

go 1.25
