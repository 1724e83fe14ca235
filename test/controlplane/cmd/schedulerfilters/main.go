// The schedulerfilters program judges placements with the filter plugins of the kube-scheduler itself.
//
// It reads one question as JSON from each line of standard input, and writes one verdict as JSON to each line of
// standard output. A question is a frozen state: the objects of a cluster, machines that would be created, and what a
// plan says of each pending pod. Nothing runs and nothing is bound: the plugins of the default profile see a snapshot.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"k8s.io/klog/v2"
)

func main() {
	klog.InitFlags(nil)
	_ = flag.Set("logtostderr", "false")
	_ = flag.Set("stderrthreshold", "FATAL")
	flag.Parse()
	klog.SetOutput(discard{})
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := json.NewEncoder(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if len(line) > 1 {
			verdict, failure := answer(line)
			if failure != nil {
				verdict = Verdict{Error: failure.Error()}
			}
			if failure = output.Encode(verdict); failure != nil {
				fmt.Fprintln(os.Stderr, failure)
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}

func answer(line []byte) (Verdict, error) {
	var question Question
	if err := json.Unmarshal(line, &question); err != nil {
		return Verdict{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	state, err := newState(ctx, question)
	if err != nil {
		return Verdict{}, err
	}
	return state.judge(question)
}

// The plugins log what they do. None of it belongs to the verdict.
type discard struct{}

func (discard) Write(text []byte) (int, error) { return len(text), nil }
