// Compiles to nothing: a pin of the files with the CustomResourceDefinitions of Prometheus' operator, which its module has.
// `go mod tidy` would take the requirement out.
module cloudwire.dev/test/suites/deploy/operator-crds

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
