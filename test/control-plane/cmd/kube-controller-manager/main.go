// Command kube-controller-manager is upstream's, built from its module.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"cloudwire.dev/test/control-plane/internal/parent"
)

func main() {
	parent.Follow()
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
