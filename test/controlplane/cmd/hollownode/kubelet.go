package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	cadvisorapi "github.com/google/cadvisor/lib/model"
	"github.com/spf13/pflag"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/record"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	"k8s.io/component-base/version/verflag"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	containertest "k8s.io/kubernetes/pkg/kubelet/container/testing"
	"k8s.io/kubernetes/pkg/kubelet/kubeletconfig/configfiles"
	probetest "k8s.io/kubernetes/pkg/kubelet/prober/testing"
	utilfs "k8s.io/kubernetes/pkg/util/filesystem"
	"k8s.io/kubernetes/pkg/util/oom"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
	"k8s.io/mount-utils"
)

const hardwareFile = "/run/hardware.json"

// hardware is what a kubelet reads from its machine.
type hardware struct {
	SystemUUID string
	CPUs       int
	MemoryMiB  int
}

// cadvisor tells the machine's hardware instead of this system's.
type cadvisor struct {
	cadvisortest.Fake
	hardware
}

func (c *cadvisor) MachineInfo(klog.Logger) (*cadvisorapi.MachineInfo, error) {
	return &cadvisorapi.MachineInfo{
		NumCores: c.CPUs, MemoryCapacity: uint64(c.MemoryMiB) << 20, Timestamp: time.Now(),
		MachineID: strings.ReplaceAll(c.SystemUUID, "-", ""), SystemUUID: c.SystemUUID, BootID: c.SystemUUID}, nil
}

// runKubelet is `kubelet` on the machine: Kubernetes' own code from reading its flags and files on, with its own clients, TLS bootstrap and
// certificates, above kubemark's fakes of what a machine has below a kubelet.
func runKubelet(arguments []string) error {
	ctx := genericapiserver.SetupSignalContext()
	server, err := readServer(ctx, arguments)
	if err != nil {
		return err
	}
	raw, err := os.ReadFile(hardwareFile)
	if err != nil {
		return err
	}
	machine := &cadvisor{}
	if err := json.Unmarshal(raw, &machine.hardware); err != nil {
		return err
	}
	logs.InitLogs()
	dependencies, err := app.UnsecuredDependencies(ctx, server, utilfeature.DefaultFeatureGate)
	if err != nil {
		return err
	}
	dependencies.CAdvisorInterface = machine
	dependencies.ContainerManager = cm.NewStubContainerManager()
	dependencies.ProbeManager = probetest.FakeManager{}
	dependencies.OSInterface = &containertest.FakeOS{}
	dependencies.OOMAdjuster = oom.NewFakeOOMAdjuster()
	dependencies.Mounter = &mount.FakeMounter{}
	dependencies.Subpather = &subpath.FakeSubpath{}
	dependencies.HostUtil = hostutil.NewFakeHostUtil(nil)
	// A real one would read the kernel's log.
	dependencies.Recorder = &record.FakeRecorder{}
	return app.Run(ctx, server, dependencies, utilfeature.DefaultFeatureGate)
}

// readServer reads flags and configuration file as the kubelet's own command does: flags win over the file.
func readServer(ctx context.Context, arguments []string) (*options.KubeletServer, error) {
	flags := options.NewKubeletFlags()
	config, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, err
	}
	if err := parse(flags, config, arguments); err != nil {
		return nil, err
	}
	if err := options.ValidateKubeletFlags(flags); err != nil {
		return nil, err
	}
	loader, err := configfiles.NewFsLoader(&utilfs.DefaultFs{}, flags.KubeletConfigFile)
	if err != nil {
		return nil, err
	}
	if config, err = loader.Load(ctx); err != nil {
		return nil, err
	}
	if err := parse(options.NewKubeletFlags(), config, arguments); err != nil {
		return nil, err
	}
	return &options.KubeletServer{KubeletFlags: *flags, KubeletConfiguration: *config}, nil
}

func parse(flags *options.KubeletFlags, config *kubeletconfig.KubeletConfiguration, arguments []string) error {
	set := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	set.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	flags.AddFlags(set)
	options.AddKubeletConfigFlags(set, config)
	options.AddGlobalFlags(set)
	if err := set.Parse(arguments); err != nil {
		return err
	}
	verflag.PrintAndExitIfRequested()
	if set.NArg() > 0 {
		return fmt.Errorf("unknown command %s", set.Arg(0))
	}
	return nil
}

// What a machine without hardware, systemd and a kernel of its own can't pass.
var unmet = []string{"SystemVerification", "Swap", "Mem", "NumCPU"}

// runKubeadm is `kubeadm` on the machine: the real one, told which of its checks a hollow machine fails.
func runKubeadm(arguments []string) error {
	if slices.Contains(arguments, "join") {
		arguments = append(arguments, "--v=2", "--ignore-preflight-errors="+strings.Join(unmet, ","))
	}
	return syscall.Exec(realKubeadm, append([]string{"kubeadm"}, arguments...), os.Environ())
}
