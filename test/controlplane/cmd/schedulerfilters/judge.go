package main

import (
	"context"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-base/version"
	fwk "k8s.io/kube-scheduler/framework"
)

// Finding is a disagreement between a plan and the plugins.
type Finding struct {
	Pod     string `json:"pod"`
	Node    string `json:"node"`
	Plugin  string `json:"plugin,omitempty"`
	Message string `json:"message,omitempty"`
}

// Verdict is the answer to a Question.
type Verdict struct {
	Error          string         `json:"error,omitempty"`
	Version        string         `json:"version"`        // of Kubernetes, whose plugins these are
	Needless       []Finding      `json:"needless"`       // pods that get a machine although a Node takes them
	Misplaced      []Finding      `json:"misplaced"`      // pods that the plugins refuse where the plan places them
	WronglyRefused []Finding      `json:"wronglyRefused"` // pods that get nothing although a machine would take them and unseat none
	Judged         int            `json:"judged"`         // pods
	Refusals       map[string]int `json:"refusals"`       // pods refused by nodes, by plugin
}

func (s *State) judge(question Question) (Verdict, error) {
	verdict := Verdict{Version: version.Get().GitVersion, Judged: len(question.OnNodes) + len(question.OnMachines) + len(question.Refused)}
	waiting, _ := s.bindAll(question.OnNodes, nil)
	nodes := namesOf(s.nodes)

	// Now the Nodes hold all that the scheduler can place. It must need a machine for each other pod.
	s.refresh(nil)
	taken := map[string]string{}
	for _, placement := range question.OnMachines {
		if node := s.firstThatTakes(s.pending[placement.Pod], nodes); node != "" {
			taken[placement.Pod] = node
		}
	}
	for _, pod := range question.Refused {
		if node := s.firstThatTakes(s.pending[pod], nodes); node != "" {
			verdict.WronglyRefused = append(verdict.WronglyRefused, Finding{Pod: pod, Node: node})
		}
	}

	machines := nodesOf(question.Machines)
	// Some pods fit a Node only once others are on their machines.
	_, verdict.Misplaced = s.bindAll(append(waiting, question.OnMachines...), machines)

	// A spread or an affinity may hold only once other pods are on their machines. Therefore the Node must take the pod
	// also when all others are where the plan places them.
	for _, placement := range question.OnMachines {
		node, found := taken[placement.Pod]
		if !found || s.reserved[placement.Pod] == nil {
			continue
		}
		pod := s.pending[placement.Pod]
		s.framework.RunReservePluginsUnreserve(s.ctx, s.reserved[placement.Pod], pod, placement.Node)
		s.refresh(machines, placement.Pod)
		results, _ := s.filter(pod, node)
		if results[node] == nil {
			verdict.Needless = append(verdict.Needless, Finding{Pod: placement.Pod, Node: node})
		}
	}

	templates := nodesOf(question.Templates)
	for _, pod := range question.Refused {
		for _, template := range templates {
			s.refresh(append(append([]*v1.Node{}, machines...), template))
			results, _ := s.filter(s.pending[pod], template.Name)
			if results[template.Name] == nil && !unseats(s.ctx, question, template) {
				verdict.WronglyRefused = append(verdict.WronglyRefused, Finding{Pod: pod, Node: template.Name})
				break
			}
		}
	}
	verdict.Refusals = s.refusals
	return verdict, nil
}

// unseats reports whether the plugins would refuse another pod where the plan places it if the machine were there, too. An
// empty machine is a domain of topology spreads, and other domains may then hold too many pods.
func unseats(ctx context.Context, question Question, template *v1.Node) bool {
	fresh, err := newState(ctx, question)
	if err != nil {
		return false
	}
	_, findings := fresh.bindAll(append(question.OnNodes, question.OnMachines...), append(nodesOf(question.Machines), template))
	return len(findings) > 0
}

// bindAll binds the pods in any order in which the plugins accept each. It returns those that are never accepted, and why.
func (s *State) bindAll(placements []Placement, machines []*v1.Node) ([]Placement, []Finding) {
	for waiting := placements; ; {
		var refused []Placement
		var findings []Finding
		for _, placement := range waiting {
			s.refresh(machines)
			pod := s.pending[placement.Pod]
			results, cycle := s.filter(pod, placement.Node)
			if why := results[placement.Node]; why != nil {
				refused = append(refused, placement)
				findings = append(findings, Finding{placement.Pod, placement.Node, why.plugin, why.message})
				continue
			}
			s.bind(pod, placement.Node, cycle)
		}
		if len(refused) == 0 || len(refused) == len(waiting) {
			return refused, findings
		}
		waiting = refused
	}
}

// bind puts the pod on the node, and reserves its volumes there.
func (s *State) bind(pod *v1.Pod, node string, cycle fwk.CycleState) {
	s.framework.RunReservePluginsReserve(s.ctx, cycle, pod, node)
	s.reserved[keyOf(pod)] = cycle
	onNode := pod.DeepCopy()
	onNode.Spec.NodeName = node
	s.bound = append(s.bound, onNode)
}

func (s *State) firstThatTakes(pod *v1.Pod, nodes []string) string {
	results, _ := s.filter(pod, nodes...)
	for _, node := range nodes {
		if results[node] == nil {
			return node
		}
	}
	return ""
}

func namesOf(nodes []*v1.Node) []string {
	var names []string
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	sort.Strings(names)
	return names
}

func nodesOf(machines []Machine) []*v1.Node {
	var nodes []*v1.Node
	for i := range machines {
		nodes = append(nodes, &machines[i].Node)
	}
	return nodes
}
