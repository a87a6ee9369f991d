// Command go prints what Go packages export as JSON: packages, their exported names, signatures and documentation.
//
//	go run scripts/build/sdk-reference/go/main.go <import path>=<directory>...
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

type member struct {
	Name      string `json:"name"`
	Signature string `json:"signature"`
	Doc       string `json:"doc"`
}

type export struct {
	Name      string   `json:"name"`
	Signature string   `json:"signature"`
	Doc       string   `json:"doc"`
	Members   []member `json:"members"`
	Parts     []export `json:"parts"`
}

type sdkPackage struct {
	Name    string   `json:"name"`
	Doc     string   `json:"doc"`
	Exports []export `json:"exports"`
}

func main() {
	packages := []sdkPackage{}
	for _, argument := range os.Args[1:] {
		importPath, directory, _ := strings.Cut(argument, "=")
		found, err := read(importPath, directory)
		if err != nil {
			fmt.Fprintf(os.Stderr, "cannot read the Go package in %s: %v\n", directory, err)
			os.Exit(1)
		}
		packages = append(packages, found)
	}
	if err := json.NewEncoder(os.Stdout).Encode(packages); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(importPath, directory string) (sdkPackage, error) {
	paths, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		return sdkPackage{}, err
	}
	fset := token.NewFileSet()
	files := []*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return sdkPackage{}, err
		}
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(fset, files, importPath)
	if err != nil {
		return sdkPackage{}, err
	}
	r := reader{fset: fset}
	exports := append(r.values(pkg.Consts), r.values(pkg.Vars)...)
	exports = append(exports, r.funcs(pkg.Funcs)...)
	for _, t := range pkg.Types {
		exports = append(exports, r.declaredType(t))
		exports = append(exports, r.values(t.Consts)...)
		exports = append(exports, r.values(t.Vars)...)
		exports = append(exports, r.funcs(t.Funcs)...)
	}
	return sdkPackage{Name: importPath, Doc: markdown(pkg.Doc), Exports: exports}, nil
}

type reader struct{ fset *token.FileSet }

// docLink is how a documentation comment names something else of Go.
var docLink = regexp.MustCompile(`\[(\*?[A-Za-z][\w.]*)\]`)

// markdown is a documentation comment as it is written, its links as code: pkg.go.dev alone knows where they lead.
func markdown(text string) string {
	return strings.TrimSpace(docLink.ReplaceAllString(text, "`$1`"))
}

// values are constants and variables, one export for each name that is exported. A group's text stands for its names without one.
func (r reader) values(groups []*doc.Value) []export {
	exports := []export{}
	for _, group := range groups {
		for _, spec := range group.Decl.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			text := value.Doc.Text() + value.Comment.Text()
			if text == "" {
				text = group.Doc
			}
			for _, name := range value.Names {
				if !name.IsExported() {
					continue
				}
				signature := group.Decl.Tok.String() + " " + name.Name
				if value.Type != nil {
					signature += " " + r.source(value.Type)
				}
				exports = append(exports, export{Name: name.Name, Signature: signature, Doc: markdown(text)})
			}
		}
	}
	return exports
}

func (r reader) funcs(funcs []*doc.Func) []export {
	exports := []export{}
	for _, f := range funcs {
		decl := *f.Decl
		decl.Body, decl.Doc = nil, nil
		exports = append(exports, export{Name: f.Name, Signature: r.source(&decl), Doc: markdown(f.Doc)})
	}
	return exports
}

func (r reader) declaredType(t *doc.Type) export {
	out := export{Name: t.Name, Doc: markdown(t.Doc)}
	for _, spec := range t.Decl.Specs {
		declared, ok := spec.(*ast.TypeSpec)
		if !ok || declared.Name.Name != t.Name {
			continue
		}
		out.Signature, out.Members = r.typeBody(declared)
	}
	for _, method := range r.funcs(t.Methods) {
		out.Members = append(out.Members, member{Name: method.Name, Signature: method.Signature, Doc: method.Doc})
	}
	return out
}

// typeBody is the head of a type without its fields or methods, which are listed separately.
func (r reader) typeBody(spec *ast.TypeSpec) (string, []member) {
	head := "type " + spec.Name.Name
	if spec.TypeParams != nil {
		generic := *spec
		generic.Type, generic.Doc, generic.Comment = ast.NewIdent("struct"), nil, nil
		head = "type " + strings.TrimSuffix(r.source(&generic), " struct")
	}
	switch body := spec.Type.(type) {
	case *ast.StructType:
		return head + " struct", r.fields(body.Fields, false)
	case *ast.InterfaceType:
		members := r.fields(body.Methods, true)
		if len(members) == 0 {
			// What it holds is not exported: it is closed, and its text says what it may be.
			return head + " interface{ … }", members
		}
		return head + " interface", members
	default:
		if spec.Assign.IsValid() {
			head += " ="
		}
		return head + " " + r.source(spec.Type), nil
	}
}

// fields are exported fields and methods; embedded ones have the name of their type.
func (r reader) fields(list *ast.FieldList, isInterface bool) []member {
	members := []member{}
	for _, field := range list.List {
		text := markdown(field.Doc.Text() + field.Comment.Text())
		source := r.source(field.Type)
		for _, name := range field.Names {
			if !name.IsExported() {
				continue
			}
			signature := name.Name + " " + source
			if isInterface {
				signature = name.Name + strings.TrimPrefix(source, "func")
			}
			members = append(members, member{Name: name.Name, Signature: signature, Doc: text})
		}
		if len(field.Names) == 0 && ast.IsExported(baseName(source)) {
			if text == "" {
				text = "Embedded: its fields and methods are this type's too."
			}
			members = append(members, member{Name: source, Signature: source, Doc: text})
		}
	}
	return members
}

func baseName(typeSource string) string {
	name := strings.TrimPrefix(typeSource, "*")
	return name[strings.LastIndex(name, ".")+1:]
}

func (r reader) source(node any) string {
	var out strings.Builder
	if err := format.Node(&out, r.fset, node); err != nil {
		return fmt.Sprintf("/* %v */", err)
	}
	return out.String()
}
