package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// guest is what cloud-init makes of its data: a host name, files on the disk and commands run once.
type guest struct {
	hostname string
	root     string // folder that stands for "/"
	commands [][]string
}

// path gives the place below the state folder of a file that the guest knows by an absolute path.
func (g *guest) path(absolute string) string {
	return filepath.Join(g.root, filepath.Clean("/"+absolute))
}

// cloudConfig has the fields of cloud-init's modules write_files, runcmd and set_hostname that matter to a joining machine
// (https://cloudinit.readthedocs.io/en/latest/reference/modules.html).
type cloudConfig struct {
	Hostname   string `json:"hostname"`
	WriteFiles []struct {
		Path     string `json:"path"`
		Content  string `json:"content"`
		Encoding string `json:"encoding"`
		Append   bool   `json:"append"`
	} `json:"write_files"`
	Runcmd []any `json:"runcmd"`
}

func readCloudInit(m *machine) (*guest, error) {
	raw, err := os.ReadFile(m.userData)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(raw, []byte("#cloud-config\n")) {
		return nil, errors.New(`user-data does not start with "#cloud-config": cloud-init ignores it`)
	}
	var config cloudConfig
	if err := yaml.Unmarshal(raw, &config); err != nil {
		return nil, fmt.Errorf("user-data is no YAML that cloud-init reads: %w", err)
	}
	g := &guest{root: filepath.Join(m.stateDir, "rootfs")}
	if g.hostname, err = hostname(m, config.Hostname); err != nil {
		return nil, err
	}
	if err := writeFiles(g, &config); err != nil {
		return nil, err
	}
	for i, item := range config.Runcmd {
		if script, is := item.(string); is {
			if config.Runcmd[i], err = writeHereDocuments(g, script); err != nil {
				return nil, err
			}
		}
	}
	g.commands, err = commands(config.Runcmd)
	g.commands = append(g.commands, commandsOfScripts(g)...)
	return g, err
}

// hostname: user-data wins over meta-data, which wins over the name that the machine got otherwise.
func hostname(m *machine, fromUserData string) (string, error) {
	if fromUserData != "" || m.metaData == "" {
		return firstOf(fromUserData, m.name), nil
	}
	raw, err := os.ReadFile(m.metaData)
	if err != nil {
		return "", err
	}
	var meta struct {
		LocalHostname string `json:"local-hostname"`
		InstanceID    string `json:"instance-id"`
	}
	if err := yaml.Unmarshal(raw, &meta); err != nil {
		return "", fmt.Errorf("meta-data: %w", err)
	}
	if meta.InstanceID == "" {
		return "", errors.New("meta-data has no instance-id: cloud-init's NoCloud data source ignores such data")
	}
	return firstOf(meta.LocalHostname, m.name), nil
}

func firstOf(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

func writeFiles(g *guest, config *cloudConfig) error {
	for _, file := range config.WriteFiles {
		if !filepath.IsAbs(file.Path) {
			return fmt.Errorf("write_files: path %q is not absolute", file.Path)
		}
		content, err := decode(file.Content, file.Encoding)
		if err != nil {
			return fmt.Errorf("write_files %s: %w", file.Path, err)
		}
		if err := writeFile(g.path(file.Path), content, file.Append); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, content []byte, keep bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if keep {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	file, err := os.OpenFile(path, mode, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

func decode(content, encoding string) ([]byte, error) {
	raw := []byte(content)
	var err error
	switch encoding {
	case "", "text/plain":
		return raw, nil
	case "b64", "base64":
		return base64.StdEncoding.DecodeString(content)
	case "gz", "gzip":
	case "gz+b64", "gz+base64", "gzip+b64", "gzip+base64":
		if raw, err = base64.StdEncoding.DecodeString(content); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("encoding %q is unknown to cloud-init", encoding)
	}
	reader, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// commands splits runcmd: an item is a list of arguments or a line for the shell; `sh -c LINE` is looked into.
func commands(runcmd []any) ([][]string, error) {
	var result [][]string
	for _, item := range runcmd {
		switch item := item.(type) {
		case string:
			result = append(result, shellCommands(item)...)
		case []any:
			var arguments []string
			for _, argument := range item {
				text := fmt.Sprint(argument)
				arguments = append(arguments, text)
				if strings.ContainsAny(text, " \n") {
					result = append(result, shellCommands(text)...)
				}
			}
			result = append(result, arguments)
		default:
			return nil, fmt.Errorf("runcmd item %v is neither a line nor a list", item)
		}
	}
	return result, nil
}

var hereDocument = regexp.MustCompile(`^\s*cat\s*>\s*(/\S+)\s*<<\s*'?([\w-]+)'?\s*$`)

// writeHereDocuments does what a shell does with "cat > /FILE <<'END'" and returns the rest of the script.
func writeHereDocuments(g *guest, script string) (string, error) {
	var rest, content []string
	var file, end string
	for _, line := range strings.Split(script, "\n") {
		switch found := hereDocument.FindStringSubmatch(line); {
		case end != "" && line == end:
			if err := writeFile(g.path(file), []byte(strings.Join(content, "\n")+"\n"), false); err != nil {
				return "", err
			}
			end, content = "", nil
		case end != "":
			content = append(content, line)
		case found != nil:
			file, end = found[1], found[2]
		default:
			rest = append(rest, line)
		}
	}
	return strings.Join(rest, "\n"), nil
}

// commandsOfScripts looks into the scripts on the disk that commands run by their path.
func commandsOfScripts(g *guest) [][]string {
	var result [][]string
	for _, command := range g.commands {
		if len(command) == 0 || !filepath.IsAbs(command[0]) {
			continue
		}
		content, err := os.ReadFile(g.path(command[0]))
		if err == nil && bytes.HasPrefix(content, []byte("#!")) {
			result = append(result, shellCommands(string(content))...)
		}
	}
	return result
}

func shellCommands(script string) [][]string {
	var result [][]string
	for _, line := range strings.FieldsFunc(script, func(c rune) bool { return strings.ContainsRune("\n;&|", c) }) {
		result = append(result, strings.Fields(line))
	}
	return result
}
