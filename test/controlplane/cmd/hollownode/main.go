// hollownode is the guest of a simulated machine and stays alive as long as the machine runs. It takes the flags of testnode, but where
// testnode plays kubeadm and the kubelet, here both are the real ones: runcmd of the user-data is carried out by a shell, its `kubeadm join` by
// the real program, and the kubelet that this starts is Kubernetes' own code with kubemark's fakes for what a machine has below it
// (container runtime, cgroups, mounts).
//
//	hollownode --user-data FILE [--meta-data FILE] --state-dir DIR --system-uuid UUID --cpus N --memory-mib N    (first boot)
//	hollownode --state-dir DIR --system-uuid UUID --cpus N --memory-mib N                                        (later boots)
//	hollownode --power-off --state-dir DIR --system-uuid UUID
//	hollownode --systemctl "restart kubelet" --state-dir DIR --system-uuid UUID                                  (a person on the machine)
//	hollownode --probe                                                                (exit code 0: machines can be made here)
//
// A machine is a process of its own that outlives the booting one, with a root folder, a mount, a host name and a network namespace
// (only `lo`, with the machine's address); connections to the API server's address are relayed out of it. It ends when it is powered off, and
// when the process that booted it, the simulator, ends.
// Exit code 0: the first-boot commands have succeeded, or the kubelet was started again; 1: not, the reason is the last line on standard error.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// machine is what the simulator gives: hardware, disk and boot data.
type machine struct {
	stateDir           string
	systemUUID         string
	cpus               int
	memoryMiB          int
	userData, metaData string
	name               string
	timeout            time.Duration
}

// What one program does by the name or flag that it is called with.
var roles = map[string]func([]string) error{
	"kubelet":   runKubelet,
	"kubeadm":   runKubeadm,
	"systemctl": callServices,
}

func main() {
	var err error
	if role, found := roles[filepath.Base(os.Args[0])]; found {
		err = role(os.Args[1:])
	} else {
		err = simulate()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

func simulate() error {
	m := &machine{}
	var powerOff, stay, probe bool
	var systemctl string
	flag.StringVar(&m.stateDir, "state-dir", "", "the machine's disk (required)")
	flag.StringVar(&m.systemUUID, "system-uuid", "", "SMBIOS UUID (required)")
	flag.IntVar(&m.cpus, "cpus", 1, "number of cores")
	flag.IntVar(&m.memoryMiB, "memory-mib", 1024, "memory in MiB")
	flag.StringVar(&m.userData, "user-data", "", "cloud-init user-data file")
	flag.StringVar(&m.metaData, "meta-data", "", "cloud-init meta-data file")
	flag.StringVar(&m.name, "name", "", "host name, unless user-data says otherwise")
	flag.DurationVar(&m.timeout, "timeout", 10*time.Minute, "how long the first-boot commands may take")
	flag.BoolVar(&powerOff, "power-off", false, "the machine stops at once")
	flag.BoolVar(&stay, "stay", false, "be the machine (internal)")
	flag.BoolVar(&probe, "probe", false, "only try whether namespaces can be made here")
	flag.StringVar(&systemctl, "systemctl", "", "what a person types behind systemctl on the machine")
	flag.Parse()
	switch {
	case probe:
		return tryNamespaces()
	case m.stateDir == "" || m.systemUUID == "":
		return errors.New("--state-dir and --system-uuid are required")
	case flag.NArg() != 0:
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	case powerOff:
		return m.powerOff()
	case systemctl != "":
		return m.callServices(systemctl)
	case stay:
		return m.stay()
	}
	return m.boot()
}
