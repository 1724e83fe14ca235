package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"time"

	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	cloudproviderapi "k8s.io/cloud-provider/api"
	"k8s.io/component-base/version"
	nodeutil "k8s.io/component-helpers/node/util"
	"k8s.io/klog/v2"
	kubeletphase "k8s.io/kubernetes/cmd/kubeadm/app/phases/kubelet"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/certificate/bootstrap"
)

// restartDelay is the pause of the service manager between two starts of a kubelet that ended.
const restartDelay = time.Second

// kubelet is what its command line made of it.
type kubelet struct {
	name   string
	flags  *options.KubeletFlags
	config *kubeletconfig.KubeletConfiguration
}

// runKubelet gets the certificate and registers the Node. Bad flags end it, everything else is tried again until the deadline,
// as a service manager and the kubelet's own loops would.
func runKubelet(ctx context.Context, m *machine) error {
	k, err := parseKubelet(m)
	if err != nil {
		return fmt.Errorf("kubelet: %w", err)
	}
	for {
		err := joinOnce(ctx, m, k)
		if err == nil {
			klog.Infof("registered Node %s", k.name)
			return nil
		}
		klog.Warningf("kubelet: %v", err)
		select {
		case <-ctx.Done():
			return fmt.Errorf("kubelet: gave up after %s: %w", m.timeout, err)
		case <-time.After(restartDelay):
		}
	}
}

func parseKubelet(m *machine) (*kubelet, error) {
	arguments, err := kubeletphase.ReadKubeletDynamicEnvFile(m.kubeletFlags())
	if err != nil {
		return nil, err
	}
	config, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, err
	}
	k := &kubelet{flags: options.NewKubeletFlags(), config: config}
	set := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	k.flags.AddFlags(set)
	options.AddKubeletConfigFlags(set, k.config)
	if err := set.Parse(arguments); err != nil {
		return nil, err
	}
	if err := options.ValidateKubeletFlags(k.flags); err != nil {
		return nil, err
	}
	k.name, err = nodeutil.GetHostname(k.flags.HostnameOverride)
	return k, err
}

func joinOnce(ctx context.Context, m *machine, k *kubelet) error {
	certificates := filepath.Join(m.stateDir, "pki")
	if err := bootstrap.LoadClientCert(ctx, m.kubeletConf(), m.bootstrapConf(), certificates, types.NodeName(k.name)); err != nil {
		return err
	}
	client, err := clientFrom(m.kubeletConf())
	if err != nil {
		return err
	}
	if err := register(ctx, client, k.node(m)); err != nil {
		return err
	}
	// kubeadm removes the token from the disk once the kubelet has its certificate.
	if err := os.Remove(m.bootstrapConf()); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func clientFrom(kubeconfig string) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = "kubelet/" + version.Get().GitVersion
	return kubernetes.NewForConfig(config)
}

// register creates the Node or, as a kubelet that restarts, brings default labels and status of the existing one up to date;
// labels, taints and providerID of the command line only count at creation.
func register(ctx context.Context, client kubernetes.Interface, node *v1.Node) error {
	nodes := client.CoreV1().Nodes()
	if _, err := nodes.Create(ctx, node, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		return err
	}
	existing, err := nodes.Get(ctx, node.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	updated := existing.DeepCopy()
	if updated.Labels == nil {
		updated.Labels = map[string]string{}
	}
	for _, label := range []string{v1.LabelHostname, v1.LabelArchStable, v1.LabelOSStable, powerLabel} {
		updated.Labels[label] = node.Labels[label]
	}
	addresses := updated.Status.Addresses
	updated.Status.Conditions = node.Status.Conditions
	updated.Status.Capacity = node.Status.Capacity
	updated.Status.Allocatable = node.Status.Allocatable
	updated.Status.NodeInfo = node.Status.NodeInfo
	if updated.Status.Addresses = node.Status.Addresses; len(addresses) > len(node.Status.Addresses) {
		updated.Status.Addresses = addresses
	}
	_, _, err = nodeutil.PatchNodeStatus(client.CoreV1(), types.NodeName(node.Name), existing, updated)
	return err
}

// node is the Node object of a kubelet's first registration: not ready yet, its network plugin has not started.
func (k *kubelet) node(m *machine) *v1.Node {
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: k.name, Labels: map[string]string{
			v1.LabelHostname: k.name, v1.LabelOSStable: goruntime.GOOS, v1.LabelArchStable: goruntime.GOARCH,
			"beta.kubernetes.io/os": goruntime.GOOS, "beta.kubernetes.io/arch": goruntime.GOARCH,
			powerLabel: powerOn,
		}, Annotations: map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
		Spec:   v1.NodeSpec{Taints: k.config.RegisterWithTaints, ProviderID: k.config.ProviderID},
		Status: v1.NodeStatus{Conditions: startConditions(), Addresses: []v1.NodeAddress{{Type: v1.NodeHostName, Address: k.name}}},
	}
	for key, value := range k.flags.NodeLabels {
		node.Labels[key] = value
	}
	if k.flags.CloudProvider == "external" {
		node.Spec.Taints = append(node.Spec.Taints,
			v1.Taint{Key: cloudproviderapi.TaintExternalCloudProvider, Value: "true", Effect: v1.TaintEffectNoSchedule})
	}
	if m.address != "" {
		node.Status.Addresses = append(node.Status.Addresses, v1.NodeAddress{Type: v1.NodeInternalIP, Address: m.address})
	}
	node.Status.Capacity = resources(m.cpus*1000, m.memoryMiB)
	node.Status.Allocatable = resources(m.cpus*1000-m.reservedCPUMilli, m.memoryMiB-m.reservedMemoryMiB)
	node.Status.NodeInfo = v1.NodeSystemInfo{
		SystemUUID: m.systemUUID, MachineID: m.systemUUID, BootID: fmt.Sprintf("%s-%d", m.systemUUID, time.Now().UnixNano()),
		KubeletVersion: version.Get().GitVersion, OperatingSystem: goruntime.GOOS, Architecture: goruntime.GOARCH,
		OSImage: "Debian GNU/Linux 12 (bookworm)", KernelVersion: "6.1.0", ContainerRuntimeVersion: "containerd://2.1.0",
	}
	return node
}

func resources(cpuMilli, memoryMiB int) v1.ResourceList {
	return v1.ResourceList{
		v1.ResourceCPU:              *resource.NewMilliQuantity(int64(cpuMilli), resource.DecimalSI),
		v1.ResourceMemory:           *resource.NewQuantity(int64(memoryMiB)<<20, resource.BinarySI),
		v1.ResourceEphemeralStorage: *resource.NewQuantity(20<<30, resource.BinarySI),
		v1.ResourcePods:             *resource.NewQuantity(110, resource.DecimalSI),
	}
}

func startConditions() []v1.NodeCondition {
	now := metav1.Now()
	condition := func(kind v1.NodeConditionType, status v1.ConditionStatus, reason, message string) v1.NodeCondition {
		return v1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: now}
	}
	return []v1.NodeCondition{
		condition(v1.NodeMemoryPressure, v1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition(v1.NodeDiskPressure, v1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition(v1.NodePIDPressure, v1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition(v1.NodeReady, v1.ConditionFalse, "KubeletNotReady", "container runtime network not ready"),
	}
}
