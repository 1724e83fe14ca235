package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	fakeremote "k8s.io/cri-client/pkg/fake"
)

const (
	flagsEnv      = "/var/lib/kubelet/kubeadm-flags.env"
	runtimeSocket = "unix:///run/containerd/containerd.sock"
)

func (m *machine) root() string            { return filepath.Join(m.stateDir, "rootfs") }
func (m *machine) path(name string) string { return filepath.Join(m.root(), name) }

// stay is the machine: it boots, reports, and runs until it is killed or its creator has ended.
func (m *machine) stay() error {
	report := os.NewFile(reportFD, "report")
	if err := m.start(); err != nil {
		fmt.Fprintln(report, strings.ReplaceAll(err.Error(), "\n", " "))
		return err
	}
	fmt.Fprintln(report, succeeded)
	report.Close()
	return awaitEnd(creatorFD)
}

func (m *machine) start() error {
	// Nobody needs a machine whose creator has ended, not even in the midst of its boot.
	go func() {
		if awaitEnd(creatorFD) == nil {
			os.Exit(1)
		}
	}()
	boot, err := m.readBoot()
	if err != nil {
		return err
	}
	if err := m.writeFacts(boot); err != nil {
		return err
	}
	in, err := enter(m.root(), boot.Hostname, net.ParseIP(boot.Address))
	if err != nil {
		return err
	}
	for _, port := range boot.Ports {
		if err := relay(in, port); err != nil {
			return err
		}
	}
	runtime := fakeremote.NewFakeRemoteRuntime()
	runtime.ImageService.SetFakeImageSize(1 << 20)
	if err := in.do(func() error { return runtime.Start(runtimeSocket) }); err != nil {
		return err
	}
	units := newServices(in)
	if err := units.serve(); err != nil {
		return err
	}
	if _, err := os.Stat(m.path(flagsEnv)); err == nil {
		return units.act("start", "kubelet")
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return m.firstBoot(in, boot)
}

// firstBoot runs what cloud-init's runcmd holds, one script of all commands; like cloud-init it goes on after one that failed.
func (m *machine) firstBoot(in *inside, boot *bootData) error {
	ctx, cancel := context.WithTimeout(context.Background(), m.timeout)
	defer cancel()
	if len(boot.commands) == 0 {
		return errors.New("the user-data has no commands: the machine boots but never joins")
	}
	var failed error
	for _, argv := range boot.commands {
		// The shell looks the program up on the machine.
		command := in.command(slices.Concat([]string{"/bin/sh", "-c", `exec "$@"`, "sh"}, argv)...)
		if err := in.start(command); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		stop := context.AfterFunc(ctx, func() { _ = command.Process.Kill() })
		if err := command.Wait(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", strings.Join(argv, " "), err))
		}
		stop()
	}
	if failed != nil {
		return failed
	}
	// What the simulator takes as the sign of a disk that has joined before.
	return link("rootfs"+flagsEnv, filepath.Join(m.stateDir, filepath.Base(flagsEnv)))
}
