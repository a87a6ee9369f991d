// Command schema-gen writes the shapes of the kinds that devcluster serves as one TypeScript table, read by reflection from the Go types
// of k8s.io/api. The Go types are the only place that says which empty fields are left out of JSON, which the API server's answers show.
package main

import (
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"sort"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// roots are the kinds; every type that they reach is written too.
var roots = []any{
	corev1.Node{}, corev1.Service{}, corev1.Event{}, corev1.PersistentVolume{}, corev1.Namespace{}, corev1.ConfigMap{}, corev1.Pod{},
	eventsv1.Event{}, coordinationv1.Lease{}, discoveryv1.EndpointSlice{}, certificatesv1.CertificateSigningRequest{},
	authenticationv1.TokenReview{}, authenticationv1.SelfSubjectReview{},
	authorizationv1.SubjectAccessReview{}, authorizationv1.SelfSubjectAccessReview{},
	metav1.DeleteOptions{}, metav1.Status{},
}

// scalars have a JSON form of their own, whatever their Go fields are.
var scalars = map[reflect.Type]string{
	reflect.TypeOf(metav1.Time{}):          "Time",
	reflect.TypeOf(metav1.MicroTime{}):     "MicroTime",
	reflect.TypeOf(resource.Quantity{}):    "Quantity",
	reflect.TypeOf(intstr.IntOrString{}):   "IntOrString",
	reflect.TypeOf(metav1.FieldsV1{}):      "Raw",
	reflect.TypeOf(runtime.RawExtension{}): "Raw",
	reflect.TypeOf([]byte{}):               "bytes",
}

type generator struct {
	structs map[string][]string
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "schema-gen: give the file to write as the only argument")
		os.Exit(2)
	}
	g := generator{structs: map[string][]string{}}
	for _, root := range roots {
		g.name(reflect.TypeOf(root))
	}
	if err := os.WriteFile(os.Args[1], []byte(g.render()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "schema-gen:", err)
		os.Exit(1)
	}
}

// name is the type's expression in the table: a scalar, []T, {}T, or the key of a struct, which is added on the way.
func (g *generator) name(t reflect.Type) string {
	if scalar, ok := scalars[t]; ok {
		return scalar
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.name(t.Elem())
	case reflect.Slice:
		return "[]" + g.name(t.Elem())
	case reflect.Map:
		return "{}" + g.name(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int32, reflect.Int64:
		return t.Kind().String()
	case reflect.Struct:
		key := group(t.PkgPath()) + "." + t.Name()
		if _, seen := g.structs[key]; !seen {
			g.structs[key] = nil
			g.structs[key] = g.fields(t, root)
		}
		return key
	default:
		panic(fmt.Sprintf("no JSON form known for %v", t))
	}
}

// root stands for the struct itself where a field's parent is expected.
const root = "root"

// fields are those of a struct in JSON. A struct inlined in JSON is a message of its own in protobuf, whose number is `within`.
func (g *generator) fields(t reflect.Type, within string) []string {
	var lines []string
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || name == "managedFields" {
			continue
		}
		number := protobufNumber(field)
		if name == "" {
			lines = append(lines, g.fields(field.Type, number)...)
			continue
		}
		line := fmt.Sprintf("%s: { type: %q", quoteKey(name), g.name(field.Type))
		switch within {
		case "": // TypeMeta, which protobuf has in the envelope
		case root:
			line += ", number: " + number
		default:
			line += fmt.Sprintf(", number: %s, within: %s", number, within)
		}
		if leavesOutEmpty(field.Type, options) {
			line += ", omit: true"
		}
		if field.Type.Kind() == reflect.Pointer {
			line += ", pointer: true"
		}
		if key := field.Tag.Get("patchMergeKey"); key != "" {
			line += fmt.Sprintf(", mergeKey: %q", key)
		}
		for _, strategy := range strings.Split(field.Tag.Get("patchStrategy"), ",") {
			switch strategy {
			case "merge":
				line += ", merge: true"
			case "retainKeys":
				line += ", retainKeys: true"
			}
		}
		lines = append(lines, line+" },")
	}
	return lines
}

// protobufNumber is the field's number in protobuf, "" when it is not part of it.
func protobufNumber(field reflect.StructField) string {
	parts := strings.Split(field.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

// leavesOutEmpty follows encoding/json: omitempty says nothing about a struct, which only omitzero leaves out.
func leavesOutEmpty(t reflect.Type, options string) bool {
	return strings.Contains(options, "omitzero") || strings.Contains(options, "omitempty") && t.Kind() != reflect.Struct
}

func quoteKey(name string) string {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return fmt.Sprintf("%q", name)
		}
	}
	return name
}

// group is "core.v1" for k8s.io/api/core/v1 and "meta.v1" for the types that every group shares.
func group(path string) string {
	parts := strings.Split(path, "/")
	return strings.Join(parts[len(parts)-2:], ".")
}

// kubernetesVersion is 1.X.Y for k8s.io/api v0.X.Y, which go.mod names.
func kubernetesVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		panic("the program has no build information")
	}
	for _, module := range info.Deps {
		if version, found := strings.CutPrefix(module.Version, "v0."); found && module.Path == "k8s.io/api" {
			return "1." + version
		}
	}
	panic("the program does not use a v0 of k8s.io/api")
}

func (g *generator) render() string {
	keys := make([]string, 0, len(g.structs))
	for key := range g.structs {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	var out strings.Builder
	out.WriteString("// Written by devcluster/schema-gen from the Go types of k8s.io/api; do not edit. To renew: npm run gen -w @cloudwire/devcluster\n")
	out.WriteString("import type { TypeTable } from \"../types.ts\";\n\n")
	out.WriteString("/** The version of Kubernetes that the types are of. */\n")
	fmt.Fprintf(&out, "export const kubernetesVersion = %q;\n\nexport const typeTable: TypeTable = {\n", kubernetesVersion())
	for _, key := range keys {
		fmt.Fprintf(&out, "  %q: {\n", key)
		for _, line := range g.structs[key] {
			fmt.Fprintf(&out, "    %s\n", line)
		}
		out.WriteString("  },\n")
	}
	out.WriteString("};\n")
	return out.String()
}
