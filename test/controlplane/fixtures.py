"""Builds the objects that `kubeadm init` leaves in a cluster so that machines can join with a bootstrap token."""

import base64
import json

BOOTSTRAPPERS = "system:bootstrappers:kubeadm:default-node-token"
RBAC = "rbac.authorization.k8s.io"
RBAC_PATH = f"/apis/{RBAC}/v1"


def kubeconfig(server: str, ca: bytes, credentials: dict) -> dict:
    """Returns a kubeconfig (JSON is YAML) with one cluster, one user and no files beside it."""
    return {
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": server, "certificate-authority-data": base64.b64encode(ca).decode()}}],
        "users": [{"name": "test", "user": credentials}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    }


def cluster_info(server: str, ca: bytes) -> dict:
    """Returns what discovery reads without credentials. The bootstrapsigner controller adds a signature per token."""
    config = kubeconfig(server, ca, {})
    config["clusters"][0]["name"] = ""
    del config["users"], config["contexts"], config["current-context"]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cluster-info", "namespace": "kube-public"},
            "data": {"kubeconfig": json.dumps(config)}}


def _cluster_binding(name, role, group):
    return (f"{RBAC_PATH}/clusterrolebindings", {
        "apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": group}]})


def objects(server: str, ca: bytes):
    """Returns (collection path, object) pairs in the order of creation, with kubeadm's names."""
    public = f"{RBAC_PATH}/namespaces/kube-public"
    info_role = "kubeadm:bootstrap-signer-clusterinfo"
    return [
        ("/api/v1/namespaces/kube-public/configmaps", cluster_info(server, ca)),
        (f"{public}/roles", {
            "apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": {"name": info_role, "namespace": "kube-public"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["cluster-info"], "verbs": ["get"]}]}),
        (f"{public}/rolebindings", {
            "apiVersion": f"{RBAC}/v1", "kind": "RoleBinding", "metadata": {"name": info_role, "namespace": "kube-public"},
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": info_role},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "system:anonymous"}]}),
        (f"{RBAC_PATH}/clusterroles", {
            "apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": "kubeadm:get-nodes"},
            "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]}),
        _cluster_binding("kubeadm:get-nodes", "kubeadm:get-nodes", BOOTSTRAPPERS),
        _cluster_binding("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", BOOTSTRAPPERS),
        _cluster_binding("kubeadm:node-autoapprove-bootstrap", "system:certificates.k8s.io:certificatesigningrequests:nodeclient", BOOTSTRAPPERS),
        _cluster_binding("kubeadm:node-autoapprove-certificate-rotation",
                         "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", "system:nodes"),
    ]
