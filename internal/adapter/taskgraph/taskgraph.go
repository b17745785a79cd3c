// Package taskgraph reads and writes the file of a swarm's task graph, in YAML or JSON
// (doc/swarm.schema.json).
//
// It promises that every fault names its line in the file if one is known, that the fault
// of an unknown field names the field that was probably meant, and that Parse reads the
// output of Format as the same graph. It refuses several documents in one file, a field
// that is set twice, and the faults that policy/swarm finds in the graph.
package taskgraph

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// maxFile is the largest size of a file, in bytes.
const maxFile = 64 << 20

// maxFaults is how many faults an error lists.
const maxFaults = 20

// File is a valid graph, with the lines of its parts in the file.
type File struct {
	swarm.Graph
	name  string
	lines lines
}

// Read reads a graph from a file. name is the file's name in errors.
func Read(path, name string) (*File, error) {
	raw, err := plainfile.Read(path, maxFile)
	switch {
	case errors.Is(err, plainfile.ErrTooLong):
		return nil, fmt.Errorf("the task graph %s is larger than %d MB", name, maxFile>>20)
	case err != nil:
		return nil, fmt.Errorf("cannot read the task graph: %w", err)
	}
	return Parse(name, raw)
}

// Parse parses a graph. Its error lists the faults, one per line, at most maxFaults.
func Parse(name string, raw []byte) (*File, error) {
	f := &File{name: name}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, f.at(0, errors.New("the file is empty: doc/swarm.md describes its contents"))
	}
	doc, err := parser.ParseBytes(raw, 0)
	if err != nil {
		return nil, f.yaml(err)
	}
	if len(doc.Docs) > 1 {
		return nil, f.at(doc.Docs[1].Body.GetToken().Position.Line, errors.New("a second document begins here: a file holds one graph"))
	}
	f.lines = linesOf(doc)
	if unknown := f.lines.unknown(); len(unknown) > 0 {
		return nil, f.all(unknown)
	}
	if err := yaml.UnmarshalWithOptions(raw, &f.Graph, yaml.Strict()); err != nil {
		return nil, f.yaml(err)
	}
	if faults := f.Check(); len(faults) > 0 {
		return nil, f.Faults(faults)
	}
	return f, nil
}

// Faults returns an error that lists the graph's faults with their lines.
func (f *File) Faults(faults []swarm.Fault) error {
	located := make([]fault, len(faults))
	for i, x := range faults {
		located[i] = fault{f.lines.of(x), x}
	}
	return f.all(located)
}

// fault is an error with its line in the file, 0 for none.
type fault struct {
	line int
	err  error
}

func (f *File) all(faults []fault) error {
	var errs []error
	for i, x := range faults {
		if i == maxFaults {
			errs = append(errs, f.at(0, fmt.Errorf("and %d faults more", len(faults)-i)))
			break
		}
		errs = append(errs, f.at(x.line, x.err))
	}
	return errors.Join(errs...)
}

func (f *File) at(line int, err error) error {
	if line == 0 {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return fmt.Errorf("%s:%d: %w", f.name, line, err)
}

// yaml converts an error of the YAML package into a fault with its line.
func (f *File) yaml(err error) error {
	line := 0
	if y := (yaml.Error)(nil); errors.As(err, &y) {
		if t := y.GetToken(); t != nil {
			line = t.Position.Line
		}
		text := y.GetMessage()
		if t := (*yaml.TypeError)(nil); errors.As(err, &t) && t.Token != nil {
			text = fmt.Sprintf("%.40q was found where %s must be", t.Token.Value, words(t.DstType))
		}
		if u := (*yaml.UnexpectedNodeTypeError)(nil); errors.As(err, &u) && u.Token != nil {
			text = fmt.Sprintf("%.40q was found where a %s must be", u.Token.Value, strings.ToLower(u.Expected.YAMLName()))
		}
		err = errors.New(text)
	}
	return f.at(line, err)
}

// words returns a description of what a field must contain.
func words(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Int:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "fields with their values"
}

// lines are the line numbers of a graph's parts in a file.
type lines struct {
	graph map[string]int
	tasks []taskLines
}

type taskLines struct {
	line   int
	fields map[string]int
}

// of returns the line of a fault: the line of its field, or else of its task.
func (l lines) of(x swarm.Fault) int {
	if x.Task < 0 {
		return l.graph[x.Field]
	}
	if x.Task >= len(l.tasks) {
		return l.graph["tasks"]
	}
	t := l.tasks[x.Task]
	if n := t.fields[x.Field]; n > 0 {
		return n
	}
	return t.line
}

func linesOf(doc *ast.File) (l lines) {
	if len(doc.Docs) == 0 {
		return l
	}
	var list ast.Node
	l.graph = keys(doc.Docs[0].Body, func(key string, value ast.Node) {
		if key == "tasks" {
			list = value
		}
	})
	seq, ok := list.(*ast.SequenceNode)
	if !ok {
		return l
	}
	for _, n := range seq.Values {
		l.tasks = append(l.tasks, taskLines{line: n.GetToken().Position.Line, fields: keys(n, nil)})
	}
	return l
}

// keys returns the lines of a mapping's keys, nil if the node is not a mapping.
func keys(n ast.Node, see func(key string, value ast.Node)) map[string]int {
	m, ok := n.(ast.MapNode)
	if !ok {
		return nil
	}
	out := map[string]int{}
	for it := m.MapRange(); it.Next(); {
		key, ok := it.Key().(*ast.StringNode)
		if !ok {
			continue // a merge key: the decoder accepts or refuses it
		}
		out[key.Value] = key.GetToken().Position.Line
		if see != nil {
			see(key.Value, it.Value())
		}
	}
	return out
}

// unknown returns the fields that do not exist.
func (l lines) unknown() (out []fault) {
	look := func(fields map[string]int, known []string) {
		for name, line := range fields {
			if !slices.Contains(known, name) {
				out = append(out, fault{line, fmt.Errorf("unknown field %.64q%s", name, meant(name, known))})
			}
		}
	}
	look(l.graph, graphFields)
	for _, t := range l.tasks {
		look(t.fields, taskFields)
	}
	sorting.By(out, func(a, b fault) int { return cmp.Compare(a.line, b.line) })
	return out
}

func meant(name string, known []string) string {
	if near := editdistance.Nearest(name, known); near != "" {
		return fmt.Sprintf(": did you mean %s?", near)
	}
	return ": there are " + strings.Join(known, ", ")
}

// The fields of a graph and of a task, by their names in a file.
var (
	graphFields = fieldsOf(reflect.TypeFor[swarm.Graph]())
	taskFields  = fieldsOf(reflect.TypeFor[event.Task]())
)

func fieldsOf(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("jsonschema") == "-" { // not for files
			continue
		}
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
