package taskgraph

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// Format returns a graph as a YAML file for people. It returns JSON if the YAML would be
// read as another graph, since the YAML encoder does not quote some texts correctly.
func Format(g swarm.Graph) ([]byte, error) {
	out, err := yaml.MarshalWithOptions(g, yaml.IndentSequence(true), yaml.UseLiteralStyleIfMultiline(true))
	if err == nil && same(out, g) {
		return apart(out), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(g)
	return b.Bytes(), err
}

func same(raw []byte, g swarm.Graph) bool {
	var read swarm.Graph
	return yaml.UnmarshalWithOptions(apart(raw), &read, yaml.Strict()) == nil && reflect.DeepEqual(read, g)
}

// apart inserts an empty line before each task.
func apart(raw []byte) []byte {
	head, tasks, ok := bytes.Cut(raw, []byte("\ntasks:\n"))
	if !ok {
		return raw
	}
	tasks = bytes.ReplaceAll(tasks, []byte("\n  - id: "), []byte("\n\n  - id: "))
	return slices.Concat(head, []byte("\ntasks:\n"), tasks)
}
