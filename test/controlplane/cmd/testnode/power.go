package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	nodeutil "k8s.io/component-helpers/node/util"
	"k8s.io/klog/v2"
	kubeletphase "k8s.io/kubernetes/cmd/kubeadm/app/phases/kubelet"
)

// kwok plays the kubelet of the Nodes with powerLabel=powerOn. It is a label and not an annotation because only a label
// selector is the server's: a Node that no longer matches leaves kwok's watch, and kwok lets go of its Lease.
const (
	powerLabel = "machine.test/power"
	powerOn    = "on"
	poweredOff = "off"
)

// powerOff stops the heartbeats of this machine's Node, if it has one. It uses the machine's own certificate and checks the
// system UUID, so that another machine which took over the name keeps running.
func powerOff(ctx context.Context, m *machine) error {
	if _, err := os.Stat(m.kubeletConf()); os.IsNotExist(err) {
		klog.Info("the machine never joined: nothing to stop")
		return nil
	}
	name, err := nodeName(m)
	if err != nil {
		return err
	}
	client, err := clientFrom(m.kubeletConf())
	if err != nil {
		return err
	}
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !strings.EqualFold(node.Status.NodeInfo.SystemUUID, m.systemUUID) {
		klog.Infof("Node %s belongs to another machine", name)
		return nil
	}
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"labels":{%q:%q}}}`, node.UID, powerLabel, poweredOff)
	_, err = client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// nodeName reads the name from the kubelet's flags without judging the others.
func nodeName(m *machine) (string, error) {
	arguments, err := kubeletphase.ReadKubeletDynamicEnvFile(m.kubeletFlags())
	if err != nil {
		return "", err
	}
	override := ""
	for _, argument := range arguments {
		if value, found := strings.CutPrefix(argument, "--hostname-override="); found {
			override = value
		}
	}
	return nodeutil.GetHostname(override)
}
