package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	kubeadmapiv1 "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4"
	"k8s.io/kubernetes/cmd/kubeadm/app/discovery"
	kubeletphase "k8s.io/kubernetes/cmd/kubeadm/app/phases/kubelet"
	kubeadmconfig "k8s.io/kubernetes/cmd/kubeadm/app/util/config"
	kubeconfigutil "k8s.io/kubernetes/cmd/kubeadm/app/util/kubeconfig"
	"sigs.k8s.io/yaml"
)

var loadOptions = kubeadmconfig.LoadOrDefaultConfigurationOptions{SkipCRIDetect: true}

// kubeadmJoin does what `kubeadm join` does on a worker up to the start of the kubelet: discovery and its checks, then the
// bootstrap kubeconfig and the kubelet's flags on the disk. Like kubeadm under runcmd it is not repeated when it fails.
func kubeadmJoin(ctx context.Context, m *machine, g *guest) error {
	arguments, err := joinCommand(g.commands)
	if err != nil {
		return err
	}
	config, err := joinConfiguration(g, arguments)
	if err != nil {
		return fmt.Errorf("kubeadm join: %w", err)
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < config.Timeouts.Discovery.Duration {
		config.Timeouts.Discovery.Duration = time.Until(deadline)
	}
	bootstrap, err := discovery.For(nil, config)
	if err != nil {
		return fmt.Errorf("kubeadm join: %w", err)
	}
	client, err := kubeconfigutil.ToClientSet(bootstrap)
	if err != nil {
		return err
	}
	name, _, err := kubeletphase.GetNodeNameAndHostname(&config.NodeRegistration)
	if err != nil {
		return err
	}
	if err := refuseReadyNode(ctx, client, name); err != nil {
		return fmt.Errorf("kubeadm join: %w", err)
	}
	if err := kubeconfigutil.WriteToDisk(m.bootstrapConf(), bootstrap); err != nil {
		return err
	}
	if m.providerID != "" {
		config.NodeRegistration.KubeletExtraArgs = append(config.NodeRegistration.KubeletExtraArgs,
			kubeadmapi.Arg{Name: "provider-id", Value: m.providerID})
	}
	return kubeletphase.WriteKubeletDynamicEnvFile(&kubeadmapi.ClusterConfiguration{}, &config.NodeRegistration, true, m.stateDir)
}

// joinCommand gives the arguments behind `kubeadm join` in the commands that cloud-init runs.
func joinCommand(commands [][]string) ([]string, error) {
	for _, command := range commands {
		for i := 0; i+1 < len(command); i++ {
			if path.Base(command[i]) == "kubeadm" && command[i+1] == "join" {
				return command[i+2:], nil
			}
		}
	}
	return nil, errors.New("no command of the user-data runs kubeadm join: the machine boots but never joins")
}

func joinConfiguration(g *guest, arguments []string) (*kubeadmapi.JoinConfiguration, error) {
	config, err := loadJoinConfiguration(g, arguments)
	if err != nil {
		return nil, err
	}
	if file := config.Discovery.File; file != nil && strings.HasPrefix(file.KubeConfigPath, "/") {
		file.KubeConfigPath = g.path(file.KubeConfigPath)
	}
	// Without a name in the configuration kubeadm takes the machine's host name; that of this process is not the guest's.
	if own, err := os.Hostname(); err == nil && config.NodeRegistration.Name == strings.ToLower(own) && g.hostname != "" {
		config.NodeRegistration.Name = strings.ToLower(g.hostname)
	}
	return config, nil
}

// loadJoinConfiguration reads the file of --config, or the flags that a short `kubeadm join ENDPOINT --token …` has.
func loadJoinConfiguration(g *guest, arguments []string) (*kubeadmapi.JoinConfiguration, error) {
	flags := pflag.NewFlagSet("kubeadm join", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	file := flags.String("config", "", "")
	token := flags.String("token", "", "")
	name := flags.String("node-name", "", "")
	hashes := flags.StringSlice("discovery-token-ca-cert-hash", nil, "")
	unsafe := flags.Bool("discovery-token-unsafe-skip-ca-verification", false, "")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	if *file != "" {
		current, err := inCurrentVersion(g.path(*file))
		if err != nil {
			return nil, err
		}
		defer os.Remove(current)
		return kubeadmconfig.LoadJoinConfigurationFromFile(current, loadOptions)
	}
	versioned := &kubeadmapiv1.JoinConfiguration{}
	kubeadmapiv1.SetDefaults_JoinConfiguration(versioned)
	versioned.NodeRegistration.Name = *name
	versioned.Discovery.BootstrapToken = &kubeadmapiv1.BootstrapTokenDiscovery{
		Token: *token, APIServerEndpoint: flags.Arg(0), CACertHashes: *hashes, UnsafeSkipCAVerification: *unsafe}
	versioned.Discovery.TLSBootstrapToken = *token
	return kubeadmconfig.DefaultedJoinConfiguration(versioned, loadOptions)
}

// inCurrentVersion writes the join configuration into a temporary file, in the version that this kubeadm code reads. Machines of the
// oldest supported Kubernetes get v1beta3, which kubeadm dropped in 1.37; there extra arguments are a map.
func inCurrentVersion(file string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var document map[string]any
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return "", err
	}
	if document["apiVersion"] == "kubeadm.k8s.io/v1beta3" {
		document["apiVersion"] = kubeadmapiv1.SchemeGroupVersion.String()
		registration, _ := document["nodeRegistration"].(map[string]any)
		if arguments, ok := registration["kubeletExtraArgs"].(map[string]any); ok {
			list := []map[string]any{}
			for name, value := range arguments {
				list = append(list, map[string]any{"name": name, "value": value})
			}
			registration["kubeletExtraArgs"] = list
		}
	}
	if raw, err = yaml.Marshal(document); err != nil {
		return "", err
	}
	current, err := os.CreateTemp("", "join-*.yaml")
	if err != nil {
		return "", err
	}
	defer current.Close()
	_, err = current.Write(raw)
	return current.Name(), err
}

// refuseReadyNode is kubeadm's own protection against two machines of one name.
func refuseReadyNode(ctx context.Context, client kubernetes.Interface, name string) error {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot get Node %q: %w", name, err)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == v1.NodeReady && condition.Status == v1.ConditionTrue {
			return fmt.Errorf("a Node with name %q and status Ready already exists in the cluster", name)
		}
	}
	return nil
}

// joinByItself prepares the disk of an image that brings a bootstrap kubeconfig and its kubelet flags.
func joinByItself(m *machine) error {
	if m.name == "" {
		return errors.New("--kubeconfig needs --name")
	}
	raw, err := os.ReadFile(m.bootstrapKubeconfig)
	if err != nil {
		return err
	}
	if err := os.WriteFile(m.bootstrapConf(), raw, 0o600); err != nil {
		return err
	}
	arguments := []kubeadmapi.Arg{{Name: "hostname-override", Value: m.name}}
	for name, value := range map[string]string{"node-labels": m.nodeLabels, "register-with-taints": m.taints, "provider-id": m.providerID} {
		if value != "" {
			arguments = append(arguments, kubeadmapi.Arg{Name: name, Value: value})
		}
	}
	klog.V(1).Infof("joining as %s with the image's own credentials", m.name)
	return kubeletphase.WriteKubeletArgsToFile(arguments, nil, m.stateDir)
}
