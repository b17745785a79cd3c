// Command kube checks files for Kubernetes against the types of its API: each document must
// be of a known kind, and have no field that the kind does not have, none twice, and no
// value of a wrong type. What only a server knows, such as names that do not exist, it
// cannot tell.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// kinds are those that the examples may have.
var kinds = map[string]func() any{
	"v1 Namespace":                       func() any { return &corev1.Namespace{} },
	"v1 Secret":                          func() any { return &corev1.Secret{} },
	"v1 ConfigMap":                       func() any { return &corev1.ConfigMap{} },
	"apps/v1 Deployment":                 func() any { return &appsv1.Deployment{} },
	"networking.k8s.io/v1 NetworkPolicy": func() any { return &networkingv1.NetworkPolicy{} },
}

func main() {
	for _, file := range os.Args[1:] {
		n, err := check(file)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d documents\n", file, n)
	}
}

func check(file string) (n int, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for i, doc := range bytes.Split(raw, []byte("\n---\n")) {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(doc, &head); err != nil && !errors.Is(err, io.EOF) {
			return n, fmt.Errorf("document %d: %w", i+1, err)
		}
		is := kinds[head.APIVersion+" "+head.Kind]
		if is == nil {
			return n, fmt.Errorf("document %d: the kind %q of %q is not known here", i+1, head.Kind, head.APIVersion)
		}
		if err := yaml.UnmarshalStrict(doc, is()); err != nil {
			return n, fmt.Errorf("document %d, %s: %w", i+1, head.Kind, err)
		}
		n++
	}
	return n, nil
}
