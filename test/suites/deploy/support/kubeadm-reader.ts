/** A program in Go that decodes a file as strictly as kubeadm does, and prints the kind of each document. */
export const KUBEADM_READER = `package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	kubelet "k8s.io/kubelet/config/v1beta1"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4"
)

func main() {
	scheme := runtime.NewScheme()
	utilruntime.Must(kubeadm.AddToScheme(scheme))
	utilruntime.Must(kubelet.AddToScheme(scheme))
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	file, err := os.ReadFile(os.Args[1])
	utilruntime.Must(err)
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(file)))
	buffer := make([]byte, len(file)+1)
	for {
		length, err := documents.Read(buffer)
		if err == io.EOF {
			return
		}
		utilruntime.Must(err)
		_, kind, err := decoder.Decode(buffer[:length], nil, nil)
		utilruntime.Must(err)
		fmt.Println(kind.Kind)
	}
}
`;
