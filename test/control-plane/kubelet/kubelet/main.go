// Command kubelet is upstream's, built from its module: with a container runtime it runs real containers.
package main

import (
	"context"
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kubelet/app"

	"cloudwire.dev/test/control-plane/internal/parent"
)

func main() {
	parent.Follow()
	os.Exit(cli.Run(app.NewKubeletCommand(context.Background())))
}
