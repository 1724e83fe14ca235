package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// bootData is what the machine made of its cloud-init data; all but the commands, which are for the first boot, stays on its disk.
type bootData struct {
	Hostname string `json:"hostname"`
	Address  string `json:"address"`
	// Ports of 127.0.0.1 outside that the user-data names: the API server's.
	Ports    []int `json:"ports"`
	commands [][]string
}

// cloudConfig has the fields of cloud-init's modules that matter here: write_files, runcmd, set_hostname.
// https://cloudinit.readthedocs.io/en/latest/reference/modules.html
type cloudConfig struct {
	Hostname   string `json:"hostname"`
	WriteFiles []struct {
		Path        string `json:"path"`
		Content     string `json:"content"`
		Encoding    string `json:"encoding"`
		Permissions string `json:"permissions"`
	} `json:"write_files"`
	Runcmd []any `json:"runcmd"`
}

var endpoint = regexp.MustCompile(`127\.0\.0\.1:(\d+)`)

func (m *machine) bootFile() string { return filepath.Join(m.stateDir, "boot.json") }

// readBoot does the first boot's part of cloud-init up to the commands; later boots find what it left.
func (m *machine) readBoot() (*bootData, error) {
	boot := &bootData{}
	raw, err := os.ReadFile(m.bootFile())
	if err == nil {
		return boot, json.Unmarshal(raw, boot)
	}
	if m.userData == "" {
		return nil, errors.New("this machine never joined a cluster and has no --user-data to do so")
	}
	if raw, err = os.ReadFile(m.userData); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(raw), "#cloud-config\n") {
		return nil, errors.New(`user-data does not start with "#cloud-config": cloud-init ignores it`)
	}
	var config cloudConfig
	if err := yaml.Unmarshal(raw, &config); err != nil {
		return nil, fmt.Errorf("user-data is no YAML that cloud-init reads: %w", err)
	}
	boot.Hostname = firstOf(config.Hostname, m.name)
	for _, found := range endpoint.FindAllStringSubmatch(string(raw), -1) {
		port, err := strconv.Atoi(found[1])
		if err == nil && !slices.Contains(boot.Ports, port) {
			boot.Ports = append(boot.Ports, port)
		}
	}
	if boot.Address, err = m.address(); err != nil {
		return nil, err
	}
	if err := m.writeFiles(&config); err != nil {
		return nil, err
	}
	boot.commands, err = commands(config.Runcmd)
	return boot, err
}

// dhcp is the address that the simulator left beside the disk; without one the machine takes any.
func (m *machine) dhcp() string {
	raw, err := os.ReadFile(filepath.Join(m.stateDir, "..", "dhcp-address"))
	if err != nil {
		return "10.99.0.1"
	}
	return strings.TrimSpace(string(raw))
}

// networkConfig has the fields of both versions of cloud-init's network configuration that matter here.
// https://docs.cloud-init.io/en/latest/reference/network-config.html
type networkConfig struct {
	Config []struct {
		Subnets []struct {
			Address string `json:"address"`
		} `json:"subnets"`
	} `json:"config"`
	Ethernets map[string]struct {
		Addresses []string `json:"addresses"`
	} `json:"ethernets"`
}

// addresses are the static ones, with their prefix lengths.
func (c *networkConfig) addresses() []string {
	var all []string
	for _, item := range c.Config {
		for _, subnet := range item.Subnets {
			if subnet.Address != "" {
				all = append(all, subnet.Address)
			}
		}
	}
	for _, ethernet := range c.Ethernets {
		all = append(all, ethernet.Addresses...)
	}
	return all
}

// address is the first static one of the network configuration beside the user-data, or else from DHCP.
func (m *machine) address() (string, error) {
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(m.userData), "network-config"))
	if errors.Is(err, os.ErrNotExist) {
		return m.dhcp(), nil
	}
	if err != nil {
		return "", err
	}
	var config networkConfig
	if err := yaml.Unmarshal(raw, &config); err != nil {
		return "", fmt.Errorf("network-config: %w", err)
	}
	static := config.addresses()
	if len(static) == 0 {
		return m.dhcp(), nil
	}
	address, _, err := net.ParseCIDR(static[0])
	if err != nil {
		return "", fmt.Errorf("network-config: %w", err)
	}
	return address.String(), nil
}

func (m *machine) writeFiles(config *cloudConfig) error {
	for _, file := range config.WriteFiles {
		content := []byte(file.Content)
		var err error
		switch file.Encoding {
		case "", "text/plain":
		case "b64", "base64":
			content, err = base64.StdEncoding.DecodeString(file.Content)
		default:
			err = fmt.Errorf("encoding %q is not read here", file.Encoding)
		}
		if err != nil {
			return fmt.Errorf("write_files %s: %w", file.Path, err)
		}
		mode, err := strconv.ParseUint(firstOf(file.Permissions, "0644"), 8, 32)
		if err != nil {
			return fmt.Errorf("write_files %s: %w", file.Path, err)
		}
		target := m.path(filepath.Clean("/" + file.Path))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, content, os.FileMode(mode)); err != nil {
			return err
		}
	}
	return nil
}

// commands: an item of runcmd is a list of arguments or a line for the shell.
func commands(runcmd []any) ([][]string, error) {
	var result [][]string
	for _, item := range runcmd {
		switch item := item.(type) {
		case string:
			result = append(result, []string{"/bin/sh", "-c", item})
		case []any:
			var arguments []string
			for _, argument := range item {
				arguments = append(arguments, fmt.Sprint(argument))
			}
			result = append(result, arguments)
		default:
			return nil, fmt.Errorf("runcmd item %v is neither a line nor a list", item)
		}
	}
	return result, nil
}

// writeFacts leaves on the disk what later boots and the machine's programs ask for.
func (m *machine) writeFacts(boot *bootData) error {
	raw, err := json.Marshal(boot)
	if err != nil {
		return err
	}
	hosts := fmt.Sprintf("127.0.0.1 localhost\n::1 localhost\n%s %s\n", boot.Address, boot.Hostname)
	hardware, err := json.Marshal(hardware{SystemUUID: m.systemUUID, CPUs: m.cpus, MemoryMiB: m.memoryMiB})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(m.path("etc"), 0o755); err != nil {
		return err
	}
	if err := os.MkdirAll(m.path("run"), 0o755); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(m.bootFile(), raw, 0o600), os.WriteFile(m.path("etc/hosts"), []byte(hosts), 0o644),
		os.WriteFile(m.path(hardwareFile), hardware, 0o644))
}
