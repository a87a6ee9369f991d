module cloudwire.dev/scripts/sdk-reference/go

go 1.25
