package main

import (
	"bufio"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	kubeletphase "k8s.io/kubernetes/cmd/kubeadm/app/phases/kubelet"
)

// services stands for systemd as far as kubeadm knows it: one unit, the kubelet, which is started again when it ends.
// It is asked over a socket by this program under the name systemctl.
type services struct {
	in      *inside
	mutex   sync.Mutex
	wanted  bool
	process *exec.Cmd
	ended   chan struct{}
}

const servicesSocket = "/run/systemctl.sock"
const restartDelay = time.Second

func newServices(in *inside) *services { return &services{in: in} }

func (s *services) serve() error {
	var listener net.Listener
	err := s.in.do(func() (err error) {
		if err = os.Remove(servicesSocket); err == nil || errors.Is(err, os.ErrNotExist) {
			listener, err = net.Listen("unix", servicesSocket)
		}
		return err
	})
	if err != nil {
		return err
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			s.answer(connection)
		}
	}()
	return nil
}

func (s *services) answer(connection net.Conn) {
	defer connection.Close()
	line, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		return
	}
	words := strings.Fields(line)
	log.Print("systemctl ", words)
	if err := s.act(words[0], words[len(words)-1]); err != nil {
		fmt.Fprintln(connection, err)
		return
	}
	fmt.Fprintln(connection, "ok")
}

// act does what `systemctl VERB UNIT` does.
func (s *services) act(verb, unit string) error {
	if verb == "daemon-reload" {
		return nil
	}
	if strings.TrimSuffix(unit, ".service") != "kubelet" {
		return fmt.Errorf("unit %s could not be found", unit)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch verb {
	case "enable", "is-enabled", "status":
		return nil
	case "is-active":
		if !s.wanted {
			return errors.New("inactive")
		}
		return nil
	case "start":
		return s.start()
	case "stop":
		s.stop()
		return nil
	case "restart":
		s.stop()
		return s.start()
	}
	return fmt.Errorf("unknown command %s", verb)
}

func (s *services) start() error {
	if s.wanted {
		return nil
	}
	s.wanted, s.ended = true, make(chan struct{})
	if err := s.launch(); err != nil {
		return err
	}
	go s.keep(s.process, s.ended)
	return nil
}

// launch starts the kubelet with the command line of kubeadm's unit file.
func (s *services) launch() error {
	argv := []string{programs + "/kubelet", "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf",
		"--kubeconfig=/etc/kubernetes/kubelet.conf", "--config=/var/lib/kubelet/config.yaml"}
	var added []string
	err := s.in.do(func() (err error) {
		added, err = kubeletphase.ReadKubeletDynamicEnvFile(flagsEnv)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.process = s.in.command(slices.Concat(argv, added)...)
	return s.in.start(s.process)
}

// keep starts the kubelet again until it is no longer wanted; then it closes `ended`.
func (s *services) keep(process *exec.Cmd, ended chan struct{}) {
	defer close(ended)
	for {
		log.Print("the kubelet ended: ", process.Wait())
		time.Sleep(restartDelay)
		s.mutex.Lock()
		if !s.wanted {
			s.mutex.Unlock()
			return
		}
		err := s.launch()
		process = s.process
		s.mutex.Unlock()
		if err != nil {
			log.Print("the kubelet cannot be started: ", err)
			return
		}
	}
}

func (s *services) stop() {
	if !s.wanted {
		return
	}
	s.wanted = false
	_ = s.process.Process.Signal(syscall.SIGTERM)
	s.mutex.Unlock()
	<-s.ended
	s.mutex.Lock()
}

// callServices is systemctl on the machine.
func callServices(arguments []string) error {
	arguments = slices.DeleteFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "-") })
	return askServices(servicesSocket, strings.Join(arguments, " "))
}

// callServices on a machine from outside. Names of sockets are short, so it is looked up from its folder.
func (m *machine) callServices(command string) error {
	if err := os.Chdir(m.path("run")); err != nil {
		return err
	}
	return askServices("systemctl.sock", command)
}

func askServices(socket, command string) error {
	connection, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer connection.Close()
	fmt.Fprintln(connection, command)
	answer, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		return err
	}
	answer = strings.TrimSpace(answer)
	if strings.HasPrefix(command, "is-active") {
		fmt.Println(map[bool]string{true: "active", false: "inactive"}[answer == "ok"])
	}
	if answer != "ok" {
		return errors.New(answer)
	}
	return nil
}
