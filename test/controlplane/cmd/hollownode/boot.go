package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const succeeded = "booted"

// Descriptors that the machine's process inherits.
const (
	reportFD  = 3 // one line: succeeded, or why the first boot failed
	creatorFD = 4 // becomes readable when the creator ends
)

func (m *machine) pidFile() string { return filepath.Join(m.stateDir, "machine.pid") }
func (m *machine) logFile() string { return filepath.Join(m.stateDir, "machine.log") }

// outside gives the attributes of a process that may make namespaces: whoever is not root becomes it in a user namespace.
func outside() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setsid: true}
	if os.Geteuid() != 0 {
		attributes.Cloneflags = syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attributes
}

func tryNamespaces() error {
	child := exec.Command("/bin/true")
	child.SysProcAttr = outside()
	child.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS
	if err := child.Run(); err != nil {
		return fmt.Errorf("no namespaces can be made here: %w", err)
	}
	return nil
}

// boot starts the machine's process and waits for the end of its first-boot commands.
func (m *machine) boot() error {
	if err := m.powerOff(); err != nil {
		return err
	}
	if err := os.MkdirAll(m.stateDir, 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(m.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	creator, err := unix.PidfdOpen(os.Getppid(), 0)
	if err != nil {
		return fmt.Errorf("the creator's process: %w", err)
	}
	report, reporter, err := os.Pipe()
	if err != nil {
		return err
	}
	child := exec.Command("/proc/self/exe", append([]string{"--stay"}, os.Args[1:]...)...)
	child.Stdout, child.Stderr = log, log
	child.ExtraFiles = []*os.File{reporter, os.NewFile(uintptr(creator), "creator")}
	child.SysProcAttr = outside()
	if err := child.Start(); err != nil {
		return err
	}
	reporter.Close()
	if err := os.WriteFile(m.pidFile(), []byte(strconv.Itoa(child.Process.Pid)), 0o600); err != nil {
		return errors.Join(err, child.Process.Kill())
	}
	line, _ := bufio.NewReader(report).ReadString('\n')
	if line = strings.TrimSpace(line); line != succeeded {
		return fmt.Errorf("%s; see %s", firstOf(line, "the machine ended"), m.logFile())
	}
	return nil
}

func firstOf(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

// powerOff ends the machine's process, and with it all that runs on the machine, without a goodbye.
func (m *machine) powerOff() error {
	raw, err := os.ReadFile(m.pidFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return err
	}
	process, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return os.Remove(m.pidFile())
	}
	if err != nil {
		return err
	}
	defer unix.Close(process)
	// A number alone may be another process' by now.
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.Contains(string(command), m.systemUUID) {
		return os.Remove(m.pidFile())
	}
	if err := unix.PidfdSendSignal(process, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	if err := awaitEnd(process); err != nil {
		return err
	}
	return os.Remove(m.pidFile())
}

// awaitEnd returns when the process of that descriptor has ended.
func awaitEnd(pidfd int) error {
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
