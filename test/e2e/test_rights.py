"""Tests that the shipped roles hold exactly the rights that the operator needs, as a real API server decides.

The simulation plays the operator and records which rights its requests need. The API server then says whether it would allow
each
of them: with the shipped roles, and with roles that lack one verb each.
"""

import json
import subprocess

import pytest
import yaml

from cluster import Cluster, wait_for
from stack import BIN, ROOT, SYSTEM, USER

SEEDS = 120
MANAGED = "nodes"  # the managed namespace of the simulation
ACCOUNT = {"kind": "ServiceAccount", "name": "kubenodesmith", "namespace": SYSTEM}


def right(verb, group, resource, namespace="", name=""):
    return {"verb": verb, "group": group, "resource": resource, "namespace": namespace, "name": name}


# Other tests make the requests that the simulation does not play.
NOT_PLAYED = [
    # A budget may still hold a pod at the deadline of its drain, which few seeds reach: unit-controllers,
    # disruption_drain_test.cpp.
    right("delete", "", "pods"),
    # A server of metrics asks who its users are: test_adoption.py.
    right("create", "authentication.k8s.io", "tokenreviews"),
    # A cluster that kubeadm did not make has no ConfigMap cluster-info: unit-controllers, claim_formats_test.cpp.
    right("get", "", "configmaps", "kube-public", "kube-root-ca.crt"),
    # Real kubelets request serving certificates: test_real_kubelets.py.
    right("approve", "certificates.k8s.io", "signers", name="kubernetes.io/kubelet-serving"),
    # No simulated cluster has a kind of PodGroup: unit-controllers, provisioning_groups_test.cpp.
    *(right("get", group, "podgroups", "default") for group in ("scheduling.k8s.io", "scheduling.x-k8s.io", "scheduling.volcano.sh")),
    # The operator asks where the cluster listens only for these: test_adversary_csr.py.
    right("get", "", "services", "default", "kubernetes"),
    right("get", "discovery.k8s.io", "endpointslices", "default", "kubernetes"),
    right("list", "networking.k8s.io", "servicecidrs"),
]


@pytest.fixture(scope="module")
def needed(tmp_path_factory):
    """Provides the rights that the operator's requests need."""
    file = tmp_path_factory.mktemp("simulation") / "rights"
    subprocess.run([BIN / "simulation", "--seeds", str(SEEDS), "--rights", file], check=True, capture_output=True)
    return [*map(json.loads, file.read_text().splitlines()), *NOT_PLAYED]


class Role:
    """A role of config/rbac with the namespaces in which it is bound; None means all namespaces."""

    def __init__(self, manifest, bindings):
        self.kind, self.metadata = manifest["kind"], manifest["metadata"]
        self.grants = [{"verb": verb, "group": group, "resource": resource, "name": name} for rule in manifest["rules"] for group in rule["apiGroups"]
                       for resource in rule["resources"] for name in rule.get("resourceNames", [""]) for verb in rule["verbs"]]
        self.namespaces = [binding["metadata"].get("namespace") for binding in bindings
                           if (binding["roleRef"]["kind"], binding["roleRef"]["name"]) == (self.kind, self.metadata["name"]) and ACCOUNT in binding["subjects"]]

    @property
    def group(self):
        return f"has:{self.metadata['name']}"

    def covers(self, grant, right):
        return (all(grant[key] == right[key] for key in ("verb", "group", "resource")) and grant["name"] in ("", right["name"])
                and (None in self.namespaces or right["namespace"] in self.namespaces))

    def create(self, cluster, name, grants, subject):
        """Creates the role with these grants, and binds it to the subject wherever the shipped one is bound."""
        rules = [{"apiGroups": [g["group"]], "resources": [g["resource"]], "verbs": [g["verb"]], **({"resourceNames": [g["name"]]} if g["name"] else {})} for g in grants]
        post(cluster, self.kind, name, self.metadata.get("namespace"), {"rules": rules})
        for namespace in self.namespaces:
            post(cluster, "RoleBinding" if namespace else "ClusterRoleBinding", name, namespace, {
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": self.kind, "name": name},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", **subject}]})


def post(cluster, kind, name, namespace, content):
    path = f"/apis/rbac.authorization.k8s.io/v1/{f'namespaces/{namespace}/' if namespace else ''}{kind.lower()}s"
    cluster.api("POST", path, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}, **content})


def allows(cluster, right, user, groups=()):
    resource, _, subresource = right["resource"].partition("/")
    attributes = {**right, "resource": resource, "subresource": subresource}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
        "user": user, "groups": ["system:authenticated", *groups], "resourceAttributes": {key: value for key, value in attributes.items() if value}}}
    return cluster.api("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]


def shipped_roles(cluster):
    documents = list(yaml.safe_load_all(cluster.kubectl("kustomize", ROOT / "config/rbac")))
    bindings = [d for d in documents if d["kind"].endswith("Binding")]
    # docs/operations.md says this for a further namespace.
    bindings.append({"metadata": {"namespace": MANAGED}, "roleRef": {"kind": "ClusterRole", "name": "kubenodesmith-credentials"}, "subjects": [ACCOUNT]})
    ours = {(b["roleRef"]["kind"], b["roleRef"]["name"]) for b in bindings if ACCOUNT in b["subjects"]}
    return [Role(d, bindings) for d in documents if (d["kind"], d["metadata"]["name"]) in ours]


def test_the_operator_needs_each_verb_of_its_roles_and_no_other(tmp_path, needed):
    with Cluster(tmp_path / "cluster") as cluster:
        for namespace in (SYSTEM, MANAGED):
            cluster.kubectl("create", "namespace", namespace)
        cluster.kubectl("apply", "-k", ROOT / "config/rbac")
        cluster.kubectl("create", "rolebinding", "kubenodesmith-credentials", "--namespace", MANAGED, "--clusterrole=kubenodesmith-credentials",
                        f"--serviceaccount={SYSTEM}:kubenodesmith")
        for right in needed:
            wait_for(f"the shipped roles to grant {right}", lambda right=right: allows(cluster, right, USER))

        roles = shipped_roles(cluster)
        for role in roles:
            role.create(cluster, f"{role.metadata['name']}-complete", role.grants, {"kind": "Group", "name": role.group})
        taken = [(f"without-{number}", role, grant) for number, (role, grant) in enumerate((role, grant) for role in roles for grant in role.grants)]
        for user, role, grant in taken:
            role.create(cluster, f"{role.metadata['name']}-{user}", [each for each in role.grants if each != grant], {"kind": "User", "name": user})

        for user, role, grant in taken:
            groups = [each.group for each in roles if each is not role]
            of_role = [right for right in needed if any(role.covers(each, right) for each in role.grants)]
            of_grant = [right for right in of_role if role.covers(grant, right)]
            assert of_grant, f"no request needs {grant} of {role.metadata['name']}"
            for right in (right for right in of_role if right not in of_grant):
                wait_for(f"the role without {grant} to grant {right}", lambda right=right: allows(cluster, right, user, groups))
                break
            assert not [right for right in of_grant if allows(cluster, right, user, groups)], f"another rule grants {grant} of {role.metadata['name']}, too"
