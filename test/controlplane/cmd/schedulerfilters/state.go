package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"

	configv1 "k8s.io/kube-scheduler/config/v1"
)

// Machine is a machine that would be created, as the Node that it would be.
type Machine struct {
	Node    v1.Node          `json:"node"`
	CSINode *storage.CSINode `json:"csiNode"`
}

// Placement is a pod ("namespace/name") and the Node or machine that a plan gives it.
type Placement struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// Question is a frozen state and a plan for it.
type Question struct {
	Objects    []json.RawMessage `json:"objects"`
	Machines   []Machine         `json:"machines"`
	Templates  []Machine         `json:"templates"` // an empty machine of each pool, place and size
	OnNodes    []Placement       `json:"onNodes"`
	OnMachines []Placement       `json:"onMachines"`
	Refused    []string          `json:"refused"`
}

// State is a cluster as the scheduler's plugins see it: a SharedLister of its present snapshot, which is replaced when a pod is
// bound.
type State struct {
	*internalcache.Snapshot
	ctx       context.Context
	framework framework.Framework
	nodes     []*v1.Node // of the cluster
	daemons   []*apps.DaemonSet
	pending   map[string]*v1.Pod
	bound     []*v1.Pod
	reserved  map[string]fwk.CycleState // by pod
	refusals  map[string]int            // by plugin
}

func keyOf(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }

func newState(ctx context.Context, question Question) (*State, error) {
	state := &State{ctx: ctx, pending: map[string]*v1.Pod{}, reserved: map[string]fwk.CycleState{}, refusals: map[string]int{}}
	var stored []runtime.Object
	for _, text := range question.Objects {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%w in %.200s", err, text)
		}
		stored = append(stored, object)
		switch object := object.(type) {
		case *v1.Node:
			state.nodes = append(state.nodes, object)
		case *apps.DaemonSet:
			state.daemons = append(state.daemons, object)
		case *v1.Pod:
			if object.Spec.NodeName != "" {
				state.bound = append(state.bound, object)
			} else {
				state.pending[keyOf(object)] = object
			}
		}
	}
	for _, list := range [][]Machine{question.Machines, question.Templates} {
		for _, machine := range list {
			if machine.CSINode != nil {
				stored = append(stored, machine.CSINode)
			}
			stored = append(stored, machine.Node.DeepCopy())
		}
	}
	return state, state.start(stored)
}

// start makes the plugins of the default profile, as the scheduler does.
func (s *State) start(stored []runtime.Object) error {
	client := fake.NewClientset(stored...)
	factory := informers.NewSharedInformerFactory(client, 0)
	logger := klog.FromContext(s.ctx)
	claims := assumecache.NewAssumeCache(logger, factory.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	options := tracker.Options{
		EnableDeviceTaintRules: utilfeature.DefaultFeatureGate.Enabled(features.DRADeviceTaintRules),
		SliceInformer:          factory.Resource().V1().ResourceSlices(),
		KubeClient:             client,
	}
	if options.EnableDeviceTaintRules {
		options.TaintInformer = deviceTaintRules(factory)
	}
	slices, err := tracker.StartTracker(s.ctx, options)
	if err != nil {
		return err
	}
	var versioned configv1.KubeSchedulerConfiguration
	configscheme.Scheme.Default(&versioned)
	var defaults config.KubeSchedulerConfiguration
	if err := configscheme.Scheme.Convert(&versioned, &defaults, nil); err != nil {
		return err
	}
	metrics.Register()
	s.refresh(nil)
	s.framework, err = frameworkruntime.NewFramework(s.ctx, plugins.NewInTreeRegistry(), &defaults.Profiles[0],
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSharedDRAManager(dynamicresources.NewDRAManager(s.ctx, claims, slices, factory)),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithSnapshotSharedLister(s),
		frameworkruntime.WithParallelism(1),
		frameworkruntime.WithLogger(logger),
		frameworkruntime.WithMetricsRecorder(metrics.NewMetricsAsyncRecorder(1000, time.Hour, s.ctx.Done())),
	)
	if err != nil {
		return err
	}
	factory.Start(s.ctx.Done())
	factory.WaitForCacheSync(s.ctx.Done())
	// The plugins' own caches follow the informers in goroutines, without a way to wait for them.
	time.Sleep(20 * time.Millisecond)
	return nil
}

// refresh makes a snapshot of the cluster's nodes and these machines, with the bound pods that are on one of them.
func (s *State) refresh(machines []*v1.Node, without ...string) {
	nodes := append(append([]*v1.Node{}, s.nodes...), machines...)
	known := sets.New[string]()
	for _, node := range nodes {
		known.Insert(node.Name)
	}
	left := sets.New(without...)
	var pods []*v1.Pod
	for _, pod := range s.bound {
		if known.Has(pod.Spec.NodeName) && !left.Has(keyOf(pod)) {
			pods = append(pods, pod)
		}
	}
	for _, machine := range machines {
		pods = append(pods, s.daemonPods(machine)...)
	}
	s.Snapshot = internalcache.NewSnapshot(pods, nodes)
}

// daemonPods returns the pods that the controller of DaemonSets would create on the machine.
func (s *State) daemonPods(machine *v1.Node) []*v1.Pod {
	var pods []*v1.Pod
	for _, set := range s.daemons {
		if runs, _ := daemon.NodeShouldRunDaemonPod(klog.FromContext(s.ctx), machine, set); !runs {
			continue
		}
		pod := daemon.NewPod(set, machine.Name)
		pod.Name = set.Name + "-" + machine.Name
		pod.UID = types.UID(pod.Name)
		pods = append(pods, pod)
	}
	return pods
}

// refusal is why a node does not take a pod.
type refusal struct {
	plugin  string
	message string
}

// filter asks all plugins, as the scheduler does before it scores. It returns nil if the node takes the pod.
func (s *State) filter(pod *v1.Pod, names ...string) (map[string]*refusal, fwk.CycleState) {
	cycle := framework.NewCycleState()
	result := map[string]*refusal{}
	allowed, status, _ := s.framework.RunPreFilterPlugins(s.ctx, cycle, pod)
	for _, name := range names {
		result[name] = s.filterNode(cycle, pod, name, allowed, status)
		if result[name] != nil {
			s.refusals[result[name].plugin]++
		}
	}
	return result, cycle
}

func (s *State) filterNode(cycle fwk.CycleState, pod *v1.Pod, name string, allowed *fwk.PreFilterResult, status *fwk.Status) *refusal {
	if !status.IsSuccess() {
		return &refusal{status.Plugin(), status.Message()}
	}
	if !allowed.AllNodes() && !allowed.NodeNames.Has(name) {
		return &refusal{"NodeAffinity", "its affinity names other nodes"}
	}
	info, err := s.Snapshot.Get(name)
	if err != nil {
		return &refusal{"", err.Error()}
	}
	if status := s.framework.RunFilterPlugins(s.ctx, cycle, pod, info); !status.IsSuccess() {
		return &refusal{status.Plugin(), status.Message()}
	}
	return nil
}
