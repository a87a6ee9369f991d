// Program oci-check holds every JSON document of an OCI image layout against the schemas of the image format, with the
// format's own validator, and every blob against its digest and size.
//
//	oci-check DIRECTORY
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/opencontainers/image-spec/schema"
	"github.com/opencontainers/image-spec/specs-go/v1"
)

// checker goes from the layout's index to everything that it refers to.
type checker struct {
	directory string
	seen      map[string]bool
	faults    []string
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "Usage: oci-check DIRECTORY")
		os.Exit(64)
	}
	check := &checker{directory: os.Args[1], seen: map[string]bool{}}
	check.document("oci-layout", schema.ValidatorMediaTypeLayoutHeader, check.read("oci-layout"))
	index := check.read("index.json")
	check.document("index.json", schema.ValidatorMediaTypeImageIndex, index)
	check.index(index)
	for _, fault := range check.faults {
		fmt.Println(fault)
	}
	fmt.Printf("%d blobs, %d faults\n", len(check.seen), len(check.faults))
	if len(check.faults) > 0 {
		os.Exit(1)
	}
}

func (c *checker) index(text []byte) {
	var index v1.Index
	c.decode("an index", text, &index)
	for _, descriptor := range index.Manifests {
		c.blob(descriptor)
	}
}

func (c *checker) manifest(text []byte) {
	var manifest v1.Manifest
	c.decode("a manifest", text, &manifest)
	c.blob(manifest.Config)
	for _, descriptor := range manifest.Layers {
		c.blob(descriptor)
	}
}

// blob looks at what a descriptor refers to: once, for layers are shared.
func (c *checker) blob(descriptor v1.Descriptor) {
	name := descriptor.Digest.String()
	if c.seen[name] {
		return
	}
	c.seen[name] = true
	text, err := json.Marshal(descriptor)
	if err != nil {
		c.fault(name, err)
	}
	c.document("the descriptor of "+name, schema.ValidatorMediaTypeDescriptor, text)
	if err := descriptor.Digest.Validate(); err != nil {
		c.fault(name, err)
		return
	}
	content := c.read(filepath.Join("blobs", descriptor.Digest.Algorithm().String(), descriptor.Digest.Encoded()))
	if int64(len(content)) != descriptor.Size {
		c.fault(name, fmt.Errorf("has %d bytes, and its descriptor says %d", len(content), descriptor.Size))
	}
	if descriptor.Digest.Algorithm().FromBytes(content) != descriptor.Digest {
		c.fault(name, fmt.Errorf("has other content than its digest says"))
	}
	switch descriptor.MediaType {
	case v1.MediaTypeImageIndex:
		c.document(name, schema.ValidatorMediaTypeImageIndex, content)
		c.index(content)
	case v1.MediaTypeImageManifest:
		c.document(name, schema.ValidatorMediaTypeManifest, content)
		c.manifest(content)
	case v1.MediaTypeImageConfig:
		c.document(name, schema.ValidatorMediaTypeImageConfig, content)
	case v1.MediaTypeImageLayerGzip:
	default:
		c.fault(name, fmt.Errorf("is of media type %q, which is none of an image", descriptor.MediaType))
	}
}

func (c *checker) document(what string, validator schema.Validator, text []byte) {
	if err := validator.Validate(bytes.NewReader(text)); err != nil {
		c.fault(what, err)
	}
}

func (c *checker) decode(what string, text []byte, into any) {
	if err := json.Unmarshal(text, into); err != nil {
		c.fault(what, err)
	}
}

func (c *checker) read(path string) []byte {
	content, err := os.ReadFile(filepath.Join(c.directory, path))
	if err != nil {
		c.fault(path, err)
	}
	return content
}

func (c *checker) fault(what string, err error) {
	c.faults = append(c.faults, fmt.Sprintf("%s: %v", what, err))
}
