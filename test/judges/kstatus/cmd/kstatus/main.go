// kstatus reads a JSON list of objects and prints the status that kstatus computes for each, one a line.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func run() error {
	var objects []map[string]any
	decoder := json.NewDecoder(os.Stdin)
	if err := decoder.Decode(&objects); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	for at, object := range objects {
		result, err := status.Compute(&unstructured.Unstructured{Object: normalized(object)})
		if err != nil {
			return fmt.Errorf("object %d: %w", at, err)
		}
		fmt.Println(result.Status)
	}
	return nil
}

// normalized returns the object with whole numbers as int64, as Kubernetes decodes them.
func normalized(object map[string]any) map[string]any {
	encoded, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	var decoded unstructured.Unstructured
	if err := decoded.UnmarshalJSON(encoded); err != nil {
		panic(err)
	}
	return decoded.Object
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "kstatus:", err)
		os.Exit(1)
	}
}
