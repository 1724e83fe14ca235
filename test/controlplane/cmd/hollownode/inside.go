package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// programs is where the machine finds this program under other names, and kubeadm itself.
const programs = "/opt/machine/bin"
const realKubeadm = "/opt/machine/kubeadm"

// inside is a thread that lives in the machine's namespaces below the machine's root, while the rest of the process stays outside.
// What it starts is on the machine, and ends with it.
type inside struct {
	work chan func()
}

// enter makes the namespaces and the machine's root folder.
func enter(root, hostname string, address net.IP) (*inside, error) {
	in := &inside{work: make(chan func())}
	ready := make(chan error)
	go func() {
		// Never unlocked: no other goroutine may run on a thread with another root.
		runtime.LockOSThread()
		err := prepare(root, hostname, address)
		ready <- err
		for work := range in.work {
			work()
		}
	}()
	return in, <-ready
}

func (in *inside) do(work func() error) error {
	done := make(chan error)
	in.work <- func() { done <- work() }
	return <-done
}

// command is a process on the machine with its output in the machine's log; the caller starts it with start().
func (in *inside) command(argv ...string) *exec.Cmd {
	command := exec.Command(argv[0], argv[1:]...)
	command.Env = []string{"PATH=" + programs + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "GOGC=400"}
	command.Dir = "/"
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return command
}

func (in *inside) start(command *exec.Cmd) error { return in.do(command.Start) }

func prepare(root, hostname string, address net.IP) error {
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_FS); err != nil {
		return fmt.Errorf("namespaces: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := makeRoot(root); err != nil {
		return fmt.Errorf("root folder: %w", err)
	}
	if err := unix.Chroot(root); err != nil {
		return err
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(hostname)); err != nil {
		return err
	}
	return configureNetwork(address)
}

// configureNetwork gives `lo` the machine's address: no other kind of device can be counted on.
func configureNetwork(address net.IP) error {
	if address.To4() == nil {
		return fmt.Errorf("%v is no IPv4 address", address)
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	up, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	up.SetUint16(unix.IFF_UP | unix.IFF_LOOPBACK | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, up); err != nil {
		return fmt.Errorf("lo: %w", err)
	}
	second, err := unix.NewIfreq("lo:1")
	if err != nil {
		return err
	}
	if err := second.SetInet4Addr(address.To4()); err != nil {
		return err
	}
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFADDR, second); err != nil {
		return fmt.Errorf("address %v: %w", address, err)
	}
	// What kubeadm wants of a machine, as its image brings it.
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}

// The system's programs are this machine's, what changes is the guest's own.
var (
	shared = []string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "dev", "proc", "sys"}
	own    = []string{"etc/kubernetes", "var/lib/kubelet", "var/log/pods", "var/lib/cloud", "etc/cloud", "run/containerd", "tmp", "root", programs[1:]}
	copied = []string{"etc/passwd", "etc/group", "etc/nsswitch.conf", "etc/resolv.conf", "etc/os-release"}
)

func makeRoot(root string) error {
	for _, folder := range own {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			return err
		}
	}
	if err := link("/run", filepath.Join(root, "var/run")); err != nil {
		return err
	}
	for _, name := range shared {
		if err := share("/"+name, filepath.Join(root, name)); err != nil {
			return err
		}
	}
	for _, name := range copied {
		content, err := os.ReadFile("/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), content, 0o644)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return sharePrograms(root)
}

func sharePrograms(root string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	kubeadm := filepath.Join(filepath.Dir(self), "kubeadm")
	if _, err := os.Stat(kubeadm); err != nil {
		kubeadm = filepath.Join(os.Getenv("CONTROLPLANE_BIN"), "kubeadm")
	}
	files := map[string]string{realKubeadm: kubeadm}
	for role := range roles {
		files[filepath.Join(programs, role)] = self
	}
	for target, source := range files {
		target = filepath.Join(root, target)
		if err := os.WriteFile(target, nil, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
	}
	return nil
}

// share shows a folder of this system on the machine, or repeats the link that it is.
func share(source, target string) error {
	info, err := os.Lstat(source)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		place, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return link(place, target)
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	return nil
}

func link(place, target string) error {
	if err := os.Symlink(place, target); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}
