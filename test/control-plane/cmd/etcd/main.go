// Command etcd is upstream's, built from its module.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"

	"cloudwire.dev/test/control-plane/internal/parent"
)

func main() {
	parent.Follow()
	etcdmain.Main(os.Args)
}
