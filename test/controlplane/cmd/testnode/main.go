// testnode is the guest of a simulated machine: it does what a kubelet machine does at boot, against a real API server, and ends.
//
// First boot from cloud-init data (what a NoCloud drive holds): the `kubeadm join` that runcmd asks for, by kubeadm's own code
// (configuration parsing, cluster-info discovery with JWS and CA pin), then the kubelet's TLS bootstrap, then the Node's registration:
//
//	testnode --user-data FILE [--meta-data FILE] --state-dir DIR --system-uuid UUID --cpus N --memory-mib N
//
// First boot of an image that brings its own bootstrap kubeconfig (netboot):
//
//	testnode --kubeconfig FILE --name NAME --state-dir DIR --system-uuid UUID --cpus N --memory-mib N
//
// Boot of a machine that joined before (its disk is the state folder): the same without --user-data and --kubeconfig.
// Power-off (the simulator calls it after the machine stopped): the Node is no longer heartbeaten, so that it goes NotReady:
//
//	testnode --power-off --state-dir DIR --system-uuid UUID
//
// After registration kwok plays the rest of the kubelet for Nodes that carry the label of power.go.
// Exit code 0: registered (or powered off); 1: the machine did not join, the reason is the last line on standard error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/klog/v2"
)

// machine is what the simulator gives: hardware, disk and boot data.
type machine struct {
	stateDir            string
	systemUUID          string
	cpus                int
	memoryMiB           int
	reservedCPUMilli    int
	reservedMemoryMiB   int
	address             string
	userData, metaData  string
	bootstrapKubeconfig string
	name, nodeLabels    string
	taints, providerID  string
	powerOff            bool
	timeout             time.Duration
}

func (m *machine) kubeletConf() string   { return filepath.Join(m.stateDir, "kubelet.conf") }
func (m *machine) bootstrapConf() string { return filepath.Join(m.stateDir, "bootstrap-kubelet.conf") }
func (m *machine) kubeletFlags() string  { return filepath.Join(m.stateDir, "kubeadm-flags.env") }

func parseFlags() *machine {
	m := &machine{}
	flag.StringVar(&m.stateDir, "state-dir", "", "the machine's disk: certificates and kubelet flags are kept here (required)")
	flag.StringVar(&m.systemUUID, "system-uuid", "", "SMBIOS UUID (required)")
	flag.IntVar(&m.cpus, "cpus", 0, "number of cores")
	flag.IntVar(&m.memoryMiB, "memory-mib", 0, "memory in MiB")
	flag.IntVar(&m.reservedCPUMilli, "system-reserved-cpu-milli", 100, "thousandths of a core that are not allocatable")
	flag.IntVar(&m.reservedMemoryMiB, "system-reserved-memory-mib", 200, "memory in MiB that is not allocatable")
	flag.StringVar(&m.address, "address", "", "InternalIP of the Node; empty: kwok gives it one")
	flag.StringVar(&m.userData, "user-data", "", "cloud-init user-data file")
	flag.StringVar(&m.metaData, "meta-data", "", "cloud-init meta-data file")
	flag.StringVar(&m.bootstrapKubeconfig, "kubeconfig", "", "bootstrap kubeconfig of an image that joins by itself")
	flag.StringVar(&m.name, "name", "", "host name, unless cloud-init data says otherwise")
	flag.StringVar(&m.nodeLabels, "node-labels", "", "kubelet flag of an image that joins by itself")
	flag.StringVar(&m.taints, "register-with-taints", "", "kubelet flag of an image that joins by itself")
	flag.StringVar(&m.providerID, "provider-id", "", "kubelet flag; overrides the one of the join configuration")
	flag.BoolVar(&m.powerOff, "power-off", false, "the machine stopped: stop the heartbeats of its Node")
	flag.DurationVar(&m.timeout, "timeout", 5*time.Minute, "how long to keep trying")
	klog.InitFlags(nil)
	flag.Parse()
	return m
}

func (m *machine) check() error {
	switch {
	case m.stateDir == "" || m.systemUUID == "":
		return errors.New("--state-dir and --system-uuid are required")
	case flag.NArg() != 0:
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	case m.powerOff:
		return nil
	case m.userData != "" && m.bootstrapKubeconfig != "":
		return errors.New("--user-data and --kubeconfig exclude each other")
	case m.cpus*1000 <= m.reservedCPUMilli || m.memoryMiB <= m.reservedMemoryMiB:
		return fmt.Errorf("a machine of %d cores and %d MiB has nothing left beside its system", m.cpus, m.memoryMiB)
	}
	return os.MkdirAll(m.stateDir, 0o700)
}

// boot runs what the init system of the guest runs: the first-boot step if this disk never joined, then the kubelet.
func boot(ctx context.Context, m *machine) error {
	if _, err := os.Stat(m.kubeletFlags()); errors.Is(err, os.ErrNotExist) {
		if err := firstBoot(ctx, m); err != nil {
			return err
		}
	}
	return runKubelet(ctx, m)
}

func firstBoot(ctx context.Context, m *machine) error {
	switch {
	case m.userData != "":
		guest, err := readCloudInit(m)
		if err != nil {
			return err
		}
		return kubeadmJoin(ctx, m, guest)
	case m.bootstrapKubeconfig != "":
		return joinByItself(m)
	}
	return errors.New("this machine never joined a cluster and has neither --user-data nor --kubeconfig to do so")
}

func main() {
	m := parseFlags()
	ctx, cancel := context.WithTimeout(context.Background(), m.timeout)
	defer cancel()
	err := m.check()
	if err == nil && m.powerOff {
		err = powerOff(ctx, m)
	} else if err == nil {
		err = boot(ctx, m)
	}
	klog.Flush()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testnode:", err)
		os.Exit(1)
	}
}
