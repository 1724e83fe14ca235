"""Tests that the holder of one machine's bootstrap token, or one Node, only gets the certificates of that machine."""

import base64
import itertools
import json

import manifests
import proxmox_world
from cluster import fixtures
from pki import new_key, openssl
from stack import condition, is_true, wait_for, wait_until

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
CLIENT, SERVING = "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"
GROUP = "system:bootstrappers:kubenodesmith"
NODECLIENT = "system:certificates.k8s.io:certificatesigningrequests:nodeclient"


class Asker:
    """Makes requests for certificates with a bootstrap token or as a Node."""

    def __init__(self, stack, folder, *kubectl):
        self.stack, self.folder, self.kubectl = stack, folder, kubectl

    @classmethod
    def with_token(cls, stack, folder):
        (name,) = stack.bootstrap_tokens()
        data = stack.cluster.api("GET", f"/api/v1/namespaces/kube-system/secrets/{name}")["data"]
        token = ".".join(base64.b64decode(data[key]).decode() for key in ("token-id", "token-secret"))
        kubeconfig = folder / "stolen.kubeconfig"
        kubeconfig.write_text(json.dumps(fixtures.kubeconfig(stack.cluster.server, stack.cluster.ca, {"token": token})))
        return cls(stack, folder, "--kubeconfig", kubeconfig)

    @classmethod
    def as_node(cls, stack, folder, name):
        return cls(stack, folder, "--as", f"system:node:{name}", "--as-group", "system:nodes", "--as-group", "system:authenticated")

    def try_to_ask(self, name, node, signer=CLIENT, usages=None, organization="system:nodes", names="", key="first"):
        file = self.folder / f"{key}.key"
        if not file.exists():
            new_key(file)
        extension = ("-addext", f"subjectAltName={names}") if names else ()
        pem = openssl("req", "-new", "-key", str(file), "-subj", f"/O={organization}/CN=system:node:{node}", *extension)
        usages = usages or ["digital signature", "server auth" if signer == SERVING else "client auth"]
        body = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
                "spec": {"request": base64.b64encode(pem).decode(), "signerName": signer, "usages": usages}}
        return self.stack.cluster.kubectl(*self.kubectl, "create", "-f", "-", stdin=json.dumps(body), check=False)

    def ask(self, name, *args, **options):
        done = self.try_to_ask(name, *args, **options)
        assert done.returncode == 0, done.stderr
        return name

    def verdict(self, name, *args, **options):
        """Returns (Approved or Denied, reason, message) of a new request."""
        self.ask(name, *args, **options)
        return wait_for(f"a decision on {name}", lambda: decision(self.stack, name))


def decision(stack, name):
    conditions = stack.cluster.api("GET", f"{REQUESTS}/{name}")["status"].get("conditions", [])
    return (conditions[0]["type"], conditions[0]["reason"], conditions[0]["message"]) if conditions else None


def told(stack, reason, part):
    return [e for e in stack.events() if e["reason"] == reason and part in e["message"]]


def forget_requests(stack):
    stack.cluster.kubectl("delete", "certificatesigningrequests", "--all")


def silent_machine(stack):
    """Makes a claim whose machine runs and does not join, so that its token stays."""
    pool = manifests.pool(bootstrap={"method": "CloudInit", "apiServerEndpoint": "127.0.0.1:9"}, scaleUp={"registrationTimeout": "10m"})
    stack.apply(manifests.secret(stack.proxmox), manifests.provider(stack.proxmox), pool, manifests.control_plane())
    stack.apply(manifests.deployment("shop", 1))
    return wait_for("a machine that runs", lambda: next((c for c in stack.claims() if is_true(c, "Launched")), None))["metadata"]["name"]


def test_a_machines_token_is_good_for_its_own_node_and_one_key(clean, tmp_path):
    stack = clean
    name = silent_machine(stack)
    thief = Asker.with_token(stack, tmp_path)
    other = thief.verdict("forged-node", "control-plane-1")
    assert other == ("Denied", "NotThisNode", f"the subject's CN is not system:node:{name}")
    wait_for("the Event", lambda: told(stack, "CertificateDenied", f"system:node:{name}"))
    for forgery, options in {"organization": {"organization": "system:masters"}, "names": {"names": "DNS:kubernetes.default.svc"},
                             "usages": {"usages": ["digital signature", "client auth", "cert sign"]}}.items():
        assert thief.verdict(f"forged-{forgery}", name, **options)[:2] == ("Denied", "NotThisNode"), forgery
    assert thief.verdict("forged-signer", name, signer=SERVING, names=f"DNS:{name}")[:2] == ("Denied", "OtherSigner")
    # Nobody approves for that signer, and the operator may not even deny there.
    thief.ask("any-client", name, signer="kubernetes.io/kube-apiserver-client")

    assert thief.verdict("own", name)[:2] == ("Approved", "TokenOfThisNode")
    wait_for("the certificate", lambda: stack.cluster.api("GET", f"{REQUESTS}/own")["status"].get("certificate"))
    (claim,) = stack.claims()
    assert len(claim["status"]["bootstrapKeySHA256"]) == 64
    assert thief.verdict("second-key", name, key="second")[:2] == ("Denied", "SecondKey")
    assert thief.verdict("again", name)[0] == "Approved"
    assert decision(stack, "any-client") is None
    assert not told(stack, "CertificateDenied", "any-client")
    forget_requests(stack)


def test_what_is_asked_while_no_operator_runs_is_decided_by_the_next(clean, tmp_path):
    stack = clean
    name = silent_machine(stack)
    asker = Asker.with_token(stack, tmp_path)
    stack.operator.kill()
    asker.ask("early", name)
    asker.ask("forged", "control-plane-1", key="second")
    stack.operator.start().wait_ready()
    wait_for("both decisions", lambda: decision(stack, "early") and decision(stack, "forged"))
    assert decision(stack, "early")[0] == "Approved"
    assert decision(stack, "forged")[0] == "Denied"
    forget_requests(stack)


def joined(stack, **bootstrap):
    """Returns the name of a Node that a machine with an agent joined as."""
    pool = manifests.pool(bootstrap={"method": "CloudInit", **bootstrap})
    stack.apply(manifests.secret(stack.proxmox), manifests.provider(stack.proxmox, vmOptions=[{"name": "agent", "value": "1"}]), pool,
                manifests.control_plane())
    stack.apply(manifests.deployment("shop", 1))
    claim = wait_for("a Node", lambda: next((c for c in stack.claims() if is_true(c, "Registered")), None))
    return claim["metadata"]["name"]


def approvals(stack):
    return {r["spec"]["username"].rsplit(":", 1)[0]: (c["reason"], r["spec"]["groups"]) for r in stack.cluster.api("GET", REQUESTS)["items"]
            for c in r["status"].get("conditions", [])}


def told_of_tokens(stack, reason):
    (plane,) = stack.objects("nodesmithcontrolplanes")
    return condition(plane, "TokensBoundToNodes")["reason"] == reason


def test_a_machine_joins_by_the_operators_approval_and_its_token_is_no_more(clean, tmp_path):
    stack = clean
    name = silent_machine(stack)
    thief = Asker.with_token(stack, tmp_path)
    stack.cluster.kubectl("delete", "nodesmithpools,nodesmithclaims", "--all", "-n", manifests.NAMESPACE, "--wait=false")
    wait_for("the end of its token", lambda: not stack.bootstrap_tokens())
    # The API server's own list of tokens is a moment behind.
    numbers = itertools.count()
    wait_until("the API server to refuse it", lambda: thief.try_to_ask(f"late-{next(numbers)}", name),
               lambda done: done.returncode != 0 and "asked for the client to provide credentials" in done.stderr)
    wait_for("the pool's end", lambda: not stack.objects("nodesmithpools"))
    joined(stack)
    (reason, groups) = approvals(stack)["system:bootstrap"]
    assert reason == "TokenOfThisNode" and GROUP in groups and fixtures.BOOTSTRAPPERS not in groups
    wait_for("the end of its token", lambda: not stack.bootstrap_tokens())
    wait_for("the condition", lambda: told_of_tokens(stack, "OperatorApproves"))
    forget_requests(stack)


def name_networks(stack, *networks):
    stack.cluster.kubectl("patch", "nodesmithcontrolplane", "kubenodesmith", "-n", manifests.NAMESPACE, "--type=merge",
                          "-p", json.dumps({"spec": {"bootstrap": {"servingNetworks": networks}}}))


def test_a_node_gets_serving_certificates_for_what_is_its_machines_only(clean, tmp_path):
    stack = clean
    name = joined(stack)
    machine = proxmox_world.machine_named(stack.proxmox, name)
    interfaces = wait_for("the guest's agent", lambda: proxmox_world.api(
        stack.proxmox, "GET", f"/nodes/{machine['node']}/qemu/{machine['vmid']}/agent/network-get-interfaces"))
    found = [a["ip-address"] for i in interfaces["result"] for a in i.get("ip-addresses", []) if a["ip-address-type"] == "ipv4"]
    address = next(a for a in found if not a.startswith("127."))
    node = Asker.as_node(stack, tmp_path, name)

    def serving(request, names, key="first"):
        return node.ask(request, name, signer=SERVING, names=names, key=key)

    # The guest and its Node prove nothing until an administrator names their network.
    serving("own", f"DNS:{name},IP:{address}")
    wait_for("the Event that names the field", lambda: [e for e in told(stack, "CertificateLeft", "request own") if "bootstrap.servingNetworks" in e["message"]])
    assert decision(stack, "own") is None
    name_networks(stack, "10.0.0.0/8")
    serving("renewed", f"DNS:{name},IP:{address}", "second")
    for request in ("own", "renewed"):
        wait_for(f"a decision on {request}", lambda request=request: decision(stack, request))
        assert decision(stack, request)[:2] == ("Approved", "NamesOfThisMachine")

    # The network is wider than it should be. Machines join by the virtual IP.
    service = stack.cluster.api("GET", "/api/v1/namespaces/default/services/kubernetes")["spec"]["clusterIP"]
    endpoints = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.2"]}],
                 "metadata": {"name": "kubernetes", "namespace": "default"}}
    stack.cluster.api("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", endpoints)
    stack.apply(manifests.pool("elsewhere", bootstrap={"method": "CloudInit", "apiServerEndpoint": "10.0.0.4:6443"}))
    twin = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "twin"}}
    stack.cluster.api("POST", "/api/v1/nodes", twin)
    stack.cluster.api("PATCH", "/api/v1/nodes/twin/status", {"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.5"}]}},
                      "application/merge-patch+json")
    # A new operator has seen all of that.
    stack.operator.stop()
    stack.operator.start().wait_ready()
    theirs = {"service": service, "another-service": service.rpartition(".")[0] + ".77", "endpoint": "10.0.0.2", "virtual": "10.0.0.4", "twin": "10.0.0.5"}
    for request, stolen in theirs.items():
        serving(request, f"DNS:{name},IP:{address},IP:{stolen}")
        wait_for("the Event", lambda stolen=stolen: told(stack, "CertificateLeft", f"{stolen} is neither"))
    serving("foreign-name", f"DNS:{name},DNS:kubernetes.default.svc")
    wait_for("the Event", lambda: told(stack, "CertificateLeft", "kubernetes.default.svc is neither"))
    stranger = Asker.as_node(stack, tmp_path, "control-plane-1")
    stranger.ask("stranger", "control-plane-1", signer=SERVING, names=f"DNS:{name}")
    serving("last", f"DNS:{name},IP:{address}")
    wait_for("a decision on the last", lambda: decision(stack, "last"))
    for request in (*theirs, "foreign-name", "stranger"):
        assert decision(stack, request) is None, request
    stack.cluster.api("DELETE", "/api/v1/nodes/twin")
    stack.cluster.api("DELETE", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes")
    forget_requests(stack)


def test_approval_can_be_left_to_the_cluster_and_a_condition_reports_it(clean):
    stack = clean
    joined(stack, approval="Cluster")
    (reason, groups) = approvals(stack)["system:bootstrap"]
    assert reason == "AutoApproved" and fixtures.BOOTSTRAPPERS in groups and GROUP not in groups

    wait_for("the condition", lambda: told_of_tokens(stack, "ApprovalLeftToCluster"))

    stack.cluster.kubectl("create", "clusterrolebinding", "everybody", f"--clusterrole={NODECLIENT}", "--group=system:bootstrappers")
    approves = lambda: stack.tokens_may("create", "certificatesigningrequests", "--subresource=nodeclient")
    wait_for("the API server to heed it", approves)
    stack.operator.stop()
    stack.operator.start().wait_ready()
    wait_for("the condition", lambda: told_of_tokens(stack, "ClusterApprovesTokens"))
    stack.cluster.kubectl("delete", "clusterrolebinding", "everybody")
    wait_for("the API server to heed it", lambda: not approves())
    stack.operator.stop()
    stack.operator.start().wait_ready()
    wait_for("the condition", lambda: told_of_tokens(stack, "ApprovalLeftToCluster"))
    forget_requests(stack)
