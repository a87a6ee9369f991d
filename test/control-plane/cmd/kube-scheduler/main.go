// Command kube-scheduler is upstream's, built from its module.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"cloudwire.dev/test/control-plane/internal/parent"
)

func main() {
	parent.Follow()
	os.Exit(cli.Run(app.NewSchedulerCommand()))
}
